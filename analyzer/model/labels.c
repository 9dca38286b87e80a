/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for things of a job (labels.h). Main thread only. */
#include "analyzer/model/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_DEPTH 4 /* of parents in the name of a communicator */

void mw_rank_set_add(struct mw_rank_set *set, int64_t rank)
{
    struct mw_rank_range *last = set->ranges.count ? &set->ranges.at[set->ranges.count - 1] : NULL;
    set->count++;
    if (rank < 0)
        set->rankless++;
    else if (last && (rank == last->last || rank == last->last + 1))
        last->last = rank;
    else
        *mw_vector_add(&set->ranges) = (struct mw_rank_range){rank, rank};
}

void mw_rank_set_add_process(struct mw_rank_set *set, const struct mw_process *process)
{
    mw_rank_set_add(set, mw_process_rank(process));
}

static int range_compare(const void *left, const void *right)
{
    const struct mw_rank_range *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/* Writes "first-last" or "first" behind what is there. */
static void range_print(FILE *out, int *any, int64_t first, int64_t last)
{
    fprintf(out, "%s%" PRId64, *any ? "," : "", first);
    if (last > first)
        fprintf(out, "-%" PRId64, last);
    *any = 1;
}

static void ranges_print(FILE *out, const struct mw_rank_range *range, size_t count)
{
    int any = 0;
    for (size_t i = 0; i < count;) {
        struct mw_rank_range whole = range[i];
        for (i++; i < count && range[i].first <= whole.last + 1; i++)
            if (range[i].last > whole.last)
                whole.last = range[i].last;
        range_print(out, &any, whole.first, whole.last);
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

char *mw_missing_ranks(const struct mw_model *model, uint64_t *count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = mw_text_stream(&text, &size);
    int64_t next = 0;
    int any = 0;
    *count = 0;
    for (size_t i = 0; i <= model->rank_count; i++) {
        int64_t rank = i < model->rank_count ? model->ranks[i].rank : model->world_size;
        if (rank > next) {
            range_print(out, &any, next, rank - 1);
            *count += (uint64_t)(rank - next);
        }
        next = rank + 1;
    }
    fclose(out);
    return text;
}

static char *comm_label(const struct mw_comms *comms, int64_t number, int depth)
{
    const struct mw_joined_comm *comm = &comms->joined.at[number];
    if (comm->name && comm->name[0])
        return mw_text_copy(comm->name);
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
