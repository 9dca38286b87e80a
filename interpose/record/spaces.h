/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory spaces of calls: which kind of memory a call sends from and receives into
 * (docs/format.md, BUFFER). Where no GPU runtime is loaded, this is one comparison a call. Any
 * thread, inside its MPI call, after the real one.
 */
#ifndef MW_RECORD_SPACES_H
#define MW_RECORD_SPACES_H

#include "record/record.h"

/* When (in ticks) something has to be done: always where there is a runtime, now and then to see
 * whether one has come, never where nobody looks. */
extern _Atomic uint64_t mw_spaces_due;
void mw_spaces_due_at(uint64_t time);

/* The flags of the spaces of an event, or of a request that is prepared or started: those that
 * `flags` has already, or those that are found. What is counted, but for what is prepared, is kept
 * for mw_spaces_write. */
uint32_t mw_spaces_find(const struct mw_call *call, int kind, uint32_t flags,
                        const struct mw_raw_event *detail);
static inline uint32_t mw_spaces_of(const struct mw_call *call, int kind, uint32_t flags,
                                    const struct mw_raw_event *detail)
{
    if (__builtin_expect(call->start < atomic_load_explicit(&mw_spaces_due, memory_order_relaxed),
                         1))
        return 0;
    return mw_spaces_find(call, kind, flags, detail);
}

/* The number of a space, 1 to 30, or MW_EVENT_SPACE_MORE where there are too many. `runtime` NULL:
 * of none in particular; device -1: of none. Texts are copied. */
unsigned mw_space_number(enum mw_memory_kind kind, const char *runtime, int device,
                         const char *note);
/* Counts that have changed go to the trace. */
void mw_spaces_write(void);

#endif
