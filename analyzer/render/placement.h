/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where ranks sat, as a section of documents (doc_placement.c), and that section for people:
 * tables, a map of each node drawn with characters, and one drawn as SVG. Main thread only.
 */
#ifndef MW_RENDER_PLACEMENT_H
#define MW_RENDER_PLACEMENT_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/analysis/placement.h"

struct mw_tally;

/* At most `top` ranks; tally: NULL where no events were read. */
json_t *mw_doc_placement(const struct mw_placements *placements, const struct mw_tally *tally,
                         size_t top);

/* The short form in the report, of its section "placement". */
void mw_text_placement(const json_t *report, FILE *out);
/* All of the document of "mpiwatch placement". At most `top` nodes are drawn. */
void mw_placement_text(const json_t *document, size_t top, FILE *out);
/* All nodes of the document as one picture. */
void mw_placement_svg(const json_t *document, FILE *out);

/* What both pictures are made of. */
/* A node of the section as boxes in boxes, of lines where the terminal has such characters. */
void mw_placement_map(const json_t *section, const json_t *node, FILE *out);
/* "node1: 2 sockets, 8 NUMA nodes, 128 CPUs". Newly allocated, as all that follow. */
char *mw_map_title(const json_t *node);
char *mw_map_numa_title(const json_t *numa);
/* What stands in a NUMA node, in a package beside its NUMA nodes (numa NULL), or in the node beside
 * its packages (both NULL): an array of lines. */
json_t *mw_map_lines(const json_t *section, const json_t *node, const json_t *numa,
                     const json_t *package);

#endif
