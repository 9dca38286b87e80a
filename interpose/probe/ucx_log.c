/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX's own log lines. A handler of ours stands before UCX's: it copies the line and lets it pass,
 * so that what is printed, and where, stays as it is. UCX calls it on any thread, in its signal
 * handlers too. It asks nothing of UCX.
 *
 * While UCX is being opened we also want the lines that it keeps back by default: why a device
 * could not be opened is logged as DIAG, one level below what it prints. For that time its level is
 * raised, and our handler stops those lines that would not have been there without us.
 *
 * One line tells of us: UCX logs which file has its ucp_init_version, and asks the loader, who says
 * ours. That one is stopped, and logged again with the file that has the real one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "probe/loglines.h"
#include "probe/real.h"
#include "probe/ucx.h"
#include "record/record.h"

/* From 1.9 on; before, there was neither DIAG nor the component. */
enum { LEVEL_FATAL = 0, LEVEL_DIAG = 3, LEVEL_INFO = 4, LEVELS = 12 };
enum { STOP = 0, CONTINUE = 1 };

static const char *const level_names[LEVELS] = {"FATAL", "ERROR", "WARN", "DIAG",  "INFO", "DEBUG",
                                                "TRACE", "REQ",   "DATA", "ASYNC", "FUNC", "POLL"};
static const char *const old_level_names[LEVELS - 1] = {
    "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "REQ", "DATA", "ASYNC", "FUNC", "POLL"};

static struct mw_lock lock;
static unsigned pushed_to;                    /* module that has our handler */
static struct mw_ucs_log_component *standard; /* whose level may be raised; NULL not known */
static unsigned depth;                        /* of raising */
static int raised;
/* The level without us, known when it has been raised once. It stays: a line of another thread may
 * be on its way when the level is put back, and raised again. */
static _Atomic int asked = LEVELS;

static void keep(const char *level, const char *file, unsigned line, const char *function,
                 const char *format, va_list arguments)
{
    char text[MW_LOG_TEXT + 8];
    const char *slash = strrchr(file ? file : "", '/');
    vsnprintf(text, sizeof text, format, arguments);
    mw_log_line("ucx", level, slash ? slash + 1 : file, NULL, function, line, text);
}

typedef void (*dispatch_fn)(const char *file, unsigned line, const char *function, int level,
                            const struct mw_ucs_log_component *component, const char *format, ...);
static dispatch_fn dispatch;
static const char *own_path, *ucp_path; /* as the loader names them */

/* "Version 1.13.1 (loaded from PATH)". 1: it named us and has been logged anew, as it should be. */
static int corrected(const char *file, unsigned line, const char *function, int level,
                     const struct mw_ucs_log_component *component, const char *format,
                     va_list arguments)
{
    char text[4096];
    if (!dispatch || !own_path || !ucp_path || !file || !strstr(file, "ucp_context.c"))
        return 0;
    int length = vsnprintf(text, sizeof text, format, arguments);
    char *at = length > 0 && (size_t)length < sizeof text ? strstr(text, own_path) : NULL;
    if (!at)
        return 0;
    dispatch(file, line, function, level, component, "%.*s%s%s", (int)(at - text), text, ucp_path,
             at + strlen(own_path));
    return 1;
}

static int on_line(const char *file, unsigned line, const char *function, int level,
                   const struct mw_ucs_log_component *component, const char *format,
                   va_list arguments)
{
    int error = errno; /* "%m" */
    if (level == LEVEL_INFO) {
        va_list copy;
        va_copy(copy, arguments);
        int again = corrected(file, line, function, level, component, format, copy);
        va_end(copy);
        errno = error;
        if (again)
            return STOP;
    }
    int only_ours = component == standard && level <= LEVEL_DIAG && level > atomic_load(&asked) &&
                    component->log_level <= LEVEL_DIAG;
    if (level >= LEVEL_FATAL && level < LEVELS && mw_probe_on(&mw_probe_ucx))
        keep(level_names[level], file, line, function, format, arguments);
    errno = error;
    return only_ours ? STOP : CONTINUE;
}

static int on_old_line(const char *file, unsigned line, const char *function, int level,
                       const char *format, va_list arguments)
{
    int error = errno;
    if (level >= LEVEL_FATAL && level < LEVELS - 1 && mw_probe_on(&mw_probe_ucx))
        keep(old_level_names[level], file, line, function, format, arguments);
    errno = error;
    return CONTINUE;
}

/* The component that has the level by default; only where it looks as we know it. */
static struct mw_ucs_log_component *find_standard(const void *init)
{
    struct mw_ucs_log_component *component = mw_real_find("ucs_global_opts", NULL, init);
    if (!component || mw_ucx.version < 1009 || component->log_level < LEVEL_FATAL ||
        component->log_level > LEVELS || strncmp(component->name, "UCX", 4) != 0)
        return NULL;
    return component;
}

static void learn_paths(const void *init)
{
    Dl_info ours, theirs;
    dispatch = mw_real_find("ucs_log_dispatch", NULL, init);
    own_path = dladdr((const void *)learn_paths, &ours) ? ours.dli_fname : NULL;
    ucp_path = dladdr(init, &theirs) ? theirs.dli_fname : NULL;
}

void mw_ucx_log_start(const void *init)
{
    void (*push)(void *handler) = mw_real_find("ucs_log_push_handler", NULL, init);
    unsigned (*handlers)(void) = mw_real_find("ucs_log_num_handlers", NULL, init);
    if (!push || mw_ucx.version < MW_UCX_OLDEST || mw_ucx.version > MW_UCX_NEWEST)
        return;
    unsigned module = mw_real_module((const void *)push);
    learn_paths(init);
    mw_lock_take(&lock);
    int again = module == pushed_to;
    pushed_to = module;
    mw_lock_drop(&lock);
    if (again)
        return;
    unsigned before = handlers ? handlers() : 0;
    push(mw_ucx.version < 1009 ? (void *)on_old_line : (void *)on_line);
    int stands = handlers && handlers() == before + 1;
    mw_lock_take(&lock);
    standard = stands ? find_standard(init) : NULL;
    mw_lock_drop(&lock);
}

void mw_ucx_log_deepen(void)
{
    mw_lock_take(&lock);
    if (standard && depth++ == 0 && standard->log_level < LEVEL_DIAG) {
        atomic_store(&asked, standard->log_level);
        standard->log_level = LEVEL_DIAG;
        raised = 1;
    }
    mw_lock_drop(&lock);
}

void mw_ucx_log_restore(void)
{
    mw_lock_take(&lock);
    if (standard && depth && --depth == 0 && raised) {
        standard->log_level = atomic_load(&asked);
        raised = 0;
    }
    mw_lock_drop(&lock);
}
