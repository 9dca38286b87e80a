/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pcontrol: level 0 reduces detail to sums, 1 restores it, higher ones with a name begin a region and negative
 * ones end it (record/regions.h). It is variadic, and its arguments may be another tool's business and must
 * reach it. On the platforms we run on a variadic call passes its first arguments in the same registers as a fixed
 * one, so taking and handing on as many words and doubles as there are registers hands on all of them that
 * lie there. Nothing says whether a name was given: see mw_region_name.
 */
#include "record/aggregate.h"
#include "record/handlers.h"
#include "record/record.h"
#include "record/regions.h"

#if defined(__aarch64__)
#define WORDS long a1, long a2, long a3, long a4, long a5, long a6, long a7
#define WORD_NAMES a1, a2, a3, a4, a5, a6, a7
#else
#define WORDS long a1, long a2, long a3, long a4, long a5
#define WORD_NAMES a1, a2, a3, a4, a5
#endif
#define DOUBLES                                                                             \
    double d0, double d1, double d2, double d3, double d4, double d5, double d6, double d7
#define DOUBLE_NAMES d0, d1, d2, d3, d4, d5, d6, d7

#define MW_EXPORT __attribute__((visibility("default")))

MW_EXPORT int MPI_Pcontrol(int level, WORDS, DOUBLES);
MW_EXPORT int PMPI_Pcontrol(int level, WORDS, DOUBLES);

typedef int (*real_fn)(int, ...);

/* Bindings and tools hand on the level and leave in the registers what was there. */
static int called_by_program(const struct mw_call *call)
{
    const struct mw_module_entry *module = mw_modules_find(call->caller);
    return !module || module->role == MW_MODULE_PROGRAM;
}

/* The event stands where the region changes, also where MPI_Pcontrol(0) has reduced others to sums. */
static void begin(struct mw_call *call)
{
    if (call->reduced == MW_WHY_PCONTROL)
        call->reduced = 0;
    mw_open(call, 0, MW_PEER_NONE, 0, 0);
}

static void obey(const struct mw_call *call, int level, const void *pointer)
{
    char name[MW_MAP_REGION];
    if (level == 0)
        atomic_fetch_or_explicit(&mw_recorder.reduced, MW_REDUCED_PCONTROL, memory_order_relaxed);
    else if (level == 1)
        atomic_fetch_and_explicit(&mw_recorder.reduced, ~(uint32_t)MW_REDUCED_PCONTROL,
                                  memory_order_relaxed);
    else if (level < 0)
        mw_region_mark(level, NULL, call->start);
    else if (called_by_program(call) && mw_region_name(pointer, name))
        mw_region_mark(level, name, call->start);
}

static void end(struct mw_call *call, int rc, int level, const void *pointer)
{
    uint64_t time = mw_close(call);
    struct mw_raw_event detail = {.peer = MW_PEER_NONE};
    obey(call, level, pointer);
    detail.tag = (int32_t)mw_region_current();
    if (rc == 0)
        mw_call_event(call, time, MW_EVENT_CALL, 0, &detail);
    else
        mw_call_failed(call, time, rc);
    mw_leave(call);
}

#define PCONTROL(entry)                                                                     \
    struct mw_call call;                                                                    \
    real_fn real = (real_fn)mw_call_enter(&call, MW_FN_Pcontrol, entry,                     \
                                          __builtin_return_address(0),                      \
                                          __builtin_frame_address(0));                      \
    if (!real)                                                                              \
        return mw_missing(MW_FN_Pcontrol);                                                  \
    if (call.recorded)                                                                      \
        begin(&call);                                                                       \
    int rc = real(level, WORD_NAMES, DOUBLE_NAMES);                                         \
    if (call.recorded)                                                                      \
        end(&call, rc, level, (const void *)a1);                                            \
    return rc;

int MPI_Pcontrol(int level, WORDS, DOUBLES)
{
    PCONTROL(MW_ENTRY_MPI)
}

int PMPI_Pcontrol(int level, WORDS, DOUBLES)
{
    PCONTROL(MW_ENTRY_PMPI)
}
