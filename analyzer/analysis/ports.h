/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What went through the network ports of the nodes while the job ran, whoever sent it, and what the
 * ranks' TCP connections did: the last look less the first. Built once from the metadata, then
 * read-only; texts belong to the trace. Main thread only.
 */
#ifndef MW_ANALYSIS_PORTS_H
#define MW_ANALYSIS_PORTS_H

#include "analyzer/model/model.h"

struct mw_port_change {
    uint32_t process;           /* that looked */
    const struct mw_port *port; /* as seen last */
    int64_t received, sent;     /* bytes between the looks; -1 not known */
    int64_t errors;             /* that were added; -1 not known */
    double seconds;             /* between the looks; NaN not known */
    size_t looks;
};

struct mw_tcp_total { /* connections over one interface, at the recorded end */
    const char *interface;
    uint64_t connections, sent, received, retransmits;
    uint64_t min_rtt_us, max_rtt_us; /* least seen, largest smoothed one; 0 not known */
    uint64_t most_retransmits;       /* of one process */
    uint32_t most_process;
    MW_VECTOR(uint32_t) processes; /* ascending */
};

struct mw_tcp_process {
    uint64_t connections, retransmits;
};

struct mw_port_changes {
    MW_VECTOR(struct mw_port_change) ports; /* that moved most first */
    MW_VECTOR(struct mw_tcp_total) tcp;     /* that sent most first */
    struct mw_tcp_process *by_process;      /* by number of process */
    uint64_t unseen;                        /* descriptors that no look reached */
};

struct mw_port_changes *mw_port_changes_create(const struct mw_model *model);
void mw_port_changes_free(struct mw_port_changes *changes);

#endif
