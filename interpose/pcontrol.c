/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pcontrol is variadic: its arguments are another tool's business and must reach it. On the platforms
 * we run on a variadic call passes its first arguments in the same registers as a fixed one, so taking and
 * handing on as many words and doubles as there are registers hands on all of them that lie there.
 */
#include "record/handlers.h"
#include "record/record.h"

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

#define PCONTROL(entry)                                                                     \
    struct mw_call call;                                                                    \
    real_fn real = (real_fn)mw_local_enter(&call, MW_FN_Pcontrol, entry,                    \
                                           __builtin_return_address(0),                     \
                                           __builtin_frame_address(0));                     \
    if (!real)                                                                              \
        return mw_missing(MW_FN_Pcontrol);                                                  \
    int rc = real(level, WORD_NAMES, DOUBLE_NAMES);                                         \
    mw_local_leave(&call);                                                                  \
    return rc;

int MPI_Pcontrol(int level, WORDS, DOUBLES)
{
    PCONTROL(MW_ENTRY_MPI)
}

int PMPI_Pcontrol(int level, WORDS, DOUBLES)
{
    PCONTROL(MW_ENTRY_PMPI)
}
