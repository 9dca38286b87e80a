/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libfabric logs. Its warnings are asked for although nobody set FI_LOG_LEVEL, and kept from
 * where they would be printed unless they would have been without us; the user's own output stays
 * as it is. Two ways: the logging object of fi_open (1.16 and later, one importer a process), else
 * fi_log and fi_log_enabled, which providers call by way of us. Any thread.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "probe/libfabric.h"
#include "probe/loglines.h"
#include "probe/modules.h"
#include "probe/real.h"
#include "record/record.h"

#define SLOTS       2u    /* libfabrics whose log is imported at one time */
#define HELD        8u    /* kinds of line that a thread is about to log */
#define TEXT        2048u /* libfabric cuts at 1024 */
#define ASKED_LINES 64u   /* lines other than warnings, which only the user can have asked for */
#define SPARSE_MS   2000u /* as libfabric has it */
#define CACHE       64u

__thread int mw_fi_quiet __attribute__((tls_model("initial-exec")));

/* Warnings that this thread's enabled() said yes to on our account alone: the fi_log that follows
 * is not to be printed. What is logged without asking, is: providers do so before they abort. */
struct held {
    const struct mw_fi_provider *provider;
    int subsystem, count;
};
static __thread struct held held[HELD] __attribute__((tls_model("initial-exec")));
static __thread int asking __attribute__((tls_model("initial-exec"))); /* nothing is held now */

static _Atomic int listening; /* some libfabric's log is listened to */
static _Atomic int wrapped;   /* the import was refused: fi_log and its like do the work */
/* Set while fi_log hands on a line that has been kept and is to be printed. */
static __thread int kept __attribute__((tls_model("initial-exec")));
static _Atomic uint32_t asked_lines;

static int recording(void)
{
    return mw_probe_on(&mw_probe_libfabric);
}

/* 1: held; 0: no room, the line is not asked for, then. */
static int hold(const struct mw_fi_provider *provider, int subsystem)
{
    struct held *free_one = NULL;
    if (asking)
        return 1;
    for (unsigned i = 0; i < HELD; i++) {
        if (held[i].count && held[i].provider == provider && held[i].subsystem == subsystem) {
            if (held[i].count < 4) /* a line whose arguments log lines */
                held[i].count++;
            return 1;
        }
        if (!held[i].count)
            free_one = &held[i];
    }
    if (free_one)
        *free_one = (struct held){provider, subsystem, 1};
    return free_one != NULL;
}

static int take_held(const struct mw_fi_provider *provider, int subsystem)
{
    for (unsigned i = 0; i < HELD; i++) {
        if (held[i].count && held[i].provider == provider && held[i].subsystem == subsystem) {
            held[i].count--;
            return 1;
        }
    }
    return 0;
}

static const char *level_word(int level)
{
    static const char *const word[] = {"warn", "trace", "info", "debug"};
    return level >= 0 && level < 4 ? word[level] : "";
}

static const char *subsystem_word(int subsystem)
{
    static const char *const word[] = {"core", "fabric", "domain", "ep_ctrl", "ep_data",
                                       "av",   "cq",     "eq",     "mr",      "cntr"};
    return subsystem >= 0 && subsystem < 10 ? word[subsystem] : "";
}

static void keep(const struct mw_fi_provider *provider, int level, int subsystem,
                 const char *function, int line, const char *text)
{
    int error = errno;
    if (level != MW_FI_LOG_WARN) {
        uint32_t before = atomic_fetch_add(&asked_lines, 1);
        if (before == ASKED_LINES)
            mw_health("libfabric-log",
                      "of the log lines that FI_LOG_LEVEL asks for beyond warnings "
                      "only the first are in the trace");
        if (before >= ASKED_LINES)
            return;
    }
    mw_log_line(MW_FI_LIBRARY, level_word(level), subsystem_word(subsystem),
                provider ? provider->name : NULL, function, line > 0 ? (unsigned)line : 0, text);
    errno = error;
}

/* The import. Each libfabric has functions of its own here, as it does not say who calls. */
struct import {
    const struct mw_module_entry *module; /* NULL: free */
    int active;
    struct mw_fi_ops_log theirs; /* what the functions were */
    struct mw_fi_ops_log ours;
    struct mw_fid_logging object;
};
static struct import imports[SLOTS];
static struct mw_lock lock;

static int import_enabled(const struct import *import, const struct mw_fi_provider *provider,
                          int level, int subsystem, uint64_t flags)
{
    if (mw_fi_quiet)
        return 0;
    int rc = import->theirs.enabled(provider, level, subsystem, flags);
    if (rc || level != MW_FI_LOG_WARN || !recording())
        return rc;
    return hold(provider, subsystem);
}

static int import_ready(const struct import *import, const struct mw_fi_provider *provider,
                        int level, int subsystem, uint64_t flags, uint64_t *showtime)
{
    if (mw_fi_quiet)
        return 0;
    asking++; /* theirs asks the imported enabled(), ours */
    int rc = import->theirs.ready(provider, level, subsystem, flags, showtime);
    asking--;
    if (rc && !import->theirs.enabled(provider, level, subsystem, flags))
        return hold(provider, subsystem);
    return rc;
}

static void import_log(const struct import *import, const struct mw_fi_provider *provider,
                       int level, int subsystem, const char *function, int line, const char *text)
{
    if (!kept && recording())
        keep(provider, level, subsystem, function, line, text);
    if (kept || level != MW_FI_LOG_WARN || !take_held(provider, subsystem))
        import->theirs.log(provider, level, subsystem, function, line, text);
}

#define IMPORT_FUNCTIONS(n)                                                                        \
    static int enabled_##n(const struct mw_fi_provider *provider, int level, int subsystem,        \
                           uint64_t flags)                                                         \
    {                                                                                              \
        return import_enabled(&imports[n], provider, level, subsystem, flags);                     \
    }                                                                                              \
    static int ready_##n(const struct mw_fi_provider *provider, int level, int subsystem,          \
                         uint64_t flags, uint64_t *showtime)                                       \
    {                                                                                              \
        return import_ready(&imports[n], provider, level, subsystem, flags, showtime);             \
    }                                                                                              \
    static void log_##n(const struct mw_fi_provider *provider, int level, int subsystem,           \
                        const char *function, int line, const char *text)                          \
    {                                                                                              \
        import_log(&imports[n], provider, level, subsystem, function, line, text);                 \
    }
IMPORT_FUNCTIONS(0)
IMPORT_FUNCTIONS(1)

static const struct mw_fi_ops_log functions[SLOTS] = {
    {sizeof(struct mw_fi_ops_log), enabled_0, ready_0, log_0},
    {sizeof(struct mw_fi_ops_log), enabled_1, ready_1, log_1},
};

typedef int (*open_fn)(uint32_t version, const char *name, void *attr, size_t size, uint64_t flags,
                       struct mw_fid **fid, void *context);

/* 1: it has this libfabric's log now. */
static int import_begin(struct import *import, unsigned slot, open_fn open)
{
    struct mw_fid *theirs;
    if (open(MW_FI_VERSION(1, 13), "logging", NULL, 0, 0, &theirs, NULL) != 0)
        return 0;
    const struct mw_fi_ops_log *ops = ((struct mw_fid_logging *)theirs)->ops;
    import->theirs = (struct mw_fi_ops_log){0, ops->enabled, ops->ready, ops->log};
    import->ours = functions[slot];
    import->object =
        (struct mw_fid_logging){.fid = {.class = MW_FI_CLASS_LOG}, .ops = &import->ours};
    int rc = -1;
    if (ops->enabled && ops->ready && ops->log)
        rc = theirs->ops->bind(theirs, &import->object.fid, 0);
    theirs->ops->close(theirs);
    return rc == 0;
}

/* A place for this module's import; NULL when it has one, or when there is none. */
static struct import *import_take(const struct mw_module_entry *module)
{
    struct import *found = NULL;
    mw_lock_take(&lock);
    for (unsigned i = 0; i < SLOTS; i++) {
        if (imports[i].module == module) {
            found = NULL;
            break;
        }
        if (!imports[i].module || atomic_load(&imports[i].module->gone))
            found = &imports[i];
    }
    if (found) {
        found->module = module;
        found->active = 0;
    }
    mw_lock_drop(&lock);
    return found;
}

void mw_fi_log_attach(const void *real)
{
    const struct mw_module_entry *module = mw_modules_locate(real);
    struct import *import = module ? import_take(module) : NULL;
    if (!import)
        return;
    atomic_store(&listening, 1);
    open_fn open = NULL;
    *(void **)&open = mw_fi_library_symbol(real, "fi_open", "FABRIC_1.5");
    if (open && import_begin(import, (unsigned)(import - imports), open)) {
        import->active = 1;
        return;
    }
    atomic_store(&wrapped, 1);
}

/* Somebody else wants this libfabric's log: it shall get it, as it would without us. */
void mw_fi_log_yield(const void *real)
{
    const struct mw_module_entry *module = mw_modules_locate(real);
    for (unsigned i = 0; module && i < SLOTS; i++) {
        struct import *import = &imports[i];
        if (import->module != module || !import->active)
            continue;
        import->active = 0;
        import->object.fid.ops->close(&import->object.fid);
        atomic_store(&wrapped, 1);
    }
}

/* The real functions of log lines, by caller, as providers ask often. Forgotten when anything is
 * unloaded. */
struct cache {
    _Atomic uintptr_t caller, real;
};
static struct cache cache_enabled[CACHE], cache_ready[CACHE], cache_log[CACHE];
static _Atomic uint32_t cache_generation;

static void cache_check(void)
{
    mw_modules_refresh();
    uint32_t generation = mw_modules_generation();
    if (atomic_exchange(&cache_generation, generation) == generation)
        return;
    for (unsigned i = 0; i < CACHE; i++) {
        atomic_store(&cache_enabled[i].caller, 0);
        atomic_store(&cache_ready[i].caller, 0);
        atomic_store(&cache_log[i].caller, 0);
    }
}

static void *real_of(struct cache *cache, const char *name, const char *version, const void *caller)
{
    if (atomic_load_explicit(&mw_recording.state, memory_order_relaxed) == MW_IDLE) {
        void *next = dlvsym(RTLD_NEXT, name, version);
        next = next ? next : mw_real_find(name, version, caller);
        return next ? next : mw_real_anywhere(name, version);
    }
    cache_check();
    uintptr_t key = (uintptr_t)caller;
    struct cache *entry = &cache[(key >> 2 ^ key >> 9) % CACHE];
    if (atomic_load(&entry->caller) == key) {
        void *real = (void *)atomic_load(&entry->real); /* NOLINT */
        if (atomic_load(&entry->caller) == key && real)
            return real;
    }
    void *real = mw_real_find(name, version, caller);
    real = real ? real : mw_real_anywhere(name, version);
    atomic_store(&entry->caller, 0);
    atomic_store(&entry->real, (uintptr_t)real);
    atomic_store(&entry->caller, key);
    return real;
}

typedef int (*enabled_fn)(const struct mw_fi_provider *provider, int level, int subsystem);
typedef int (*ready_fn)(const struct mw_fi_provider *provider, int level, int subsystem,
                        uint64_t *showtime);
typedef void (*log_fn)(const struct mw_fi_provider *provider, int level, int subsystem,
                       const char *function, int line, const char *format, ...);

static int wrapping(int level)
{
    return level == MW_FI_LOG_WARN && atomic_load_explicit(&wrapped, memory_order_relaxed) &&
           recording();
}

static int real_enabled(const struct mw_fi_provider *provider, int level, int subsystem,
                        const void *caller)
{
    enabled_fn real;
    *(void **)&real = real_of(cache_enabled, "fi_log_enabled", "FABRIC_1.0", caller);
    return real ? real(provider, level, subsystem) : 0;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int mw_fi_log_enabled(const struct mw_fi_provider *provider, int level, int subsystem);
EXPORT int mw_fi_log_ready(const struct mw_fi_provider *provider, int level, int subsystem,
                           uint64_t *showtime);
EXPORT void mw_fi_log(const struct mw_fi_provider *provider, int level, int subsystem,
                      const char *function, int line, const char *format, ...);
__asm__(".symver mw_fi_log_enabled,fi_log_enabled@@FABRIC_1.0");
__asm__(".symver mw_fi_log_ready,fi_log_ready@@FABRIC_1.6");
__asm__(".symver mw_fi_log,fi_log@@FABRIC_1.0");

int mw_fi_log_enabled(const struct mw_fi_provider *provider, int level, int subsystem)
{
    int error = errno;
    int rc = real_enabled(provider, level, subsystem, __builtin_return_address(0));
    if (!rc && wrapping(level) && !mw_fi_quiet)
        rc = hold(provider, subsystem);
    errno = error;
    return mw_fi_quiet ? 0 : rc;
}

int mw_fi_log_ready(const struct mw_fi_provider *provider, int level, int subsystem,
                    uint64_t *showtime)
{
    const void *caller = __builtin_return_address(0);
    int error = errno;
    ready_fn real;
    *(void **)&real = real_of(cache_ready, "fi_log_ready", "FABRIC_1.6", caller);
    int rc = real ? real(provider, level, subsystem, showtime) : 0;
    if (!rc && wrapping(level) && !mw_fi_quiet &&
        !real_enabled(provider, level, subsystem, caller)) {
        uint64_t now = mw_clock_ns(CLOCK_MONOTONIC) / 1000000;
        if (now >= *showtime) { /* the real one does not touch it while it is not enabled */
            *showtime = now + SPARSE_MS;
            rc = hold(provider, subsystem);
        }
    }
    errno = error;
    return rc;
}

void mw_fi_log(const struct mw_fi_provider *provider, int level, int subsystem,
               const char *function, int line, const char *format, ...)
{
    char text[TEXT];
    va_list arguments;
    int error = errno;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int silent = 0, keeping = atomic_load_explicit(&listening, memory_order_relaxed) && recording();
    if (keeping) {
        keep(provider, level, subsystem, function, line, text);
        silent = level == MW_FI_LOG_WARN && take_held(provider, subsystem);
    }
    log_fn real = NULL;
    if (!silent)
        *(void **)&real = real_of(cache_log, "fi_log", "FABRIC_1.0", __builtin_return_address(0));
    errno = error;
    kept += keeping;
    if (real)
        real(provider, level, subsystem, function, line, "%s", text);
    kept -= keeping;
}
