/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ENVIRONMENT chunks: the first process of a node writes all there is, the others what differs from
 * it, which they find by reading the node file. Nobody waits and nobody is asked. Runs where the
 * process initialises MPI; takes pages of its own for the time being, no allocation.
 *
 * What the first one writes: its own facts, then the node's in chunks with node = 1, compressed,
 * then an empty chunk with node = 1 as a mark that all is there. A process that has it as its base
 * compares with the facts in the base's chunks without node = 1 that stand before the first mark.
 * So no decompressor is needed in the job, and none is linked.
 */
#ifndef MW_PROBE_ENV_STORE_H
#define MW_PROBE_ENV_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "mpiwatch/status.h"
#include "probe/facts.h"

/* Gets whole framed chunks, in the order in which they must stand in the file. */
typedef void (*mw_env_emit_fn)(const uint8_t *chunk, size_t size, void *context);

/* Collects this process's facts, and the node's where nobody has, and emits the chunks. `file` is
 * the node file, readable at any offset; it may be written to by others meanwhile. A process that
 * is not the first in the file (whose chunk stands first is) and finds no base yet emits nothing
 * where it may wait and returns MW_ERR_NOT_FOUND, to be called again later (after the real
 * MPI_Init, say); where it may not, it writes everything itself. MW_ERR_MEMORY: no pages, nothing
 * emitted. */
enum mw_status mw_env_store(int file, uint64_t process, int may_wait, mw_env_emit_fn emit,
                            void *context);

/* The parts, for tests. */

struct mw_env_base {
    uint64_t process;          /* key */
    struct mw_fact_list facts; /* its own, without the node's */
};
/* MW_ERR_NOT_FOUND: nobody has written the node's facts within the first MiB. `memory` holds the
 * facts. */
enum mw_status mw_env_base_find(int file, void *memory, size_t size, struct mw_env_base *base);
/* Whether this process is the one that writes what holds for the node and takes time to find out:
 * the first in the node's file, or, where each process has a file of its own, the launcher's first. */
int mw_env_is_writer(void);
/* Whose chunk stands first; 0 when the file has none. */
uint64_t mw_env_first_process(int file);

enum mw_status mw_env_emit_full(uint64_t process, const struct mw_fact_list *own,
                                const struct mw_fact_list *node, mw_env_emit_fn emit,
                                void *context);
enum mw_status mw_env_emit_differences(uint64_t process, const struct mw_fact_list *own,
                                       const struct mw_env_base *base, mw_env_emit_fn emit,
                                       void *context);

#endif
