/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files residue*.c alone.
 */
#ifndef MW_TRACE_RESIDUE_INTERNAL_H
#define MW_TRACE_RESIDUE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mpiwatch/status.h"

#define MW_CLAIM_INFIX ".claim-"

/* All of it or an error: MW_ERR_CORRUPT where the file ends before. */
enum mw_status mw_residue_pread(int fd, void *to, size_t size, uint64_t offset);
/* Zeroed private memory; NULL when there is none. */
void *mw_residue_memory(size_t size);
void mw_residue_memory_free(void *memory, size_t size);
/* The inode behind /proc/self/ns/NAME; 0 where there is none. */
uint64_t mw_residue_namespace(const char *path);
/* Whether a header's process ran since this boot of this machine. */
int mw_residue_same_boot(const char *boot_id, size_t size);

#endif
