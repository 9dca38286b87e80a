/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of comparable pairs (speed_groups.h). */
#include "analyzer/analysis/speed_groups.h"

#include <stdlib.h>

/* A pair's size class and where it belongs. */
struct member {
    enum mw_distance distance;
    int64_t way;
    const struct mw_speed *speed;
};

double mw_speed_judged(const struct mw_speed *speed)
{
    int bound;
    return speed->certain >= MW_SPEED_MIN_CERTAIN ? mw_speed_in_flight(speed, &bound) : 0;
}

const char *mw_speed_way_name(const struct mw_transports *transports, int64_t way)
{
    return way < 0 ? "unknown" : transports->ways.at[way].name;
}

int64_t mw_speed_way(const struct mw_transports *transports, const struct mw_speed *speed)
{
    const struct mw_pair_transport *pair =
        transports ? mw_transports_pair(transports, speed->src, speed->dst) : NULL;
    for (size_t i = 0; pair && i < pair->routes.count; i++) {
        const struct mw_route *route = &pair->routes.at[i];
        if (route->messages && route->first_class <= speed->class &&
            speed->class <= route->last_class)
            return route->way;
    }
    return -1;
}

static int member_compare(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    double first = mw_speed_judged(a->speed), second = mw_speed_judged(b->speed);
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->way != b->way)
        return a->way < b->way ? -1 : 1;
    if (a->speed->class != b->speed->class)
        return a->speed->class < b->speed->class ? -1 : 1;
    if (first != second)
        return first > second ? -1 : 1;
    return a->speed < b->speed ? -1 : 1; /* by src, dst */
}

static int latency_compare(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Figures of a group whose members are known. */
static void group_finish(struct mw_speed_group *group)
{
    uint64_t *latencies = mw_alloc(group->count, sizeof(*latencies));
    size_t known = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct mw_speed *speed = group->members[i];
        group->messages += speed->messages;
        group->bytes += speed->bytes;
        group->judged += mw_speed_judged(speed) > 0;
        if (speed->latencies >= MW_SPEED_MIN_CERTAIN)
            latencies[known++] = speed->latency_median;
    }
    qsort(latencies, known, sizeof(latencies[0]), latency_compare);
    group->latency = known ? latencies[known / 2] : 0;
    if (group->judged) {
        double above = mw_speed_judged(group->members[(group->judged - 1) / 2]);
        double below = mw_speed_judged(group->members[group->judged / 2]);
        group->median = (above + below) / 2;
    }
    free(latencies);
}

struct mw_speed_groups *mw_speed_groups_create(const struct mw_speeds *speeds,
                                               const struct mw_transports *transports)
{
    struct mw_speed_groups *groups = mw_alloc(1, sizeof(*groups));
    size_t count = speeds->all.count;
    struct member *members = mw_alloc(count, sizeof(*members));
    groups->members = mw_alloc(count, sizeof(groups->members[0]));
    for (size_t i = 0; i < count; i++) {
        const struct mw_speed *speed = &speeds->all.at[i];
        members[i] = (struct member){mw_distance_of(speeds->model, speed->src, speed->dst),
                                     mw_speed_way(transports, speed), speed};
    }
    if (count)
        qsort(members, count, sizeof(members[0]), member_compare);
    for (size_t i = 0; i < count; i++) {
        struct mw_speed_group *last =
            groups->all.count ? &groups->all.at[groups->all.count - 1] : NULL;
        groups->members[i] = members[i].speed;
        if (!last || last->distance != members[i].distance || last->way != members[i].way ||
            last->class != members[i].speed->class) {
            last = mw_vector_add(&groups->all);
            *last = (struct mw_speed_group){.distance = members[i].distance,
                                            .way = members[i].way,
                                            .class = members[i].speed->class,
                                            .members = &groups->members[i]};
        }
        last->count++;
    }
    for (size_t i = 0; i < groups->all.count; i++)
        group_finish(&groups->all.at[i]);
    free(members);
    return groups;
}

void mw_speed_groups_free(struct mw_speed_groups *groups)
{
    free(groups->all.at);
    free(groups->members);
    free(groups);
}
