/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of processes, and how they are said (crowd.h). */
#include "analyzer/findings/crowd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/labels.h"

#define NAMES_WIDTH   100 /* characters of a list of ranks */
#define PROCESSES_MAX 4   /* processes without a rank that are named */

void mw_crowd_begin(struct mw_crowd *crowd, const struct mw_model *model)
{
    *crowd = (struct mw_crowd){.model = model, .has = mw_alloc(model->process_count + 1, 1)};
}

void mw_crowd_end(struct mw_crowd *crowd)
{
    free(crowd->has);
    *crowd = (struct mw_crowd){0};
}

void mw_crowd_add(struct mw_crowd *crowd, uint32_t process)
{
    if (process >= crowd->model->process_count || crowd->has[process])
        return;
    crowd->has[process] = 1;
    crowd->count++;
}

void mw_crowd_add_all(struct mw_crowd *crowd, const uint32_t *processes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mw_crowd_add(crowd, processes[i]);
}

void mw_crowd_add_rank(struct mw_crowd *crowd, int64_t rank)
{
    int64_t process = mw_model_rank(crowd->model, rank);
    if (process >= 0)
        mw_crowd_add(crowd, (uint32_t)process);
}

void mw_crowd_add_everybody(struct mw_crowd *crowd)
{
    for (size_t i = 0; i < crowd->model->process_count; i++)
        mw_crowd_add(crowd, (uint32_t)i);
}

int mw_crowd_has(const struct mw_crowd *crowd, uint32_t process)
{
    return process < crowd->model->process_count && crowd->has[process];
}

int mw_crowd_has_rank(const struct mw_crowd *crowd, int64_t rank)
{
    int64_t process = mw_model_rank(crowd->model, rank);
    return process >= 0 && crowd->has[process];
}

size_t mw_crowd_first(const struct mw_crowd *crowd)
{
    for (size_t i = 0; i < crowd->model->process_count; i++)
        if (crowd->has[i])
            return i;
    return SIZE_MAX;
}

size_t mw_crowd_common(const struct mw_crowd *crowd, const uint32_t *processes, size_t count)
{
    size_t common = 0;
    for (size_t i = 0; i < count; i++)
        common += mw_crowd_has(crowd, processes[i]) != 0;
    return common;
}

char *mw_process_words(const struct mw_model *model, uint32_t number)
{
    const struct mw_process *process = mw_trace_process(model->trace, number);
    int64_t place = mw_model_place(model, number);
    return place >= 0 ? mw_peer_label(model, place)
                      : mw_format("%s pid %" PRIu64, process->host, process->pid);
}

/* "ranks 0-3" of those that have one; NULL: none has. */
static char *rank_names(const struct mw_crowd *crowd)
{
    struct mw_rank_set set = {0};
    for (size_t i = 0; i < crowd->model->process_count; i++)
        if (crowd->has[i] && mw_model_place(crowd->model, i) >= 0)
            mw_rank_set_add_process(&set, crowd->model, i);
    size_t count = set.count;
    char *list = mw_rank_set_take(&set), *fit = mw_rank_list_cut(list, NAMES_WIDTH);
    char *names = count ? mw_format("rank%s %s", count == 1 ? "" : "s", fit) : NULL;
    free(list);
    free(fit);
    return names;
}

char *mw_crowd_names(const struct mw_crowd *crowd)
{
    char *names = rank_names(crowd);
    size_t rankless = 0;
    for (size_t i = 0; i < crowd->model->process_count; i++) {
        if (!crowd->has[i] || mw_model_place(crowd->model, i) >= 0)
            continue;
        if (rankless++ >= PROCESSES_MAX)
            continue;
        char *one = mw_process_words(crowd->model, (uint32_t)i);
        char *longer = names ? mw_format("%s, %s", names, one) : mw_text_copy(one);
        free(one);
        free(names);
        names = longer;
    }
    if (rankless > PROCESSES_MAX) {
        char *longer = mw_format("%s and %zu more processes", names, rankless - PROCESSES_MAX);
        free(names);
        names = longer;
    }
    return names ? names : mw_text_copy("nobody");
}

char *mw_crowd_share(const struct mw_crowd *crowd)
{
    size_t ranks = 0;
    for (size_t i = 0; i < crowd->model->process_count; i++)
        ranks += crowd->has[i] && mw_model_place(crowd->model, i) >= 0;
    if (ranks < crowd->count || crowd->model->rank_total < 0)
        return mw_format("%zu of %zu processes", crowd->count, crowd->model->process_count);
    return mw_format("%zu of %" PRId64 " rank%s", ranks, crowd->model->rank_total,
                     crowd->model->rank_total == 1 ? "" : "s");
}

void mw_crowd_give(const struct mw_crowd *crowd, struct mw_finding *finding)
{
    for (size_t i = 0; i < crowd->model->process_count; i++)
        if (crowd->has[i])
            *mw_vector_add(&finding->processes) = (uint32_t)i;
}

int mw_findings_concern(const struct mw_findings *findings, const char *id,
                        const struct mw_crowd *crowd)
{
    for (size_t i = 0; i < findings->all.count; i++) {
        const struct mw_finding *finding = &findings->all.at[i];
        if (!strcmp(finding->id, id) &&
            mw_crowd_common(crowd, finding->processes.at, finding->processes.count))
            return 1;
    }
    return 0;
}
