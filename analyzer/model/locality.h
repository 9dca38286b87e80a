/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far apart things of one node are: processes by the processors on which they may run, devices
 * by their place on PCI and the links between them. docs/metrics.md has the classes. Reads a node's
 * hardware, which must outlive what is built on it; any thread.
 */
#ifndef MW_MODEL_LOCALITY_H
#define MW_MODEL_LOCALITY_H

#include "analyzer/model/topology.h"

enum mw_locality {                  /* nearest first */
                   MW_LOCALITY_CPU, /* one processor has both */
                   MW_LOCALITY_CORE,
                   MW_LOCALITY_L3,
                   MW_LOCALITY_NUMA,
                   MW_LOCALITY_PACKAGE,
                   MW_LOCALITY_OTHER_PACKAGE,
                   MW_LOCALITY_NODE,    /* on one node; no more is known */
                   MW_LOCALITY_NETWORK, /* on different nodes */
                   MW_LOCALITY_UNKNOWN,
                   MW_LOCALITIES
};

/* "same-numa" for programs, "same NUMA node" for people. Static. */
const char *mw_locality_word(enum mw_locality locality);
const char *mw_locality_title(enum mw_locality locality);

/* Where a process may run. */
struct mw_seat {
    struct mw_cpus cpus;       /* empty: not known */
    int64_t around[MW_LEVELS]; /* the part that holds all of them; MW_NO_PART: several, not known */
};
struct mw_seat mw_seat_of(const struct mw_hardware *hardware, const struct mw_cpu_run *runs,
                          size_t count);
void mw_seat_free(struct mw_seat *seat);

/* What lies between two seats, or a seat and a device: as processes may move within their seats,
 * the nearest and the farthest. Equal where both are held within one part. */
struct mw_reach {
    enum mw_locality nearest, farthest;
    uint32_t slit_least, slit_most; /* firmware's distance of their NUMA nodes; 0 not known */
};
struct mw_reach mw_reach_seats(const struct mw_hardware *hardware, const struct mw_seat *a,
                               const struct mw_seat *b);
/* The innermost part that surely holds both, or that they are surely in two packages; else
 * MW_LOCALITY_NODE. Cheap. */
enum mw_locality mw_locality_held(const struct mw_hardware *hardware, const struct mw_seat *a,
                                  const struct mw_seat *b);
struct mw_reach mw_reach_device(const struct mw_hardware *hardware, const struct mw_seat *seat,
                                int64_t device);

/* What is between two devices. */
enum mw_path_kind {
    MW_PATH_SAME, /* one device, or functions of one */
    MW_PATH_XGMI,
    MW_PATH_NVLINK,
    MW_PATH_LINK,        /* a direct link of another kind */
    MW_PATH_SWITCH,      /* a PCIe switch */
    MW_PATH_HOST_BRIDGE, /* one root complex */
    MW_PATH_NUMA,        /* root complexes of one NUMA node */
    MW_PATH_PACKAGE,
    MW_PATH_OTHER_PACKAGE,
    MW_PATH_UNKNOWN,
    MW_PATHS
};
struct mw_path {
    enum mw_path_kind kind;
    unsigned links, hops; /* of links; 0 not known. hops 1: direct */
    uint64_t bandwidth;   /* MB/s; 0 not known */
};
/* GPUs that have no link of their own but are joined by links of others have the hops that these
 * are: the hardware may route that way. */
struct mw_path mw_path_between(const struct mw_hardware *hardware, int64_t from, int64_t to);
const char *mw_path_word(enum mw_path_kind kind); /* "xgmi", "pcie-switch" ... Static. */
/* "xGMI, 4 links", "xGMI, 2 hops", "PCIe switch". Newly allocated. */
char *mw_path_title(const struct mw_path *path);

#endif
