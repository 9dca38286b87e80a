/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where each process of a job sat: the processors it might use and who said so, the NUMA node and
 * socket that these are, which network cards and GPUs it used and how far those are.
 * docs/metrics.md has the rules. Built once from the metadata, then read-only; texts belong to the
 * trace. Main thread.
 */
#ifndef MW_ANALYSIS_PLACEMENT_H
#define MW_ANALYSIS_PLACEMENT_H

#include "analyzer/model/locality.h"
#include "analyzer/model/model.h"

struct mw_transports;
struct mw_way;

/* Who limited a process to its processors. */
enum mw_mask_origin {
    MW_MASK_UNKNOWN,
    MW_MASK_NONE,      /* nobody: it may use all of the node's */
    MW_MASK_LAUNCHER,  /* its launcher, which is its parent, says that it bound it */
    MW_MASK_NARROWED,  /* it has others than its parent: its launcher, a wrapper that became it
                          (taskset), or the program before MPI_Init */
    MW_MASK_INHERITED, /* it has those of its parent, who has not all: taskset, a batch system, a
                          script that was bound */
    MW_MASK_CGROUP,    /* the cpuset of its control group: a container, a batch system */
    MW_MASK_PROGRAM,   /* changed after MPI_Init: the program or a library of it */
};
const char *mw_mask_origin_word(enum mw_mask_origin origin); /* "launcher". Static. */
/* A variable by which the program's OpenMP runtime binds its main thread; NULL: none is set. */
const char *mw_mask_variable(const struct mw_process *process, const char **value);

/* A device that a process used. */
struct mw_near {
    const char *name; /* as the process's record names it */
    int64_t device; /* number in the node's hardware; MW_NO_PART: it is not on PCI, or not known */
    uint64_t bytes; /* that went out through it; 0: not counted */
    const struct mw_way *way; /* the first one that used it; NULL: not known, or a GPU */
    struct mw_reach reach;
};

struct mw_rank_place {
    const struct mw_placement *first, *last; /* looks; NULL: none was recorded */
    struct mw_seat seat;                     /* of the last look; the model's */
    enum mw_mask_origin origin;
    MW_VECTOR(struct mw_near) nics; /* most bytes first */
    MW_VECTOR(struct mw_near) gpus; /* that it could use, in its runtime's order */
    int64_t gpu; /* number in `gpus` of the one that it used most; -1: none, or not known */
    struct mw_cpus numa_seen; /* numbers of the NUMA nodes where it was found running */
};

struct mw_placements {
    const struct mw_model *model;
    struct mw_hardware **hardware; /* by number of node of the model, the model's (seats.h) */
    struct mw_rank_place *places;  /* by number of process */
    size_t recorded;               /* processes with a look */
};

/* transports: NULL where network cards do not matter. */
struct mw_placements *mw_placements_create(struct mw_model *model,
                                           const struct mw_transports *transports);
void mw_placements_free(struct mw_placements *placements);

const struct mw_hardware *mw_place_hardware(const struct mw_placements *placements,
                                            uint32_t process);
/* The NUMA node and the package of a process, by number of part; MW_NO_PART: several, not known. */
int64_t mw_place_numa(const struct mw_placements *placements, uint32_t process);
int64_t mw_place_package(const struct mw_placements *placements, uint32_t process);
/* The card through which most of its bytes went, of those on PCI; NULL none. */
const struct mw_near *mw_place_nic(const struct mw_placements *placements, uint32_t process);
/* The GPU that it used most; NULL: none, or not known. */
const struct mw_near *mw_place_gpu(const struct mw_placements *placements, uint32_t process);
/* "mlx5_0"; of what is not on PCI the name in the record. Newly allocated. */
char *mw_near_label(const struct mw_hardware *hardware, const struct mw_near *near);
/* How far two processes are apart. */
struct mw_reach mw_place_reach(const struct mw_placements *placements, uint32_t a, uint32_t b);

#endif
