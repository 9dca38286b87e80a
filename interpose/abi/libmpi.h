/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI libraries of this process: which one serves a caller, which ABI it has, and the real
 * functions behind ours. Looked up once a library, never a call. Any thread; the loader's lock is
 * taken on first use of a function only.
 */
#ifndef MW_ABI_LIBMPI_H
#define MW_ABI_LIBMPI_H

#include <stdatomic.h>

#include "abi/abi.h"
#include "probe/modules.h"

struct mw_libmpi {
    const struct mw_module_entry *object;
    struct mw_abi abi; /* kind 0: not recognised, nothing is recorded */
    char version[256]; /* PMPI_Get_library_version, its first line */
    _Atomic(void *) real[MW_FN_COUNT_][2]; /* by function and enum mw_entry */
    _Atomic(void *) own[MW_FN_COUNT_];     /* the library's own PMPI_X */
};

/* The library that serves code at this address; NULL when there is none. Discovers libraries that were
 * loaded since; remembers the answer for each loaded object. */
struct mw_libmpi *mw_libmpi_of(const void *caller);

/* The next function of that name after us: another tool's, else the library's own. NULL: none has it. */
void *mw_libmpi_resolve(enum mw_function function, enum mw_entry entry, const void *caller);

/* The library's own PMPI_X, past any tool: for the questions that we ask ourselves. NULL: it has none. */
void *mw_libmpi_own(struct mw_libmpi *lib, enum mw_function function);

/* A function whose presence the program tests (by a weak symbol), which this MPI lacks and we make look present; NULL none. */
const char *mw_libmpi_misled(const struct mw_libmpi *lib);

/* Non-NULL while this process is known to have exactly one MPI library: then nothing is looked up by
 * caller, but for the functions by which a second one can make its first appearance (those that
 * may be called before MPI_Init). */
extern _Atomic(struct mw_libmpi *) mw_libmpi_single;

static inline void *mw_libmpi_real(enum mw_function function, enum mw_entry entry,
                                   const void *caller)
{
    struct mw_libmpi *lib = atomic_load_explicit(&mw_libmpi_single, memory_order_acquire);
    void *real = lib ? atomic_load_explicit(&lib->real[function][entry], memory_order_relaxed) : NULL;
    if (__builtin_expect(real != NULL, 1) && !(mw_function_flags[function] & MW_FUNCTION_EARLY))
        return real;
    return mw_libmpi_resolve(function, entry, caller);
}

/* Whether this caller's MPI library is `lib`. */
static inline int mw_libmpi_serves(const struct mw_libmpi *lib, const void *caller)
{
    return __builtin_expect(atomic_load_explicit(&mw_libmpi_single, memory_order_acquire) == lib, 1) ||
           mw_libmpi_of(caller) == lib;
}

#endif
