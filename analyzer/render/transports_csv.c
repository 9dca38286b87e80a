/* SPDX-License-Identifier: BSD-3-Clause */
/* The transports as CSV (transports.h): a row for each route of each pair, one without a transport
 * for a pair, or a part of its sizes, of which it is not known. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/model/labels.h"
#include "analyzer/render/text.h"
#include "analyzer/render/transports.h"

static void row_begin(const struct mw_transports *transports, const struct mw_pair_transport *pair,
                      FILE *out)
{
    const struct mw_model *model = transports->tally->model;
    char *src = mw_rank_label(model, pair->src), *dst = mw_rank_label(model, pair->dst);
    fprintf(out, "%s,%s,%s,", src, dst, mw_where_word(pair->where));
    free(src);
    free(dst);
}

static void row_route(const struct mw_transports *transports, const struct mw_pair_transport *pair,
                      const struct mw_route *route, FILE *out)
{
    const struct mw_way *way = &transports->ways.at[route->way];
    row_begin(transports, pair, out);
    mw_csv_text(way->name, out);
    fputc(',', out);
    mw_csv_text(way->layer, out);
    fputc(',', out);
    mw_csv_text(way->device, out);
    if (route->messages)
        fprintf(out, ",%" PRIu64 ",%" PRIu64, mw_class_from(route->first_class),
                mw_class_to(route->last_class));
    else
        fputs(",,", out);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,", route->messages, route->bytes,
            route->carried, route->certainty == MW_SEEN ? "seen" : "concluded");
    mw_csv_text(route->evidence ? route->evidence : "", out);
    fprintf(out, ",,%s\n", mw_buffer_word(route->buffer));
}

/* What no route has. */
static void row_unknown(const struct mw_transports *transports,
                        const struct mw_pair_transport *pair, FILE *out)
{
    uint64_t messages = pair->messages, bytes = pair->bytes;
    for (size_t i = 0; i < pair->routes.count; i++) {
        const struct mw_route *route = &pair->routes.at[i];
        messages -= route->messages < messages ? route->messages : messages;
        bytes -= route->bytes < bytes ? route->bytes : bytes;
    }
    row_begin(transports, pair, out);
    fprintf(out, ",,,,,%" PRIu64 ",%" PRIu64 ",0,,,", messages, bytes);
    mw_csv_text(pair->unknown, out);
    fputs(",\n", out);
}

void mw_transports_csv(const struct mw_transports *transports, int64_t rank, FILE *out)
{
    fputs("src,dst,where,transport,layer,device,from,to,messages,bytes,carried,certainty,evidence,"
          "unknown,buffer\n",
          out);
    for (size_t i = 0; i < transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &transports->pairs.at[i];
        if (rank >= 0 && pair->src != rank && pair->dst != rank)
            continue;
        for (size_t r = 0; r < pair->routes.count; r++)
            row_route(transports, pair, &pair->routes.at[r], out);
        if (pair->unknown)
            row_unknown(transports, pair, out);
    }
}
