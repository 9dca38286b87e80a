/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which job this process belongs to, as its environment and its parent tell: without a word to other
 * ranks, all of them must come to the same folder. Runs once, before the real MPI_Init.
 */
#ifndef MW_OUTPUT_JOB_H
#define MW_OUTPUT_JOB_H

#include <stdint.h>

#include "config.h"

struct mw_job_facts {
    char key[160];      /* the same in all ranks of a job, different in any other job */
    char id[64];        /* short form for names: scheduler's job id, else a hash of the key */
    const char *launcher; /* "Open MPI", "hydra", "slurm", ... "" unknown */
    const char *job_id; /* the scheduler's, "" none */
    uint64_t daemon;    /* where the key may come again: who of the launcher started the ranks of this node, 0 unknown */
    uint64_t world;     /* hash of what the launcher says of this MPI_COMM_WORLD alone; 0 nothing */
    uint64_t name, spawner; /* hashes of what the launcher calls this process, and the one that spawned it; 0 not known */
    int rank, size;     /* as the launcher says; -1 unknown */
    char program[64];   /* base name of the executable; "mpmd" where the launcher tells of several */
    /* This process. */
    char host[256], exe[MW_PATH_MAX], boot_id[40];
    uint64_t pid, ppid, start_time, pid_ns, mnt_ns, user_ns, time_ns;
};

void mw_job_facts_read(const struct mw_config *config, struct mw_job_facts *job);

/* Reads at most size - 1 bytes of a file and terminates them. Bytes read, -1 on failure. */
long mw_read_file(const char *path, char *buffer, size_t size);
/* Whether a file may have this size: growing one past RLIMIT_FSIZE would kill the process with SIGXFSZ. */
int mw_file_size_allowed(uint64_t size);
/* Start time of a process, clock ticks after boot; 0 when it cannot be told. */
uint64_t mw_process_start_time(uint64_t pid);

#endif
