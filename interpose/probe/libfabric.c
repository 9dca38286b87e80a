/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The libfabric probe: its steps, and what it says of itself. Who opened which provider and domain,
 * what failed and in which words, what went to which peer, what was logged. The steps run on the
 * thread that makes the call of MPI; the rest, see libfabric.h, in the calls of libfabric.
 */
#include "probe/libfabric.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "probe/loglines.h"
#include "probe/modules.h"
#include "probe/real.h"
#include "record/record.h"

#define NEWEST MW_FI_VERSION(2, 6) /* its headers were compared with libfabric_abi.h */

static _Atomic unsigned gaps;
static _Atomic unsigned version_module; /* whose version was written last */
static _Atomic uint32_t newest_seen;

void mw_fi_gap(enum mw_fi_gap gap)
{
    atomic_fetch_or(&gaps, gap);
}

void *mw_fi_library_symbol(const void *real, const char *name, const char *version)
{
    const struct mw_module_entry *module = mw_modules_locate(real);
    if (!module || module->path[0] != '/')
        return NULL;
    void *handle = dlopen(module->path, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        return NULL;
    void *found = version ? dlvsym(handle, name, version) : dlsym(handle, name);
    dlclose(handle);
    return found && mw_real_module(found) == module->id ? found : NULL;
}

void mw_fi_version(const void *real)
{
    const struct mw_module_entry *module = mw_modules_locate(real);
    uint32_t (*version)(void) = NULL;
    char text[32];
    if (!module || atomic_exchange(&version_module, module->id) == module->id)
        return;
    *(void **)&version = mw_fi_library_symbol(real, "fi_version", "FABRIC_1.0");
    if (!version)
        return;
    uint32_t found = version();
    snprintf(text, sizeof text, "%u.%u", found >> 16, found & 0xffff);
    mw_choice("version", MW_FI_LIBRARY, text, module->path);
    if (found > atomic_load(&newest_seen))
        atomic_store(&newest_seen, found);
}

/* A loaded libfabric: it may be called past us. */
static const char *loaded_library(void)
{
    for (unsigned i = 0; i < mw_modules_count(); i++) {
        const struct mw_module_entry *module = mw_modules_at(i);
        const char *name = strrchr(module->path, '/');
        if (!atomic_load(&module->gone) && name && strncmp(name, "/libfabric", 10) == 0)
            return module->path;
    }
    return NULL;
}

static const char *gap_text(unsigned found)
{
    if (found & MW_FI_GAP_ROOM)
        return "more objects of libfabric than there is room for: some are not counted";
    if (found & MW_FI_GAP_TABLE)
        return "a provider's table of functions is unlike any known one: what goes through it is "
               "not counted";
    if (atomic_load(&newest_seen) > NEWEST)
        return "this libfabric is newer than the newest that is known (2.6): what it has added is "
               "not seen";
    return NULL;
}

static void say_coverage(void)
{
    if (atomic_load(&version_module)) {
        const char *gap = gap_text(atomic_load(&gaps));
        mw_choice("probe", MW_FI_LIBRARY, gap ? "partly" : "on", gap ? gap : "");
    } else if (loaded_library()) {
        mw_choice("probe", MW_FI_LIBRARY, "not covered",
                  "libfabric is loaded, and no call of it came through the preloaded library: it "
                  "was not used, or was called past it");
    } else {
        mw_choice("probe", MW_FI_LIBRARY, "absent", "");
    }
}

static void ready(void)
{
    say_coverage();
    mw_fi_endpoints_write(0);
}

static void flush(void)
{
    mw_fi_endpoints_write(0);
    mw_log_lines_finish();
}

/* Memory of our own only. */
static void finish(enum mw_end_reason reason)
{
    (void)reason;
    mw_fi_endpoints_write(1);
    mw_fi_attempts_finish();
    mw_log_lines_finish();
    say_coverage();
}

const struct mw_probe mw_probe_libfabric = {
    .name = MW_FI_LIBRARY, .limit_us = 1000, .ready = ready, .flush = flush, .finish = finish};
