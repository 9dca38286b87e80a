/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a NUMA node, and those of a network card, moved together: how much, and for how
 * long something was on the way (docs/metrics.md, "Speeds"). Fed message by message; memory grows
 * with processes. Built on one thread, then read-only.
 */
#ifndef MW_ANALYSIS_PLACE_SPEED_H
#define MW_ANALYSIS_PLACE_SPEED_H

#include "analyzer/analysis/placement.h"
#include "analyzer/base/memory.h"

/* Messages that share something. */
struct mw_joint {
    uint64_t messages, bytes;
    uint64_t time; /* ns in which at least one was on the way */
    uint64_t busy; /* the same, summed over messages: busy / time is the concurrency */
};

enum mw_place_kind { MW_PLACE_NUMA, MW_PLACE_NIC };

struct mw_place_speed {
    enum mw_place_kind kind;
    uint32_t node;
    int64_t
        part; /* number in the node's hardware; of a card that is not there one made of its name */
    uint32_t sample;           /* one of its processes */
    const struct mw_near *nic; /* of that process */
    size_t processes;
    struct mw_joint sent;     /* by its ranks: of a card only to other nodes */
    struct mw_joint received; /* likewise */
};

struct mw_place_speeds {
    const struct mw_placements *placements; /* NULL: no places */
    MW_VECTOR(struct mw_place_speed) all;   /* by kind, node, part; without those of no message */
};

struct mw_place_meter;

/* placements: NULL where places do not matter; then there are none. */
struct mw_place_meter *mw_place_meter_create(const struct mw_placements *placements);
/* From one process to the other; a message that begins and ends in the same ns has no time. */
void mw_place_meter_message(struct mw_place_meter *meter, uint32_t src, uint32_t dst,
                            uint64_t bytes, int64_t start, int64_t done);
struct mw_place_speeds *mw_place_meter_finish(struct mw_place_meter *meter);
void mw_place_speeds_free(struct mw_place_speeds *speeds);

/* A sum over messages that are told nearly in the order of their ends. */
struct mw_cover;
void mw_joint_add(struct mw_joint *joint, struct mw_cover *cover, uint64_t bytes, int64_t start,
                  int64_t done);

/* How many were on their way at a time, where any was; 0: none took any time. */
double mw_joint_concurrency(const struct mw_joint *joint);

#endif
