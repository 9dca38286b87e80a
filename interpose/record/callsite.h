/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call sites: where in the program an MPI call stands. A cache of the thread knows most of them in
 * 5 ns; the stack is walked only where it does not. Runs on the thread that calls MPI, inside the
 * call, with no lock held (a miss may wait for the loader's lock). Walking is safe where a signal
 * interrupted; the cache is not, so a signal handler that calls MPI, which MPI forbids, may get a
 * wrong site.
 */
#ifndef MW_RECORD_CALLSITE_H
#define MW_RECORD_CALLSITE_H

#include <stdint.h>

#include "probe/modules.h"
#include "record/sites.h"
#include "record/unwind.h"

struct mw_callsite_cache;

/* Once, in the initialising call, before any cache is made. depth: frames in a site; 0 records
 * none, 1 the return address alone, without libunwind; at most MW_FRAMES_MAX. `tell` (or NULL) gets
 * each new site. NULL when sites have that depth; else why they are of depth 1 (static text, for a
 * health note). */
const char *mw_callsite_setup(unsigned depth, mw_site_new_fn tell, void *context);
/* The depth that sites really have. */
unsigned mw_callsite_depth(void);

/* A cache for one thread at a time; NULL when there is no memory. Never given back. */
struct mw_callsite_cache *mw_callsite_cache_create(void);
/* On the thread that uses the cache from now on: forgets what it held and learns the thread's stack
 * (which for other threads than the first calls pthread_getattr_np). cache may be NULL. */
void mw_callsite_thread_start(struct mw_callsite_cache *cache);

/* The site of a call: return address and frame address of a function of ours that is still running
 * and keeps a frame pointer. 0: not recorded. Without a cache (NULL) only the return address is
 * recorded. */
uint32_t mw_callsite(struct mw_callsite_cache *cache, const void *caller, const void *frame);

/* Whether the place lies on the stack of the thread that uses the cache, which is mapped from the
 * running frame up. */
int mw_callsite_on_stack(const struct mw_callsite_cache *cache, const void *place);

/* For benchmarks and tests: calls that the cache did not know, and stacks that were walked for
 * checks. */
void mw_callsite_cache_stats(const struct mw_callsite_cache *cache, uint64_t *misses,
                             uint64_t *walks);

#endif
