/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "idle-fabric": messages went through sockets, while a NIC that is up, and faster, was never
 * tried, and nothing else explains why.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/idle.h"
#include "analyzer/findings/words.h"

/* Interfaces of one node have the same purpose; only a clear difference is worth a word. */
#define MUCH_FASTER 2

static const char *const virtual_names[] = {"lo",   "veth",  "docker", "br-",    "virbr",
                                            "cali", "cni",   "tun",    "tap",    "bond",
                                            "ifb",  "dummy", "vlan",   "flannel"};

static int is_virtual(const char *name)
{
    for (size_t i = 0; i < sizeof(virtual_names) / sizeof(virtual_names[0]); i++)
        if (!strncmp(name, virtual_names[i], strlen(virtual_names[i])))
            return 1;
    return 0;
}

/* A plain interface that is much faster than the one that was used. */
static const struct mw_idle *faster_interface(const struct mw_finding_input *in,
                                              const struct mw_crowd *crowd,
                                              const struct mw_way *way)
{
    const struct mw_idle *best = NULL;
    for (size_t i = 0; way->speed && i < in->transports->idle.count; i++) {
        const struct mw_idle *idle = &in->transports->idle.at[i];
        if (idle->native || idle->tried || idle->library[0] || is_virtual(idle->device) ||
            is_virtual(way->device) || !idle->state[0] || !mw_state_up(idle->state) ||
            idle->speed < MUCH_FASTER * way->speed ||
            !mw_crowd_common(crowd, idle->processes.at, idle->processes.count))
            continue;
        if (!best || idle->speed > best->speed)
            best = idle;
    }
    return best;
}

static void report(const struct mw_finding_input *in, const struct mw_crowd *crowd,
                   const struct mw_used *used, const struct mw_use *use,
                   const struct mw_idle *const *idle, size_t count, struct mw_findings *out)
{
    const struct mw_way *way = &in->transports->ways.at[use->way];
    char *share = mw_crowd_share(crowd);
    struct mw_finding *finding =
        mw_finding_add(out, "idle-fabric", MW_WARNING,
                       mw_format("%s was there and never tried: messages of %s went over %s",
                                 mw_idle_name(idle[0]), share, way->name));
    for (size_t i = 0; i < count; i++) {
        char *words = mw_idle_words(idle[i]);
        mw_finding_evidence(finding, mw_format("there, and not used: %s", words));
        free(words);
    }
    mw_finding_evidence(finding, mw_use_words(used, use));
    char *speed = mw_speed_words(used, use, idle[0]->speed, mw_idle_name(idle[0]));
    if (speed)
        mw_finding_evidence(finding, speed);
    char *choice = mw_choice_words(in, (uint32_t)mw_crowd_first(crowd));
    if (choice)
        mw_finding_evidence(
            finding,
            mw_format("%s used %s", mw_mpi_word(in, (uint32_t)mw_crowd_first(crowd)), choice));
    finding->advice =
        idle[0]->native
            ? mw_format("Check that this MPI was built with a library that drives %s (UCX or "
                        "libfabric), that it is installed on the nodes, and that no parameter "
                        "keeps it out.",
                        mw_idle_name(idle[0]))
            : mw_format("Name the interface: Open MPI: --mca btl_tcp_if_include %s; UCX: "
                        "UCX_NET_DEVICES=%s; MPICH's launcher: -iface %s.",
                        mw_idle_name(idle[0]), mw_idle_name(idle[0]), mw_idle_name(idle[0]));
    mw_crowd_give(crowd, finding);
    free(choice);
    free(share);
}

static int explained(const struct mw_findings *out, const struct mw_crowd *crowd)
{
    return mw_findings_concern(out, "fallback", crowd) ||
           mw_findings_concern(out, "software-provider", crowd) ||
           mw_findings_concern(out, "excluded", crowd);
}

/* Devices that the fabric library offered can also serve the ranks of one node; those that the node
 * just has are for the network. */
static size_t keep_offered(const struct mw_idle **idle, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (idle[i]->library[0])
            idle[kept++] = idle[i];
    return kept;
}

static int look(const struct mw_finding_input *in, unsigned wheres, struct mw_findings *out)
{
    struct mw_crowd crowd;
    struct mw_used used;
    struct mw_fast fast;
    mw_crowd_begin(&crowd, in->model);
    mw_crowd_of_ways(&crowd, in, wheres, mw_way_slow);
    mw_fast_begin(&fast, in, &crowd);
    mw_used_begin(&used, in, &crowd, wheres);
    const struct mw_use *use = mw_used_first(&used, mw_way_slow);
    int between = wheres == MW_BETWEEN_NODES, found = 0;
    if (!between)
        fast.devices.count = keep_offered(fast.devices.at, fast.devices.count);
    if (use && !explained(out, &crowd)) {
        const struct mw_idle *interface =
            between && !fast.devices.count
                ? faster_interface(in, &crowd, &in->transports->ways.at[use->way])
                : NULL;
        found = fast.devices.count || interface;
        if (fast.devices.count)
            report(in, &crowd, &used, use, fast.devices.at, fast.devices.count, out);
        else if (interface)
            report(in, &crowd, &used, use, &interface, 1, out);
    }
    mw_used_end(&used);
    mw_fast_end(&fast);
    mw_crowd_end(&crowd);
    return found;
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    if (!look(in, MW_BETWEEN_NODES, out))
        look(in, MW_IN_NODE, out);
}

const struct mw_rule mw_rule_idle_fabric = {"idle-fabric",
                                            "a fast device was there and never tried", find};
