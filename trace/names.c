/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks into the names that the generator makes from the table of the MPI API. Both halves; any
 * thread; static text only.
 */
#include "trace/names.h"

#include <stddef.h>

#include "mpi_functions.h"

extern const char *const mw_function_names[MW_FN_COUNT_];

const char *mw_function_name(unsigned id)
{
    return id < MW_FN_COUNT_ ? mw_function_names[id] : NULL;
}
