/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of transports.h share while they build it: texts that are kept once, ways, what
 * MPI chose in each process. Main thread.
 */
#ifndef MW_ANALYSIS_TRANSPORTS_BUILD_H
#define MW_ANALYSIS_TRANSPORTS_BUILD_H

#include "analyzer/analysis/transports.h"
#include "analyzer/model/endpoints.h"

struct mw_kept_texts {
    struct mw_index index;
    MW_VECTOR(char *) all;
};

/* Which part of an MPI moves its messages. */
enum mw_stack {
    MW_STACK_UNKNOWN,
    MW_STACK_OB1,   /* Open MPI: BTLs */
    MW_STACK_CM,    /* Open MPI: one MTL for all peers */
    MW_STACK_UCX,   /* Open MPI: UCX for all peers */
    MW_STACK_OTHER, /* Open MPI: another PML */
    MW_STACK_CH4,   /* MPICH: a netmod, and shared memory where it is built in */
    MW_STACK_CH3,
};

struct mw_building {
    struct mw_transports *out;
    const struct mw_tally *tally;
    const struct mw_model *model;
    struct mw_endpoints *endpoints;
    enum mw_stack *stacks; /* by number of process */
    struct mw_index way_index, rate_index;
    MW_VECTOR(uint64_t) rates; /* bit/s, by number in rate_index */
    uint32_t *port_readers;    /* by node: a process that read its ports; UINT32_MAX none */
    uint64_t collectives;      /* calls, in the whole job */
    int any_records;           /* some process has records of fabrics or of the kernel */
};

/* transports_ways.c */
const char *mw_text_keep(struct mw_kept_texts *texts,
                         const char *text); /* one copy of equal texts */
const char *mw_text_keep_format(struct mw_kept_texts *texts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mw_kept_texts_free(struct mw_kept_texts *texts);
uint32_t mw_way(struct mw_building *building, enum mw_way_kind kind, const char *name,
                const char *layer, const char *device, uint64_t speed);
/* `inside`: between two processes of one network namespace, where the kernel carries what sockets
 * send through lo. */
uint32_t mw_way_libfabric(struct mw_building *building, const struct mw_endpoint *endpoint,
                          uint32_t process, int inside);
enum mw_way_kind mw_ucx_kind(const char *transport);
/* Whether a libfabric provider emulates a fabric over sockets. */
int mw_fabric_software(const char *library, const char *provider);
/* Whether two providers are the same but for their layers: "verbs" and "verbs;ofi_rxm". */
int mw_provider_same(const char *a, const char *b);
/* Whether a list like "tcp;ofi_rxm" has this provider in it. */
int mw_provider_has(const char *list, const char *provider);
/* The line rate of a port on the node of a process, bit/s; 0 not known. `device` may name a port or
 * a domain of it: "mlx5_0:1". */
uint64_t mw_port_rate(const struct mw_building *building, uint32_t process, const char *device);
/* "eth0, eth1" of several devices of one way, which are sorted. *rate: their sum where all are
 * known. */
const char *mw_join_devices(struct mw_building *building, const char **devices, size_t count,
                            uint32_t process, uint64_t *rate);
#define MW_DEVICES_MAX 8 /* that are told apart */
void mw_port_rates_read(struct mw_building *building);

/* transports_choice.c */
void mw_choices_read(struct mw_building *building);
void mw_coverage_read(struct mw_building *building);
/* How far a probe saw in a process: "on", "off" …; "" not said. *why may be NULL. */
const char *mw_probe_how(const struct mw_process *process, const char *probe, const char **why);
int mw_has_btl(const struct mw_building *building, uint32_t process, const char *name);
/* Whether MPI (and not the program or another library) is behind a call. Unknown callers are. */
int mw_caller_is_mpi(const struct mw_process *process, uint64_t module);
/* The base name of a module; "" not known. */
const char *mw_module_base(const struct mw_process *process, uint64_t module);

/* transports_pair.c: routes of pair number `at`, whose flows these are. */
void mw_pair_routes(struct mw_building *building, struct mw_pair_transport *pair,
                    const struct mw_flow *flows, size_t flow_count);

/* transports_failures.c, transports_idle.c */
/* Looked at of one process. The recorder writes fewer; a trace may hold any number, and each attempt
 * is compared with the others and with the lines. What is beyond is counted as left out. */
#define MW_ATTEMPTS_MOST 2048
#define MW_LINES_MOST    2048
static inline size_t mw_at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}
void mw_failures_read(struct mw_building *building);
void mw_idle_read(struct mw_building *building);

#endif
