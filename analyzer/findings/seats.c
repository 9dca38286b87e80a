/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules about placement share (seats.h). */
#include "analyzer/findings/seats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/exchange.h"
#include "analyzer/findings/words.h"
#include "trace/launchers.h"

#define SPAN_MIN 1000000000 /* ns */
#define TICK_NS  10000000.0

int mw_seated(const struct mw_finding_input *in, uint32_t process, uint32_t node)
{
    return in->model->process_node[process] == node && in->placements->places[process].last &&
           mw_cpus_count(&in->placements->places[process].seat.cpus) &&
           mw_model_place(in->model, process) >= 0;
}

char *mw_part_words(const struct mw_hardware *hardware, int64_t numa, int64_t package)
{
    uint64_t node = numa < 0 ? 0 : hardware->parts[MW_LEVEL_NUMA].at[numa].number;
    uint64_t socket = package < 0 ? 0 : hardware->parts[MW_LEVEL_PACKAGE].at[package].number;
    if (numa >= 0 && package >= 0)
        return mw_format("NUMA node %" PRIu64 " (socket %" PRIu64 ")", node, socket);
    if (numa >= 0)
        return mw_format("NUMA node %" PRIu64, node);
    return package >= 0 ? mw_format("socket %" PRIu64, socket)
                        : mw_text_copy("no NUMA node of its own");
}

char *mw_seats_words(const struct mw_finding_input *in, const uint32_t *processes, size_t count)
{
    struct mw_cpus numas = {0}, sockets = {0};
    for (size_t i = 0; i < count; i++) {
        const struct mw_hardware *hardware = mw_place_hardware(in->placements, processes[i]);
        int64_t numa = mw_place_numa(in->placements, processes[i]);
        int64_t package = mw_place_package(in->placements, processes[i]);
        if (numa >= 0)
            mw_cpus_add(&numas, hardware->parts[MW_LEVEL_NUMA].at[numa].number, 1);
        if (package >= 0)
            mw_cpus_add(&sockets, hardware->parts[MW_LEVEL_PACKAGE].at[package].number, 1);
    }
    char *numa_list = mw_cpus_text(&numas), *socket_list = mw_cpus_text(&sockets);
    const char *several = mw_cpus_count(&numas) == 1 ? "" : "s";
    char *words;
    if (*numa_list && *socket_list)
        words = mw_format("NUMA node%s %s (socket%s %s)", several, numa_list,
                          mw_cpus_count(&sockets) == 1 ? "" : "s", socket_list);
    else if (*numa_list)
        words = mw_format("NUMA node%s %s", several, numa_list);
    else
        words = *socket_list
                    ? mw_format("socket%s %s", mw_cpus_count(&sockets) == 1 ? "" : "s", socket_list)
                    : mw_text_copy("anywhere");
    free(numa_list);
    free(socket_list);
    mw_cpus_free(&numas);
    mw_cpus_free(&sockets);
    return words;
}

static char *narrowed_words(const struct mw_process *process, const char *parent)
{
    const char *value, *variable = mw_mask_variable(process, &value);
    return variable
               ? mw_format("its launcher, a wrapper (taskset) or the program itself (%s=%s) did "
                           "that: its parent %s has other CPUs",
                           variable, value, parent)
               : mw_format("its launcher, a wrapper (taskset) or the program itself did that: "
                           "its parent %s has other CPUs",
                           parent);
}

char *mw_origin_words(const struct mw_finding_input *in, uint32_t process)
{
    const struct mw_rank_place *place = &in->placements->places[process];
    const char *parent = place->first->parent;
    const char *who = *parent ? parent : "its parent";
    switch (place->origin) {
    case MW_MASK_NONE:
        return mw_text_copy("nobody bound it: it may run on all CPUs of the node");
    case MW_MASK_LAUNCHER:
        return mw_format("its launcher bound it: its parent %s has more CPUs", who);
    case MW_MASK_NARROWED:
        return narrowed_words(mw_trace_process(in->model->trace, process), who);
    case MW_MASK_INHERITED:
        return mw_is_launcher(parent)
                   ? mw_format("it has them from its launcher %s: taskset, a batch system or a "
                               "script did that before",
                               who)
                   : mw_format(
                         "it has them from its parent %s: its launcher, a wrapper or a script "
                         "before it did that",
                         who);
    case MW_MASK_CGROUP:
        return mw_text_copy("they are the cpuset of its control group: a container's or a batch "
                            "system's");
    case MW_MASK_PROGRAM:
        return mw_text_copy("the program, or a library in it, set them after MPI_Init");
    default:
        return mw_text_copy("who set them is not known");
    }
}

static uint64_t look_ticks(const struct mw_placement *look)
{
    uint64_t ticks = 0;
    for (size_t i = 0; i < look->thread_count; i++)
        ticks += look->threads[i].ticks;
    return ticks;
}

int64_t mw_cpu_share(const struct mw_finding_input *in, uint32_t process)
{
    const struct mw_rank_place *place = &in->placements->places[process];
    const struct mw_clock *clock = in->exchange->clock;
    if (!place->last || !place->first->thread_count || !place->last->thread_count ||
        !mw_clock_knows(clock, process))
        return -1;
    int64_t span = mw_clock_ns(clock, process, place->last->time) -
                   mw_clock_ns(clock, process, place->first->time);
    uint64_t before = look_ticks(place->first), after = look_ticks(place->last);
    if (span < SPAN_MIN || after < before)
        return -1;
    return (int64_t)((double)(after - before) * TICK_NS * 100 / (double)span);
}

/* Over the network, as far as is known. */
static int pair_leaves(const struct mw_finding_input *in, const struct mw_pair_transport *pair)
{
    for (size_t r = 0; r < pair->routes.count; r++)
        if (in->transports->ways.at[pair->routes.at[r].way].kind == MW_WAY_NETWORK)
            return 1;
    return 0;
}

static void rate_add(struct mw_rank_rate *rate, const struct mw_speed *speed)
{
    int bound;
    const struct mw_rate *moved = mw_speed_moved(speed, &bound);
    rate->bytes += moved->bytes;
    rate->time += moved->time;
    rate->certain += speed->certain;
}

struct mw_rank_rate *mw_rank_rates_read(const struct mw_finding_input *in,
                                        int (*wanted)(const void *context, int64_t a, int64_t b),
                                        const void *context)
{
    struct mw_rank_rate *rates = mw_alloc(in->model->process_count, sizeof(*rates));
    for (size_t i = 0; i < in->transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &in->transports->pairs.at[i];
        int64_t src = mw_model_rank(in->model, pair->src),
                dst = mw_model_rank(in->model, pair->dst);
        const struct mw_speed *large =
            pair_leaves(in, pair) ? mw_speeds_large(in->exchange->speeds, pair->src, pair->dst)
                                  : NULL;
        if (!large || !large->certain || src < 0 || dst < 0 || !wanted(context, src, dst))
            continue;
        rate_add(&rates[src], large);
        rate_add(&rates[dst], large);
    }
    return rates;
}

double mw_rank_rate(const struct mw_rank_rate *rates, const uint32_t *processes, size_t count)
{
    struct mw_rank_rate all = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        all.bytes += rates[processes[i]].bytes;
        all.time += rates[processes[i]].time;
        all.certain += rates[processes[i]].certain;
    }
    return all.certain < MW_SPEED_MIN_CERTAIN ? NAN : (double)all.bytes / ((double)all.time / 1e9);
}

int mw_device_port(const struct mw_finding_input *in, uint32_t node, int64_t device, uint64_t *rate)
{
    int known = -1;
    for (uint32_t p = 0; p < in->model->process_count; p++) {
        const struct mw_process *process = mw_trace_process(in->model->trace, p);
        if (in->model->process_node[p] != node || !process->ports_count)
            continue;
        const struct mw_ports *look = &process->ports[process->ports_count - 1];
        for (size_t i = 0; i < look->port_count; i++) {
            const struct mw_port *port = &look->ports[i];
            if (mw_device_named(in->placements->hardware[node], port->name) != device)
                continue;
            known = known > 0 || mw_state_up(port->state);
            if (port->rate > *rate)
                *rate = port->rate;
        }
    }
    return known;
}
