/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the digest of a trace as JSON, for the test beside it. Usage: show_digest TRACE */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/regression/digest.h"

static json_t *show_stack(const struct mw_digest *digest)
{
    json_t *list = json_array();
    for (size_t i = 0; i < digest->stack.count; i++) {
        const struct mw_digest_fact *fact = &digest->stack.at[i];
        json_array_append_new(list,
                              json_pack("[s s s s I]", mw_fact_kind_word(fact->kind), fact->name,
                                        fact->value, fact->detail, (json_int_t)fact->ranks));
    }
    return list;
}

static json_t *show_ways(const struct mw_digest *digest)
{
    json_t *list = json_array();
    for (size_t i = 0; i < digest->ways.count; i++) {
        const struct mw_digest_way *way = &digest->ways.at[i];
        json_array_append_new(list, json_pack("[s s s s s i i I I I]", way->distance, way->buffer,
                                              way->transport, way->layer, way->device,
                                              (int)way->first_class, (int)way->last_class,
                                              (json_int_t)way->pairs, (json_int_t)way->messages,
                                              (json_int_t)way->bytes));
    }
    return list;
}

static json_t *show_pairs(const struct mw_digest *digest)
{
    json_t *list = json_array();
    for (size_t i = 0; i < digest->pairs.count; i++) {
        const struct mw_digest_pair *pair = &digest->pairs.at[i];
        json_array_append_new(list,
                              json_pack("[I I s s I I]", (json_int_t)pair->src,
                                        (json_int_t)pair->dst, pair->distance, pair->transport,
                                        (json_int_t)pair->messages, (json_int_t)pair->bytes));
    }
    return list;
}

static json_t *show_blocks(const struct mw_figure *figure)
{
    json_t *list = json_array();
    for (size_t i = 0; i < figure->block_count; i++)
        json_array_append_new(list, json_real(figure->blocks[i]));
    return list;
}

static json_t *show_figures(const struct mw_digest *digest)
{
    json_t *list = json_array();
    for (size_t i = 0; i < digest->figures.count; i++) {
        const struct mw_figure *figure = &digest->figures.at[i];
        json_array_append_new(
            list,
            json_pack("{ss ss ss ss ss ss ss sI sI si sf sI so sb}", "scope",
                      mw_scope_word(figure->scope), "metric", mw_metric_word(figure->metric),
                      "unit", mw_metric_unit(figure->metric), "distance", figure->distance,
                      "transport", figure->transport, "buffer", figure->buffer, "name",
                      figure->name, "src", (json_int_t)figure->src, "dst", (json_int_t)figure->dst,
                      "class", (int)figure->size_class, "value", figure->value, "samples",
                      (json_int_t)figure->samples, "blocks", show_blocks(figure), "found",
                      mw_digest_figure(digest, figure) == figure));
    }
    return list;
}

int main(int argc, char **argv)
{
    char *why = NULL;
    struct mw_digest *digest = mw_digest_read(argc > 1 ? argv[1] : "", &why);
    if (!digest) {
        fprintf(stderr, "%s\n", why);
        free(why);
        return 1;
    }
    json_t *shown =
        json_pack("{ss ss ss ss ss sI sI sI sI ss? ss? ss? sI sI sI sI so so so so}", "path",
                  digest->path, "program", digest->program, "arguments", digest->arguments,
                  "executable_id", digest->executable_id, "identity", digest->identity, "ranks",
                  (json_int_t)digest->ranks, "recorded_ranks", (json_int_t)digest->recorded_ranks,
                  "nodes", (json_int_t)digest->nodes, "began", (json_int_t)digest->began, "crashed",
                  digest->crashed, "incomplete", digest->incomplete, "disturbed", digest->disturbed,
                  "messages", (json_int_t)digest->messages, "bytes", (json_int_t)digest->bytes,
                  "calls", (json_int_t)digest->calls, "collective_calls",
                  (json_int_t)digest->collective_calls, "stack", show_stack(digest), "ways",
                  show_ways(digest), "pairs", show_pairs(digest), "figures", show_figures(digest));
    json_dumpf(shown, stdout, JSON_INDENT(1));
    json_decref(shown);
    mw_digest_free(digest);
    return 0;
}
