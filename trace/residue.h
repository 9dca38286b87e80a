/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process left in its mapping, as chunks. Used by the reader, by `mpiwatch collect` and by
 * the next recording process on the node. Checks everything it reads; never writes to the mapping.
 */
#ifndef MW_TRACE_RESIDUE_H
#define MW_TRACE_RESIDUE_H

#include <stddef.h>
#include <stdint.h>

#include "mpiwatch/status.h"
#include "trace/mapping.h"

typedef enum mw_status (*mw_residue_sink)(void *context, const uint8_t *chunk, size_t size);

struct mw_residue {
    const struct mw_map_header *header; /* a copy, made when it was opened; see file */
    size_t size;                        /* of the whole mapping */
    int alive; /* the process still runs (pid and start time match, same boot and pid namespace) */
    int foreign; /* of another boot or pid namespace: whether it lives cannot be known from here */
    /* Descriptor of the file + 1. 0: `header` is the whole mapping in memory, which its owner has
     * put here itself: a process that reads its own. mw_residue_close does nothing then. */
    int file;
};

/* Opens a mapping by path: regular file, owned by the caller's effective user, not a symlink, right
 * magic and layout. MW_ERR_NOT_FOUND, MW_ERR_SYSTEM, MW_ERR_CORRUPT, MW_ERR_NEWER (other layout).
 * Uses mmap, no malloc; the file itself is read with pread, as one that shrinks while it is mapped
 * would kill the reader. */
enum mw_status mw_residue_open(const char *path, struct mw_residue *residue);
void mw_residue_close(struct mw_residue *residue);

/* Gives `sink` the outbox, the events that are in no file yet, counts, open calls, a CLOCK reading
 * taken now (same boot and time namespace, so that it belongs to the same clock) and an END
 * (collected, or snapshot where alive; none where foreign), each as a framed chunk. After the
 * process itself has written its END: outbox, events, counts, sums and regions only. Memory by mmap, no malloc.
 * MW_ERR_CORRUPT: parts of the mapping made no sense and were left out, the sink has had the
 * others. Stops at the first error of the sink and returns it. */
enum mw_status mw_residue_chunks(const struct mw_residue *residue, mw_residue_sink sink,
                                 void *context);

/* Whether the process belongs to the trace in the folder with these numbers (st_dev, st_ino), which may have them from
 * one that was removed. */
int mw_residue_belongs(const struct mw_residue *residue, uint64_t folder_dev, uint64_t folder_ino);

/* Appends what a dead process left to its node file (opened O_APPEND|O_NOFOLLOW, never created;
 * must be a regular file of the same user that begins with a chunk) and removes the mapping. Claims
 * it first by renaming it to NAME.claim-PID so that two collectors do not both do it; a failure
 * renames it back. MW_ERR_ARGUMENT when the process is alive or foreign, or another collector is at
 * it (it holds a lock on the file, so that the claim of one that died is free again).
 * MW_ERR_NOT_FOUND when the mapping or the node file is gone; where the whole trace was removed (its
 * folder's parent is still there) the mapping goes too. A mapping that its process never
 * finished making is removed once it is an hour old. *bytes: appended. */
enum mw_status mw_residue_collect(const char *path, uint64_t *bytes);

/* The same for what the calling process itself left when it replaced itself by exec: its pid and start time are those of
 * the program that runs now. The caller knows that the mapping is not in use. MW_ERR_ARGUMENT: it is another process's. */
enum mw_status mw_residue_collect_replaced(const char *path, uint64_t *bytes);

/* Calls `visit` with the path of each mapping of this user in `folder` ("/dev/shm"), claimed ones
 * too; stops when it returns other than MW_OK, which is then returned. What is there when it starts
 * counts; `visit` may rename and remove. */
enum mw_status mw_residue_each(const char *folder,
                               enum mw_status (*visit)(void *context, const char *path),
                               void *context);

#endif
