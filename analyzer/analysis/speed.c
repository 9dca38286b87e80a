/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures messages (speed.h): which of them are certain, unions of their times, bursts, windows
 * and latencies. One thread.
 */
#include "analyzer/analysis/speed.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/analysis/cover.h"
#include "analyzer/analysis/histogram.h"
#include "analyzer/analysis/tally.h"

/* What one call of the receiver completed, of one pair and size class. */
struct group {
    uint64_t id;
    int64_t start, latest_start; /* between these something began to move */
    int64_t last;                /* start of its last message */
    int64_t wait, done;
    uint64_t messages, bytes;
    int64_t error;
    int one_pair;
};

/* Messages that follow each other without a pause. */
struct burst {
    uint64_t messages, bytes;
    int64_t start, done;
    int64_t sender, receiver; /* what both had spent outside MPI at the last message, */
    uint64_t sender_barriers, receiver_barriers; /* and the barriers that they had passed */
};

struct entry {
    struct mw_speed shown;
    struct mw_cover warm, certain, all;
    uint64_t warm_group; /* + 1: of the last message of the warm-up; 0 it was alone */
    struct mw_histogram latencies, paces; /* paces: ns a MiB of certain samples */
    struct group group;
    struct burst burst, window;
    size_t pair, back; /* numbers of its ordered pair, and of the pair the other way round */
};

/* An ordered pair of ranks, whatever the size. */
struct direction {
    size_t unanswered; /* + 1: the entry of its last message; 0 that has been answered */
};

struct node_entry {
    struct mw_node_speed shown;
    struct mw_cover cover;
};

struct mw_transfer_meter {
    const struct mw_model *model;
    const struct mw_clock *clock;
    struct mw_speeds *speeds;
    struct mw_place_meter *places;
    struct mw_index index, node_index, direction_index;
    MW_VECTOR(struct entry) entries;
    MW_VECTOR(struct direction) directions;
    MW_VECTOR(struct node_entry) nodes;
};

/* What is known of one message's way. */
struct sample {
    int64_t start, latest_start; /* it began to move at one of these, or between */
    int64_t done;
    int awaited; /* the receive was there first, and nothing else kept its call */
    double error;
};

double mw_rate_value(const struct mw_rate *rate)
{
    return rate->time ? (double)rate->bytes * 1e9 / (double)rate->time : 0;
}

/* On a busy machine the certain samples, of which somebody waited for each, are the slow ones. */
const struct mw_rate *mw_speed_moved(const struct mw_speed *speed, int *bound)
{
    double certain = mw_rate_value(&speed->in_flight), least = mw_rate_value(&speed->at_least);
    *bound = least > certain + certain / MW_SPEED_LITTLE;
    return least > certain ? &speed->at_least : &speed->in_flight;
}

double mw_speed_in_flight(const struct mw_speed *speed, int *bound)
{
    return mw_rate_value(mw_speed_moved(speed, bound));
}

struct mw_transfer_meter *mw_transfer_meter_create(const struct mw_model *model,
                                                   const struct mw_clock *clock,
                                                   const struct mw_placements *placements)
{
    struct mw_transfer_meter *meter = mw_alloc(1, sizeof(*meter));
    struct mw_speeds *speeds = meter->speeds = mw_alloc(1, sizeof(*speeds));
    meter->model = speeds->model = model;
    meter->clock = clock;
    meter->places = mw_place_meter_create(placements);
    speeds->from = INT64_MAX;
    for (size_t i = 0; i < mw_clock_domain_count(clock); i++) {
        const struct mw_clock_domain *domain = mw_clock_domain(clock, i);
        if (domain->timed && domain->from < speeds->from)
            speeds->from = domain->from;
        if (domain->timed && domain->to > speeds->to)
            speeds->to = domain->to;
    }
    return meter;
}

static size_t meter_direction(struct mw_transfer_meter *meter, int64_t src, int64_t dst)
{
    size_t at = mw_index_put(&meter->direction_index, (uint64_t)src << 32 | (uint64_t)dst);
    if (at == meter->directions.count)
        mw_vector_add(&meter->directions);
    return at;
}

static struct entry *meter_entry(struct mw_transfer_meter *meter, int64_t src, int64_t dst,
                                 unsigned class)
{
    uint64_t key = mw_mix((uint64_t)src << 32 | (uint64_t)dst) ^ class;
    size_t at = mw_index_put(&meter->index, key);
    if (at == meter->entries.count) {
        struct entry *added = mw_vector_add(&meter->entries);
        added->shown.src = src;
        added->shown.dst = dst;
        added->shown.class = class;
        added->pair = meter_direction(meter, src, dst);
        added->back = meter_direction(meter, dst, src);
    }
    return &meter->entries.at[at];
}

/* Whether the send can only have ended when the receive was there. */
static int send_waited(const struct mw_message *message, int64_t posted, int64_t error)
{
    const struct mw_end *send = &message->send;
    if (send->flags & MW_HALF_UNKNOWN || send->done < posted + error)
        return 0;
    return send->flags & MW_HALF_SYNC ||
           (send->flags & MW_HALF_ALONE && send->wait <= posted - error);
}

static struct sample sample_of(const struct mw_transfer_meter *meter,
                               const struct mw_message *message)
{
    const struct mw_end *send = &message->send, *recv = &message->recv;
    struct sample sample = {.start = send->start, .done = recv->back};
    sample.error = mw_clock_error(meter->clock, send->process, recv->process, recv->done);
    if (!isfinite(sample.error))
        return sample;
    int64_t error = (int64_t)sample.error;
    int64_t posted = recv->start == recv->wait ? recv->start : recv->started;
    int first = posted + error <= send->start;
    if (!first && posted > send->start && send_waited(message, posted, error))
        sample.start = posted;
    sample.latest_start = !first && posted > send->start ? posted : sample.start;
    sample.awaited = first && recv->flags & MW_HALF_ALONE && recv->wait + error <= send->start;
    return sample;
}

static void slice_add(struct mw_transfer_meter *meter, struct entry *entry,
                      const struct group *group)
{
    const struct mw_speeds *speeds = meter->speeds;
    double part = (double)(group->done - speeds->from) / (double)(speeds->to - speeds->from + 1);
    int slice = part < 0 ? 0 : part >= 1 ? MW_SPEED_SLICES - 1 : (int)(part * MW_SPEED_SLICES);
    if (!entry->shown.slices)
        entry->shown.slices = mw_alloc(MW_SPEED_SLICES, sizeof(entry->shown.slices[0]));
    entry->shown.slices[slice].bytes += group->bytes;
    entry->shown.slices[slice].time += (uint64_t)(group->done - group->start);
}

/* Whether a part of the group's time is too short to matter. */
static int is_little(const struct group *group, int64_t time)
{
    return (double)time * MW_SPEED_LITTLE <= (double)(group->done - group->start);
}

/* The call that completed it blocked: it came before the last message was sent, or so early that
 * all of what it then waited for must have been the messages. */
static int group_is_certain(const struct group *group)
{
    int blocked =
        group->wait + group->error <= group->last || is_little(group, group->wait - group->start);
    return group->one_pair && blocked && is_little(group, group->latest_start - group->start) &&
           (double)group->error * MW_SPEED_SHARP <= (double)(group->done - group->start);
}

/* Ns that a MiB would have taken. */
static uint64_t pace_of(const struct group *group)
{
    return (uint64_t)((double)(group->done - group->start) / (double)group->bytes * MW_SPEED_PACE);
}

static void trail_add(struct mw_trail **trail, uint64_t ns)
{
    if (!*trail)
        *trail = mw_alloc(1, sizeof(**trail));
    mw_trail_add(*trail, ns ? (double)ns : 1);
}

static void group_close(struct mw_transfer_meter *meter, struct entry *entry)
{
    struct group *group = &entry->group;
    struct mw_speed *shown = &entry->shown;
    if (!group->messages)
        return;
    mw_cover_add(&entry->all, group->start, group->done);
    if (group_is_certain(group)) {
        shown->certain += group->messages;
        shown->samples++;
        shown->in_flight.bytes += group->bytes;
        mw_cover_add(&entry->certain, group->start, group->done);
        slice_add(meter, entry, group);
        if (group->bytes) {
            mw_histogram_add(&entry->paces, pace_of(group));
            trail_add(&shown->paces, pace_of(group));
        }
        if ((double)group->error > shown->error)
            shown->error = (double)group->error;
    } else {
        shown->bounded += group->messages;
    }
    *group = (struct group){0};
}

static void group_add(struct mw_transfer_meter *meter, struct entry *entry,
                      const struct mw_message *message, const struct sample *sample)
{
    struct group *group = &entry->group;
    const struct mw_end *recv = &message->recv;
    int one_pair = (recv->flags & MW_HALF_ONE_PAIR) != 0;
    if (!one_pair || !group->messages || group->id != recv->group) {
        group_close(meter, entry);
        *group = (struct group){.id = recv->group,
                                .start = sample->start,
                                .wait = recv->wait,
                                .latest_start = sample->latest_start,
                                .last = sample->start,
                                .done = sample->done,
                                .one_pair = one_pair,
                                .error = (int64_t)sample->error};
    }
    group->messages++;
    group->bytes += message->bytes;
    group->start = sample->start < group->start ? sample->start : group->start;
    group->latest_start =
        sample->latest_start < group->latest_start ? sample->latest_start : group->latest_start;
    group->last = sample->start > group->last ? sample->start : group->last;
    if (recv->mates == 1 || !one_pair)
        group_close(meter, entry);
}

/* The window's messages are some of the burst's. */
static void window_add(struct mw_speed *shown, struct burst *window,
                       const struct mw_message *message)
{
    if (!window->messages++)
        window->start = message->send.start;
    window->bytes += message->bytes;
    window->done = message->recv.back;
    if (window->messages < MW_SPEED_WINDOW)
        return;
    struct mw_rate rate = {window->bytes, (uint64_t)(window->done - window->start)};
    if (window->done > window->start && mw_rate_value(&rate) > mw_rate_value(&shown->best))
        shown->best = rate;
    *window = (struct burst){0};
}

static void burst_close(struct entry *entry)
{
    struct burst *burst = &entry->burst;
    if (burst->messages && burst->done > burst->start) {
        struct mw_rate rate = {burst->bytes, (uint64_t)(burst->done - burst->start)};
        entry->shown.throughput.bytes += rate.bytes;
        entry->shown.throughput.time += rate.time;
        entry->shown.bursts++;
        if (rate.bytes >= entry->shown.largest.bytes) /* benchmarks count the last of equal ones */
            entry->shown.largest = rate;
    }
    *burst = entry->window = (struct burst){0};
}

/* Between the burst's last message and another one, of which these are the ends at the burst's
 * sender and receiver, a rank did something else, or both met in a barrier.
 */
static int is_pause(const struct burst *burst, const struct mw_end *sender,
                    const struct mw_end *receiver)
{
    return sender->outside - burst->sender > MW_SPEED_PAUSE ||
           receiver->outside - burst->receiver > MW_SPEED_PAUSE ||
           (sender->barriers != burst->sender_barriers &&
            receiver->barriers != burst->receiver_barriers);
}

/* The sender of a burst has its bytes' answer now: the first message back that was sent when all of
 * the burst was there. It belongs to the burst's time. */
static void burst_answer(struct mw_transfer_meter *meter, const struct entry *entry,
                         const struct mw_message *answer)
{
    struct direction *asked = &meter->directions.at[entry->back];
    struct burst *burst =
        asked->unanswered ? &meter->entries.at[asked->unanswered - 1].burst : NULL;
    if (!burst || answer->send.start < burst->done)
        return;
    asked->unanswered = 0;
    if (!is_pause(burst, &answer->recv, &answer->send))
        burst->done = answer->recv.back;
}

static void burst_add(struct entry *entry, const struct mw_message *message)
{
    struct burst *burst = &entry->burst;
    if (burst->messages && is_pause(burst, &message->send, &message->recv))
        burst_close(entry);
    if (!burst->messages++ || message->send.start < burst->start)
        burst->start = message->send.start;
    burst->bytes += message->bytes;
    burst->done = message->recv.back > burst->done ? message->recv.back : burst->done;
    burst->sender = message->send.outside;
    burst->receiver = message->recv.outside;
    burst->sender_barriers = message->send.barriers;
    burst->receiver_barriers = message->recv.barriers;
}

static void node_add(struct mw_transfer_meter *meter, uint32_t src, uint32_t dst,
                     const struct mw_message *message, const struct sample *sample)
{
    size_t at = mw_index_put(&meter->node_index, (uint64_t)src << 32 | dst);
    if (at == meter->nodes.count) {
        struct mw_node_speed *added = &mw_vector_add(&meter->nodes)->shown;
        added->src = src;
        added->dst = dst;
    }
    struct node_entry *entry = &meter->nodes.at[at];
    mw_joint_add(&entry->shown.joint, &entry->cover, message->bytes, sample->start, sample->done);
}

/* The first messages, and those that were completed together with one of them: they share its time.
 */
static int is_warm_up(struct entry *entry, const struct mw_message *message)
{
    const struct mw_end *recv = &message->recv;
    int together = recv->mates > 1 && recv->flags & MW_HALF_ONE_PAIR;
    if (entry->shown.warm_messages < MW_SPEED_WARM_UP) {
        entry->warm_group = together ? recv->group + 1 : 0;
        return 1;
    }
    return together && entry->warm_group == recv->group + 1;
}

static void entry_message(struct mw_transfer_meter *meter, struct entry *entry,
                          const struct mw_message *message, const struct sample *sample)
{
    struct mw_speed *shown = &entry->shown;
    burst_add(entry, message);
    if (is_warm_up(entry, message)) {
        shown->warm_messages++;
        shown->warm.bytes += message->bytes;
        mw_cover_add(&entry->warm, sample->start, sample->done);
        return;
    }
    shown->messages++;
    shown->bytes += message->bytes;
    group_add(meter, entry, message, sample);
    window_add(shown, &entry->window, message);
    if (sample->awaited && sample->done > sample->start) {
        mw_histogram_add(&entry->latencies, (uint64_t)(sample->done - sample->start));
        trail_add(&shown->delays, (uint64_t)(sample->done - sample->start));
    }
}

void mw_transfer_meter_message(struct mw_transfer_meter *meter, const struct mw_message *message)
{
    struct mw_speeds *speeds = meter->speeds;
    speeds->messages++;
    if ((message->send.flags | message->recv.flags) & MW_HALF_FAILED ||
        message->recv.flags & MW_HALF_UNKNOWN) {
        speeds->unusable++;
        return;
    }
    struct sample sample = sample_of(meter, message);
    if (!isfinite(sample.error)) {
        speeds->unsynchronised++;
        return;
    }
    if (sample.done < message->send.start) {
        speeds->violations++;
        return;
    }
    struct entry *entry =
        meter_entry(meter, message->send.rank, message->recv.rank, mw_size_class(message->bytes));
    burst_answer(meter, entry, message);
    entry_message(meter, entry, message, &sample);
    meter->directions.at[entry->pair].unanswered = (size_t)(entry - meter->entries.at) + 1;
    const uint32_t *nodes = meter->model->process_node;
    node_add(meter, nodes[message->send.process], nodes[message->recv.process], message, &sample);
    mw_place_meter_message(meter->places, message->send.process, message->recv.process,
                           message->bytes, sample.start, sample.done);
}

/* One clock, that of the origin, and no receive. */
void mw_transfer_meter_access(struct mw_transfer_meter *meter, const struct mw_message *access)
{
    const struct mw_end *end = &access->recv;
    struct sample sample = {.start = end->start, .latest_start = end->started, .done = end->done};
    int64_t src = mw_model_rank_node(meter->model, access->send.rank);
    int64_t dst = mw_model_rank_node(meter->model, access->recv.rank);
    meter->speeds->messages++;
    struct entry *entry =
        meter_entry(meter, access->send.rank, access->recv.rank, mw_size_class(access->bytes));
    entry_message(meter, entry, access, &sample);
    if (src >= 0 && dst >= 0)
        node_add(meter, (uint32_t)src, (uint32_t)dst, access, &sample);
}

static int speed_compare(const void *left, const void *right)
{
    const struct mw_speed *a = left, *b = right;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    if (a->dst != b->dst)
        return a->dst < b->dst ? -1 : 1;
    return (a->class > b->class) - (a->class < b->class);
}

static int node_compare(const void *left, const void *right)
{
    const struct mw_node_speed *a = left, *b = right;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return (a->dst > b->dst) - (a->dst < b->dst);
}

static void entry_finish(struct mw_transfer_meter *meter, struct entry *entry)
{
    struct mw_speed *shown = &entry->shown;
    group_close(meter, entry);
    burst_close(entry);
    shown->warm.time = mw_cover_time(&entry->warm);
    shown->in_flight.time = mw_cover_time(&entry->certain);
    shown->at_least = (struct mw_rate){shown->bytes, mw_cover_time(&entry->all)};
    shown->latencies = entry->latencies.count;
    shown->latency_min = entry->latencies.least;
    shown->latency_median = mw_histogram_quantile(&entry->latencies, 0.5);
    shown->latency_p99 = mw_histogram_quantile(&entry->latencies, 0.99);
    uint64_t pace = mw_histogram_quantile(&entry->paces, 0.1);
    shown->brisk = pace ? MW_SPEED_PACE * 1e9 / (double)pace : 0;
    pace = mw_histogram_quantile(&entry->paces, 0.5);
    shown->usual = pace ? MW_SPEED_PACE * 1e9 / (double)pace : 0;
    mw_histogram_free(&entry->latencies);
    mw_histogram_free(&entry->paces);
    *mw_vector_add(&meter->speeds->all) = *shown;
}

struct mw_speeds *mw_transfer_meter_finish(struct mw_transfer_meter *meter)
{
    struct mw_speeds *speeds = meter->speeds;
    speeds->places = mw_place_meter_finish(meter->places);
    for (size_t i = 0; i < meter->entries.count; i++)
        entry_finish(meter, &meter->entries.at[i]);
    for (size_t i = 0; i < meter->nodes.count; i++) {
        struct node_entry *entry = &meter->nodes.at[i];
        entry->shown.joint.time = mw_cover_time(&entry->cover);
        *mw_vector_add(&speeds->nodes) = entry->shown;
    }
    if (speeds->all.count)
        qsort(speeds->all.at, speeds->all.count, sizeof(speeds->all.at[0]), speed_compare);
    if (speeds->nodes.count)
        qsort(speeds->nodes.at, speeds->nodes.count, sizeof(speeds->nodes.at[0]), node_compare);
    mw_index_free(&meter->index);
    mw_index_free(&meter->node_index);
    mw_index_free(&meter->direction_index);
    free(meter->directions.at);
    free(meter->entries.at);
    free(meter->nodes.at);
    free(meter);
    return speeds;
}

void mw_speeds_free(struct mw_speeds *speeds)
{
    if (!speeds)
        return;
    for (size_t i = 0; i < speeds->all.count; i++) {
        free(speeds->all.at[i].slices);
        free(speeds->all.at[i].paces);
        free(speeds->all.at[i].delays);
    }
    free(speeds->all.at);
    free(speeds->nodes.at);
    mw_place_speeds_free(speeds->places);
    free(speeds);
}

const struct mw_speed *mw_speeds_pair(const struct mw_speeds *speeds, int64_t src, int64_t dst,
                                      size_t *count)
{
    struct mw_speed key = {.src = src, .dst = dst};
    size_t low = 0, high = speeds->all.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (speed_compare(&speeds->all.at[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < speeds->all.count && speeds->all.at[low + *count].src == src &&
                     speeds->all.at[low + *count].dst == dst;)
        ++*count;
    return *count ? &speeds->all.at[low] : NULL;
}

/* Of a pair's size classes first to last the one that weighs most; NULL: none weighs anything. */
static const struct mw_speed *heaviest(const struct mw_speeds *speeds, int64_t src, int64_t dst,
                                       unsigned first, unsigned last,
                                       uint64_t (*weigh)(const struct mw_speed *speed))
{
    size_t count;
    const struct mw_speed *best = NULL, *at = mw_speeds_pair(speeds, src, dst, &count);
    for (size_t i = 0; i < count; i++)
        if (at[i].class >= first && at[i].class <= last && weigh(&at[i]) > (best ? weigh(best) : 0))
            best = &at[i];
    return best;
}

static uint64_t weigh_bytes(const struct mw_speed *speed)
{
    int bound;
    return mw_speed_in_flight(speed, &bound) > 0 ? speed->bytes : 0;
}

static uint64_t weigh_latencies(const struct mw_speed *speed)
{
    return speed->latencies;
}

const struct mw_speed *mw_speeds_large(const struct mw_speeds *speeds, int64_t src, int64_t dst)
{
    return heaviest(speeds, src, dst, mw_size_class(MW_SPEED_LARGE), MW_SIZE_CLASSES, weigh_bytes);
}

const struct mw_speed *mw_speeds_small(const struct mw_speeds *speeds, int64_t src, int64_t dst)
{
    return heaviest(speeds, src, dst, 0, mw_size_class(MW_SPEED_SMALL), weigh_latencies);
}

const struct mw_node_speed *mw_speeds_nodes(const struct mw_speeds *speeds, int64_t src,
                                            int64_t dst)
{
    struct mw_node_speed key = {.src = (uint32_t)src, .dst = (uint32_t)dst};
    if (src < 0 || dst < 0 || !speeds->nodes.count)
        return NULL;
    return bsearch(&key, speeds->nodes.at, speeds->nodes.count, sizeof(key), node_compare);
}
