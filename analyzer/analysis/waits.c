/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wait states in Scalasca's sense (waits.h). What is shorter than the error of the clocks is none.
 * One thread.
 */
#include "analyzer/analysis/waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/collective.h"

/* Of one process, by its own numbers of call sites. */
struct local_site {
    uint32_t process;
    uint64_t site, function;
    struct mw_wait_amount by[MW_WAIT_KINDS];
};

struct mw_wait_meter {
    const struct mw_model *model;
    const struct mw_clock *clock;
    struct mw_waits *waits;
    struct mw_index site_index, pair_index;
    MW_VECTOR(struct local_site) sites;
};

const char *mw_wait_name(enum mw_wait_kind kind)
{
    static const char *const names[] = {
#define MW_WAIT_NAME(id, name, words) name,
        MW_WAIT_LIST(MW_WAIT_NAME)
#undef MW_WAIT_NAME
    };
    return names[kind];
}

const char *mw_wait_words(enum mw_wait_kind kind)
{
    static const char *const texts[] = {
#define MW_WAIT_WORDS(id, name, words) words,
        MW_WAIT_LIST(MW_WAIT_WORDS)
#undef MW_WAIT_WORDS
    };
    return texts[kind];
}

uint64_t mw_wait_sum(const struct mw_wait_amount by[MW_WAIT_KINDS])
{
    uint64_t sum = 0;
    for (int i = 0; i < MW_WAIT_KINDS; i++)
        sum += by[i].time;
    return sum;
}

struct mw_wait_meter *mw_wait_meter_create(const struct mw_model *model,
                                           const struct mw_clock *clock)
{
    struct mw_wait_meter *meter = mw_alloc(1, sizeof(*meter));
    meter->model = model;
    meter->clock = clock;
    meter->waits = mw_alloc(1, sizeof(*meter->waits));
    meter->waits->model = model;
    meter->waits->processes = mw_alloc(model->process_count, sizeof(meter->waits->processes[0]));
    return meter;
}

static void amount_add(struct mw_wait_amount *amount, uint64_t time)
{
    amount->count++;
    amount->time += time;
}

/* A process waited in a call for `time`, of which the clocks may be wrong by `error`. 0: that is no
 * wait. */
static int wait_add(struct mw_wait_meter *meter, enum mw_wait_kind kind, uint32_t process,
                    uint64_t site, uint64_t function, int64_t time, double error)
{
    struct mw_waits *waits = meter->waits;
    if (time <= 0)
        return 0;
    if ((double)time <= error) {
        waits->too_short++;
        return 0;
    }
    uint64_t key = mw_mix(mw_mix(site) ^ process) ^ function;
    size_t at = mw_index_put(&meter->site_index, key);
    if (at == meter->sites.count)
        *mw_vector_add(&meter->sites) = (struct local_site){process, site, function, {{0, 0}}};
    amount_add(&meter->sites.at[at].by[kind], (uint64_t)time);
    amount_add(&waits->processes[process].by[kind], (uint64_t)time);
    amount_add(&waits->total[kind], (uint64_t)time);
    return 1;
}

static struct mw_pair_waits *meter_pair(struct mw_wait_meter *meter, int64_t src, int64_t dst)
{
    struct mw_waits *waits = meter->waits;
    size_t at = mw_index_put(&meter->pair_index, (uint64_t)src << 32 | (uint64_t)dst);
    if (at == waits->pairs.count)
        *mw_vector_add(&waits->pairs) = (struct mw_pair_waits){.src = src, .dst = dst};
    return &waits->pairs.at[at];
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void mw_wait_meter_message(struct mw_wait_meter *meter, const struct mw_message *message)
{
    const struct mw_end *send = &message->send, *recv = &message->recv;
    double error = mw_clock_error(meter->clock, send->process, recv->process, recv->done);
    if ((send->flags | recv->flags) & MW_HALF_FAILED || !isfinite(error))
        return;
    if (recv->flags & MW_HALF_ALONE && !(recv->flags & MW_HALF_UNKNOWN)) {
        int64_t time = least(send->start, recv->done) - recv->wait;
        if (wait_add(meter, MW_WAIT_LATE_SENDER, recv->process, recv->site, recv->function, time,
                     error))
            meter_pair(meter, send->rank, recv->rank)->late_sender += (uint64_t)time;
    }
    /* Only a send that ended after the receive came can have waited for it. */
    if (send->flags & MW_HALF_ALONE && !(send->flags & MW_HALF_UNKNOWN) &&
        send->done >= recv->start) {
        int64_t time = recv->start - send->wait;
        if (wait_add(meter, MW_WAIT_LATE_RECEIVER, send->process, send->site, send->function, time,
                     error))
            meter_pair(meter, send->rank, recv->rank)->late_receiver += (uint64_t)time;
    }
}

/* Everybody waits for the last one. */
static void wait_for_last(struct mw_wait_meter *meter, const struct mw_instance *instance,
                          enum mw_wait_kind kind)
{
    const struct mw_member *last = &instance->members[0];
    uint64_t caused = 0;
    for (size_t i = 1; i < instance->count; i++)
        if (instance->members[i].start > last->start)
            last = &instance->members[i];
    for (size_t i = 0; i < instance->count; i++) {
        const struct mw_member *member = &instance->members[i];
        if (kind == MW_WAIT_NXN && !member->bytes && !member->received)
            continue; /* it needs nothing of the others */
        double error = mw_clock_error(meter->clock, member->process, last->process, last->start);
        int64_t time = least(last->start, member->end) - member->start;
        if (wait_add(meter, kind, member->process, member->site, instance->function, time, error))
            caused += (uint64_t)time;
    }
    meter->waits->processes[last->process].caused += caused;
    meter->waits->processes[last->process].last += caused > 0;
}

static const struct mw_member *member_of_rank(const struct mw_wait_meter *meter,
                                              const struct mw_instance *instance, int64_t rank)
{
    int64_t process = mw_model_rank(meter->model, rank);
    for (size_t i = 0; i < instance->count; i++)
        if ((int64_t)instance->members[i].process == process)
            return &instance->members[i];
    return NULL;
}

/* Everybody waits for the root. */
static void wait_for_root(struct mw_wait_meter *meter, const struct mw_instance *instance)
{
    const struct mw_member *root = member_of_rank(meter, instance, instance->root);
    uint64_t caused = 0;
    for (size_t i = 0; root && i < instance->count; i++) {
        const struct mw_member *member = &instance->members[i];
        double error = mw_clock_error(meter->clock, member->process, root->process, root->start);
        int64_t time = least(root->start, member->end) - member->start;
        if (wait_add(meter, MW_WAIT_LATE_BROADCAST, member->process, member->site,
                     instance->function, time, error))
            caused += (uint64_t)time;
    }
    if (root) {
        meter->waits->processes[root->process].caused += caused;
        meter->waits->processes[root->process].last += caused > 0;
    }
}

/* The root came before any other had sent something. */
static void wait_of_root(struct mw_wait_meter *meter, const struct mw_instance *instance)
{
    const struct mw_member *root = member_of_rank(meter, instance, instance->root), *first = NULL;
    for (size_t i = 0; i < instance->count; i++) {
        const struct mw_member *member = &instance->members[i];
        if (member != root && (!first || member->start < first->start))
            first = member;
    }
    if (!root || !first)
        return;
    wait_add(meter, MW_WAIT_EARLY_REDUCE, root->process, root->site, instance->function,
             least(first->start, root->end) - root->start,
             mw_clock_error(meter->clock, root->process, first->process, first->start));
}

void mw_wait_meter_collective(struct mw_wait_meter *meter, const struct mw_instance *instance)
{
    enum mw_collective_kind kind = mw_collective_of(instance->name)->kind;
    if (kind == MW_COLLECTIVE_OTHER || instance->mixed || !instance->whole)
        return;
    for (size_t i = 0; i < instance->count; i++)
        if (!instance->members[i].blocking || instance->members[i].failed)
            return;
    meter->waits->instances++;
    if (kind == MW_COLLECTIVE_BARRIER)
        wait_for_last(meter, instance, MW_WAIT_BARRIER);
    else if (kind == MW_COLLECTIVE_NXN)
        wait_for_last(meter, instance, MW_WAIT_NXN);
    else if (kind == MW_COLLECTIVE_ONE_TO_ALL)
        wait_for_root(meter, instance);
    else
        wait_of_root(meter, instance);
}

static int site_compare(const void *left, const void *right)
{
    const struct mw_site_waits *a = left, *b = right;
    if (a->time != b->time)
        return a->time > b->time ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->key > b->key) - (a->key < b->key);
}

static int pair_compare(const void *left, const void *right)
{
    const struct mw_pair_waits *a = left, *b = right;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return (a->dst > b->dst) - (a->dst < b->dst);
}

/* The same stack of several processes is one call site. */
static void sites_join(struct mw_wait_meter *meter)
{
    struct mw_waits *waits = meter->waits;
    struct mw_index index = {0};
    for (size_t i = 0; i < meter->sites.count; i++) {
        const struct local_site *local = &meter->sites.at[i];
        const struct mw_process *process = mw_trace_process(meter->model->trace, local->process);
        uint64_t key = mw_site_key(process, local->site), time = mw_wait_sum(local->by);
        size_t at = mw_index_put(&index, mw_mix(key) ^ local->function);
        if (at == waits->sites.count)
            *mw_vector_add(&waits->sites) =
                (struct mw_site_waits){.key = key,
                                       .function = local->function,
                                       .process = local->process,
                                       .name = mw_process_function_name(process, local->function),
                                       .site = local->site};
        struct mw_site_waits *site = &waits->sites.at[at];
        for (int k = 0; k < MW_WAIT_KINDS; k++) {
            site->by[k].count += local->by[k].count;
            site->by[k].time += local->by[k].time;
        }
        site->time += time;
        if (time > site->most) {
            site->most = time;
            site->most_process = local->process;
        }
    }
    mw_index_free(&index);
    if (waits->sites.count)
        qsort(waits->sites.at, waits->sites.count, sizeof(waits->sites.at[0]), site_compare);
}

struct mw_waits *mw_wait_meter_finish(struct mw_wait_meter *meter)
{
    struct mw_waits *waits = meter->waits;
    sites_join(meter);
    if (waits->pairs.count)
        qsort(waits->pairs.at, waits->pairs.count, sizeof(waits->pairs.at[0]), pair_compare);
    mw_index_free(&meter->site_index);
    mw_index_free(&meter->pair_index);
    free(meter->sites.at);
    free(meter);
    return waits;
}

void mw_waits_free(struct mw_waits *waits)
{
    if (!waits)
        return;
    free(waits->processes);
    free(waits->sites.at);
    free(waits->pairs.at);
    free(waits);
}
