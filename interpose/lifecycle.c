/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a recording: it starts when the process really initialises MPI and not a moment earlier, and
 * ends in MPI_Finalize, MPI_Abort, or when the process exits without either. With sessions it rests when the
 * last one is finalized and there is no world: all is in the file, and goes on with the next. A child of
 * fork never records. Runs on the threads that make these calls.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/message.h"
#include "output/output.h"
#include "output/leftovers.h"
#include "probe/probe.h"
#include "record/aggregate.h"
#include "record/coll.h"
#include "record/comms.h"
#include "record/facts.h"
#include "record/probes.h"
#include "record/record.h"
#include "record/regions.h"
#include "record/sums.h"

static _Atomic int started; /* somebody has begun, or decided against it */
static struct mw_job_facts job;
static struct mw_clock_sample first_sample;

enum { WORLD_NOT_YET, WORLD_THERE, WORLD_OVER };
#define SESSIONS_MAX 64u

/* What of MPI is initialised. Sessions may begin and end on several threads at once. */
static struct {
    struct mw_lock lock;
    int world;
    unsigned sessions;
    mw_handle session[SESSIONS_MAX]; /* 0: none, or one for which there was no room */
    mw_handle ranks_of;              /* the session that world ranks come from; 0: the world */
    int learned;                     /* who we are was asked */
    int resting;                     /* nothing is initialised any more */
    uint64_t rests_since;
} mpi;

static uint64_t probes_ns; /* what the last steps of the probes took, before the real MPI_Finalize */

/* In the child of a fork: the mapping and the file are the parent's. */
static void forget_in_child(void)
{
    atomic_store(&mw_recording.state, MW_OVER);
    mw_locks_after_fork();
}

/* Since Linux 4.14; before, and where pages are larger and hold more of ours, children of fork() alone are told. */
static void own_page_wiped(void)
{
    if (sysconf(_SC_PAGESIZE) == MW_RECORDING_PAGE)
        madvise(&mw_recording, sizeof mw_recording, MADV_WIPEONFORK);
}

static int give_up(void)
{
    atomic_store(&mw_recording.state, MW_OVER);
    return 0;
}

static int find_library(const void *caller)
{
    struct mw_libmpi *lib = mw_libmpi_of(caller);
    mw_recorder.lib = lib;
    if (!lib || !lib->abi.kind) {
        mw_message_once("nothing is recorded: unknown MPI library",
                        lib ? lib->object->path : "(none found)", lib ? lib->version : "");
        return 0;
    }
    mw_recorder.abi = &lib->abi;
    return 1;
}

/* Reading the clock takes 16 to 35 ns and more: finer units than this would store noise, at up to a byte an
 * event. */
#define UNIT_NS   ((uint64_t)4 << MW_TICK_SHIFT)
#define SHIFT_MAX 16u

/* Nanoseconds per tick from two samples, and with it how many bits of the clock are not worth storing. */
static void calibrate(void)
{
    struct mw_clock_sample now = mw_clock_sample_take(mw_recorder.clock);
    uint64_t ticks = now.time - first_sample.time, ns = now.raw - first_sample.raw;
    if (!ticks || !ns)
        return;
    mw_recorder.tick = (uint64_t)(((unsigned __int128)ns << MW_TICK_SHIFT) / ticks);
    if (!mw_recorder.tick) /* a clock that was set back meanwhile */
        mw_recorder.tick = 1;
    unsigned shift = 0;
    while (shift < SHIFT_MAX && mw_recorder.tick <= UNIT_NS >> (shift + 1))
        shift++;
    mw_output_set_shift(shift);
}

static int start(const void *caller)
{
    uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    mw_config_read(&mw_recorder.config);
    if (mw_recorder.config.off)
        return give_up();
    mw_job_facts_read(&mw_recorder.config, &job);
    mw_message_start(&job);
    if (!find_library(caller))
        return give_up();
    mw_recorder.clock = mw_clock_choose(mw_recorder.config.clock);
    mw_recorder.tick = (uint64_t)1 << (mw_recorder.clock == MW_CLOCK_MONOTONIC ? MW_TICK_SHIFT : MW_TICK_SHIFT - 1);
    first_sample = mw_clock_sample_take(mw_recorder.clock);
    if (!mw_output_start(&mw_recorder.config, &job))
        return give_up();
    if (mw_recorder.config.wrong)
        mw_health("settings", mw_recorder.config.wrong);
    pthread_atfork(NULL, NULL, forget_in_child);
    own_page_wiped();
    mw_facts_process(&job, first_sample.time);
    mw_facts_clock();
    mw_output_flush(); /* whatever happens in MPI_Init: this much is known */
    mw_modules_notify(mw_facts_modules, NULL);
    mw_modules_refresh();
    const char *shallow = mw_callsite_setup(mw_recorder.config.stack, mw_facts_site, NULL);
    if (shallow)
        mw_health("call-sites", shallow);
    mw_facts_environment(0);
    mw_leftovers_collect(&mw_recorder.config);
    mw_output_flush();
    atomic_store(&mw_recorder.reduced, mw_recorder.config.summary ? MW_REDUCED_SUMMARY : 0);
    atomic_store(&mw_recording.state, MW_RECORDING);
    mw_probes_start();
    mw_output_flush();
    mw_recorder.init_ns = mw_clock_ns(CLOCK_MONOTONIC_RAW) - began;
    return 1;
}

int mw_lifecycle_starts(enum mw_function function, const void *caller)
{
    if (function != MW_FN_Init && function != MW_FN_Init_thread && function != MW_FN_Session_init)
        return 0;
    if (atomic_exchange(&started, 1))
        return 0;
    return start(caller);
}

/* What has grown from call to call. */
static void write_sums(void)
{
    mw_flows_finish();
    mw_regions_write();
    mw_sums_flush();
    mw_facts_counts();
}

/* Everything into the file, and the last word. `thread`: the caller's, NULL when it has none. */
static void end(struct mw_thread_state *thread, enum mw_end_reason reason, int code, uint64_t time)
{
    uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    mw_probes_finish(reason);
    if (atomic_exchange(&mw_recording.state, MW_OVER) != MW_RECORDING)
        return;
    mw_modules_refresh(); /* what was loaded since */
    mw_facts_clock();
    if (thread)
        mw_events_flush(thread);
    mw_events_flush_others(thread, mw_output_flush_others());
    mw_regions_end(time);
    write_sums();
    if (mw_modules_lost())
        mw_health("modules", "more loaded objects than there is room for: call sites in the others are unknown");
    if (mw_sites_lost())
        mw_health("call-sites-lost", "more different call sites than there is room for: the others are known by "
                                     "their return address, or not at all");
    mw_health_flush();
    mw_facts_cost(probes_ns + mw_clock_ns(CLOCK_MONOTONIC_RAW) - began);
    mw_facts_end(reason, time, code, mw_now());
    mw_output_set_state(MW_MAP_ENDED);
    mw_output_end();
}

/* Programs test for newer functions by weak symbols, and we export them all: say so, since the program may
 * call what its MPI lacks. */
static void warn_if_wrong_library(void)
{
    const char *name = mw_libmpi_misled(mw_recorder.lib);
    if (!name)
        return;
    mw_health("wrong-library",
              "the program tests whether newer MPI functions are there, and this library makes those look present "
              "that the MPI lacks: start the job with mpiwatch run, which picks the right one");
    mw_message_once(mw_libmpi_own(mw_recorder.lib, MW_FN_Isendrecv)
                        ? "preload libmpiwatch-mpi4.so instead: the program tests for"
                        : "preload libmpiwatch-mpi3.so instead: the program tests for",
                    name, "which this MPI lacks");
}

/* World ranks, from a session that there is: one that a process set has them for, without communication. */
static int ranks_from(mw_handle session, int *rank, int *size)
{
    *rank = *size = -1;
    mpi.ranks_of = session;
    if (mw_groups_start_session(session, rank, size))
        return 1;
    mw_health("session-ranks", "MPI did not tell this session's process set of all: world ranks are unknown");
    return 0;
}

static void learn_world(uint64_t init_end)
{
    mw_groups_stop(); /* a session's */
    mpi.ranks_of = 0;
    mw_facts_rank(init_end);
    mw_comms_start();
}

static void learn_session(uint64_t init_end, mw_handle session)
{
    int rank, size;
    ranks_from(session, &rank, &size);
    mw_facts_session_rank(init_end, rank, size);
}

/* After the real MPI_Init, or the first MPI_Session_init: who we are. session: 0 with a world. */
static void learn(uint64_t init_end, mw_handle session)
{
    uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    mw_modules_refresh(); /* MPI has loaded its components */
    if (session)
        learn_session(init_end, session);
    else
        learn_world(init_end);
    warn_if_wrong_library();
    mw_facts_environment(1);
    mw_probes_ready();
    mw_facts_clock();
    calibrate();
    mw_output_set_state(MW_MAP_RECORDING);
    mw_output_flush();
    mw_budget_check();
    mw_recorder.init_ns += mw_clock_ns(CLOCK_MONOTONIC_RAW) - began;
}

/* Nothing of MPI is left but sessions may come: all into the file, as at the end. */
static void rest(struct mw_thread_state *thread, uint64_t time)
{
    uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    atomic_fetch_add(&mw_recorder.type_generation, 1); /* what MPI made is gone, the handles will come again */
    mw_facts_clock();
    mw_events_flush(thread);
    mw_events_flush_others(thread, mw_output_flush_others());
    write_sums();
    mw_health_flush();
    mw_facts_cost(probes_ns + mw_clock_ns(CLOCK_MONOTONIC_RAW) - began);
    mw_facts_end(MW_END_FINALIZE, time, 0, mw_now());
    mw_output_flush();
    mpi.rests_since = time;
    mpi.resting = 1;
}

/* MPI is being initialised again: the end was none. */
static void go_on(void)
{
    mw_lock_take(&mpi.lock);
    int rested = mpi.resting;
    mpi.resting = 0;
    mw_lock_drop(&mpi.lock);
    if (!rested)
        return;
    mw_facts_end(MW_END_NONE, 0, 0, 0);
    mw_facts_clock();
    mw_probes_again();
    mw_output_flush();
}

/* MPI_Init and MPI_Init_thread; `again` when MPI had been initialised before, which MPI will refuse. */
static void init_end(struct mw_call *call, int rc)
{
    uint64_t end_time = mw_close(call);
    struct mw_raw_event detail = {.peer = MW_PEER_NONE};
    if (rc != 0) {
        mw_call_failed(call, end_time, rc);
    } else {
        if (!mpi.learned)
            learn(end_time, 0);
        else if (mpi.world == WORLD_NOT_YET)
            learn_world(end_time);
        mpi.learned = 1;
        mpi.world = WORLD_THERE;
        mw_call_event(call, end_time, MW_EVENT_CALL, 0, &detail);
    }
    mw_leave(call);
}

void mw_init_begin(struct mw_call *call)
{
    go_on();
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_init_end(struct mw_call *call, int rc)
{
    init_end(call, rc);
}

void mw_init_thread_begin(struct mw_call *call, int *provided)
{
    go_on();
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_init_thread_end(struct mw_call *call, int rc, int *provided)
{
    init_end(call, rc);
}

void mw_finalize_begin(struct mw_call *call)
{
    uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    mw_probes_finish(MW_END_FINALIZE); /* MPI takes its connections and endpoints down */
    probes_ns += mw_clock_ns(CLOCK_MONOTONIC_RAW) - began;
    mw_comms_stop();
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

/* World ranks come from what is left. */
static void keep_ranks(void)
{
    int rank, size;
    if (mw_groups_have_world())
        return;
    mpi.ranks_of = 0;
    if (mpi.world == WORLD_THERE) {
        mw_groups_start();
        return;
    }
    for (unsigned i = 0; i < SESSIONS_MAX; i++)
        if (mpi.session[i] && ranks_from(mpi.session[i], &rank, &size))
            return;
}

void mw_finalize_end(struct mw_call *call, int rc)
{
    uint64_t end_time = mw_close(call);
    struct mw_thread_state *thread = call->thread;
    struct mw_raw_event detail = {.peer = MW_PEER_NONE};
    if (rc != 0)
        mw_call_failed(call, end_time, rc);
    else
        mw_call_event(call, end_time, MW_EVENT_CALL, 0, &detail);
    mw_leave(call);
    if (rc != 0)
        return;
    mpi.world = WORLD_OVER;
    if (!mpi.sessions) {
        end(thread, MW_END_FINALIZE, 0, end_time);
        return;
    }
    keep_ranks();
    mw_probes_again();
}

/* The real MPI_Abort does not return: what we have goes to the file before it. */
void mw_abort_begin(struct mw_call *call, mw_handle comm, int errorcode)
{
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
    end(call->thread, MW_END_ABORT, errorcode, call->start);
}

void mw_abort_end(struct mw_call *call, int rc, mw_handle comm, int errorcode)
{
    mw_local_leave(call);
}

void mw_session_init_begin(struct mw_call *call, void *session)
{
    go_on();
    mw_call_begin(call, 0);
}

/* Counts a session in or out; under the lock. Which there are is known only as far as there is room. */
static unsigned session_count(mw_handle session, int in)
{
    mw_handle wanted = in ? 0 : session;
    mpi.sessions += in ? 1 : mpi.sessions ? -1u : 0;
    for (unsigned i = 0; i < SESSIONS_MAX; i++)
        if (mpi.session[i] == wanted) {
            mpi.session[i] = in ? session : 0;
            break;
        }
    return mpi.sessions;
}

void mw_session_init_end(struct mw_call *call, int rc, void *session)
{
    uint64_t time = mw_close(call);
    if (rc == 0) {
        mw_handle handle = mw_abi_load(mw_recorder.abi, session, 0);
        mw_lock_take(&mpi.lock);
        unsigned count = session_count(handle, 1);
        int first = !mpi.learned;
        mpi.learned = 1;
        mw_lock_drop(&mpi.lock);
        if (first)
            learn(time, handle);
        else if (count == 1)
            keep_ranks();
    }
    mw_probe_close(call, time, rc);
}

/* The last look at what this session, if nothing else is left, takes down; and what we have of it goes back. */
void mw_session_finalize_begin(struct mw_call *call, void *session)
{
    mw_handle handle = session ? mw_abi_load(mw_recorder.abi, session, 0) : 0;
    call->keep.word[0] = handle;
    if (mpi.sessions == 1 && mpi.world != WORLD_THERE) {
        uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
        mw_probes_finish(MW_END_FINALIZE);
        probes_ns += mw_clock_ns(CLOCK_MONOTONIC_RAW) - began;
    }
    if (handle && handle == mpi.ranks_of)
        mw_groups_stop();
    mw_call_begin(call, 0);
}

void mw_session_finalize_end(struct mw_call *call, int rc, void *session)
{
    uint64_t time = mw_close(call);
    struct mw_thread_state *thread = call->thread;
    unsigned count = 1;
    if (rc == 0) {
        mw_lock_take(&mpi.lock);
        count = session_count(call->keep.word[0], 0);
        mw_lock_drop(&mpi.lock);
    }
    if (count || mpi.world == WORLD_THERE)
        keep_ranks();
    mw_probe_close(call, time, rc);
    if (!count && mpi.world == WORLD_OVER)
        end(thread, MW_END_FINALIZE, 0, time);
    else if (!count && mpi.world == WORLD_NOT_YET)
        rest(thread, time);
}

/* What follows the destructors: no MPI_Finalize can come any more. */
static void exit_ends(void *unused)
{
    (void)unused;
    if (atomic_load(&mw_recording.state) != MW_RECORDING)
        return;
    if (mw_self.thread) /* exit() in a callback */
        mw_calls_abandon(mw_self.thread);
    if (mpi.resting)
        end(mw_self.thread, MW_END_FINALIZE, 0, mpi.rests_since);
    else
        end(mw_self.thread, MW_END_EXIT, 0, mw_now());
}

int __cxa_atexit(void (*function)(void *), void *argument, void *object);

/* exit() without MPI_Finalize, so far: libraries that finalize MPI in their destructors come after us, who were loaded
 * before them. What is registered now, for no object, is called when all destructors have run. The probes look now, while
 * the libraries that they ask are whole. In a child of fork nothing is recorded. */
__attribute__((destructor)) static void at_exit(void)
{
    if (atomic_load(&mw_recording.state) != MW_RECORDING || (uint64_t)getpid() != job.pid)
        return;
    if (!mpi.resting)
        mw_probes_finish(MW_END_EXIT);
    if (__cxa_atexit(exit_ends, NULL, NULL) != 0)
        exit_ends(NULL);
}
