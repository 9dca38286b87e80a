/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the rows and columns of a matrix are when they are not ranks: nodes, NUMA nodes, sockets or
 * GPUs, each named by its host and the kernel's number or its address on PCI, so that several
 * traces of one machine share them. Texts are copied: traces may be closed. Main thread.
 */
#ifndef MW_ANALYSIS_VERTICES_H
#define MW_ANALYSIS_VERTICES_H

#include "analyzer/analysis/placement.h"
#include "analyzer/base/index.h"

enum mw_matrix_by { MW_BY_RANK, MW_BY_NODE, MW_BY_NUMA, MW_BY_SOCKET, MW_BY_GPU };

struct mw_vertex {
    char *host, *name;  /* name: "node1", "node1/numa6", "node1/0000:c1:00.0" */
    char *part;         /* "NUMA 6", "socket 1", "c1:00"; "" of a node */
    uint64_t number;    /* the kernel's, or the address */
    size_t host_number; /* in the order in which hosts came */
};

struct mw_vertices {
    enum mw_matrix_by by;
    struct mw_index index, hosts;
    MW_VECTOR(struct mw_vertex) all;
    MW_VECTOR(struct mw_hardware *) joined; /* by number of host: what all traces know of it */
};

/* What is between two of them. */
struct mw_between {
    int known;
    struct mw_path path;   /* of GPUs */
    struct mw_reach reach; /* of the others */
};

void mw_vertices_begin(struct mw_vertices *vertices, enum mw_matrix_by by);
void mw_vertices_end(struct mw_vertices *vertices);
/* Joins what the processes of a trace know of GPUs, before it is asked for distances. A job of two
 * ranks sees two GPUs; what lies between them may be a third. The trace must stay open. */
void mw_vertices_join(struct mw_vertices *vertices, const struct mw_placements *placements);
/* The number of that of a process; -1: it is in several, or not known. */
int64_t mw_vertex_of(struct mw_vertices *vertices, const struct mw_placements *placements,
                     uint32_t process);
/* What lies between two processes' places; of GPUs: ask again when all traces are in. */
struct mw_between mw_vertices_between(const struct mw_vertices *vertices,
                                      const struct mw_placements *placements, uint32_t src,
                                      uint32_t dst);
struct mw_between mw_vertices_path(const struct mw_vertices *vertices, int64_t src, int64_t dst);
/* Where each goes when they are sorted by host and number; free() it. */
int64_t *mw_vertices_sort(struct mw_vertices *vertices);

#endif
