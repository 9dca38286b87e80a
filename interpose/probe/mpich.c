/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What MPICH and those of its kind were built with: the netmod and the shared memory of their
 * device, from the text of MPI_Get_library_version. MPICH has no fallback at run time: a single
 * netmod is the one in use, of several the environment picks one. Runs after the real MPI_Init,
 * on the thread that called it.
 */
#include "probe/mpich.h"

#include <string.h>

#include "probe/probe.h"
#include "probe/sysfile.h"
#include "record/ask.h"

#define WORD_MAX 128u

/* The text after "Word:" (MPICH) or "Word   :" (MVAPICH2) on the line that has it; its length, 0
 * none. */
static size_t field(const char *text, const char *word, const char **value)
{
    for (const char *at = text; (at = strstr(at, word));) {
        at += strlen(word);
        const char *colon = at + strspn(at, " \t");
        if (*colon != ':')
            continue;
        *value = colon + 1 + strspn(colon + 1, " \t");
        return strcspn(*value, "\n");
    }
    return 0;
}

static const char *copy(char *out, const char *text, size_t length)
{
    struct mw_text to;
    mw_text_init(&to, out, WORD_MAX);
    mw_text_add_some(&to, text, length);
    return out;
}

/* Each name of a list "a,b" (or "a b"), with `how` where there is one, `how_of_many` where there
 * are more. */
static void each(const char *what, const char *list, size_t length, const char *how,
                 const char *how_of_many, const char *source)
{
    char word[WORD_MAX];
    int many = memchr(list, ',', length) != NULL;
    for (size_t at = 0; at < length;) {
        size_t size = strcspn(list + at, ", \t\n'\"");
        if (at + size > length)
            size = length - at;
        if (size)
            mw_choice(what, copy(word, list + at, size), many ? how_of_many : how, source);
        at += size + 1;
    }
}

/* The value of a configure option "--with-x=value"; 0 when it is not there. */
static size_t option(const char *configure, size_t length, const char *name, const char **value)
{
    size_t size = strlen(name);
    for (size_t at = 0; at + size <= length; at++)
        if (memcmp(configure + at, name, size) == 0) {
            *value = configure + at + size;
            return strcspn(*value, " \t\n'\"");
        }
    return 0;
}

/* ch4's shared memory is a matter of how it was built; where nothing was asked for, ch4:ucx alone
 * leaves it to UCX and the others have "posix". */
static void shared_memory(const char *text, const char *netmods, size_t netmods_size)
{
    const char *configure, *value;
    size_t length = field(text, "configure", &configure);
    if (!length)
        return;
    size_t size = option(configure, length, "--with-ch4-shmmods=", &value);
    int without = option(configure, length, "--without-ch4-shmmods", &value) != 0 ||
                  memmem(configure, length, "--without-ch4-shmmods", 21) != NULL;
    const char *source = "MPICH configure: --with-ch4-shmmods";
    int unasked = !size || (size == 4 && memcmp(value, "auto", 4) == 0);
    if (without || (size == 4 && memcmp(value, "none", 4) == 0) ||
        (size == 2 && memcmp(value, "no", 2) == 0))
        mw_choice("shm", "none", "selected", source);
    else if (unasked && netmods_size == 3 && memcmp(netmods, "ucx", 3) == 0)
        mw_choice("shm", "none", "default", "MPICH configure: ch4:ucx leaves shared memory to UCX");
    else if (unasked)
        mw_choice("shm", "posix", "default", "MPICH configure: no --with-ch4-shmmods");
    else
        each("shm", value, size, "selected", "selected", source);
}

/* "ch4:ucx", "ch4:ofi,ucx", "ch3:nemesis:tcp", "ch3:mrail" … */
static void device(const char *text, const char *name, size_t length)
{
    char source[WORD_MAX + 32], word[WORD_MAX];
    mw_join(source, sizeof source, "device ", copy(word, name, length), NULL);
    if (length > 4 && memcmp(name, "ch4:", 4) == 0) {
        size_t size = strcspn(name + 4, ": \t\n");
        if (size > length - 4)
            size = length - 4;
        each("netmod", name + 4, size, "selected", "built in", source);
        shared_memory(text, name + 4, size);
    } else if (length > 4 && memcmp(name, "ch3:", 4) == 0) {
        each("netmod", name + 4, length - 4, "selected", "built in", source);
        if (length >= 11 && memcmp(name + 4, "nemesis", 7) == 0)
            mw_choice("shm", "nemesis", "selected", source);
    } else {
        mw_choice("probe", "mpich", "not covered", source);
    }
}

void mw_mpich_version(const char *text)
{
    const char *name;
    size_t length = field(text, "Device", &name);
    while (length && (name[length - 1] == ' ' || name[length - 1] == '\r'))
        length--;
    if (strncmp(text, "Open MPI", 8) == 0) /* it has the standard ABI too */
        mw_choice("probe", "mpich", "absent", "");
    else if (length)
        device(text, name, length);
    else
        mw_choice("probe", "mpich", "not covered", "the library's version names no device");
}

static void ready(void)
{
    static char text[16384]; /* MPI-5 allows 8192 */
    int length = 0;
    if (mw_recorder.abi->kind == MW_ABI_OPENMPI) {
        mw_choice("probe", "mpich", "absent", "");
        return;
    }
    if (!MW_ASK(MW_FN_Get_library_version, (char *, int *), text, &length)) {
        mw_choice("probe", "mpich", "not covered", "MPI_Get_library_version failed");
        return;
    }
    text[sizeof text - 1] = '\0';
    mw_mpich_version(text);
}

const struct mw_probe mw_probe_mpich = {.name = "mpich", .limit_us = 1000, .ready = ready};
