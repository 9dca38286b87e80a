/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local questions to MPI, through the library's own functions: never communication, never about an
 * object that a successful call has not shown to be valid.
 */
#ifndef MW_RECORD_ASK_H
#define MW_RECORD_ASK_H

#include "record/record.h"

/* Calls the library's own function with the given parameter types; 0 when it is missing or fails. */
#define MW_ASK(function, types, ...)                                               \
    __extension__({                                                                \
        int(*ask_) types = (int(*) types)mw_libmpi_own(mw_recorder.lib, function); \
        ask_ != NULL && ask_(__VA_ARGS__) == 0;                                    \
    })

#endif
