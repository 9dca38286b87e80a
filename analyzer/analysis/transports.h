/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which transport each ordered pair of ranks used, for which message sizes, by what evidence, and
 * what was tried and failed or lay idle. Joins what the processes recorded on their own: endpoints
 * by address, UCX workers by uid, connections by their two ends, reads of memory by pid. What is
 * concluded rather than seen is marked so; where evidence is missing the answer is "unknown" with
 * the reason. docs/metrics.md has the rules. Built once from a tally, then read-only. Texts belong
 * to the trace or to this object.
 */
#ifndef MW_ANALYSIS_TRANSPORTS_H
#define MW_ANALYSIS_TRANSPORTS_H

#include "analyzer/analysis/tally.h"

enum mw_way_kind {
    MW_WAY_UNKNOWN,
    MW_WAY_SELF,        /* a rank to itself */
    MW_WAY_SHARED,      /* through shared memory, copied in and out */
    MW_WAY_SINGLE_COPY, /* one process reads or writes the other's memory: cma, knem, xpmem */
    MW_WAY_NETWORK,     /* sockets and fabrics, also where both ranks are on one node */
};

/* How bytes travel: one entry for each different (name, layer, device). */
struct mw_way {
    enum mw_way_kind kind;
    const char *name; /* in the field's words: "vader", "cma", "tcp", "cxi", "tcp;ofi_rxm", "posix",
                         "rc_mlx5" */
    const char
        *layer; /* who drives it: "Open MPI BTL", "libfabric", "UCX", "MPICH", "" not known */
    const char *device; /* "cxi0", "eth0", "lo", "memory"; "" not known */
    uint64_t speed;     /* line rate, bit/s; 0 not known */
    int software; /* emulates a fabric over TCP or UDP sockets (libfabric's tcp, sockets, udp, rxm
                     and rxd on these) */
};

enum mw_certainty {
    MW_SEEN,      /* bytes were counted on this way between these two */
    MW_CONCLUDED, /* all other ways are excluded, or counts of another kind add up to it */
};

struct mw_route { /* what a pair used, for a range of sizes and a kind of buffer */
    uint32_t way;
    enum mw_memory_kind buffer; /* that its messages came from; HOST where nobody looked, too */
    unsigned first_class, last_class; /* mw_size_class of its messages, both included */
    /* MPI's point-to-point messages of these sizes. 0, 0: this way was used, too, but which of the
     * messages took it is not known, or it carried only collectives or one-sided operations. So
     * sums over routes count each message once. */
    uint64_t messages, bytes;
    uint64_t carried; /* bytes that the evidence counted, both point-to-point and others; 0: none
                         counted */
    enum mw_certainty certainty;
    const char *evidence; /* "41 connections' TCP_INFO", "UCX lane am of worker 1" ... */
};

enum mw_where {
    MW_WHERE_UNKNOWN,
    MW_WHERE_SELF,
    MW_WHERE_NODE,
    MW_WHERE_NETWORK
}; /* same rank, same node, other nodes */

struct mw_pair_transport {
    int64_t src, dst;
    enum mw_where where;
    uint64_t messages, bytes; /* point-to-point */
    MW_VECTOR(struct mw_route)
    routes;                   /* by first_class, main one of a class first; empty: unknown */
    const char *unknown;      /* why it is not known, or not for all classes; NULL */
    uint64_t carried;         /* all bytes counted between the two on fabrics, sockets and by CMA */
    int64_t remainder;        /* carried - bytes */
    const char *remainder_is; /* what that is: "headers and control", "collectives", "shared memory
                                 (concluded)" ...; "" none */
};

/* How much a failed attempt means for what the job used. */
enum mw_failure_weight {
    MW_FAILURE_MATTERS,   /* MPI asked, it failed for good, or has not returned */
    MW_FAILURE_MINOR,     /* not MPI asked, or nothing shows that the device is there at all */
    MW_FAILURE_RECOVERED, /* the same process then opened an endpoint of that provider (and domain)
                           */
    MW_FAILURE_LAYER,   /* a layer of the fabric library asked: the outer call tells the outcome */
    MW_FAILURE_NOTHING, /* a question to which the answer was "no such thing" */
};

/* Equal failures of several processes. */
struct mw_failure {
    const char *library, *call, *words, *provider, *domain, *device,
        *opener; /* opener: base name of the calling module */
    int64_t result;
    uint64_t speed;   /* of the device, bit/s; 0 not known */
    int inner, hangs; /* hangs: the call had not returned */
    int by_mpi;       /* MPI called, or nobody knows who */
    int native;       /* of a provider that drives a NIC itself */
    /* 1: the provider logged warnings in fi_getinfo and was not among its offers; `result` is what
     * the caller of fi_getinfo got, 0 where others were offered */
    int silent;
    enum mw_failure_weight weight;
    MW_VECTOR(uint32_t) processes; /* ascending */
    uint32_t process;              /* whose attempt and log lines stand for all: the first */
    size_t attempt;
    MW_VECTOR(const struct mw_log_line *)
    log; /* of that process, of this provider, up to the failure, in order */
};

/* Something that could be had and was not used. */
struct mw_idle {
    const char *library, *provider, *device, *driver,
        *state; /* library "": a device of the node (PORTS, /sys) */
    uint64_t speed;
    int native; /* drives a NIC itself, no emulation over sockets, no shared memory */
    int tried;  /* it was tried and failed in these processes: see the failures */
    MW_VECTOR(uint32_t) processes; /* ascending; of a device of the node: that node's with a rank */
};

struct mw_process_choice { /* by number of process; "" not known */
    const char *pml, *mtl, *netmod, *shm;
    char *btls; /* "self,tcp,vader" */
};

struct mw_probe_coverage {
    const char *probe, *how, *why;
    MW_VECTOR(uint32_t) processes;
};

struct mw_transports {
    const struct mw_tally *tally;
    MW_VECTOR(struct mw_way) ways;
    MW_VECTOR(struct mw_pair_transport)
    pairs; /* by src, then dst: every pair with messages or carried bytes */
    MW_VECTOR(struct mw_failure) failures; /* by weight, native first, then by process and time */
    uint64_t
        left_out; /* attempts, lines and offers of processes that have more than are looked at */
    MW_VECTOR(struct mw_idle) idle;
    struct mw_process_choice *choices;
    MW_VECTOR(struct mw_probe_coverage) coverage;
    struct mw_kept_texts *texts; /* that belong to this object */
};

struct mw_transports *mw_transports_create(const struct mw_tally *tally);
void mw_transports_free(struct mw_transports *transports);
const struct mw_pair_transport *mw_transports_pair(const struct mw_transports *transports,
                                                   int64_t src, int64_t dst);
/* Whether a provider of libfabric or a transport of UCX drives a NIC itself: "cxi",
 * "verbs;ofi_rxm", "rc_mlx5"; not "tcp;ofi_rxm", "sockets", "shm", UCX's "tcp", "posix", "cma".
 * Unknown names: not. */
int mw_fabric_native(const char *library, const char *provider);
/* "host", "device", "pinned host" ... */
const char *mw_buffer_word(enum mw_memory_kind kind);
/* "cxi (cxi0)", "vader, from 4 KiB on cma", and where kinds of buffers differ "vader; device memory:
 * tcp (eth0)". Newly allocated. */
char *mw_transports_label(const struct mw_transports *transports,
                          const struct mw_pair_transport *pair);

#endif
