/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins what the processes of a job counted on their own into bytes from one rank to another: peers
 * of libfabric endpoints by address, of UCX workers by uid, connections by their two ends, memory
 * read and written by pid. Where a name fits several processes nothing is joined, and that is said.
 * Built once, then read-only; texts belong to the trace. docs/metrics.md has the rules. Linear in
 * what was recorded.
 */
#ifndef MW_MODEL_ENDPOINTS_H
#define MW_MODEL_ENDPOINTS_H

#include "analyzer/model/model.h"

enum mw_flow_kind { MW_FLOW_LIBFABRIC, MW_FLOW_UCX, MW_FLOW_SOCKETS, MW_FLOW_CMA };

/* Bytes that were counted on their way from src to dst. */
struct mw_flow {
    int64_t src, dst;
    enum mw_flow_kind kind;
    uint32_t process; /* who counted them: that of src, or that of dst, which fetched them */
    uint64_t operations, bytes; /* of sockets: connections */
    uint64_t unsized; /* of a fabric: operations in these (and in its others) whose bytes are not
                         known */
    const struct mw_endpoint *endpoint; /* of a fabric */
    const struct mw_peer *peer;
    int sends;             /* of a fabric: some were messages, not only puts and gets */
    const char *interface; /* of a socket: where it leaves src */
    uint64_t refused;      /* of CMA: calls that failed */
};

/* By number of process. */
struct mw_endpoint_owner {
    int64_t rank;       /* -1: no rank, or another process speaks for that rank */
    uint32_t node;      /* processes with equal numbers are on one node */
    uint64_t net;       /* hash of its network namespace; 0 not known */
    unsigned recorded;  /* has any record of fabrics or of the kernel */
    unsigned looks;     /* looks at its connections */
    unsigned last_look; /* one of them was at the end */
    unsigned unseen;    /* descriptors were left out */
    unsigned ambiguous; /* with one of its peers it counted bytes, but several processes answer to
                           the address */
    unsigned nameless;  /* ... its address is not known, or is nobody's (0.0.0.0) */
    unsigned unjoined;  /* ... nobody who was recorded answers to the address */
    uint32_t fabrics;   /* endpoints of fabrics that are not layers */
};

struct mw_endpoints {
    const struct mw_model *model;
    struct mw_endpoint_owner *owners;
    uint32_t node_count;
    MW_VECTOR(struct mw_flow) flows; /* by src, dst, kind */
};

struct mw_endpoints *mw_endpoints_create(const struct mw_model *model);
void mw_endpoints_free(struct mw_endpoints *endpoints);

/* "" where a process has no such fact. */
const char *mw_process_fact(const struct mw_process *process, const char *section, const char *key);

#endif
