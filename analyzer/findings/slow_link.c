/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "slow-link": the PCI link of a card that ranks use runs below what both of its ends can do:
 * a card that is not seated well, a bad riser, a firmware setting. A slot that cannot do more is no
 * finding. GPUs lower the speed of their links while nothing moves, so that of these only the width
 * counts.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/findings/seats.h"

struct link {
    uint32_t node;
    int64_t device;
    uint64_t speed, width; /* that both ends can do; 0: that is reached, or not known */
};

static uint64_t both(uint64_t one, uint64_t other)
{
    return one && other ? (one < other ? one : other) : 0;
}

/* What of a device's link could be better. */
static int judge(const struct mw_hardware *hardware, struct link *link)
{
    const struct mw_hw_device *device = &hardware->devices.at[link->device];
    if (device->bridge < 0)
        return 0;
    const struct mw_hw_device *port = &hardware->devices.at[device->bridge];
    uint64_t speed = both(device->speed_max, port->speed_max);
    uint64_t width = both(device->width_max, port->width_max);
    link->speed =
        device->kind == MW_DEVICE_NIC && device->speed < speed && device->speed ? speed : 0;
    link->width = device->width < width && device->width ? width : 0;
    return link->speed || link->width;
}

static void report(const struct mw_finding_input *in, const struct link *link,
                   const struct mw_crowd *crowd, struct mw_findings *out)
{
    const struct mw_hw_device *device =
        &in->placements->hardware[link->node]->devices.at[link->device];
    char *name = mw_device_label(device), *address = mw_pci_text(device->address);
    const char *what = link->speed && link->width ? "width and speed"
                       : link->width              ? "width"
                                                  : "speed";
    struct mw_finding *finding =
        mw_finding_add(out, "slow-link", MW_WARNING,
                       mw_format("The PCI link of %s on %s runs below its %s", name,
                                 in->model->nodes[link->node].host, what));
    if (link->width)
        mw_finding_evidence(finding,
                            mw_format("%s has %" PRIu64 " lanes; it and the port above it can "
                                      "do %" PRIu64,
                                      address, device->width, link->width));
    if (link->speed)
        mw_finding_evidence(
            finding, mw_format("%s runs at %.1f GT/s; it and the port above it can do "
                               "%.1f",
                               address, (double)device->speed / 1000, (double)link->speed / 1000));
    finding->advice =
        mw_text_copy("Look at the kernel's log for PCI errors, reseat the card, check its "
                     "riser and the slot's settings in the firmware.");
    mw_crowd_give(crowd, finding);
    free(name);
    free(address);
}

/* Everybody who used the device. */
static void users(const struct mw_finding_input *in, const struct link *link,
                  struct mw_crowd *crowd)
{
    for (uint32_t p = 0; p < in->model->process_count; p++) {
        const struct mw_rank_place *place = &in->placements->places[p];
        const struct mw_near *gpu = mw_place_gpu(in->placements, p);
        if (in->model->process_node[p] != link->node)
            continue;
        for (size_t i = 0; i < place->nics.count; i++)
            if (place->nics.at[i].device == link->device)
                mw_crowd_add(crowd, p);
        if (gpu && gpu->device == link->device)
            mw_crowd_add(crowd, p);
    }
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    for (uint32_t node = 0; node < in->model->node_count; node++) {
        const struct mw_hardware *hardware = in->placements->hardware[node];
        for (size_t i = 0; i < hardware->devices.count; i++) {
            struct link link = {.node = node, .device = (int64_t)i};
            struct mw_crowd crowd;
            if (hardware->devices.at[i].kind < MW_DEVICE_NIC || !judge(hardware, &link))
                continue;
            mw_crowd_begin(&crowd, in->model);
            users(in, &link, &crowd);
            if (crowd.count)
                report(in, &link, &crowd, out);
            mw_crowd_end(&crowd);
        }
    }
}

const struct mw_rule mw_rule_slow_link = {"slow-link", "a card's PCI link runs below its rating",
                                          find};
