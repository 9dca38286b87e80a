/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real UCX behind our wrappers: found when the first ucp_init arrives, and again where another
 * copy serves a later one. Any thread; takes the loader's lock where something is looked up, which
 * is once a function and library, never a message.
 */
#include "probe/ucx.h"

#include <stdio.h>

#include "probe/modules.h"
#include "probe/real.h"
#include "record/record.h"

struct mw_ucx mw_ucx;

static struct mw_lock lock;
static const struct mw_module_entry *library; /* that has the real ucp_init_version */
static _Atomic int learned;                   /* all about it */
static _Atomic int told;                      /* its version is in the trace */
static char version_text[48];

static const char *const names[MW_UCX_FUNCTIONS] = {
#define X(name) [MW_UCX_##name] = "ucp_" #name,
    MW_UCX_WRAPPED(X)
#undef X
};

void *mw_ucx_find(enum mw_ucx_function function, const void *caller)
{
    void *real = mw_real_find(names[function], NULL, caller);
    if (!real && !library)
        real = mw_real_anywhere(names[function], NULL);
    if (!real) {
        mw_health("ucx-function",
                  "a UCX function was called that no loaded UCX has: the call was refused as UCX "
                  "refuses what it does not support");
        return NULL;
    }
    if (library && !atomic_load_explicit(&mw_ucx.several, memory_order_relaxed))
        atomic_store_explicit(&mw_ucx.real[function], real, memory_order_release);
    return real;
}

static void learn_version(const void *init)
{
    unsigned major = 0, minor = 0, release = 0;
    void (*get_version)(unsigned *, unsigned *, unsigned *) =
        mw_real_find("ucp_get_version", NULL, init);
    if (!get_version)
        return;
    get_version(&major, &minor, &release);
    mw_ucx.version = major * 1000 + minor;
    snprintf(version_text, sizeof version_text, "%u.%u.%u", major, minor, release);
}

static void learn_functions(const void *init)
{
    mw_ucx.status_string = mw_real_find("ucs_status_string", NULL, init);
    mw_ucx.context_print = mw_real_find("ucp_context_print_info", NULL, init);
    mw_ucx.ep_print = mw_real_find("ucp_ep_print_info", NULL, init);
    mw_ucx.ep_query = mw_real_find("ucp_ep_query", NULL, init);
    mw_ucx.get_address = mw_real_find("ucp_worker_get_address", NULL, init);
    mw_ucx.release_address = mw_real_find("ucp_worker_release_address", NULL, init);
    mw_ucx.address_query = mw_real_find("ucp_worker_address_query", NULL, init);
}

static void learn_ranges(void)
{
    const struct mw_module_entry *self = mw_modules_locate((const void *)learn_ranges);
    if (self) {
        mw_ucx.ours = self->start;
        mw_ucx.ours_size = self->end - self->start;
    }
    mw_ucx.ucp = library->start;
    mw_ucx.ucp_size = library->end - library->start;
    mw_ucx.path = library->path;
}

/* All functions at once: afterwards no message waits for the loader. */
static void look_up_all(void *init, const void *caller)
{
    for (unsigned i = 0; i < MW_UCX_FUNCTIONS; i++) {
        void *real = i == MW_UCX_init_version ? init : mw_real_find(names[i], NULL, caller);
        if (!real)
            real = mw_real_find(names[i], NULL, init);
        atomic_store_explicit(&mw_ucx.real[i], real, memory_order_release);
    }
}

/* Makes `found` the library, unless another one is and has not gone. 1: it is new, and what we knew
 * of the one before is void. */
static int take_library(const struct mw_module_entry *found)
{
    mw_lock_take(&lock);
    int is_new = !library || atomic_load(&library->gone);
    if (is_new) {
        library = found;
        atomic_store(&learned, 0);
        atomic_store(&told, 0);
        for (unsigned i = 0; i < MW_UCX_FUNCTIONS; i++)
            atomic_store_explicit(&mw_ucx.real[i], NULL, memory_order_release);
    }
    mw_lock_drop(&lock);
    return is_new;
}

void *mw_ucx_enter(const void *caller)
{
    void *init = mw_real_find("ucp_init_version", NULL, caller);
    if (!init)
        init = mw_real_anywhere("ucp_init_version", NULL);
    if (!init)
        return mw_ucx_find(MW_UCX_init_version, caller); /* says so */
    const struct mw_module_entry *found = mw_modules_locate(init);
    if (!found)
        return init;
    if (take_library(found)) {
        learn_ranges();
        look_up_all(init, caller);
        learn_functions(init);
        learn_version(init);
        mw_ucx_log_start(
            init); /* also where nothing is recorded: one line of UCX's must not name us */
        atomic_store(&learned, 1);
    } else if (library != found && !atomic_exchange(&mw_ucx.several, 1)) {
        mw_health("ucx-several",
                  "more than one UCX library is in use: each call is led to the right one, slowly; "
                  "lanes and log lines are those of the first");
    }
    if (library == found && atomic_load(&learned) && mw_probe_on(&mw_probe_ucx) &&
        !atomic_exchange(&told, 1))
        mw_choice("version", "ucx", version_text, mw_ucx.path);
    return init;
}
