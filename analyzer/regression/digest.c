/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The digest itself (digest.h): reading a trace into one, adding rows, their order, their words.
 * digest_*.c fill it, one idea each. One thread; prints nothing.
 */
#include "analyzer/regression/digest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/regression/digest_build.h"

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

struct mw_digest *mw_digest_create(const char *path)
{
    struct mw_digest *digest = mw_alloc(1, sizeof(*digest));
    digest->path = mw_text_copy(path);
    return digest;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

void mw_digest_put_fact(struct mw_digest *digest, enum mw_fact_kind kind, const char *name,
                        const char *value, const char *detail, int64_t ranks)
{
    *mw_vector_add(&digest->stack) =
        (struct mw_digest_fact){.kind = kind,
                                .name = mw_text_copy(name),
                                .value = mw_text_copy(value),
                                .detail = mw_text_copy(or_empty(detail)),
                                .ranks = ranks};
}

void mw_digest_put_way(struct mw_digest *digest, const struct mw_digest_way *way)
{
    struct mw_digest_way *added = mw_vector_add(&digest->ways);
    *added = *way;
    added->distance = or_empty(way->distance);
    added->buffer = or_empty(way->buffer);
    added->transport = mw_text_copy(way->transport);
    added->layer = mw_text_copy(or_empty(way->layer));
    added->device = mw_text_copy(or_empty(way->device));
}

void mw_digest_put_pair(struct mw_digest *digest, const struct mw_digest_pair *pair)
{
    struct mw_digest_pair *added = mw_vector_add(&digest->pairs);
    *added = *pair;
    added->distance = or_empty(pair->distance);
    added->transport = mw_text_copy(pair->transport);
}

void mw_digest_put_figure(struct mw_digest *digest, const struct mw_figure *figure)
{
    struct mw_figure *added = mw_vector_add(&digest->figures);
    *added = *figure;
    added->distance = or_empty(figure->distance);
    added->buffer = or_empty(figure->buffer);
    added->transport = mw_text_copy(or_empty(figure->transport));
    added->name = mw_text_copy(or_empty(figure->name));
    added->blocks = NULL;
    if (!figure->block_count)
        return;
    added->blocks = mw_alloc(figure->block_count, sizeof(*added->blocks));
    memcpy(added->blocks, figure->blocks, figure->block_count * sizeof(*added->blocks));
}

/* --- order ------------------------------------------------------------------------------------ */

static int fact_compare(const void *left, const void *right)
{
    const struct mw_digest_fact *a = left, *b = right;
    int order = ORDER(a->kind, b->kind);
    order = order ? order : strcmp(a->name, b->name);
    return order ? order : strcmp(a->value, b->value);
}

static int way_compare(const void *left, const void *right)
{
    const struct mw_digest_way *a = left, *b = right;
    int order = strcmp(a->distance, b->distance);
    order = order ? order : strcmp(a->buffer, b->buffer);
    order = order ? order : ORDER(a->first_class, b->first_class);
    order = order ? order : strcmp(a->transport, b->transport);
    order = order ? order : strcmp(a->layer, b->layer);
    return order ? order : strcmp(a->device, b->device);
}

static int pair_compare(const void *left, const void *right)
{
    const struct mw_digest_pair *a = left, *b = right;
    int order = ORDER(a->src, b->src);
    return order ? order : ORDER(a->dst, b->dst);
}

int mw_figure_compare(const struct mw_figure *left, const struct mw_figure *right)
{
    int order = ORDER(left->scope, right->scope);
    order = order ? order : ORDER(left->metric, right->metric);
    if (!order && left->scope == MW_SCOPE_CLASS) {
        order = strcmp(left->distance, right->distance);
        order = order ? order : strcmp(left->transport, right->transport);
        order = order ? order : strcmp(left->buffer, right->buffer);
    }
    order = order ? order : strcmp(left->name, right->name);
    order = order ? order : ORDER(left->src, right->src);
    order = order ? order : ORDER(left->dst, right->dst);
    return order ? order : ORDER(left->size_class, right->size_class);
}

static int figure_compare(const void *left, const void *right)
{
    return mw_figure_compare(left, right);
}

#define SORT(vector, compare)                                                                      \
    do {                                                                                           \
        if ((vector).count)                                                                        \
            qsort((vector).at, (vector).count, sizeof((vector).at[0]), compare);                   \
    } while (0)

void mw_digest_finish(struct mw_digest *digest)
{
    SORT(digest->stack, fact_compare);
    SORT(digest->ways, way_compare);
    SORT(digest->pairs, pair_compare);
    SORT(digest->figures, figure_compare);
}

const struct mw_figure *mw_digest_figure(const struct mw_digest *digest,
                                         const struct mw_figure *like)
{
    if (!digest->figures.count)
        return NULL;
    return bsearch(like, digest->figures.at, digest->figures.count, sizeof(*like), figure_compare);
}

static int fact_is(const struct mw_digest_fact *fact, enum mw_fact_kind kind, const char *name)
{
    int order = ORDER(fact->kind, kind);
    return order ? order : strcmp(fact->name, name);
}

const struct mw_digest_fact *mw_digest_facts(const struct mw_digest *digest, enum mw_fact_kind kind,
                                             const char *name, size_t *count)
{
    size_t low = 0, high = digest->stack.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (fact_is(&digest->stack.at[middle], kind, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < digest->stack.count &&
                     !fact_is(&digest->stack.at[low + *count], kind, name);)
        ++*count;
    return *count ? &digest->stack.at[low] : NULL;
}

char *mw_digest_rank(const struct mw_digest *digest, int64_t place)
{
    if (place >= 0 && (uint64_t)place < digest->rank_names.count)
        return mw_text_copy(digest->rank_names.at[place]);
    return mw_format("%" PRId64, place);
}

/* --- reading and freeing ---------------------------------------------------------------------- */

struct mw_digest *mw_digest_read(const char *path, char **why)
{
    mw_trace *trace = NULL;
    errno = 0;
    enum mw_status status = mw_trace_open(&path, 1, MW_OPEN_RESIDUE, &trace, NULL);
    if (status != MW_OK) {
        *why = mw_format("%s: %s", path,
                         status == MW_ERR_SYSTEM ? strerror(errno) : mw_status_text(status));
        return NULL;
    }
    struct mw_analysis *analysis =
        mw_analysis_build(trace, MW_ANALYSIS_FINDINGS, &(struct mw_analysis_watch){0});
    struct mw_digest *digest = mw_digest_create(path);
    mw_digest_add_work(digest, analysis);
    mw_digest_add_stack(digest, analysis);
    mw_digest_add_ways(digest, analysis);
    mw_digest_add_speeds(digest, analysis);
    mw_digest_add_times(digest, analysis);
    mw_digest_finish(digest);
    mw_analysis_close(analysis);
    return digest;
}

void mw_digest_free(struct mw_digest *digest)
{
    if (!digest)
        return;
    for (size_t i = 0; i < digest->stack.count; i++) {
        free(digest->stack.at[i].name);
        free(digest->stack.at[i].value);
        free(digest->stack.at[i].detail);
    }
    for (size_t i = 0; i < digest->ways.count; i++) {
        free(digest->ways.at[i].transport);
        free(digest->ways.at[i].layer);
        free(digest->ways.at[i].device);
    }
    for (size_t i = 0; i < digest->pairs.count; i++)
        free(digest->pairs.at[i].transport);
    for (size_t i = 0; i < digest->figures.count; i++) {
        free(digest->figures.at[i].transport);
        free(digest->figures.at[i].name);
        free(digest->figures.at[i].blocks);
    }
    for (size_t i = 0; i < digest->rank_names.count; i++)
        free(digest->rank_names.at[i]);
    free(digest->rank_names.at);
    free(digest->stack.at);
    free(digest->ways.at);
    free(digest->pairs.at);
    free(digest->figures.at);
    free(digest->path);
    free(digest->program);
    free(digest->arguments);
    free(digest->executable_id);
    free(digest->identity);
    free(digest->crashed);
    free(digest->incomplete);
    free(digest->disturbed);
    free(digest);
}

/* --- words ------------------------------------------------------------------------------------ */

const char *mw_fact_kind_word(enum mw_fact_kind kind)
{
#define WORD(id, name) name,
    static const char *const words[] = {MW_FACT_LIST(WORD)};
#undef WORD
    return words[kind];
}

const char *mw_metric_word(enum mw_figure_metric metric)
{
#define WORD(id, name, unit, more) name,
    static const char *const words[] = {MW_METRIC_LIST(WORD)};
#undef WORD
    return words[metric];
}

const char *mw_metric_unit(enum mw_figure_metric metric)
{
#define WORD(id, name, unit, more) unit,
    static const char *const words[] = {MW_METRIC_LIST(WORD)};
#undef WORD
    return words[metric];
}

int mw_metric_more_is_better(enum mw_figure_metric metric)
{
#define MORE(id, name, unit, more) more,
    static const int better[] = {MW_METRIC_LIST(MORE)};
#undef MORE
    return better[metric];
}

const char *mw_scope_word(enum mw_figure_scope scope)
{
#define WORD(id, name) name,
    static const char *const words[] = {MW_SCOPE_LIST(WORD)};
#undef WORD
    return words[scope];
}
