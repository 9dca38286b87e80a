/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the probe of the node (topology.c, topology_*.c): what the kernel says in sysfs, and
 * what hwloc makes of it. Run once a node, by the process that writes the node's facts, on the
 * thread that initialises MPI, after MPI did. `root` is "" but in tests.
 */
#ifndef MW_PROBE_TOPOLOGY_H
#define MW_PROBE_TOPOLOGY_H

#include "trace/fields.h"

/* Records of a TOPOLOGY chunk. What there is no room or no time for is left out. */
void mw_topology_slit(struct mw_buffer *buffer, const char *root);
/* How many PCI devices the node has, of any kind. */
unsigned mw_topology_pci(struct mw_buffer *buffer, const char *root);
void mw_topology_kfd(struct mw_buffer *buffer, const char *root);

struct mw_hwloc {
    char *xml; /* pages of our own; NULL: none */
    size_t size, capacity;
    char source[320], failure[320];
    uint64_t took_ns;
};
/* Asks hwloc, which is loaded for it and let go. `devices`: how many PCI devices there are; of too
 * many, hwloc is not asked. */
void mw_hwloc_ask(struct mw_hwloc *hwloc, unsigned devices);
/* A file of hwloc's XML instead. */
void mw_hwloc_file(struct mw_hwloc *hwloc, const char *path);
void mw_hwloc_free(struct mw_hwloc *hwloc);
/* Only tests change them. */
extern const char *mw_hwloc_library; /* NULL: libhwloc.so.15 and what may come after it */
extern uint64_t mw_hwloc_most_ns;    /* that asking it may take, as far as can be told before */

/* What hwloc will take for so many CPUs, and in addition for so many PCI devices, about, in
 * nanoseconds. */
uint64_t mw_hwloc_price(unsigned cpus);
uint64_t mw_hwloc_price_of_devices(unsigned devices);

/* All of it into the trace, in two chunks. xml: a file instead of hwloc; NULL none. */
void mw_topology_write(const char *root, const char *xml);

#endif
