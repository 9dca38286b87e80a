/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time went: by call, place in the program, wait, collective, of the job (digest.h). */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/analysis/exchange.h"
#include "analyzer/analysis/tally.h"
#include "analyzer/model/labels.h"
#include "analyzer/model/symbols.h"
#include "analyzer/regression/digest_build.h"

static void put(struct mw_digest *digest, enum mw_figure_scope scope, const char *name,
                unsigned size_class, uint64_t ns, uint64_t samples)
{
    mw_digest_put_figure(digest, &(struct mw_figure){.scope = scope,
                                                     .metric = MW_METRIC_TIME,
                                                     .name = (char *)name,
                                                     .src = -1,
                                                     .dst = -1,
                                                     .size_class = size_class,
                                                     .value = (double)ns * 1e-9,
                                                     .samples = samples});
}

/* --- places in the program -------------------------------------------------------------------- */

/* "MPI_Send in exchange (halo.c:120)", "MPI_Send at solver+0x1b3a". */
static char *site_name(const struct mw_model *model, struct mw_symbols *symbols,
                       const struct mw_site_total *total)
{
    const struct mw_process *process = mw_trace_process(model->trace, total->process);
    const struct mw_site *site = mw_process_site(process, total->site);
    if (!site || !site->frame_count)
        return NULL;
    struct mw_symbol symbol =
        mw_symbols_frame(symbols, process, &site->frames[mw_site_caller(process, site)]);
    if (symbol.function && symbol.file)
        return mw_format("%s in %s (%s:%d)", total->name, symbol.function, mw_basename(symbol.file),
                         symbol.line);
    if (symbol.function)
        return mw_format("%s in %s", total->name, symbol.function);
    return mw_format("%s at %s+0x%" PRIx64, total->name, symbol.module, symbol.offset);
}

/* Calls of one place by different ways through the program are one. */
struct place {
    char *name;
    uint64_t time, calls;
};

static void add_sites(struct mw_digest *digest, const struct mw_tally *tally)
{
    struct mw_symbols *symbols = mw_symbols_create();
    struct mw_index index = {0};
    MW_VECTOR(struct place) places = {0};
    for (size_t i = 0; i < tally->sites.count; i++) {
        const struct mw_site_total *total = &tally->sites.at[i];
        char *name = total->key ? site_name(tally->model, symbols, total) : NULL;
        if (!name)
            continue;
        size_t at = mw_index_put(&index, mw_hash_text(1, name));
        if (at == places.count)
            mw_vector_add(&places)->name = name;
        else
            free(name);
        places.at[at].time += total->amounts.time;
        places.at[at].calls += total->amounts.calls;
    }
    for (size_t i = 0; i < places.count; i++) {
        if (places.at[i].calls)
            put(digest, MW_SCOPE_SITE, places.at[i].name, 0, places.at[i].time, places.at[i].calls);
        free(places.at[i].name);
    }
    free(places.at);
    mw_index_free(&index);
    mw_symbols_free(symbols);
}

/* --- the others ------------------------------------------------------------------------------- */

static void add_calls(struct mw_digest *digest, const struct mw_tally *tally)
{
    for (size_t i = 0; i < tally->functions.count; i++) {
        const struct mw_function_total *total = &tally->functions.at[i];
        if (total->amounts.calls)
            put(digest, MW_SCOPE_CALL, total->name, 0, total->amounts.time, total->amounts.calls);
    }
}

static void add_waits(struct mw_digest *digest, const struct mw_waits *waits)
{
    for (int kind = 0; kind < MW_WAIT_KINDS; kind++)
        if (waits->total[kind].count)
            put(digest, MW_SCOPE_WAIT, mw_wait_name((enum mw_wait_kind)kind), 0,
                waits->total[kind].time, waits->total[kind].count);
}

/* Communicators of one name, as a program makes in a loop, are one: the one with most calls. */
static void add_collectives(struct mw_digest *digest, const struct mw_exchange *exchange)
{
    const struct mw_coll_speeds *speeds = exchange->collectives;
    struct mw_index index = {0};
    MW_VECTOR(const struct mw_coll_speed *) best = {0};
    for (size_t i = 0; i < speeds->all.count; i++) {
        const struct mw_coll_speed *speed = &speeds->all.at[i];
        char *label = mw_comm_label(exchange->comms, speed->comm, -1);
        uint64_t key = mw_hash_text(mw_hash_text(speed->class + 1, speed->name), label);
        size_t at = mw_index_put(&index, key);
        if (at == best.count)
            *mw_vector_add(&best) = speed;
        else if (speed->instances > best.at[at]->instances)
            best.at[at] = speed;
        free(label);
    }
    for (size_t i = 0; i < best.count; i++) {
        char *label = mw_comm_label(exchange->comms, best.at[i]->comm, -1);
        char *name = mw_format("%s on %s", best.at[i]->name, label);
        put(digest, MW_SCOPE_COLLECTIVE, name, best.at[i]->class, best.at[i]->usual,
            best.at[i]->instances);
        free(label);
        free(name);
    }
    mw_index_free(&index);
    free(best.at);
}

/* Without MPI_Init and MPI_Finalize, which take as long as the launcher and the machine's load
 * want. Wall: of the rank that was there longest. */
static void add_job(struct mw_digest *digest, const struct mw_tally *tally)
{
    uint64_t wall = 0, mpi = 0;
    for (size_t i = 0; i < tally->model->process_count; i++) {
        const struct mw_process_total *total = &tally->processes[i];
        uint64_t life = total->time_by[MW_TIME_LIFE];
        uint64_t own = total->wall > life ? total->wall - life : 0;
        mpi += total->amounts.time > life ? total->amounts.time - life : 0;
        wall = own > wall ? own : wall;
    }
    if (wall)
        put(digest, MW_SCOPE_JOB, "wall", 0, wall, 1);
    put(digest, MW_SCOPE_JOB, "mpi", 0, mpi, digest->calls);
}

void mw_digest_add_times(struct mw_digest *digest, const struct mw_analysis *analysis)
{
    if (analysis->tally->timed) {
        add_calls(digest, analysis->tally);
        add_sites(digest, analysis->tally);
        add_job(digest, analysis->tally);
    }
    add_waits(digest, analysis->exchange->waits);
    add_collectives(digest, analysis->exchange);
}
