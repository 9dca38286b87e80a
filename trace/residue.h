/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process left in its mapping, as chunks. Used by the reader, by `mpiwatch collect` and by the next
 * recording process on the node. Checks everything it reads; never writes to the mapping.
 */
#ifndef MW_TRACE_RESIDUE_H
#define MW_TRACE_RESIDUE_H

#include <stddef.h>
#include <stdint.h>

#include "mpiwatch/status.h"
#include "trace/mapping.h"

typedef enum mw_status (*mw_residue_sink)(void *context, const uint8_t *chunk, size_t size);

struct mw_residue {
    const struct mw_map_header *header; /* the mapping, read-only */
    size_t size;
    int alive; /* the process still runs (pid and start time match, same boot and pid namespace) */
    int foreign; /* of another boot or pid namespace: whether it lives cannot be known from here */
};

/* Opens a mapping by path: regular file, owned by the caller's effective user, not a symlink, right magic and layout.
 * MW_ERR_NOT_FOUND, MW_ERR_SYSTEM, MW_ERR_CORRUPT, MW_ERR_NEWER (other layout). Uses mmap, no malloc. */
enum mw_status mw_residue_open(const char *path, struct mw_residue *residue);
void mw_residue_close(struct mw_residue *residue);

/* Gives `sink` the outbox, the events that are in no file yet, counts, open calls, a CLOCK reading taken now
 * (where the clock can be read here) and an END (collected, or snapshot where alive), each as a framed chunk. Memory by mmap, no malloc. */
enum mw_status mw_residue_chunks(const struct mw_residue *residue, mw_residue_sink sink,
                                 void *context);

/* Appends what a dead process left to its node file (opened O_APPEND|O_NOFOLLOW, never created; must be a regular file of the same user that begins with a
 * chunk) and removes the mapping. Claims it first by renaming it to NAME.claim-PID so that two collectors do not both do it; a failure
 * renames it back. MW_ERR_ARGUMENT when the process is alive or foreign. *bytes: appended. */
enum mw_status mw_residue_collect(const char *path, uint64_t *bytes);

/* Calls `visit` with the path of each mapping of this user in `folder` ("/dev/shm"); stops when it returns other than MW_OK. */
enum mw_status mw_residue_each(const char *folder, enum mw_status (*visit)(void *context, const char *path),
                               void *context);

#endif
