/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "uneven-nics": a node has several equal network cards that work, and its ranks send most of
 * their bytes through one of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/number.h"
#include "analyzer/findings/seats.h"
#include "analyzer/findings/used.h"

#define BYTES_MIN (64u << 20) /* of a node */
#define CARDS_MAX 64
#define TOO_MUCH  1.5 /* times its fair share */

struct cards { /* of one node, equal ones */
    const struct mw_hardware *hardware;
    int64_t devices[CARDS_MAX];
    uint64_t bytes[CARDS_MAX], rate, all;
    size_t count, users; /* users: ranks that sent through one */
};

static size_t card_index(const struct cards *cards, int64_t device)
{
    size_t i = 0;
    while (i < cards->count && cards->devices[i] != device)
        i++;
    return i;
}

/* The cards that ranks of the node drive natively tell the rate; all others of that rate that are
 * up count, too. Two functions of one card are two ports: each has its own line. */
static void cards_read(const struct mw_finding_input *in, uint32_t node, struct cards *cards)
{
    *cards = (struct cards){.hardware = in->placements->hardware[node]};
    for (uint32_t p = 0; p < in->model->process_count; p++) {
        const struct mw_near *near =
            in->model->process_node[p] == node ? mw_place_nic(in->placements, p) : NULL;
        if (near && near->way && mw_way_native(near->way) && near->bytes)
            mw_device_port(in, node, near->device, &cards->rate);
    }
    for (size_t i = 0; cards->rate && i < cards->hardware->devices.count; i++) {
        uint64_t rate = 0;
        if (cards->hardware->devices.at[i].kind == MW_DEVICE_NIC && cards->count < CARDS_MAX &&
            mw_device_port(in, node, (int64_t)i, &rate) > 0 && rate == cards->rate)
            cards->devices[cards->count++] = (int64_t)i;
    }
}

static void bytes_read(const struct mw_finding_input *in, uint32_t node, struct cards *cards)
{
    for (uint32_t p = 0; p < in->model->process_count; p++) {
        const struct mw_rank_place *place = &in->placements->places[p];
        int used = 0;
        for (size_t i = 0; in->model->process_node[p] == node && i < place->nics.count; i++) {
            size_t at = card_index(cards, place->nics.at[i].device);
            if (at == cards->count)
                continue;
            cards->bytes[at] += place->nics.at[i].bytes;
            cards->all += place->nics.at[i].bytes;
            used = 1;
        }
        cards->users += (size_t)used;
    }
}

static size_t most_of(const struct cards *cards)
{
    size_t most = 0;
    for (size_t i = 1; i < cards->count; i++)
        if (cards->bytes[i] > cards->bytes[most])
            most = i;
    return most;
}

static void report(const struct mw_finding_input *in, uint32_t node, const struct cards *cards,
                   struct mw_findings *out)
{
    struct mw_crowd crowd;
    size_t most = most_of(cards);
    char *name = mw_device_label(&cards->hardware->devices.at[cards->devices[most]]);
    char *share = mw_number_percent((double)cards->bytes[most] / (double)cards->all);
    struct mw_finding *finding = mw_finding_add(
        out, "uneven-nics", MW_WARNING,
        mw_format("%s of what ranks of %s sent went through %s, one of %zu equal network cards",
                  share, in->model->nodes[node].host, name, cards->count));
    for (size_t i = 0; i < cards->count; i++) {
        const struct mw_hw_device *device = &cards->hardware->devices.at[cards->devices[i]];
        char *label = mw_device_label(device), *bytes = mw_number_bytes((double)cards->bytes[i]);
        char *there =
            mw_part_words(cards->hardware, device->numa,
                          mw_part_around(cards->hardware, MW_LEVEL_PACKAGE, &device->cpus));
        mw_finding_evidence(finding, mw_format("%s at %s: %s", label, there, bytes));
        free(label);
        free(bytes);
        free(there);
    }
    finding->advice = mw_text_copy(
        "Let ranks use all cards: remove lists that name one card (UCX_NET_DEVICES, "
        "FI_CXI_DEVICE_NAME, btl_openib_if_include ...), deal ranks out over the sockets "
        "that have cards, or let each message use several (UCX_MAX_RNDV_RAILS).");
    mw_crowd_begin(&crowd, in->model);
    for (uint32_t p = 0; p < in->model->process_count; p++)
        if (in->model->process_node[p] == node && in->placements->places[p].nics.count)
            mw_crowd_add(&crowd, p);
    mw_crowd_give(&crowd, finding);
    mw_crowd_end(&crowd);
    free(name);
    free(share);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct cards cards;
    for (uint32_t node = 0; node < in->model->node_count; node++) {
        cards_read(in, node, &cards);
        bytes_read(in, node, &cards);
        if (cards.count < 2 || cards.users < 2 || cards.all < BYTES_MIN)
            continue;
        if ((double)cards.bytes[most_of(&cards)] * (double)cards.count >
            TOO_MUCH * (double)cards.all)
            report(in, node, &cards, out);
    }
}

const struct mw_rule mw_rule_uneven_nics = {
    "uneven-nics", "one of several equal network cards carries most", find};
