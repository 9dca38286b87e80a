/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probe of UCX: its steps, and what it says of itself. Counters go to the trace at flushes as
 * far as they have changed, everything before MPI_Finalize, in exit() and in MPI_Abort what is in
 * our own memory. On the thread that makes the call of MPI.
 */
#include "probe/ucx.h"

#include <stdio.h>
#include <string.h>

#include "probe/loglines.h"
#include "probe/modules.h"
#include "record/ask.h"
#include "record/record.h"

#define LANES_MOST  4096u       /* endpoints that are asked for their lanes */
#define IDLE_FEW    256u        /* up to so many also those that nothing went through */
#define FLUSH_BYTES (64u << 10) /* what a flush may write on average */

static _Atomic int closed;  /* the last step has been */
static int alone;           /* MPI lets no two threads in at once */
static unsigned lanes_left; /* endpoints that were not asked for their lanes */

int mw_ucx_open(void)
{
    return !atomic_load_explicit(&closed, memory_order_relaxed) && mw_probe_on(&mw_probe_ucx);
}

static int is_idle(const struct mw_ucx_peer *peer)
{
    return !atomic_load_explicit(&peer->sends, memory_order_relaxed) &&
           !atomic_load_explicit(&peer->puts, memory_order_relaxed) &&
           !atomic_load_explicit(&peer->gets, memory_order_relaxed);
}

/* Asks for the lanes of endpoints. quiet: no other thread can be in MPI; else workers that leave it
 * to their users not to come at the same time are left alone. */
static void read_lanes(int idle, int quiet, unsigned *asked)
{
    for (unsigned i = 0, count = mw_ucx_peer_count(); i < count; i++) {
        struct mw_ucx_peer *peer = mw_ucx_peer_at(i);
        if (is_idle(peer) != idle || !peer->worker->handle || !atomic_load(&peer->ep))
            continue;
        if (!quiet && peer->worker->thread_mode == MW_UCS_THREAD_MODE_SERIALIZED)
            continue;
        if (*asked == LANES_MOST || mw_probe_late()) {
            lanes_left += !peer->lanes;
            continue;
        }
        ++*asked;
        mw_ucx_lanes_read(peer);
    }
}

static void ready(void)
{
    int level = 0;
    alone = MW_ASK(MW_FN_Query_thread, (int *), &level) && level != 3 &&
            level < 4096; /* of MPI-5's ABI */
}

static size_t write_all(int all)
{
    struct mw_ucx_worker *worker;
    size_t wrote = 0;
    for (unsigned i = 0; (worker = mw_ucx_worker_at(i)); i++)
        wrote += mw_ucx_worker_write(worker, all);
    return wrote;
}

static void flush(void)
{
    static int lanes_read;
    static size_t debt; /* bytes that were more than a flush should write */
    unsigned asked = 0;
    if (debt >= FLUSH_BYTES) {
        debt -= FLUSH_BYTES;
        return;
    }
    if (!lanes_read && mw_ucx_peer_count()) { /* a job that hangs later has them */
        lanes_read = 1;
        read_lanes(0, alone, &asked);
        lanes_left = 0;
    }
    debt += write_all(0);
    mw_log_lines_finish();
}

static const char *loaded_ucp(void)
{
    for (unsigned i = 0; i < mw_modules_count(); i++) {
        const struct mw_module_entry *module = mw_modules_at(i);
        const char *slash = strrchr(module->path, '/');
        if (strncmp(slash ? slash + 1 : module->path, "libucp.so", 9) == 0)
            return module->path;
    }
    return NULL;
}

static void say_partly(const char *why, uint64_t number)
{
    char text[256];
    snprintf(text, sizeof text, why, (unsigned long long)number);
    mw_choice("probe", "ucx", "partly", text);
}

/* How far we saw. The worst counts. */
static void say_coverage(void)
{
    uint64_t strays = atomic_load(&mw_ucx_strays);
    const char *loaded = mw_ucx.path ? NULL : loaded_ucp();
    if (!mw_ucx.path && !loaded)
        mw_choice("probe", "ucx", "absent", NULL);
    else if (!mw_ucx.path)
        mw_choice("probe", "ucx", "on",
                  "libucp is loaded, and no call that opens it came this way");
    else if (atomic_load(&mw_ucx.several))
        say_partly(
            "more than one UCX library is in use: lanes and log lines are those of the first", 0);
    else if (strays)
        say_partly("%llu operations went through endpoints that were not seen made", strays);
    else if (lanes_left)
        say_partly("the lanes of %llu endpoints were not read: no time for more", lanes_left);
    else if (mw_ucx.version > MW_UCX_NEWEST)
        say_partly("this UCX is newer than those that were looked at: its log lines are not kept",
                   0);
    else if (mw_ucx.version < MW_UCX_OLDEST)
        say_partly("this UCX is older than those that were looked at: its log lines are not kept",
                   0);
    else
        mw_choice("probe", "ucx", "on", NULL);
}

static void finish(enum mw_end_reason reason)
{
    unsigned asked = 0;
    if (reason == MW_END_FINALIZE) {
        read_lanes(0, 1, &asked);
        if (mw_ucx_peer_count() <= IDLE_FEW)
            read_lanes(1, 1, &asked);
    }
    atomic_store(&closed, 1);
    write_all(1);
    mw_log_lines_finish();
    say_coverage();
}

static void again(void)
{
    atomic_store(&closed, 0);
}

const struct mw_probe mw_probe_ucx = {.name = "ucx",
                                      .limit_us = 20000,
                                      .ready = ready,
                                      .flush = flush,
                                      .finish = finish,
                                      .again = again};
