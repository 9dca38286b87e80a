/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading runs out of a history (store.h). Whatever the file holds is taken as text and numbers
 * that may be anything. One thread; prints nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/index.h"
#include "analyzer/store/store_sql.h"

/* Runs by their numbers, for rows that belong to them. */
struct reading {
    struct mw_store *store;
    const char *benchmark; /* NULL: all */
    struct mw_index numbers;
    struct mw_store_runs *runs;
};

#define KEPT 64 /* far more than there are */

/* Distances and kinds of buffers are static texts in digests: those that are read are kept for the
 * life of the program, once each. */
static const char *kept(const char *text)
{
    static MW_VECTOR(char *) all;
    for (size_t i = 0; i < all.count; i++)
        if (!strcmp(all.at[i], text))
            return all.at[i];
    if (all.count == KEPT)
        return "other";
    return *mw_vector_add(&all) = mw_text_copy(text);
}

static const char *column_kept(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text && text[0] ? kept(text) : "";
}

static const char *column(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? text : "";
}

static uint64_t amount(sqlite3_stmt *row, int column)
{
    int64_t value = sqlite3_column_int64(row, column);
    return value > 0 ? (uint64_t)value : 0;
}

static unsigned size_class(sqlite3_stmt *row, int column)
{
    uint64_t value = amount(row, column);
    return value > 64 ? 64 : (unsigned)value;
}

static struct mw_digest *read_digest(sqlite3_stmt *row)
{
    struct mw_digest *digest = mw_digest_create(column(row, 6));
    digest->identity = mw_store_text(row, 4, 0);
    digest->began = sqlite3_column_int64(row, 5);
    digest->program = mw_store_text(row, 7, 0);
    digest->arguments = mw_store_text(row, 8, 0);
    digest->executable_id = mw_store_text(row, 9, 0);
    digest->ranks = sqlite3_column_int64(row, 10);
    digest->recorded_ranks = sqlite3_column_int64(row, 11);
    digest->nodes = sqlite3_column_int64(row, 12);
    digest->crashed = mw_store_text(row, 13, 1);
    digest->incomplete = mw_store_text(row, 14, 1);
    digest->disturbed = mw_store_text(row, 15, 1);
    digest->messages = amount(row, 16);
    digest->bytes = amount(row, 17);
    digest->calls = amount(row, 18);
    digest->collective_calls = amount(row, 19);
    return digest;
}

/* A name ends at its first NUL, which we write none of but others may: as it does where it is read.
 */
#define IS_BENCHMARK                                                                               \
    "WHERE run.benchmark=?1 OR (instr(run.benchmark, char(0)) AND"                                 \
    " substr(run.benchmark, 1, instr(run.benchmark, char(0)) - 1)=?1)"

/* A statement over the runs that are asked for. */
static sqlite3_stmt *select_for(const struct reading *reading, const char *columns,
                                const char *rest)
{
    char *sql = mw_format("SELECT %s %s %s", columns, rest, reading->benchmark ? IS_BENCHMARK : "");
    sqlite3_stmt *rows = mw_store_prepare(reading->store, sql);
    free(sql);
    if (reading->benchmark)
        mw_store_bind(rows, "t", reading->benchmark);
    return rows;
}

static void read_heads(struct reading *reading)
{
    sqlite3_stmt *rows = select_for(
        reading,
        "run.id, added, benchmark, stack, identity, began, path, program, arguments, executable_id,"
        " ranks, recorded_ranks, nodes, crashed, incomplete, disturbed, messages, bytes, calls,"
        " collective_calls",
        "FROM run");
    while (mw_store_step(reading->store, rows))
        *mw_vector_add(&reading->runs->all) =
            (struct mw_store_run){.id = sqlite3_column_int64(rows, 0),
                                  .added = sqlite3_column_int64(rows, 1),
                                  .benchmark = mw_store_text(rows, 2, 0),
                                  .stack = mw_store_text(rows, 3, 0),
                                  .digest = read_digest(rows)};
    sqlite3_finalize(rows);
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Runs whose beginning is not known stand where they were added. */
static int64_t run_time(const struct mw_store_run *run)
{
    return run->digest->began ? run->digest->began : run->added;
}

static int run_compare(const void *left, const void *right)
{
    const struct mw_store_run *a = left, *b = right;
    int order = strcmp(a->benchmark, b->benchmark);
    order = order ? order : ORDER(run_time(a), run_time(b));
    return order ? order : ORDER(a->id, b->id);
}

/* The run that a row belongs to; NULL none. */
static struct mw_store_run *run_of(const struct reading *reading, sqlite3_stmt *row)
{
    size_t at = mw_index_find(&reading->numbers, (uint64_t)sqlite3_column_int64(row, 0));
    return at == MW_INDEX_NONE ? NULL : &reading->runs->all.at[at];
}

static void read_tags(struct reading *reading)
{
    sqlite3_stmt *rows =
        select_for(reading, "run, key, value", "FROM tag JOIN run ON run.id=tag.run");
    while (mw_store_step(reading->store, rows)) {
        struct mw_store_run *run = run_of(reading, rows);
        if (run)
            *mw_vector_add(&run->tags) =
                (struct mw_store_tag){mw_store_text(rows, 1, 0), mw_store_text(rows, 2, 0)};
    }
    sqlite3_finalize(rows);
}

/* The number of a word in a list; -1 of a word that this version does not know. */
#define FIND_WORD(text, word_of, count)                                                            \
    ({                                                                                             \
        int found = -1;                                                                            \
        for (int w = 0; w < (int)(count); w++)                                                     \
            if (!strcmp(word_of(w), text))                                                         \
                found = w;                                                                         \
        found;                                                                                     \
    })

static void read_facts(struct reading *reading)
{
    sqlite3_stmt *rows = select_for(
        reading, "run, kind, name, value, detail, fact.ranks",
        "FROM run_fact JOIN fact ON fact.id=run_fact.fact JOIN run ON run.id=run_fact.run");
    while (mw_store_step(reading->store, rows)) {
        struct mw_store_run *run = run_of(reading, rows);
        int kind = FIND_WORD(column(rows, 1), mw_fact_kind_word, MW_FACT_KINDS);
        if (run && kind >= 0)
            mw_digest_put_fact(run->digest, (enum mw_fact_kind)kind, column(rows, 2),
                               column(rows, 3), column(rows, 4), sqlite3_column_int64(rows, 5));
    }
    sqlite3_finalize(rows);
}

static void read_ways(struct reading *reading)
{
    sqlite3_stmt *rows = select_for(reading,
                                    "run, distance, buffer, transport, layer, device, first_class,"
                                    " last_class, pairs, way.messages, way.bytes",
                                    "FROM way JOIN run ON run.id=way.run");
    while (mw_store_step(reading->store, rows)) {
        struct mw_store_run *run = run_of(reading, rows);
        if (run)
            mw_digest_put_way(run->digest,
                              &(struct mw_digest_way){.distance = column_kept(rows, 1),
                                                      .buffer = column_kept(rows, 2),
                                                      .transport = (char *)column(rows, 3),
                                                      .layer = (char *)column(rows, 4),
                                                      .device = (char *)column(rows, 5),
                                                      .first_class = size_class(rows, 6),
                                                      .last_class = size_class(rows, 7),
                                                      .pairs = amount(rows, 8),
                                                      .messages = amount(rows, 9),
                                                      .bytes = amount(rows, 10)});
    }
    sqlite3_finalize(rows);
}

static void read_figures(struct reading *reading)
{
    sqlite3_stmt *rows =
        select_for(reading,
                   "run, scope, metric, distance, transport, buffer, name, size_class, value,"
                   " samples",
                   "FROM figure JOIN run ON run.id=figure.run");
    while (mw_store_step(reading->store, rows)) {
        struct mw_store_run *run = run_of(reading, rows);
        int scope = FIND_WORD(column(rows, 1), mw_scope_word, MW_SCOPES);
        int metric = FIND_WORD(column(rows, 2), mw_metric_word, MW_METRICS);
        if (run && scope >= 0 && metric >= 0)
            mw_digest_put_figure(run->digest,
                                 &(struct mw_figure){.scope = (enum mw_figure_scope)scope,
                                                     .metric = (enum mw_figure_metric)metric,
                                                     .distance = column_kept(rows, 3),
                                                     .transport = (char *)column(rows, 4),
                                                     .buffer = column_kept(rows, 5),
                                                     .name = (char *)column(rows, 6),
                                                     .size_class = size_class(rows, 7),
                                                     .value = sqlite3_column_double(rows, 8),
                                                     .samples = amount(rows, 9),
                                                     .src = -1,
                                                     .dst = -1});
    }
    sqlite3_finalize(rows);
}

static void read_parts(struct reading *reading, unsigned parts)
{
    read_tags(reading);
    if (parts & MW_STORE_FACTS) {
        read_facts(reading);
        read_ways(reading);
    }
    if (parts & MW_STORE_FIGURES)
        read_figures(reading);
    for (size_t i = 0; i < reading->runs->all.count; i++)
        mw_digest_finish(reading->runs->all.at[i].digest);
}

struct mw_store_runs *mw_store_runs(struct mw_store *store, const char *benchmark, unsigned parts,
                                    char **why)
{
    struct reading reading = {.store = store, .benchmark = benchmark};
    struct mw_store_runs *runs = reading.runs = mw_alloc(1, sizeof(*runs));
    /* One view of the file, whoever adds meanwhile. */
    mw_store_exec(store, "BEGIN");
    read_heads(&reading);
    if (runs->all.count)
        qsort(runs->all.at, runs->all.count, sizeof(runs->all.at[0]), run_compare);
    for (size_t i = 0; i < runs->all.count; i++)
        mw_index_put(&reading.numbers, (uint64_t)runs->all.at[i].id);
    read_parts(&reading, parts);
    sqlite3_exec(store->connection, "COMMIT", NULL, NULL, NULL);
    mw_index_free(&reading.numbers);
    if (!mw_store_why(store, why))
        return runs;
    mw_store_runs_free(runs);
    return NULL;
}

void mw_store_tags_free(mw_store_tags *tags)
{
    for (size_t i = 0; i < tags->count; i++) {
        free(tags->at[i].key);
        free(tags->at[i].value);
    }
    free(tags->at);
}

void mw_store_runs_free(struct mw_store_runs *runs)
{
    if (!runs)
        return;
    for (size_t i = 0; i < runs->all.count; i++) {
        struct mw_store_run *run = &runs->all.at[i];
        free(run->benchmark);
        free(run->stack);
        mw_store_tags_free(&run->tags);
        mw_digest_free(run->digest);
    }
    free(runs->all.at);
    free(runs);
}
