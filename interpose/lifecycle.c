/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a recording: it starts when the process really initialises MPI and not a moment earlier, and
 * ends in MPI_Finalize, MPI_Abort, or when the process exits without either. A child of fork never
 * records. Runs on the threads that make these calls.
 */
#include <pthread.h>
#include <unistd.h>

#include "output/message.h"
#include "output/output.h"
#include "output/leftovers.h"
#include "probe/probe.h"
#include "record/coll.h"
#include "record/comms.h"
#include "record/facts.h"
#include "record/record.h"

static _Atomic int started; /* somebody has begun, or decided against it */
static struct mw_job_facts job;
static struct mw_clock_sample first_sample;
static uint64_t probes_ns; /* what the last steps of the probes took, before the real MPI_Finalize */

/* In the child of a fork: the mapping and the file are the parent's. */
static void forget_in_child(void)
{
    atomic_store(&mw_recorder.state, MW_OVER);
    mw_locks_after_fork();
}

static int give_up(void)
{
    atomic_store(&mw_recorder.state, MW_OVER);
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
#define UNIT_NS 4.0

/* Nanoseconds per tick from two samples, and with it how many bits of the clock are not worth storing. */
static void calibrate(void)
{
    struct mw_clock_sample now = mw_clock_sample_take(mw_recorder.clock);
    uint64_t ticks = now.time - first_sample.time, ns = now.raw - first_sample.raw;
    if (!ticks || !ns)
        return;
    mw_recorder.ns_per_tick = (double)ns / (double)ticks;
    unsigned shift = 0;
    while (mw_recorder.ns_per_tick * (double)(2u << shift) <= UNIT_NS)
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
    mw_recorder.ns_per_tick = mw_recorder.clock == MW_CLOCK_MONOTONIC ? 1.0 : 0.5;
    first_sample = mw_clock_sample_take(mw_recorder.clock);
    if (!mw_output_start(&mw_recorder.config, &job))
        return give_up();
    if (mw_recorder.config.wrong)
        mw_health("settings", mw_recorder.config.wrong);
    pthread_atfork(NULL, NULL, forget_in_child);
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
    atomic_store(&mw_recorder.state, MW_RECORDING);
    mw_probes_start();
    mw_output_flush();
    mw_recorder.init_ns = mw_clock_ns(CLOCK_MONOTONIC_RAW) - began;
    return 1;
}

int mw_lifecycle_starts(enum mw_function function, const void *caller)
{
    if (function != MW_FN_Init && function != MW_FN_Init_thread)
        return 0;
    if (atomic_exchange(&started, 1))
        return 0;
    return start(caller);
}

/* Everything into the file, and the last word. `thread`: the caller's, NULL when it has none. */
static void end(struct mw_thread_state *thread, enum mw_end_reason reason, int code, uint64_t time)
{
    uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    mw_probes_finish(reason);
    if (atomic_exchange(&mw_recorder.state, MW_OVER) != MW_RECORDING)
        return;
    mw_modules_refresh(); /* what was loaded since */
    mw_facts_clock();
    if (thread)
        mw_events_flush(thread);
    mw_events_flush_others(thread, mw_output_flush_others());
    mw_flows_finish();
    mw_facts_counts();
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

/* After the real MPI_Init: who we are. */
static void learn(uint64_t init_end)
{
    uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    mw_modules_refresh(); /* MPI has loaded its components */
    mw_facts_rank(init_end);
    warn_if_wrong_library();
    mw_facts_environment(1);
    mw_comms_start();
    mw_probes_ready();
    mw_facts_clock();
    calibrate();
    mw_output_set_state(MW_MAP_RECORDING);
    mw_output_flush();
    mw_recorder.init_ns += mw_clock_ns(CLOCK_MONOTONIC_RAW) - began;
}

/* MPI_Init and MPI_Init_thread; `again` when MPI had been initialised before, which MPI will refuse. */
static void init_end(struct mw_call *call, int rc)
{
    uint64_t end_time = mw_close(call);
    struct mw_raw_event detail = {.peer = MW_PEER_NONE};
    if (rc != 0) {
        mw_call_failed(call, end_time, rc);
    } else {
        if (mw_recorder.rank < 0)
            learn(end_time);
        mw_call_event(call, end_time, MW_EVENT_CALL, 0, &detail);
    }
    mw_leave(call);
}

void mw_init_begin(struct mw_call *call)
{
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

void mw_init_end(struct mw_call *call, int rc)
{
    init_end(call, rc);
}

void mw_init_thread_begin(struct mw_call *call, int *provided)
{
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
    if (rc == 0)
        end(thread, MW_END_FINALIZE, 0, end_time);
}

/* The real MPI_Abort does not return: what we have goes to the file before it. */
void mw_abort_begin(struct mw_call *call, mw_handle comm, int errorcode)
{
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
    end(call->thread, MW_END_ABORT, errorcode, call->start);
}

void mw_abort_end(struct mw_call *call, int rc, mw_handle comm, int errorcode)
{
    mw_self.call = call->outer;
}

void mw_session_init_begin(struct mw_call *call, void *session)
{
    mw_call_begin(call, 0);
}

void mw_session_init_end(struct mw_call *call, int rc, void *session)
{
    mw_call_end(call, rc, 0);
}

void mw_session_finalize_begin(struct mw_call *call, void *session)
{
    mw_call_begin(call, 0);
}

void mw_session_finalize_end(struct mw_call *call, int rc, void *session)
{
    mw_call_end(call, rc, 0);
}

/* exit() without MPI_Finalize. In a child of fork the state is OVER. */
__attribute__((destructor)) static void at_exit(void)
{
    if (atomic_load(&mw_recorder.state) == MW_RECORDING && (uint64_t)getpid() == job.pid)
        end(mw_self.thread, MW_END_EXIT, 0, mw_now());
}
