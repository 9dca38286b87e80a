/* SPDX-License-Identifier: BSD-3-Clause */
/* Putting a run into a history, in one transaction (store.h). One thread; prints nothing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/base/index.h"
#include "analyzer/store/store_sql.h"

/* Two runs have one stack when these say the same, wherever libraries lie and whoever set the
 * parameters. The hash is written into files: it must never change. */
char *mw_store_stack(const struct mw_digest *digest)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < digest->stack.count; i++) {
        const struct mw_digest_fact *fact = &digest->stack.at[i];
        if (fact->kind != MW_FACT_MPI && fact->kind != MW_FACT_LIBRARY &&
            fact->kind != MW_FACT_PARAMETER)
            continue;
        hash = mw_hash_text(hash, mw_fact_kind_word(fact->kind));
        hash = mw_hash_text(hash, fact->name);
        hash = mw_hash_text(hash, fact->value);
    }
    return mw_format("%016" PRIx64, hash);
}

char *mw_store_benchmark(const struct mw_digest *digest, const mw_store_tags *tags)
{
    for (size_t i = 0; i < tags->count; i++)
        if (!strcmp(tags->at[i].key, MW_STORE_BENCHMARK))
            return mw_text_copy(tags->at[i].value);
    return mw_format("%s%s%s, %" PRId64 " rank%s", digest->program, digest->arguments[0] ? " " : "",
                     digest->arguments, digest->ranks, digest->ranks == 1 ? "" : "s");
}

static int64_t number_of(uint64_t count)
{
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static void put_head(struct mw_store *store, const struct mw_digest *digest,
                     const mw_store_tags *tags, int64_t id)
{
    char *benchmark = mw_store_benchmark(digest, tags), *stack = mw_store_stack(digest);
    sqlite3_stmt *put = mw_store_prepare(
        store, "INSERT INTO run(added, benchmark, stack, identity, began, path, program, arguments,"
               " executable_id, ranks, recorded_ranks, nodes, crashed, incomplete, disturbed,"
               " messages, bytes, calls, collective_calls, id)"
               " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,nullif(?,0))");
    mw_store_bind(put, "itttittttiiitttiiiii", (int64_t)time(NULL), benchmark, stack,
                  digest->identity, digest->began, digest->path, digest->program, digest->arguments,
                  digest->executable_id, digest->ranks, digest->recorded_ranks, digest->nodes,
                  digest->crashed, digest->incomplete, digest->disturbed,
                  number_of(digest->messages), number_of(digest->bytes), number_of(digest->calls),
                  number_of(digest->collective_calls), id);
    mw_store_run(store, put);
    sqlite3_finalize(put);
    free(benchmark);
    free(stack);
}

static void put_tags(struct mw_store *store, const mw_store_tags *tags, int64_t run)
{
    sqlite3_stmt *put = mw_store_prepare(store, "INSERT OR REPLACE INTO tag VALUES(?,?,?)");
    for (size_t i = 0; i < tags->count; i++) {
        mw_store_bind(put, "itt", run, tags->at[i].key, tags->at[i].value);
        mw_store_run(store, put);
    }
    sqlite3_finalize(put);
}

static void put_facts(struct mw_store *store, const struct mw_digest *digest, int64_t run)
{
    sqlite3_stmt *fact = mw_store_prepare(
        store, "INSERT OR IGNORE INTO fact(kind, name, value, detail, ranks) VALUES(?,?,?,?,?)");
    sqlite3_stmt *link =
        mw_store_prepare(store, "INSERT OR IGNORE INTO run_fact SELECT ?, id FROM fact"
                                " WHERE kind=? AND name=? AND value=? AND detail=? AND ranks=?");
    for (size_t i = 0; i < digest->stack.count; i++) {
        const struct mw_digest_fact *at = &digest->stack.at[i];
        const char *kind = mw_fact_kind_word(at->kind);
        mw_store_bind(fact, "tttti", kind, at->name, at->value, at->detail, at->ranks);
        mw_store_run(store, fact);
        mw_store_bind(link, "itttti", run, kind, at->name, at->value, at->detail, at->ranks);
        mw_store_run(store, link);
    }
    sqlite3_finalize(fact);
    sqlite3_finalize(link);
}

static void put_ways(struct mw_store *store, const struct mw_digest *digest, int64_t run)
{
    sqlite3_stmt *put = mw_store_prepare(store, "INSERT INTO way VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < digest->ways.count; i++) {
        const struct mw_digest_way *way = &digest->ways.at[i];
        mw_store_bind(put, "itttttiiiii", run, way->distance, way->buffer, way->transport,
                      way->layer, way->device, (int64_t)way->first_class, (int64_t)way->last_class,
                      number_of(way->pairs), number_of(way->messages), number_of(way->bytes));
        mw_store_run(store, put);
    }
    sqlite3_finalize(put);
}

/* Pairs and call sites are too many for a file that grows with every run. */
static void put_figures(struct mw_store *store, const struct mw_digest *digest, int64_t run)
{
    sqlite3_stmt *put = mw_store_prepare(store, "INSERT INTO figure VALUES(?,?,?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < digest->figures.count; i++) {
        const struct mw_figure *figure = &digest->figures.at[i];
        if (figure->scope == MW_SCOPE_PAIR || figure->scope == MW_SCOPE_SITE)
            continue;
        mw_store_bind(put,
                      "itttttt"
                      "iri",
                      run, mw_scope_word(figure->scope), mw_metric_word(figure->metric),
                      figure->distance, figure->transport, figure->buffer, figure->name,
                      (int64_t)figure->size_class, figure->value, number_of(figure->samples));
        mw_store_run(store, put);
    }
    sqlite3_finalize(put);
}

/* The run that this is, if it is there: its number and tags, and whether something lacked. */
static int64_t find_run(struct mw_store *store, const struct mw_digest *digest, int *lacks,
                        mw_store_tags *tags)
{
    int64_t id = 0;
    sqlite3_stmt *find = mw_store_prepare(
        store, "SELECT id, incomplete IS NOT NULL FROM run WHERE identity=? AND began=?");
    mw_store_bind(find, "ti", digest->identity, digest->began);
    if (mw_store_step(store, find)) {
        id = sqlite3_column_int64(find, 0);
        *lacks = sqlite3_column_int(find, 1);
    }
    sqlite3_finalize(find);
    find = mw_store_prepare(store, "SELECT key, value FROM tag WHERE run=?");
    mw_store_bind(find, "i", id);
    while (mw_store_step(store, find))
        *mw_vector_add(tags) =
            (struct mw_store_tag){mw_store_text(find, 0, 0), mw_store_text(find, 1, 0)};
    sqlite3_finalize(find);
    return id;
}

static void remove_run(struct mw_store *store, int64_t id)
{
    sqlite3_stmt *remove = mw_store_prepare(store, "DELETE FROM run WHERE id=?");
    mw_store_bind(remove, "i", id);
    mw_store_run(store, remove);
    sqlite3_finalize(remove);
}

static enum mw_store_added put_run(struct mw_store *store, const struct mw_digest *digest,
                                   const mw_store_tags *tags, int64_t *id)
{
    int lacks = 0;
    mw_store_tags all = {0};
    *id = find_run(store, digest, &lacks, &all);
    int replaces = *id && lacks && !digest->incomplete, was_there = *id && !replaces;
    for (size_t i = 0; i < tags->count; i++)
        *mw_vector_add(&all) =
            (struct mw_store_tag){mw_text_copy(tags->at[i].key), mw_text_copy(tags->at[i].value)};
    if (replaces)
        remove_run(store, *id);
    if (!was_there) {
        put_head(store, digest, &all, *id);
        *id = sqlite3_last_insert_rowid(store->connection);
        put_tags(store, &all, *id);
        put_facts(store, digest, *id);
        put_ways(store, digest, *id);
        put_figures(store, digest, *id);
    }
    mw_store_tags_free(&all);
    return was_there ? MW_STORE_THERE : replaces ? MW_STORE_COMPLETED : MW_STORE_NEW;
}

enum mw_store_added mw_store_add(struct mw_store *store, const struct mw_digest *digest,
                                 const mw_store_tags *tags, int64_t *id, char **why)
{
    enum mw_store_added added = MW_STORE_FAILED;
    if (!digest->identity[0]) {
        *why = mw_format("%s: no process is in it", digest->path);
        return MW_STORE_FAILED;
    }
    if (!mw_store_exec(store, "BEGIN IMMEDIATE")) {
        added = put_run(store, digest, tags, id);
        if (mw_store_exec(store, "COMMIT"))
            sqlite3_exec(store->connection, "ROLLBACK", NULL, NULL, NULL);
    }
    return mw_store_why(store, why) ? MW_STORE_FAILED : added;
}
