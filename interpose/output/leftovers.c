/* SPDX-License-Identifier: BSD-3-Clause */
/* Cleaning up after the dead; see leftovers.h. */
#include "output/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output/shared.h"
#include "trace/clock.h"
#include "trace/residue.h"

#define COLLECTED_MAX 4
#define TIME_MAX_NS 20000000u /* 20 ms */

struct round {
    int collected;
    uint64_t deadline;
    const char *own; /* in the names of this process's mappings */
};

/* Whether the file is mapped in this process. Where that cannot be told it is. */
static int is_mapped(const char *path)
{
    char text[4096 + MW_PATH_MAX], line[MW_PATH_MAX]; /* a line ends with the path */
    size_t kept = 0, wanted = (size_t)snprintf(line, sizeof line, "%s\n", path);
    int found = 0, file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 || wanted >= sizeof line ? -1 : 1;
    while (got > 0 && !found) {
        got = read(file, text + kept, sizeof text - kept);
        if (got < 0 && errno == EINTR) {
            got = 1;
            continue;
        }
        size_t size = kept + (size_t)(got > 0 ? got : 0);
        found = got > 0 && memmem(text, size, line, wanted) != NULL;
        kept = size < wanted ? size : wanted;
        memmove(text, text + size - kept, kept);
    }
    if (file >= 0)
        close(file);
    return found || got < 0;
}

/* What a program left that has made room for this one by exec; another mpiwatch in this process keeps its own. */
static enum mw_status collect_replaced(const char *path, uint64_t *bytes)
{
    return is_mapped(path) ? MW_ERR_ARGUMENT : mw_residue_collect_replaced(path, bytes);
}

static enum mw_status collect(void *context, const char *path)
{
    struct round *round = context;
    uint64_t bytes;
    enum mw_status status = mw_residue_collect(path, &bytes); /* the living are left alone */
    if (status == MW_ERR_ARGUMENT && round->own && strstr(path, round->own))
        status = collect_replaced(path, &bytes);
    if (status == MW_OK)
        round->collected++;
    if (round->collected == COLLECTED_MAX || mw_clock_ns(CLOCK_MONOTONIC) > round->deadline)
        return MW_END;
    return MW_OK;
}

void mw_leftovers_collect(const struct mw_config *config)
{
    char own[32];
    struct round round = {.deadline = mw_clock_ns(CLOCK_MONOTONIC) + TIME_MAX_NS, .own = own};
    snprintf(own, sizeof own, "-%ld-", (long)getpid());
    mw_residue_each(config->shm, collect, &round);
}
