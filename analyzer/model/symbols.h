/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names for code addresses: function and, where debug information exists, file and line, by libdw.
 * Only from files that have the recorded build-id: a wrong name is worse than none. One table, one
 * thread.
 */
#ifndef MW_MODEL_SYMBOLS_H
#define MW_MODEL_SYMBOLS_H

#include "mpiwatch/trace.h"

struct mw_symbol {
    const char *module;       /* base name of its path; "?" unknown */
    uint64_t offset;          /* of the return address from the module's start */
    const char *function;     /* NULL unknown */
    const char *inlined_into; /* the function that has its code; NULL: it was not inlined */
    const char *file;         /* NULL unknown; as the debug information has it */
    int line;
    const char *reason; /* why there is no function; NULL when there is one */
};

struct mw_symbols;

struct mw_symbols *mw_symbols_create(void);
void mw_symbols_free(struct mw_symbols *symbols);
/* Texts live as long as the table. */
struct mw_symbol mw_symbols_frame(struct mw_symbols *symbols, const struct mw_process *process,
                                  const struct mw_frame *frame);

#endif
