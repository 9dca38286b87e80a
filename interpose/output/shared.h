/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crash-safe mapping of this process (trace/mapping.h): made at start, grown for each thread, removed
 * when everything is in the file. Where /dev/shm has no room its place is taken by private memory.
 */
#ifndef MW_OUTPUT_SHARED_H
#define MW_OUTPUT_SHARED_H

#include <sys/types.h>

#include "output/job.h"
#include "trace/mapping.h"

/* file_process: key of the node file's first chunk. 0: not even private memory. */
int mw_shared_start(const struct mw_config *config, const struct mw_job_facts *job, uint64_t process,
                    const char *node_file, uint64_t file_process, dev_t folder_dev, ino_t folder_ino);
struct mw_map_header *mw_shared_header(void); /* NULL before start and after remove */
struct mw_map_thread *mw_shared_thread(uint32_t index, uint64_t events, struct mw_raw_event **ring);
struct mw_map_group *mw_shared_segment(struct mw_map_thread *area, uint32_t segment);
/* The whole mapping in one piece, for reading; 0 when it is not a file. The view is not given back. */
int mw_shared_view(const struct mw_map_header **header, size_t *size);
void mw_shared_remove(void);
const char *mw_shared_path(void); /* "" when it is private memory */

#endif
