/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What could explain the changes (compare.h): facts that tell all runs of one side from all of the
 * other, those first that are on the way that changed. Of libraries only the ones that drive that
 * way, and those that these need: what everything links with is named only where there is nothing
 * else.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/regression/compare.h"

#define WORD_LEAST                                                                                 \
    3 /* characters that a name of a transport must have to be looked for in others */

/* Ranks of suspects: how near they are to the way that changed. */
enum nearness {
    ON_THE_WAY, /* the provider itself */
    FABRIC,     /* the library that it is a part of */
    COMPONENT,  /* MPI's part that calls that */
    MPI,        /* its version first */
    DRIVER,     /* what the provider talks to */
    PARAMETER,
    PLACEMENT,
    MACHINE,
    ELSE,
};

/* --- the way that changed --------------------------------------------------------------------- */

struct way_words {
    MW_VECTOR(char *) words;
    int libfabric, ucx; /* one of these drives such a way, or nobody knows who does */
};

static int is_one(const char *word, size_t length, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == length && !strncmp(word, *list, length))
            return 1;
    return 0;
}

static void words_add(struct way_words *words, const char *label)
{
    static const char *const fillers[] = {"from",    "KiB",     "MiB",    "GiB",
                                          "unknown", "device",  "pinned", "managed",
                                          "host",    "memory:", NULL};
    for (const char *at = label; *at;) {
        size_t length = strcspn(at, " ,;()");
        if (length >= WORD_LEAST && !is_one(at, length, fillers))
            *mw_vector_add(&words->words) = mw_format("%.*s", (int)length, at);
        at += length + (at[length] != '\0');
    }
}

static void words_free(struct way_words *words)
{
    for (size_t i = 0; i < words->words.count; i++)
        free(words->words.at[i]);
    free(words->words.at);
}

static int is_on_the_way(const char *name, const struct way_words *words);

/* Who drives these ways in a run. */
static void words_drivers(struct way_words *words, const struct mw_digest *run)
{
    for (size_t i = 0; i < run->ways.count; i++) {
        const struct mw_digest_way *way = &run->ways.at[i];
        if (!is_on_the_way(way->transport, words))
            continue;
        words->libfabric |= !*way->layer || strstr(way->layer, "libfabric") != NULL;
        words->ucx |= !*way->layer || strstr(way->layer, "UCX") != NULL;
    }
}

/* The ways of whatever changed; of all messages where nothing is said of a way. */
static struct way_words changed_ways(const struct mw_comparison *comparison)
{
    struct way_words words = {0};
    for (size_t i = 0; i < comparison->identities.count; i++) {
        const struct mw_identity *identity = &comparison->identities.at[i];
        if (identity->kind != MW_IDENTITY_TRANSPORT && identity->kind != MW_IDENTITY_DEVICE)
            continue;
        words_add(&words, identity->base);
        words_add(&words, identity->fresh);
    }
    for (size_t i = 0; i < comparison->effects.count && !words.words.count; i++) {
        const struct mw_effect *effect = &comparison->effects.at[i];
        if (effect->verdict == MW_EFFECT_WORSE || effect->verdict == MW_EFFECT_UNSURE)
            words_add(&words, effect->about->transport);
    }
    const struct mw_digest *run = comparison->fresh.at[0];
    for (size_t i = 0; i < run->ways.count && !words.words.count; i++)
        words_add(&words, run->ways.at[i].transport);
    words.libfabric = words.ucx = !words.words.count;
    words_drivers(&words, comparison->base.at[0]);
    words_drivers(&words, run);
    return words;
}

/* --- how near a library is -------------------------------------------------------------------- */

static int begins_with_one(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strncmp(name, *list, strlen(*list)))
            return 1;
    return 0;
}

/* Is `word` a whole word of a library's name ("tcp" of "mca_btl_tcp.so", "cxi" of "libcxi-fi.so",
 * not "open" of "libopencl.so")? "lib" before it and numbers after it are no part of a word. */
static int has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = name; (at = strcasestr(at, word)); at++) {
        int begins = at == name || !isalnum((unsigned char)at[-1]) ||
                     (at == name + 3 && !strncmp(name, "lib", 3));
        if (begins && !isalpha((unsigned char)at[length]))
            return 1;
    }
    return 0;
}

static int is_on_the_way(const char *name, const struct way_words *words)
{
    for (size_t i = 0; i < words->words.count; i++)
        if (has_word(name, words->words.at[i]))
            return 1;
    return 0;
}

static enum nearness library_nearness(const char *name, const struct way_words *words)
{
    static const char *const fabrics[] = {"libfabric", "libpsm2", "libpsm3", "libefa", NULL};
    static const char *const ucx[] = {"libucp", "libuct", "libucs", "libucm", NULL};
    static const char *const mpi[] = {"libmpi",  "libmpich", "libopen-pal", "libopen-rte",
                                      "libpmix", "libmpi_",  "libprrte",    NULL};
    static const char *const drivers[] = {
        "libibverbs", "librdmacm", "libmlx",   "libcxi",  "libamdhip64", "libhsa", "libcuda",
        "librccl",    "libnccl",   "libxpmem", "libknem", "libportals",  NULL};
    if (is_on_the_way(name, words))
        return ON_THE_WAY;
    if (begins_with_one(name, fabrics) || strstr(name, "-fi.so"))
        return words->libfabric ? FABRIC : ELSE;
    if (begins_with_one(name, ucx))
        return words->ucx ? FABRIC : ELSE;
    if ((has_word(name, "ofi") && words->libfabric) || (has_word(name, "ucx") && words->ucx))
        return COMPONENT;
    if (begins_with_one(name, mpi) || !strncmp(name, "mca_", 4))
        return MPI;
    return begins_with_one(name, drivers) ? DRIVER : ELSE;
}

static enum nearness nearness_of(const struct mw_digest_fact *fact, const struct way_words *words)
{
    switch (fact->kind) {
    case MW_FACT_MPI:
        return MPI;
    case MW_FACT_LIBRARY:
        return library_nearness(fact->name, words);
    case MW_FACT_PARAMETER:
        return PARAMETER;
    case MW_FACT_PLACEMENT:
        return PLACEMENT;
    default:
        return MACHINE;
    }
}

/* --- facts that differ ------------------------------------------------------------------------ */

/* The values of one fact in a run, as one text; *detail: that of the first. "" it has none. */
static char *values_text(const struct mw_digest *run, const struct mw_digest_fact *like,
                         const char **detail)
{
    size_t count, size;
    const struct mw_digest_fact *facts = mw_digest_facts(run, like->kind, like->name, &count);
    char *text;
    FILE *out = mw_text_stream(&text, &size);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? "; " : "", facts[i].value);
    fclose(out);
    *detail = count ? facts[0].detail : "";
    return text;
}

/* Do all runs of one side differ from all of the other? */
static int tells_apart(const struct mw_comparison *comparison, const struct mw_digest_fact *fact)
{
    const char *detail = "";
    int apart = 1;
    for (size_t b = 0; b < comparison->base.count && apart; b++) {
        char *old = values_text(comparison->base.at[b], fact, &detail);
        for (size_t f = 0; f < comparison->fresh.count && apart; f++) {
            char *new = values_text(comparison->fresh.at[f], fact, &detail);
            apart = strcmp(old, new) != 0;
            free(new);
        }
        free(old);
    }
    return apart;
}

static void add_suspect(struct mw_comparison *comparison, const struct mw_digest_fact *fact,
                        const struct way_words *words)
{
    if (!tells_apart(comparison, fact))
        return;
    const char *old = "", *new = "";
    struct mw_suspect *suspect = mw_vector_add(&comparison->suspects);
    suspect->kind = fact->kind;
    suspect->name = fact->name;
    suspect->base = values_text(comparison->base.at[0], fact, &old);
    suspect->fresh = values_text(comparison->fresh.at[0], fact, &new);
    suspect->base_detail = mw_text_copy(old);
    suspect->fresh_detail = mw_text_copy(new);
    suspect->rank = nearness_of(fact, words);
}

static int is_new_name(const struct mw_digest *run, size_t at)
{
    const struct mw_digest_fact *fact = &run->stack.at[at];
    return !at || run->stack.at[at - 1].kind != fact->kind ||
           strcmp(run->stack.at[at - 1].name, fact->name);
}

static void add_program(struct mw_comparison *comparison)
{
    const struct mw_digest *old = comparison->base.at[0], *new = comparison->fresh.at[0];
    if (!old->executable_id[0] || !new->executable_id[0] ||
        !strcmp(old->executable_id, new->executable_id))
        return;
    *mw_vector_add(&comparison->suspects) =
        (struct mw_suspect){.kind = MW_FACT_LIBRARY,
                            .name = new->program,
                            .base = mw_format("build-id %s", old->executable_id),
                            .fresh = mw_format("build-id %s", new->executable_id),
                            .base_detail = mw_text_copy("the program"),
                            .fresh_detail = mw_text_copy("the program"),
                            .rank = MPI};
}

static int suspect_compare(const void *left, const void *right)
{
    const struct mw_suspect *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return strcmp(a->name, b->name);
}

void mw_compare_explain(struct mw_comparison *comparison)
{
    const struct mw_digest *old = comparison->base.at[0], *new = comparison->fresh.at[0];
    struct way_words words = changed_ways(comparison);
    size_t count;
    for (size_t i = 0; i < old->stack.count; i++)
        if (is_new_name(old, i))
            add_suspect(comparison, &old->stack.at[i], &words);
    for (size_t i = 0; i < new->stack.count; i++)
        if (is_new_name(new, i) &&
            !mw_digest_facts(old, new->stack.at[i].kind, new->stack.at[i].name, &count))
            add_suspect(comparison, &new->stack.at[i], &words);
    add_program(comparison);
    words_free(&words);
    if (!comparison->suspects.count)
        return;
    qsort(comparison->suspects.at, comparison->suspects.count, sizeof(comparison->suspects.at[0]),
          suspect_compare);
    /* what everything links with, only where there is nothing else */
    size_t near = comparison->suspects.count;
    while (near && comparison->suspects.at[near - 1].rank == ELSE)
        near--;
    for (size_t i = near; near && i < comparison->suspects.count; i++) {
        free(comparison->suspects.at[i].base);
        free(comparison->suspects.at[i].fresh);
        free(comparison->suspects.at[i].base_detail);
        free(comparison->suspects.at[i].fresh_detail);
    }
    comparison->suspects.count = near ? near : comparison->suspects.count;
}
