/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for things of a job (labels.h). Main thread only. */
#include "analyzer/model/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_DEPTH 4 /* of parents in the name of a communicator */

static char *id_label(struct mw_rank_id id)
{
    return id.world ? mw_format("%" PRIu32 ":%" PRId64, id.world, id.rank)
                    : mw_format("%" PRId64, id.rank);
}

char *mw_rank_label(const struct mw_model *model, int64_t place)
{
    return place < 0 ? mw_text_copy("?") : id_label(mw_model_rank_id(model, place));
}

char *mw_pair_label(const struct mw_model *model, int64_t src, int64_t dst)
{
    char *from = mw_rank_label(model, src), *to = mw_rank_label(model, dst);
    char *label = mw_format("%s -> %s", from, to);
    free(from);
    free(to);
    return label;
}

int mw_rank_label_read(const char *label, struct mw_rank_id *id)
{
    const char *colon = strchr(label, ':'), *rank = colon ? colon + 1 : label;
    char *end = NULL;
    *id = (struct mw_rank_id){0, -1};
    if (colon) {
        unsigned long world = strtoul(label, &end, 10);
        if (end != colon || *label < '0' || *label > '9' || !world || world > UINT32_MAX)
            return 0;
        id->world = (uint32_t)world;
    }
    unsigned long number = strtoul(rank, &end, 10);
    if (*rank < '0' || *rank > '9' || *end || number > INT32_MAX)
        return 0;
    id->rank = (int64_t)number;
    return 1;
}

int mw_rank_id_compare(struct mw_rank_id a, struct mw_rank_id b)
{
    if (a.world != b.world)
        return a.world < b.world ? -1 : 1;
    return (a.rank > b.rank) - (a.rank < b.rank);
}

char *mw_peer_label(const struct mw_model *model, int64_t place)
{
    if (place == MW_PEER_ANY)
        return mw_text_copy("any");
    if (place <= MW_PEER_OUTSIDE(0))
        return mw_format("rank %" PRId64 " of a remote group (which one is not known)",
                         MW_PEER_OUTSIDE(place));
    if (place < 0)
        return mw_text_copy(place == MW_PEER_NONE ? "none" : "unknown");
    char *rank = mw_rank_label(model, place), *label = mw_format("rank %s", rank);
    free(rank);
    return label;
}

static void set_add_range(struct mw_rank_set *set, struct mw_rank_range range)
{
    struct mw_rank_range *last = set->ranges.count ? &set->ranges.at[set->ranges.count - 1] : NULL;
    if (last && last->world == range.world &&
        (range.first == last->last || range.first == last->last + 1))
        last->last = range.last;
    else
        *mw_vector_add(&set->ranges) = range;
}

void mw_rank_set_add(struct mw_rank_set *set, struct mw_rank_id id)
{
    set->count++;
    if (id.rank < 0)
        set->rankless++;
    else
        set_add_range(set, (struct mw_rank_range){id.world, id.rank, id.rank});
}

void mw_rank_set_add_place(struct mw_rank_set *set, const struct mw_model *model, int64_t place)
{
    mw_rank_set_add(set, mw_model_rank_id(model, place));
}

void mw_rank_set_add_process(struct mw_rank_set *set, const struct mw_model *model, size_t process)
{
    mw_rank_set_add_place(set, model, mw_model_place(model, process));
}

static int range_compare(const void *left, const void *right)
{
    const struct mw_rank_range *a = left, *b = right;
    if (a->world != b->world)
        return a->world < b->world ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

/* Writes "first-last" or "first" behind what is there, with its world where there are several. */
static void range_print(FILE *out, int *any, const struct mw_rank_range *range)
{
    fputs(*any ? "," : "", out);
    if (range->world)
        fprintf(out, "%" PRIu32 ":", range->world);
    fprintf(out, "%" PRId64, range->first);
    if (range->last > range->first)
        fprintf(out, "-%" PRId64, range->last);
    *any = 1;
}

static void ranges_print(FILE *out, const struct mw_rank_range *range, size_t count)
{
    int any = 0;
    for (size_t i = 0; i < count;) {
        struct mw_rank_range whole = range[i];
        for (i++; i < count && range[i].world == whole.world && range[i].first <= whole.last + 1;
             i++)
            if (range[i].last > whole.last)
                whole.last = range[i].last;
        range_print(out, &any, &whole);
    }
}

char *mw_rank_set_take(struct mw_rank_set *set)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = mw_text_stream(&text, &size);
    if (set->ranges.count)
        qsort(set->ranges.at, set->ranges.count, sizeof(set->ranges.at[0]), range_compare);
    ranges_print(out, set->ranges.at, set->ranges.count);
    if (set->rankless)
        fprintf(out, "%s%zu without a rank", set->ranges.count ? " and " : "", set->rankless);
    fclose(out);
    free(set->ranges.at);
    *set = (struct mw_rank_set){0};
    return text;
}

char *mw_rank_list_cut(const char *list, size_t width)
{
    size_t cut = 0;
    for (size_t at = 0; strlen(list) > width && at + 4 <= width; at++)
        if (list[at] == ',')
            cut = at;
    return cut ? mw_format("%.*s,...", (int)cut, list) : mw_text_copy(list);
}

/* Of one world; `next` goes through model->ranks. */
static void missing_of(const struct mw_model *model, size_t world, size_t *next,
                       struct mw_rank_set *set, uint64_t *count)
{
    const struct mw_world *at = &model->worlds[world];
    uint32_t name = model->world_count > 1 ? (uint32_t)world + 1 : 0;
    int64_t from = 0, rank = 0;
    while (from <= at->size) {
        int more = *next < model->rank_count && model->ranks[*next].place < at->first + at->size;
        rank = more ? model->ranks[(*next)++].place - at->first : at->size;
        if (rank > from) {
            set_add_range(set, (struct mw_rank_range){name, from, rank - 1});
            *count += (uint64_t)(rank - from);
        }
        from = rank + 1;
    }
}

char *mw_missing_ranks(const struct mw_model *model, uint64_t *count)
{
    struct mw_rank_set set = {0};
    size_t next = 0;
    *count = 0;
    for (size_t world = 0; world < model->world_count; world++)
        missing_of(model, world, &next, &set, count);
    return mw_rank_set_take(&set);
}

static char *comm_label(const struct mw_comms *comms, int64_t number, int depth)
{
    const struct mw_joined_comm *comm = &comms->joined.at[number];
    if (comm->name && comm->name[0])
        return mw_text_copy(comm->name);
    if (comm->how == MW_COMM_WORLD && comm->side_count)
        return mw_format("MPI_COMM_WORLD of world %" PRIu32, comms->sides[comm->side].world + 1);
    if (comm->how == MW_COMM_WORLD)
        return mw_text_copy("MPI_COMM_WORLD");
    if (comm->how == MW_COMM_SELF)
        return mw_text_copy("MPI_COMM_SELF");
    const char *word = mw_comm_how_word(comm->how);
    uint64_t order = comm->sample->number;
    if (comm->parent < 0 || depth == LABEL_DEPTH)
        return mw_format("%s #%" PRIu64, word, order);
    char *parent = comm_label(comms, comm->parent, depth + 1);
    char *label = mw_format("%s #%" PRIu64 " of %s", word, order, parent);
    free(parent);
    return label;
}

char *mw_comm_label(const struct mw_comms *comms, int64_t number, int64_t id)
{
    if (number >= 0)
        return comm_label(comms, number, 0);
    return id >= 0 ? mw_format("comm %" PRId64, id) : mw_text_copy("none");
}

const char *mw_end_word(const struct mw_process *process)
{
    switch (process->end_reason) {
    case MW_END_FINALIZE:
        return "MPI_Finalize";
    case MW_END_EXIT:
        return "exit";
    case MW_END_ABORT:
        return "abort";
    case MW_END_COLLECTED:
        return "collected";
    case MW_END_SNAPSHOT:
        return "snapshot";
    default:
        return "none";
    }
}

const char *mw_role_word(enum mw_module_role role)
{
    static const char *const words[] = {"program", "mpi", "binding", "tool", "mpiwatch"};
    return (unsigned)role < sizeof(words) / sizeof(words[0]) ? words[role] : "unknown";
}

const char *mw_abi_word(enum mw_abi_kind abi)
{
    static const char *const words[] = {"unknown", "Open MPI", "MPICH", "MPI-5 standard"};
    return (unsigned)abi < sizeof(words) / sizeof(words[0]) ? words[abi] : "unknown";
}

const char *mw_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
