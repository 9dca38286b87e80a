/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes of UCX endpoints (transports_lanes.h). A lane's use is "am", "rma_bw" … as UCX prints it,
 * or empty where this version of UCX does not tell; then copies by the kernel are taken for bulk
 * transfers, as UCX has no other use for them.
 */
#include "analyzer/analysis/transports_lanes.h"

#include <string.h>

static int use_is(const struct mw_lane *lane, const char *use)
{
    return !strcmp(lane->use, use);
}

static int is_copy(const struct mw_lane *lane)
{
    return mw_ucx_kind(lane->transport) == MW_WAY_SINGLE_COPY;
}

/* How good a lane is for small messages; 0: not for them. */
static int small_rank(const struct mw_lane *lane)
{
    if (use_is(lane, "am"))
        return 9;
    if (use_is(lane, "tag"))
        return 8;
    if (!use_is(lane, "") || is_copy(lane))
        return 0;
    if (mw_ucx_kind(lane->transport) != MW_WAY_NETWORK)
        return 7;
    return mw_fabric_native("ucx", lane->transport) ? 6 : 5;
}

/* How good for large ones. */
static int large_rank(const struct mw_lane *lane, const char *small)
{
    int copy = is_copy(lane), other = strcmp(lane->transport, small) != 0;
    if (use_is(lane, "rma_bw"))
        return copy ? 9 : other ? 8 : 7;
    if (use_is(lane, "am_bw"))
        return 6;
    return use_is(lane, "") && copy ? 5 : 0;
}

int mw_lane_sets(const struct mw_peer *peer, struct mw_lane_sets *sets)
{
    int best = 0;
    *sets = (struct mw_lane_sets){.peer = peer, .sure = 1};
    for (size_t i = 0; i < peer->lane_count; i++) {
        int rank = small_rank(&peer->lanes[i]);
        if (rank > best) {
            best = rank;
            sets->small = peer->lanes[i].transport;
        }
    }
    if (!best)
        return 0;
    sets->large = sets->small;
    for (size_t i = 0; i < peer->lane_count; i++)
        if (peer->lanes[i].use[0] == '\0' && strcmp(peer->lanes[i].transport, sets->small))
            sets->sure = 0;
    best = 0;
    for (size_t i = 0; i < peer->lane_count; i++) {
        int rank = large_rank(&peer->lanes[i], sets->small);
        if (rank > best) {
            best = rank;
            sets->large = peer->lanes[i].transport;
        }
    }
    return 1;
}

static int carries_data(const struct mw_lane *lane)
{
    return use_is(lane, "am") || use_is(lane, "am_bw") || use_is(lane, "rma_bw") ||
           use_is(lane, "tag") || use_is(lane, "");
}

static int lane_in(const struct mw_lane *lane, const struct mw_lane_sets *sets,
                   enum mw_lane_part part)
{
    const char *transport = part == MW_LANES_LARGE ? sets->large : sets->small;
    if (strcmp(lane->transport, transport) || !carries_data(lane))
        return 0;
    return part == MW_LANES_ALL || use_is(lane, "") ||
           (part == MW_LANES_SMALL) == (use_is(lane, "am") || use_is(lane, "tag"));
}

uint32_t mw_lane_way(struct mw_building *building, const struct mw_lane_sets *sets,
                     enum mw_lane_part part, uint32_t process, int inside)
{
    const char *transport = part == MW_LANES_LARGE ? sets->large : sets->small,
               *devices[MW_DEVICES_MAX];
    enum mw_way_kind kind = mw_ucx_kind(transport);
    uint64_t rate = 0;
    size_t count = 0;
    if (kind != MW_WAY_NETWORK)
        return mw_way(building, kind, transport, "UCX", "memory", 0);
    if (inside && !strcmp(transport, "tcp"))
        return mw_way(building, kind, transport, "UCX", "lo", 0);
    for (size_t i = 0; i < sets->peer->lane_count && count < MW_DEVICES_MAX; i++) {
        const struct mw_lane *lane = &sets->peer->lanes[i];
        size_t known = 0;
        if (!lane_in(lane, sets, part))
            continue;
        while (known < count && strcmp(devices[known], lane->device))
            known++;
        if (known == count)
            devices[count++] = lane->device;
    }
    const char *device = mw_join_devices(building, devices, count, process, &rate);
    return mw_way(building, kind, transport, "UCX", device, rate);
}
