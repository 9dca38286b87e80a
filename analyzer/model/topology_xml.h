/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the XML of hwloc 2 and later as far as the hardware of a node needs it: processors and what
 * they are parts of, distances between NUMA nodes, devices and the bridges above them. A reader of
 * our own, as the XML comes from whoever wrote the trace: hwloc's import trusts its input, loads
 * plug-ins, obeys the environment of whoever runs it and refuses what a newer hwloc wrote. This one
 * uses no recursion, expands no entities but the five of XML, and looks at nothing but the text.
 */
#ifndef MW_MODEL_TOPOLOGY_XML_H
#define MW_MODEL_TOPOLOGY_XML_H

#include "analyzer/model/topology.h"

#define MW_XML_SIZE_MAX    (64u << 20)
#define MW_XML_DEPTH_MAX   64 /* elements within elements */
#define MW_XML_OBJECTS_MAX 262144

/* Adds what the XML says. NULL, or what is wrong with it (static): then nothing of it may be used.
 */
const char *mw_topology_xml_read(const char *xml, size_t size, struct mw_hardware *hardware);

#endif
