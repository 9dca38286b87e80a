/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "slit-flat": the firmware calls all NUMA nodes equally far apart though they are in several
 * sockets. Whoever places ranks by its table (numactl, launchers, the kernel) is misled.
 */
#include <stdlib.h>

#include "analyzer/findings/seats.h"

/* NUMA nodes with processors that no other has: memory without any (CXL), or beside other memory
 * (HBM), is no place for ranks of its own. */
static size_t places(const struct mw_hardware *hardware)
{
    const mw_parts *nodes = &hardware->parts[MW_LEVEL_NUMA];
    size_t count = 0;
    for (size_t i = 0; i < nodes->count; i++)
        count += mw_cpus_count(&nodes->at[i].cpus) &&
                 mw_part_around(hardware, MW_LEVEL_NUMA, &nodes->at[i].cpus) == (int64_t)i;
    return count;
}

static int is_flat(const struct mw_hardware *hardware)
{
    size_t packages = hardware->parts[MW_LEVEL_PACKAGE].count;
    return hardware->slit && packages > 1 && places(hardware) > packages &&
           !mw_slit_tells(hardware);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct mw_crowd crowd;
    const struct mw_hardware *one = NULL;
    size_t nodes = 0;
    mw_crowd_begin(&crowd, in->model);
    for (uint32_t p = 0; p < in->model->process_count; p++)
        if (is_flat(mw_place_hardware(in->placements, p)))
            mw_crowd_add(&crowd, p);
    for (size_t n = 0; n < in->model->node_count; n++)
        if (is_flat(in->placements->hardware[n])) {
            one = in->placements->hardware[n];
            nodes++;
        }
    if (crowd.count) {
        struct mw_finding *finding = mw_finding_add(
            out, "slit-flat", MW_NOTICE,
            mw_format(
                "The firmware's NUMA distances are flat on %zu of %zu nodes: how far NUMA nodes "
                "are apart is not known",
                nodes, in->model->node_count));
        mw_finding_evidence(
            finding, mw_format("each of the %zu NUMA nodes is %u from every other, though they "
                               "are in %zu sockets",
                               one->parts[MW_LEVEL_NUMA].count, mw_slit(one, 0, 1),
                               one->parts[MW_LEVEL_PACKAGE].count));
        finding->advice =
            mw_text_copy("Look for the firmware's settings of NUMA distances (\"ACPI SLIT "
                         "remote relative distance\", \"L3 as NUMA\"), or go by sockets.");
        mw_crowd_give(&crowd, finding);
    }
    mw_crowd_end(&crowd);
}

const struct mw_rule mw_rule_slit_flat = {"slit-flat",
                                          "the firmware calls all NUMA nodes equally far", find};
