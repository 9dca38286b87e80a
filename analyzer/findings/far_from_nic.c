/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "far-from-nic": ranks send through a network card that sits on the other socket (where
 * nobody knows sockets: that is far by the firmware's table), though there is a card near them, or
 * room near the card, or it was measured to cost. Where every socket is full and there is one card,
 * somebody has to be far: that is no finding.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/number.h"
#include "analyzer/findings/seats.h"
#include "analyzer/findings/used.h"

#define BYTES_MIN   (1u << 20)   /* through the card, of a rank */
#define RATE_MIN    25000000000u /* bit/s from which distance matters to TCP, too */
#define SLIT_FAR    20           /* where nobody knows the sockets: twice as far as local memory */
#define SLOWER      0.8          /* of what the near ranks reached */
#define NODES_SHOWN 3

enum verdict { FINE, WORTH_KNOWING, ROOM, SLOW, OTHER_CARD };

/* How far a process is from its card. */
enum side { SIDE_UNKNOWN, SIDE_NEAR, SIDE_FAR };

/* A card of a node, and who uses it. */
struct card {
    uint32_t node;
    int64_t device;
    char *name;
    uint64_t rate;            /* bit/s; 0 not known */
    int other_socket;         /* the far ones are on another one; 0: sockets are not known */
    MW_VECTOR(uint32_t) near; /* processes, ascending */
    MW_VECTOR(uint32_t) far;
    int64_t other; /* a card that is near the far ones; MW_NO_PART */
    size_t room;   /* CPUs near the card that no rank may use */
    enum verdict verdict;
    double near_rate, far_rate;
};

static int is_far(const struct mw_reach *reach)
{
    if (reach->nearest == MW_LOCALITY_NODE)
        return reach->slit_least >= SLIT_FAR;
    return reach->nearest == MW_LOCALITY_OTHER_PACKAGE;
}

static int is_near(const struct mw_reach *reach)
{
    return reach->farthest <= MW_LOCALITY_PACKAGE ||
           (reach->farthest == MW_LOCALITY_NODE && reach->slit_most && reach->slit_most < SLIT_FAR);
}

static unsigned char side_of(const struct mw_reach *reach)
{
    return is_far(reach) ? SIDE_FAR : is_near(reach) ? SIDE_NEAR : SIDE_UNKNOWN;
}

/* The card of a process that counts: most of its bytes go through it, driven so that distance
 * matters. */
static const struct mw_near *card_of(const struct mw_finding_input *in, uint32_t process)
{
    const struct mw_rank_place *place = &in->placements->places[process];
    const struct mw_near *near = mw_place_nic(in->placements, process);
    uint64_t all = 0;
    for (size_t i = 0; i < place->nics.count; i++)
        all += place->nics.at[i].bytes;
    if (!near || !near->way || near->bytes < BYTES_MIN || near->bytes * 2 <= all)
        return NULL;
    return mw_way_native(near->way) || near->way->speed >= RATE_MIN ? near : NULL;
}

/* The package that a device is in, or is nearest to. */
static int64_t device_package(const struct mw_hardware *hardware, int64_t device)
{
    return mw_part_around(hardware, MW_LEVEL_PACKAGE, &hardware->devices.at[device].cpus);
}

/* A card as good as this one that is in the far ones' package, and works. */
static int64_t card_beside(const struct mw_finding_input *in, const struct card *card)
{
    const struct mw_hardware *hardware = in->placements->hardware[card->node];
    int64_t package = mw_place_package(in->placements, card->far.at[0]);
    for (size_t i = 0; i < hardware->devices.count; i++) {
        uint64_t rate = 0;
        if (hardware->devices.at[i].kind != MW_DEVICE_NIC || (int64_t)i == card->device ||
            package < 0 || device_package(hardware, (int64_t)i) != package)
            continue;
        if (mw_device_port(in, card->node, (int64_t)i, &rate) > 0 && rate && rate >= card->rate)
            return (int64_t)i;
    }
    return MW_NO_PART;
}

/* CPUs in the card's package, or NUMA node, that no rank of this job may use. */
static size_t room_near(const struct mw_finding_input *in, const struct card *card)
{
    const struct mw_hardware *hardware = in->placements->hardware[card->node];
    int64_t package = device_package(hardware, card->device);
    struct mw_cpus used = {0};
    const struct mw_cpus *near = package >= 0 ? &hardware->parts[MW_LEVEL_PACKAGE].at[package].cpus
                                              : &hardware->devices.at[card->device].cpus;
    size_t room = 0;
    for (uint32_t p = 0; p < in->model->process_count; p++)
        if (mw_seated(in, p, card->node))
            mw_cpus_join(&used, &in->placements->places[p].seat.cpus);
    for (size_t cpu = mw_cpus_next(near, 0); cpu != SIZE_MAX; cpu = mw_cpus_next(near, cpu + 1))
        room += !mw_cpus_has(&used, cpu);
    mw_cpus_free(&used);
    return room;
}

/* Are ranks dealt out evenly, so that some are far on purpose? How many are on each package. */
static int dealt_evenly(const struct mw_finding_input *in, uint32_t node, size_t *each)
{
    const struct mw_hardware *hardware = in->placements->hardware[node];
    size_t packages = hardware->parts[MW_LEVEL_PACKAGE].count;
    size_t *counts = mw_alloc(packages, sizeof(*counts));
    int even = packages > 1;
    for (uint32_t p = 0; p < in->model->process_count; p++) {
        int64_t package = mw_seated(in, p, node) ? mw_place_package(in->placements, p) : MW_NO_PART;
        if (package >= 0)
            counts[package]++;
    }
    for (size_t i = 1; i < packages; i++)
        even = even && counts[i] == counts[0];
    *each = packages ? counts[0] : 0;
    free(counts);
    return even;
}

/* What distance costs shows where pairs without it are beside: a far rank that talks to a near one
 * makes both slow. */
static int both_near(const void *sides, int64_t a, int64_t b)
{
    const unsigned char *side = sides;
    return side[a] == SIDE_NEAR && side[b] == SIDE_NEAR;
}

static int one_far(const void *sides, int64_t a, int64_t b)
{
    const unsigned char *side = sides;
    return side[a] == SIDE_FAR || side[b] == SIDE_FAR;
}

struct rates {
    struct mw_rank_rate *near, *far; /* of pairs with both ends near, with a far end */
};

static enum verdict judge(const struct mw_finding_input *in, struct card *card,
                          const struct rates *rates)
{
    size_t each;
    card->other = card_beside(in, card);
    card->room = room_near(in, card);
    card->near_rate = mw_rank_rate(rates->near, card->near.at, card->near.count);
    card->far_rate = mw_rank_rate(rates->far, card->far.at, card->far.count);
    int room = card->room >= card->far.count;
    int measured = isfinite(card->near_rate) && isfinite(card->far_rate);
    if (card->other >= 0)
        return OTHER_CARD;
    if (measured && card->far_rate >= SLOWER * card->near_rate)
        return FINE;
    if (measured)
        return room ? SLOW : WORTH_KNOWING;
    if (!room)
        return FINE;
    if (dealt_evenly(in, card->node, &each))
        return each > 1 ? WORTH_KNOWING : FINE;
    return ROOM;
}

/* --- words ------------------------------------------------------------------------------------ */

static void say_place(const struct mw_finding_input *in, const struct card *card,
                      const uint32_t *processes, size_t count, struct mw_finding *finding)
{
    const struct mw_hardware *hardware = in->placements->hardware[card->node];
    const struct mw_near *near = mw_place_nic(in->placements, processes[0]);
    struct mw_crowd crowd;
    mw_crowd_begin(&crowd, in->model);
    mw_crowd_add_all(&crowd, processes, count);
    char *who = mw_crowd_names(&crowd), *seats = mw_seats_words(in, processes, count);
    const char *use = crowd.count == 1 ? "uses" : "use";
    char *there = mw_part_words(hardware, hardware->devices.at[card->device].numa,
                                device_package(hardware, card->device));
    char *slit = near->reach.slit_most
                     ? mw_format("; the firmware's distance is %u", near->reach.slit_most)
                     : mw_text_copy("");
    mw_finding_evidence(finding, mw_format("%s on %s, at %s, %s %s at %s%s", who,
                                           in->model->nodes[card->node].host, seats, use,
                                           card->name, there, slit));
    mw_crowd_end(&crowd);
    free(who);
    free(seats);
    free(there);
    free(slit);
}

static void say_rates(const struct card *card, struct mw_finding *finding)
{
    char *far = isfinite(card->far_rate) ? mw_number_rate(card->far_rate) : NULL;
    char *near = isfinite(card->near_rate) ? mw_number_rate(card->near_rate) : NULL;
    if (far && near)
        mw_finding_evidence(finding,
                            mw_format("large messages of pairs with a far rank reached %s, those "
                                      "of pairs of near ranks %s",
                                      far, near));
    else if (far)
        mw_finding_evidence(finding,
                            mw_format("large messages of pairs with a far rank reached %s; what "
                                      "the distance costs cannot be told: too few went between "
                                      "ranks that are both near their cards",
                                      far));
    else
        mw_finding_evidence(finding, mw_text_copy("what the distance costs cannot be told: too few "
                                                  "large messages of the far ranks were measured"));
    if (far && near && card->far_rate < card->near_rate) {
        char *part = mw_number_percent(card->far_rate / card->near_rate);
        finding->cost = mw_format("pairs with a far rank reached %s of what pairs of near ones did "
                                  "(%s of %s)",
                                  part, far, near);
        free(part);
    }
    free(far);
    free(near);
}

static void say_way_out(const struct mw_finding_input *in, const struct card *card,
                        struct mw_finding *finding)
{
    const struct mw_hardware *hardware = in->placements->hardware[card->node];
    if (card->other >= 0) {
        char *other = mw_device_label(&hardware->devices.at[card->other]);
        char *there = mw_part_words(hardware, hardware->devices.at[card->other].numa,
                                    device_package(hardware, card->other));
        mw_finding_evidence(finding,
                            mw_format("%s, which is up, is near them, at %s", other, there));
        finding->advice = mw_format(
            "Let each rank use the card near it: UCX and libfabric's providers do that where "
            "they are not told which card (look for UCX_NET_DEVICES, "
            "MPICH_OFI_NIC_POLICY=NUMA, FI_CXI_DEVICE_NAME and the like); here %s.",
            other);
        free(other);
        free(there);
        return;
    }
    if (card->room)
        mw_finding_evidence(finding, mw_format("%zu CPU%s %s %s used by no rank of this job",
                                               card->room, card->room == 1 ? "" : "s",
                                               device_package(hardware, card->device) >= 0
                                                   ? "of the card's socket"
                                                   : "near the card",
                                               card->room == 1 ? "is" : "are"));
    finding->advice = mw_text_copy(
        "Bind the ranks that communicate most to CPUs near the card: mpirun --map-by dist:span "
        "--mca rmaps_dist_device NAME or --cpu-set (Open MPI), -bind-to with a list (MPICH), "
        "srun --cpu-bind=map_cpu. Where the whole node is needed, let ranks near the card do more "
        "of the communication.");
}

static int same_case(const struct card *a, const struct card *b)
{
    return a->verdict == b->verdict && a->other_socket == b->other_socket &&
           !strcmp(a->name, b->name);
}

/* Where it is so: of some nodes each, of the rest how many. */
static void say_nodes(const struct mw_finding_input *in, struct card *const *cases, size_t count,
                      struct mw_finding *finding)
{
    for (size_t i = 0; i < count && i < NODES_SHOWN; i++)
        say_place(in, cases[i], cases[i]->far.at, cases[i]->far.count, finding);
    if (count > NODES_SHOWN)
        mw_finding_evidence(finding, mw_format("so it is on %zu nodes", count));
    if (cases[0]->near.count)
        say_place(in, cases[0], cases[0]->near.at, cases[0]->near.count, finding);
}

/* Equal cases of several nodes are one finding. */
static void report(const struct mw_finding_input *in, struct card *const *cases, size_t count,
                   struct mw_findings *out)
{
    struct mw_crowd all;
    mw_crowd_begin(&all, in->model);
    for (size_t i = 0; i < count; i++)
        mw_crowd_add_all(&all, cases[i]->far.at, cases[i]->far.count);
    char *share = mw_crowd_share(&all);
    struct mw_finding *finding = mw_finding_add(
        out, "far-from-nic", cases[0]->verdict == WORTH_KNOWING ? MW_NOTICE : MW_WARNING,
        mw_format("%s %s %s %s", share, all.count == 1 ? "uses" : "use", cases[0]->name,
                  cases[0]->other_socket ? "from the other socket" : "from a far NUMA node"));
    say_nodes(in, cases, count, finding);
    say_rates(cases[0], finding);
    say_way_out(in, cases[0], finding);
    mw_crowd_give(&all, finding);
    mw_crowd_end(&all);
    free(share);
}

static void report_all(const struct mw_finding_input *in, struct card *cards, size_t count,
                       struct mw_findings *out)
{
    struct card **cases = mw_alloc(count, sizeof(*cases));
    for (size_t first = 0; first < count; first++) {
        size_t same = 0;
        if (cards[first].verdict == FINE)
            continue;
        for (size_t i = first; i < count; i++)
            if (same_case(&cards[first], &cards[i]))
                cases[same++] = &cards[i];
        report(in, cases, same, out);
        for (size_t i = same; i-- > 0;)
            cases[i]->verdict = FINE; /* told */
    }
    free(cases);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    MW_VECTOR(struct card) cards = {0};
    struct mw_index index = {0};
    unsigned char *sides = mw_alloc(in->model->process_count, 1);
    for (uint32_t p = 0; p < in->model->process_count; p++) {
        uint32_t node = in->model->process_node[p];
        const struct mw_near *near = mw_seated(in, p, node) ? card_of(in, p) : NULL;
        if (!near)
            continue;
        size_t at = mw_index_put(&index, (uint64_t)node << 32 | (uint64_t)near->device);
        if (at == cards.count)
            *mw_vector_add(&cards) = (struct card){
                .node = node,
                .device = near->device,
                .name = mw_device_label(&in->placements->hardware[node]->devices.at[near->device]),
                .rate = near->way->speed,
                .other = MW_NO_PART};
        sides[p] = side_of(&near->reach);
        if (sides[p] == SIDE_FAR) {
            *mw_vector_add(&cards.at[at].far) = p;
            cards.at[at].other_socket = near->reach.nearest == MW_LOCALITY_OTHER_PACKAGE;
        } else if (sides[p] == SIDE_NEAR) {
            *mw_vector_add(&cards.at[at].near) = p;
        }
    }
    struct rates rates = {mw_rank_rates_read(in, both_near, sides),
                          mw_rank_rates_read(in, one_far, sides)};
    for (size_t i = 0; i < cards.count; i++)
        cards.at[i].verdict = cards.at[i].far.count ? judge(in, &cards.at[i], &rates) : FINE;
    report_all(in, cards.at, cards.count, out);
    for (size_t i = 0; i < cards.count; i++) {
        free(cards.at[i].name);
        free(cards.at[i].near.at);
        free(cards.at[i].far.at);
    }
    free(cards.at);
    free(rates.near);
    free(rates.far);
    free(sides);
    mw_index_free(&index);
}

const struct mw_rule mw_rule_far_from_nic = {
    "far-from-nic", "ranks use a network card that is far from them", find};
