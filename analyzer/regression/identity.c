/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is the same thing in another way (compare.h): the transport, driver, device and buffers of
 * messages, pair by pair and over all pairs of a distance, and where ranks sat.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/transports.h"
#include "analyzer/regression/compare.h"

#define SHARE_LEAST 0.01 /* of a distance's messages or bytes: less may be chance */

/* --- how good a way is ------------------------------------------------------------------------ */

/* From which ranks one can tell a step down without measuring. */
enum tier { UNKNOWN, SOCKETS, FABRIC, SHARED, SINGLE_COPY };

static int is_among(const char *name, size_t length, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == length && !strncmp(*list, name, length))
            return 1;
    return 0;
}

static enum tier tier_of(const char *name, size_t length)
{
    static const char *const single[] = {"cma",      "knem",   "xpmem", "rocm_ipc",
                                         "cuda_ipc", "ze_ipc", NULL};
    static const char *const shared[] = {"vader", "sm", "posix", "sysv", "shm", "mm", NULL};
    static const char *const sockets[] = {"tcp", "sockets", "udp", NULL};
    char *whole = mw_format("%.*s", (int)length, name);
    enum tier tier = UNKNOWN;
    if (is_among(name, length, single))
        tier = SINGLE_COPY;
    else if (is_among(name, length, shared))
        tier = SHARED;
    else if (is_among(name, strcspn(whole, ";"), sockets))
        tier = SOCKETS;
    else if (mw_fabric_native("libfabric", whole) || mw_fabric_native("ucx", whole) ||
             !strcmp(whole, "openib"))
        tier = FABRIC;
    free(whole);
    return tier;
}

/* The best and the least of the ways in "vader, from 4 KiB on cma; device memory: tcp (lo)". */
struct tiers {
    enum tier best, least;
};

/* What begins behind the next separator; NULL none. */
static const char *next_way(const char *at)
{
    for (; *at; at++)
        if ((*at == ',' || *at == ';') && at[1] == ' ')
            return at + 2;
    return NULL;
}

/* Where the name of a way begins that may be introduced by its sizes or its memory. */
static const char *way_name(const char *at)
{
    const char *next = next_way(at), *on = strstr(at, " on "), *memory = strstr(at, " memory: ");
    if (memory && (!next || memory < next))
        at = memory + strlen(" memory: ");
    if (!strncmp(at, "from ", 5) && on)
        at = on + strlen(" on ");
    return at;
}

static struct tiers tiers_of(const char *label)
{
    struct tiers tiers = {UNKNOWN, SINGLE_COPY};
    for (const char *at = label; at; at = next_way(at)) {
        const char *name = way_name(at), *end = next_way(name);
        size_t length = strcspn(name, " ,");
        if (end && (size_t)(end - name) - 2 < length)
            length = (size_t)(end - name) - 2;
        enum tier tier = tier_of(name, length);
        tiers.best = tier > tiers.best ? tier : tiers.best;
        tiers.least = tier < tiers.least ? tier : tiers.least;
    }
    return tiers;
}

static int is_worse(const char *base, const char *fresh)
{
    struct tiers old = tiers_of(base), new = tiers_of(fresh);
    if (old.least == UNKNOWN || new.least == UNKNOWN)
        return 0;
    return (new.least < old.least &&new.best <= old.best) ||
           (new.best < old.best &&new.least <= old.least);
}

/* --- the text of a side ----------------------------------------------------------------------- */

/* What most runs of a side say; *steady is cleared where they differ. */
static const char *most_common(const char *const *texts, size_t count, int *steady)
{
    size_t best = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t equal = 0;
        for (size_t k = 0; k < count; k++)
            equal += !strcmp(texts[i], texts[k]);
        if (equal > most) {
            most = equal;
            best = i;
        }
    }
    *steady &= most == count;
    return texts[best];
}

/* "cxi (cxi0), from 4 KiB on tcp (eth0)" without its devices. */
static char *without_devices(const char *label)
{
    char *text = mw_text_copy(label), *to = text;
    for (const char *from = label; *from;) {
        const char *end = !strncmp(from, " (", 2) ? strchr(from, ')') : NULL;
        if (end)
            from = end + 1;
        else
            *to++ = *from++;
    }
    *to = '\0';
    return text;
}

static struct mw_identity *put(struct mw_comparison *comparison, enum mw_identity_kind kind,
                               const char *distance, const char *base, const char *fresh)
{
    struct mw_identity *identity = mw_vector_add(&comparison->identities);
    *identity = (struct mw_identity){.kind = kind,
                                     .src = -1,
                                     .dst = -1,
                                     .distance = distance,
                                     .name = mw_text_copy(""),
                                     .base = mw_text_copy(base),
                                     .fresh = mw_text_copy(fresh)};
    return identity;
}

/* --- pairs ------------------------------------------------------------------------------------ */

static const struct mw_digest_pair *pair_of(const struct mw_digest *run, int64_t src, int64_t dst)
{
    for (size_t low = 0, high = run->pairs.count; low < high;) {
        size_t middle = low + (high - low) / 2;
        const struct mw_digest_pair *pair = &run->pairs.at[middle];
        if (pair->src == src && pair->dst == dst)
            return pair;
        if (pair->src < src || (pair->src == src && pair->dst < dst))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* What the runs that have a pair say of it. */
struct pair_texts {
    const char **at;
    size_t count;
};

static struct pair_texts pair_texts(const struct mw_runs *runs, const struct mw_digest_pair *like,
                                    const char *(*text)(const struct mw_digest_pair *))
{
    struct pair_texts texts = {mw_alloc(runs->count, sizeof(*texts.at)), 0};
    for (size_t i = 0; i < runs->count; i++) {
        const struct mw_digest_pair *pair = pair_of(runs->at[i], like->src, like->dst);
        if (pair)
            texts.at[texts.count++] = text(pair);
    }
    return texts;
}

static int is_in(const struct pair_texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++)
        if (!strcmp(texts->at[i], text))
            return 1;
    return 0;
}

/* A lesser way than the usual one that some new runs took and no base run did; NULL none. */
static const char *fell_in_some(const struct pair_texts *base, const char *usual,
                                const struct pair_texts *fresh)
{
    for (size_t i = 0; i < fresh->count; i++)
        if (is_worse(usual, fresh->at[i]) && !is_in(base, fresh->at[i]))
            return fresh->at[i];
    return NULL;
}

static const char *transport_of(const struct mw_digest_pair *pair)
{
    return pair->transport;
}

static const char *distance_of(const struct mw_digest_pair *pair)
{
    return pair->distance;
}

/* Whether one can tell which way a pair took. */
static int is_known(const char *label)
{
    return !strstr(label, "unknown");
}

static struct mw_identity *put_pair(struct mw_comparison *comparison, enum mw_identity_kind kind,
                                    const struct mw_digest_pair *pair, const char *base,
                                    const char *fresh)
{
    struct mw_identity *identity = put(comparison, kind, pair->distance, base, fresh);
    identity->src = pair->src;
    identity->dst = pair->dst;
    identity->messages = pair->messages;
    identity->bytes = pair->bytes;
    return identity;
}

static enum mw_identity_kind transport_or_device(const char *base, const char *fresh)
{
    char *old = without_devices(base), *new = without_devices(fresh);
    int other = strcmp(old, new) != 0;
    free(old);
    free(new);
    return other ? MW_IDENTITY_TRANSPORT : MW_IDENTITY_DEVICE;
}

/* A step down is a regression where no base run made it and most new runs did; else it may be
 * chance. */
static void compare_transport(struct mw_comparison *comparison, const struct mw_digest_pair *pair)
{
    int steady = 1;
    struct pair_texts base = pair_texts(&comparison->base, pair, transport_of);
    struct pair_texts fresh = pair_texts(&comparison->fresh, pair, transport_of);
    if (base.count && fresh.count) {
        const char *old = most_common(base.at, base.count, &steady);
        const char *new = most_common(fresh.at, fresh.count, &steady);
        const char *some = strcmp(old, new) ? NULL : fell_in_some(&base, old, &fresh);
        comparison->ways_known += is_known(old) && is_known(new);
        comparison->ways_lost += is_known(old) && !is_known(new) && pair->messages;
        if (strcmp(old, new) || some) {
            new = some ? some : new;
            struct mw_identity *identity =
                put_pair(comparison, transport_or_device(old, new), pair, old, new);
            int down = identity->kind == MW_IDENTITY_TRANSPORT && is_worse(old, new);
            identity->steady = steady;
            identity->worse = down && !some && !is_in(&base, new);
            identity->doubtful = down && !identity->worse;
        }
    }
    free(base.at);
    free(fresh.at);
}

static void compare_distance(struct mw_comparison *comparison, const struct mw_digest_pair *pair)
{
    int steady = 1;
    struct pair_texts base = pair_texts(&comparison->base, pair, distance_of);
    struct pair_texts fresh = pair_texts(&comparison->fresh, pair, distance_of);
    if (base.count && fresh.count) {
        const char *old = most_common(base.at, base.count, &steady);
        const char *new = most_common(fresh.at, fresh.count, &steady);
        if (strcmp(old, new))
            put_pair(comparison, MW_IDENTITY_DISTANCE, pair, old, new)->steady = steady;
    }
    free(base.at);
    free(fresh.at);
}

/* --- all pairs of a distance ------------------------------------------------------------------ */

typedef char *(*way_text)(const struct mw_digest_way *way);

static char *layer_text(const struct mw_digest_way *way)
{
    return way->layer[0] ? mw_format("%s by %s", way->transport, way->layer)
                         : mw_text_copy(way->transport);
}

static char *buffer_text(const struct mw_digest_way *way)
{
    return mw_text_copy(way->buffer[0] ? way->buffer : "not known");
}

static int text_compare(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* "device, host": each text once, in an order of its own. Frees the texts. */
static char *join_texts(char **texts, size_t count)
{
    char *list = mw_text_copy("");
    if (count)
        qsort(texts, count, sizeof(*texts), text_compare);
    for (size_t i = 0; i < count; i++) {
        if (!i || strcmp(texts[i], texts[i - 1])) {
            char *longer = mw_format("%s%s%s", list, *list ? ", " : "", texts[i]);
            free(list);
            list = longer;
        }
    }
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    return list;
}

/* The texts of the ways of a distance that carry more than a little. */
static char *ways_text(const struct mw_digest *run, const char *distance, way_text text)
{
    double messages = 0, bytes = 0;
    MW_VECTOR(char *) texts = {0};
    for (size_t i = 0; i < run->ways.count; i++)
        if (!strcmp(run->ways.at[i].distance, distance)) {
            messages += (double)run->ways.at[i].messages;
            bytes += (double)run->ways.at[i].bytes;
        }
    for (size_t i = 0; i < run->ways.count; i++) {
        const struct mw_digest_way *way = &run->ways.at[i];
        if (strcmp(way->distance, distance) || !(way->messages || way->bytes) ||
            ((double)way->messages < SHARE_LEAST * messages &&
             (double)way->bytes < SHARE_LEAST * bytes))
            continue;
        *mw_vector_add(&texts) = text(way);
    }
    char *list = join_texts(texts.at, texts.count);
    free(texts.at);
    return list;
}

static char *side_text(const struct mw_runs *runs, const char *distance, way_text text, int *steady)
{
    char **texts = mw_alloc(runs->count, sizeof(*texts));
    for (size_t i = 0; i < runs->count; i++)
        texts[i] = ways_text(runs->at[i], distance, text);
    char *most = mw_text_copy(most_common((const char *const *)texts, runs->count, steady));
    for (size_t i = 0; i < runs->count; i++)
        free(texts[i]);
    free(texts);
    return most;
}

static void compare_ways(struct mw_comparison *comparison, const char *distance,
                         enum mw_identity_kind kind, way_text text)
{
    int steady = 1;
    char *base = side_text(&comparison->base, distance, text, &steady);
    char *fresh = side_text(&comparison->fresh, distance, text, &steady);
    if (base[0] && fresh[0] && strcmp(base, fresh))
        put(comparison, kind, distance, base, fresh)->steady = steady;
    free(base);
    free(fresh);
}

/* --- where ranks sat -------------------------------------------------------------------------- */

/* "core (4 ranks), socket" of a fact of placement. */
static char *placement_text(const struct mw_digest *run, const char *name)
{
    size_t count, size;
    const struct mw_digest_fact *facts = mw_digest_facts(run, MW_FACT_PLACEMENT, name, &count);
    char *text;
    FILE *out = mw_text_stream(&text, &size);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s%s", i ? ", " : "", facts[i].value);
        if (facts[i].ranks)
            fprintf(out, " (%" PRId64 " rank%s)", facts[i].ranks, facts[i].ranks == 1 ? "" : "s");
    }
    fclose(out);
    return text;
}

static char *placement_side(const struct mw_runs *runs, const char *name, int *steady)
{
    char **texts = mw_alloc(runs->count, sizeof(*texts));
    for (size_t i = 0; i < runs->count; i++)
        texts[i] = placement_text(runs->at[i], name);
    char *most = mw_text_copy(most_common((const char *const *)texts, runs->count, steady));
    for (size_t i = 0; i < runs->count; i++)
        free(texts[i]);
    free(texts);
    return most;
}

static void compare_placement(struct mw_comparison *comparison, const char *name)
{
    int steady = 1;
    char *base = placement_side(&comparison->base, name, &steady);
    char *fresh = placement_side(&comparison->fresh, name, &steady);
    if (base[0] && fresh[0] && strcmp(base, fresh)) {
        struct mw_identity *identity = put(comparison, MW_IDENTITY_PLACEMENT, "", base, fresh);
        free(identity->name);
        identity->name = mw_text_copy(name);
        identity->steady = steady;
    }
    free(base);
    free(fresh);
}

static int identity_compare(const void *left, const void *right)
{
    const struct mw_identity *a = left, *b = right;
    if (a->worse != b->worse)
        return a->worse ? -1 : 1;
    if (a->doubtful != b->doubtful)
        return a->doubtful ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if ((a->src < 0) != (b->src < 0))
        return a->src < 0 ? 1 : -1;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    if (a->dst != b->dst)
        return a->dst < b->dst ? -1 : 1;
    int order = strcmp(a->distance, b->distance);
    return order ? order : strcmp(a->name, b->name);
}

void mw_compare_identities(struct mw_comparison *comparison)
{
    const struct mw_digest *run = comparison->fresh.at[0];
    for (size_t i = 0; i < run->pairs.count; i++) {
        compare_transport(comparison, &run->pairs.at[i]);
        compare_distance(comparison, &run->pairs.at[i]);
    }
    for (size_t i = 0; i < run->ways.count; i++) { /* by distance */
        const char *distance = run->ways.at[i].distance;
        if (i && !strcmp(run->ways.at[i - 1].distance, distance))
            continue;
        compare_ways(comparison, distance, MW_IDENTITY_LAYER, layer_text);
        compare_ways(comparison, distance, MW_IDENTITY_BUFFER, buffer_text);
    }
    for (size_t i = 0; i < run->stack.count; i++) { /* by kind and name */
        const struct mw_digest_fact *fact = &run->stack.at[i];
        if (fact->kind == MW_FACT_PLACEMENT && !(i && run->stack.at[i - 1].kind == fact->kind &&
                                                 !strcmp(run->stack.at[i - 1].name, fact->name)))
            compare_placement(comparison, fact->name);
    }
    if (comparison->identities.count)
        qsort(comparison->identities.at, comparison->identities.count,
              sizeof(comparison->identities.at[0]), identity_compare);
}
