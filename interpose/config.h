/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings, read once from the environment when a process initialises MPI. Read-only afterwards.
 */
#ifndef MW_CONFIG_H
#define MW_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#define MW_PATH_MAX 1024

struct mw_config {
    int off;               /* MPIWATCH=off */
    const char *out;       /* MPIWATCH_OUT: folder to create; NULL: chosen from program and job */
    const char *job;       /* MPIWATCH_JOB: key set by `mpiwatch run`; NULL: from the launcher */
    const char *command;   /* MPIWATCH_COMMAND: command line given to `mpiwatch run` */
    unsigned stack;        /* MPIWATCH_STACK: frames in a call site, 0 to 32, default 8 */
    int file_per_process;  /* MPIWATCH_FILES=process */
    int clock;             /* MPIWATCH_CLOCK: enum mw_clock_kind wanted; 0: the best there is */
    const char *tmp;       /* TMPDIR, else /tmp */
    const char *shm;       /* MPIWATCH_SHM: folder of the crash-safe mapping, default /dev/shm */
    const char *probes;    /* MPIWATCH_PROBES: "-ucx,-sockets" all but these, "libfabric" this alone; NULL: all */
    uint64_t budget;       /* MPIWATCH_BUDGET: bytes of trace for this process; 0: no limit */
    int summary;           /* MPIWATCH_MODE=summary: sums instead of calls */
    const char *hwloc_xml; /* MPIWATCH_HWLOC_XML: hwloc's description of the nodes, instead of asking; NULL: ask */
    const char *wrong;     /* which variable has a value that was not understood, in words; NULL: none */
};

/* Strings point into the environment. */
void mw_config_read(struct mw_config *config);

#endif
