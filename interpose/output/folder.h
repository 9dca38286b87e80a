/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder of the trace: made by whichever rank comes first, joined by the others, never shared with
 * another job. Runs once, before the real MPI_Init.
 */
#ifndef MW_OUTPUT_FOLDER_H
#define MW_OUTPUT_FOLDER_H

#include "output/job.h"

struct mw_folder {
    char path[MW_PATH_MAX]; /* absolute where the working directory could be told */
    int fd;                 /* of the folder */
    char why[256];          /* why the wanted place was not taken; "" when it was */
    int numbered;           /* the name was another trace's: this is the next one */
};

/* 1: folder->fd and path are set. 0: no place at all, folder->why says why. */
int mw_folder_open(const struct mw_config *config, const struct mw_job_facts *job,
                   struct mw_folder *folder);

/* A place in $TMPDIR, for what the first place has no room for. */
int mw_folder_elsewhere(const struct mw_config *config, const struct mw_job_facts *job,
                        struct mw_folder *folder);

/* The name of the node's file, without its suffix. */
void mw_folder_host_name(const struct mw_job_facts *job, char *out, size_t size);

#endif
