/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What flows_meter.c counts of one process, in clock ticks, and flows.c joins. Filled by one
 * thread, without locks.
 */
#ifndef MW_ANALYSIS_FLOWS_METER_H
#define MW_ANALYSIS_FLOWS_METER_H

#include "analyzer/analysis/flows.h"

struct mw_flow_rma { /* one direction of what went between this process and a peer */
    int64_t peer;
    int fetched;
    uint64_t operations, bytes, ticks;
};

struct mw_flow_window {
    int64_t id;
    uint64_t accesses, sent, fetched, epochs, ticks;
};

struct mw_flow_file {
    int64_t id;
    uint64_t reads, read, writes, written, unknown, collective, ticks, ticks_read, ticks_written;
};

struct mw_flow_function {
    uint64_t function;
    enum mw_coll_way way;
};

struct mw_flow_meter {
    const struct mw_process *process;
    struct mw_index rma_index, window_index, file_index, coll_index, way_index;
    MW_VECTOR(struct mw_flow_rma) rma;
    MW_VECTOR(struct mw_flow_window) windows;
    MW_VECTOR(struct mw_flow_file) files;
    MW_VECTOR(struct mw_coll_row) colls;
    MW_VECTOR(struct mw_flow_function) ways;
    struct mw_pair elsewhere;
    uint64_t by_peer; /* bytes that FLOW should have */
};

#endif
