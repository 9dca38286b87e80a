/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "network-inside-node": messages between ranks of one node leave through the network, by
 * sockets or a NIC's loopback, though these ranks could share memory. A provider of libfabric that
 * drives its NIC itself does so on purpose (PML cm has no other way) and is no finding.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/number.h"
#include "analyzer/findings/idle.h"
#include "analyzer/findings/spaces.h"
#include "analyzer/findings/words.h"
#include "analyzer/model/labels.h"

#define PAIRS_SHOWN 6
#define SHARE_LEAST 0.01 /* of the bytes, or of the messages, within nodes */
#define BYTES_LEAST 65536
#define COUNT_LEAST 100

struct inside {
    const struct mw_finding_input *in;
    struct mw_spaces *spaces; /* by process */
    struct mw_crowd crowd;
    MW_VECTOR(uint32_t) pairs; /* numbers of those that do */
    uint64_t messages, bytes, carried, all_messages, all_bytes;
    uint64_t unknown; /* pairs of which it is not known */
    size_t apart;     /* pairs that leave and whose namespaces differ */
    enum mw_space space;
    uint32_t way; /* the one with the most bytes */
    uint64_t way_bytes;
    unsigned first_class, last_class;
};

/* A provider that drives its NIC itself carries everything, within a node too. */
static int on_purpose(const struct mw_way *way)
{
    return !strcmp(way->layer, "libfabric") && mw_way_native(way);
}

static int leaves_node(const struct mw_finding_input *in, const struct mw_route *route)
{
    const struct mw_way *way = &in->transports->ways.at[route->way];
    return way->kind == MW_WAY_NETWORK && !on_purpose(way);
}

/* Counts a pair whose namespaces may keep it from sharing memory. May: some MPIs ask for one IPC
 * namespace, others for one /dev/shm, which containers with mounts of their own often have. */
static void add_spaces(struct inside *inside, int64_t src, int64_t dst)
{
    const struct mw_model *model = inside->in->model;
    int64_t a = mw_model_rank(model, src), b = mw_model_rank(model, dst);
    if (a < 0 || b < 0 || mw_spaces_share(&inside->spaces[a], &inside->spaces[b]))
        return;
    int ipc = mw_spaces_differ(&inside->spaces[a], &inside->spaces[b], MW_SPACE_IPC);
    if (ipc || !inside->apart)
        inside->space = ipc ? MW_SPACE_IPC : MW_SPACE_MOUNT;
    inside->apart++;
}

static void add_route(struct inside *inside, const struct mw_route *route)
{
    uint64_t bytes = route->messages ? route->bytes : route->carried;
    inside->messages += route->messages;
    inside->bytes += route->bytes;
    inside->carried += route->carried;
    if (bytes >= inside->way_bytes) {
        inside->way_bytes = bytes;
        inside->way = route->way;
    }
    if (!route->messages)
        return;
    if (route->first_class < inside->first_class)
        inside->first_class = route->first_class;
    if (route->last_class > inside->last_class)
        inside->last_class = route->last_class;
}

static void add_pair(struct inside *inside, uint32_t number)
{
    const struct mw_pair_transport *pair = &inside->in->transports->pairs.at[number];
    int leaves = 0;
    inside->all_messages += pair->messages;
    inside->all_bytes += pair->bytes;
    inside->unknown += pair->messages && !pair->routes.count;
    for (size_t r = 0; r < pair->routes.count && !leaves; r++)
        leaves = leaves_node(inside->in, &pair->routes.at[r]);
    if (!leaves)
        return;
    add_spaces(inside, pair->src, pair->dst);
    for (size_t r = 0; r < pair->routes.count; r++)
        if (leaves_node(inside->in, &pair->routes.at[r]))
            add_route(inside, &pair->routes.at[r]);
    *mw_vector_add(&inside->pairs) = number;
    mw_crowd_add_rank(&inside->crowd, pair->src);
    mw_crowd_add_rank(&inside->crowd, pair->dst);
}

/* Control traffic and a few stray messages are no finding. */
static int matters(const struct inside *inside)
{
    double bytes = (double)inside->bytes / (double)(inside->all_bytes + 1);
    double messages = (double)inside->messages / (double)(inside->all_messages + 1);
    if (!inside->messages)
        return !inside->all_messages && inside->carried >= BYTES_LEAST;
    return (bytes >= SHARE_LEAST || messages >= SHARE_LEAST) &&
           (inside->bytes >= BYTES_LEAST || inside->messages >= COUNT_LEAST);
}

static char *pairs_words(const struct inside *inside)
{
    char *list = NULL;
    for (size_t i = 0; i < inside->pairs.count && i < PAIRS_SHOWN; i++) {
        const struct mw_pair_transport *pair =
            &inside->in->transports->pairs.at[inside->pairs.at[i]];
        list = mw_list_add(list, ", ", mw_pair_label(inside->in->model, pair->src, pair->dst));
    }
    if (inside->pairs.count > PAIRS_SHOWN)
        list = mw_list_add(list, " and ", mw_format("%zu more", inside->pairs.count - PAIRS_SHOWN));
    return list;
}

/* A setting that is to blame, and on which ranks it is in force where that is not all of them. */
static void say_setting(const struct inside *inside, const char *what,
                        const struct mw_setting *setting, const struct mw_setting_variant *variant,
                        struct mw_finding *finding)
{
    char *words = mw_setting_words(setting, variant), *names = NULL;
    if (mw_crowd_common(&inside->crowd, variant->processes, variant->process_count) <
        inside->crowd.count) {
        struct mw_crowd some;
        mw_crowd_begin(&some, inside->in->model);
        mw_crowd_add_all(&some, variant->processes, variant->process_count);
        names = mw_crowd_names(&some);
        mw_crowd_end(&some);
    }
    mw_finding_evidence(finding, mw_format("shared memory is %s %s%s%s: %s", what,
                                           mw_place_words(&variant->in_force), names ? " of " : "",
                                           names ? names : "", words));
    free(words);
    free(names);
}

/* Names a setting that keeps shared memory out; 1 when it is in force here. */
static int say_exclusion(const struct inside *inside, const char *framework, const char *name,
                         struct mw_finding *finding)
{
    struct mw_exclusion how;
    if (mw_setting_excludes(inside->in->settings, framework, name, &how) <= 0 ||
        !mw_crowd_common(&inside->crowd, how.variant->processes, how.variant->process_count))
        return 0;
    say_setting(inside, "kept out", how.setting, how.variant, finding);
    return 1;
}

static int say_variable(const struct inside *inside, const char *name, struct mw_finding *finding)
{
    const struct mw_setting *setting = mw_settings_find(inside->in->settings, name);
    const struct mw_setting_variant *on =
        setting ? mw_setting_on(setting, (uint32_t)mw_crowd_first(&inside->crowd)) : NULL;
    if (!on || !on->in_force.value[0] || !strcmp(on->in_force.value, "0"))
        return 0;
    say_setting(inside, "switched off", setting, on, finding);
    return 1;
}

/* Why it is so, as far as settings and the choice tell; returns what to do, NULL: they do not. */
static const char *say_cause(const struct inside *inside, struct mw_finding *finding)
{
    const struct mw_way *way = &inside->in->transports->ways.at[inside->way];
    char *choice = mw_choice_words(inside->in, (uint32_t)mw_crowd_first(&inside->crowd));
    const char *advice = NULL;
    if (!inside->in->settings) {
        free(choice);
        return advice;
    }
    if (!strcmp(way->layer, "UCX") || strstr(way->layer, "ucx")) {
        if (say_exclusion(inside, "UCX_TLS", "posix", finding))
            advice = "Add UCX's shared memory to the list (UCX_TLS=...,sm), or leave UCX_TLS out.";
        else if (say_exclusion(inside, "UCX_TLS", "cma", finding))
            advice =
                "Add cma (or sm, which has it) to UCX_TLS, or leave UCX_TLS out: without a way "
                "to copy at once UCX sends large messages through the network.";
    } else if (!strcmp(way->layer, "libfabric") && choice && strstr(choice, "cm")) {
        mw_finding_evidence(finding, mw_format("%s sends everything through one provider, also "
                                               "within a node",
                                               choice));
        advice = "For jobs that fit a node use PML ob1 (mpirun --mca pml ob1), which uses shared "
                 "memory.";
    } else if (say_exclusion(inside, "btl", "vader", finding) ||
               say_exclusion(inside, "btl", "sm", finding)) {
        advice = "Add Open MPI's shared memory to the list of BTLs (vader; sm from Open MPI 5 "
                 "on), or leave the list out.";
    }
    if (say_variable(inside, "MPIR_CVAR_NOLOCAL", finding) ||
        say_variable(inside, "MPIR_CVAR_ODD_EVEN_CLIQUES", finding))
        advice = "Remove that setting.";
    free(choice);
    return advice;
}

/* What to do where the settings do not tell why. */
static const char *say_spaces(const struct inside *inside, struct mw_finding *finding)
{
    if (!inside->apart)
        return "Let the MPI library use shared memory between ranks of a node.";
    mw_finding_evidence(
        finding, mw_format("%zu of %zu pairs are in different %s namespaces (containers), which "
                           "can keep them from sharing memory",
                           inside->apart, inside->pairs.count, mw_space_word(inside->space)));
    return "Start all ranks of a node in one container, or have the containers share the IPC "
           "namespace and /dev/shm of the node (docker and podman: --ipc=host).";
}

/* by_spaces: settings do not explain it, namespaces may. */
static char *title_of(const struct inside *inside, int by_spaces)
{
    const struct mw_way *way = &inside->in->transports->ways.at[inside->way];
    char *name = mw_way_words(way), *share, *title;
    const char *least = inside->unknown ? "At least " : ""; /* what the others use is not known */
    if (!inside->messages)
        share = mw_text_copy("Collectives");
    else if (inside->all_bytes) {
        char *percent = mw_number_percent((double)inside->bytes / (double)inside->all_bytes);
        share = mw_format("%s%s of the bytes", least, percent);
        free(percent);
    } else {
        char *percent = mw_number_percent((double)inside->messages / (double)inside->all_messages);
        share = mw_format("%s%s of the messages", least, percent);
        free(percent);
    }
    title = by_spaces
                ? mw_format("%s between ranks of one node left through the network, %s; the ranks "
                            "are in different %s namespaces",
                            share, name, mw_space_word(inside->space))
                : mw_format("%s between ranks of one node left through the network, %s, though the "
                            "ranks could share memory",
                            share, name);
    free(share);
    free(name);
    return title;
}

static void say_traffic(const struct inside *inside, struct mw_finding *finding)
{
    struct mw_used used;
    mw_used_begin(&used, inside->in, &inside->crowd, MW_IN_NODE);
    for (size_t i = 0; i < used.uses.count; i++) {
        const struct mw_use *use = &used.uses.at[i];
        if (!use->messages && !mw_use_matters(use))
            continue;
        char *words = mw_use_words(&used, use);
        char *sizes = use->messages ? mw_classes_words(use->first_class, use->last_class) : NULL;
        mw_finding_evidence(
            finding, mw_format("%s%s%s", words, sizes ? ", sizes " : "", sizes ? sizes : ""));
        free(words);
        free(sizes);
        char *speed = mw_speed_words(&used, use, 0, NULL);
        if (speed)
            mw_finding_evidence(finding, speed);
    }
    mw_used_end(&used);
}

static void report(const struct inside *inside, struct mw_findings *out)
{
    struct mw_finding *finding = mw_finding_add(out, "network-inside-node", MW_WARNING, NULL);
    char *pairs = pairs_words(inside);
    mw_finding_evidence(finding, mw_format("pairs %s", pairs));
    say_traffic(inside, finding);
    const char *advice = say_cause(inside, finding);
    finding->title = title_of(inside, !advice && inside->apart == inside->pairs.count);
    finding->advice = mw_text_copy(advice ? advice : say_spaces(inside, finding));
    char *bytes = mw_number_bytes((double)(inside->messages ? inside->bytes : inside->carried));
    finding->cost = mw_format("%s went through the network stack instead of memory", bytes);
    mw_crowd_give(&inside->crowd, finding);
    free(bytes);
    free(pairs);
}

/* What these ranks use instead of a fabric that failed, or that was not chosen, is told there, and so is
 * that UCX sends large messages through the network because it may not copy them from memory to memory. */
static int explained(const struct inside *inside, const struct mw_findings *out)
{
    const struct mw_finding *fallback = mw_findings_of(out, "fallback");
    const struct mw_way *way = &inside->in->transports->ways.at[inside->way];
    return (fallback && fallback->severity > MW_NOTICE &&
            mw_findings_concern(out, "fallback", &inside->crowd)) ||
           mw_findings_concern(out, "software-provider", &inside->crowd) ||
           (!strcmp(way->layer, "UCX") &&
            mw_findings_concern(out, "single-copy-refused", &inside->crowd));
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct inside inside = {
        .in = in, .first_class = MW_SIZE_CLASSES, .spaces = mw_spaces_read(in->model)};
    mw_crowd_begin(&inside.crowd, in->model);
    for (uint32_t i = 0; i < in->transports->pairs.count; i++)
        if (in->transports->pairs.at[i].where == MW_WHERE_NODE &&
            in->transports->pairs.at[i].src != in->transports->pairs.at[i].dst)
            add_pair(&inside, i);
    if (inside.pairs.count && matters(&inside) && !explained(&inside, out))
        report(&inside, out);
    free(inside.pairs.at);
    free(inside.spaces);
    mw_crowd_end(&inside.crowd);
}

const struct mw_rule mw_rule_network_inside_node = {
    "network-inside-node", "ranks of one node talk through the network", find};
