/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rules about placement share: which processes of a node have a known seat, and how fast those
 * of a group were. Main thread only.
 */
#ifndef MW_FINDINGS_SEATS_H
#define MW_FINDINGS_SEATS_H

#include "analyzer/findings/crowd.h"

/* Does a process count: recorded, of this node, with a rank and a known mask? */
int mw_seated(const struct mw_finding_input *in, uint32_t process, uint32_t node);
/* "NUMA node 6 (socket 1)"; of a package alone "socket 1"; "no NUMA node of its own". */
char *mw_part_words(const struct mw_hardware *hardware, int64_t numa, int64_t package);
/* The NUMA nodes of processes of one node: "NUMA nodes 0-3 (socket 0)". */
char *mw_seats_words(const struct mw_finding_input *in, const uint32_t *processes, size_t count);
/* Who bound a process: "its launcher bound it: its parent orted has more CPUs". */
char *mw_origin_words(const struct mw_finding_input *in, uint32_t process);
/* Percent of one processor that a process used between its first look and its last; -1: not known,
 * as where that is less than a second. */
int64_t mw_cpu_share(const struct mw_finding_input *in, uint32_t process);
/* What was measured of the large messages that each process sent or received over the network. */
struct mw_rank_rate {
    uint64_t bytes, time, certain; /* certain: samples */
};
/* By number of process, of those pairs for whose two processes `wanted` holds; free() it. */
struct mw_rank_rate *mw_rank_rates_read(const struct mw_finding_input *in,
                                        int (*wanted)(const void *context, int64_t a, int64_t b),
                                        const void *context);
/* Bytes a second in flight of those of some processes; NaN where too few samples are certain. */
double mw_rank_rate(const struct mw_rank_rate *rates, const uint32_t *processes, size_t count);
/* Line rate in bit/s and whether the state is usable, of a device of a node by its port: -1 no port
 * tells, 0 down, 1 up. */
int mw_device_port(const struct mw_finding_input *in, uint32_t node, int64_t device,
                   uint64_t *rate);

#endif
