/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What MPI chose in each process, who opened what, and how far the probes saw (transports_build.h).
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/transports_build.h"
#include "analyzer/model/labels.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const char *mw_probe_how(const struct mw_process *process, const char *probe, const char **why)
{
    for (size_t i = 0; i < process->choice_count; i++) {
        const struct mw_choice *choice = &process->choices[i];
        if (!strcmp(choice->what, "probe") && !strcmp(choice->name, probe)) {
            if (why)
                *why = choice->source;
            return choice->how;
        }
    }
    if (why)
        *why = "";
    return "";
}

/* The one that was selected; where none was, a default; else the only one that is there. */
static const char *chosen(const struct mw_process *process, const char *what)
{
    const char *only = "", *fallback = "";
    size_t count = 0;
    for (size_t i = 0; i < process->choice_count; i++) {
        const struct mw_choice *choice = &process->choices[i];
        if (strcmp(choice->what, what) || !strcmp(choice->how, "mapped"))
            continue;
        if (!strcmp(choice->how, "selected"))
            return choice->name;
        if (!strcmp(choice->how, "default"))
            fallback = choice->name;
        only = choice->name;
        count++;
    }
    return *fallback ? fallback : count == 1 ? only : "";
}

static char *chosen_list(const struct mw_process *process, const char *what)
{
    char *list = mw_text_copy("");
    for (size_t i = 0; i < process->choice_count; i++) {
        if (strcmp(process->choices[i].what, what))
            continue;
        char *longer = mw_format("%s%s%s", list, *list ? "," : "", process->choices[i].name);
        free(list);
        list = longer;
    }
    return list;
}

int mw_has_btl(const struct mw_building *building, uint32_t process, const char *name)
{
    return mw_provider_has(building->out->choices[process].btls, name);
}

static enum mw_stack stack_of(const struct mw_process *process,
                              const struct mw_process_choice *choice)
{
    if (*choice->pml) {
        if (!strcmp(choice->pml, "ob1"))
            return MW_STACK_OB1;
        if (!strcmp(choice->pml, "cm"))
            return MW_STACK_CM;
        return strcmp(choice->pml, "ucx") ? MW_STACK_OTHER : MW_STACK_UCX;
    }
    if (process->abi == MW_ABI_OPENMPI)
        return MW_STACK_UNKNOWN;
    if (*choice->netmod)
        return strstr(choice->netmod, "nemesis") || strstr(choice->netmod, "mrail") ||
                       strstr(choice->netmod, "sock")
                   ? MW_STACK_CH3
                   : MW_STACK_CH4;
    return MW_STACK_UNKNOWN;
}

void mw_choices_read(struct mw_building *building)
{
    size_t count = building->model->process_count;
    building->out->choices = mw_alloc(count, sizeof(building->out->choices[0]));
    building->stacks = mw_alloc(count, sizeof(building->stacks[0]));
    for (size_t i = 0; i < count; i++) {
        const struct mw_process *process = mw_trace_process(building->model->trace, i);
        struct mw_process_choice *choice = &building->out->choices[i];
        choice->pml = chosen(process, "pml");
        choice->mtl = chosen(process, "mtl");
        choice->netmod = chosen(process, "netmod");
        choice->shm = chosen(process, "shm");
        choice->btls = chosen_list(process, "btl");
        building->stacks[i] = stack_of(process, choice);
    }
}

static int coverage_compare(const void *left, const void *right)
{
    const struct mw_probe_coverage *a = left, *b = right;
    int order = strcmp(a->probe, b->probe);
    return order ? order
                 : (a->processes.at[0] > b->processes.at[0]) -
                       (a->processes.at[0] < b->processes.at[0]);
}

void mw_coverage_read(struct mw_building *building)
{
    struct mw_transports *out = building->out;
    struct mw_index index = {0};
    for (uint32_t i = 0; i < building->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(building->model->trace, i);
        for (size_t c = 0; c < process->choice_count; c++) {
            const struct mw_choice *choice = &process->choices[c];
            if (strcmp(choice->what, "probe"))
                continue;
            uint64_t key = mw_hash_text(mw_hash_text(1, choice->name), choice->how);
            size_t at = mw_index_put(&index, mw_hash_text(key, choice->source));
            if (at == out->coverage.count) {
                struct mw_probe_coverage *added = mw_vector_add(&out->coverage);
                added->probe = choice->name;
                added->how = choice->how;
                added->why = choice->source;
            }
            *mw_vector_add(&out->coverage.at[at].processes) = i;
        }
    }
    mw_index_free(&index);
    if (out->coverage.count)
        qsort(out->coverage.at, out->coverage.count, sizeof(out->coverage.at[0]), coverage_compare);
}

const char *mw_module_base(const struct mw_process *process, uint64_t module)
{
    const struct mw_module *found = module ? mw_process_module(process, module) : NULL;
    return found ? mw_basename(found->path) : "";
}

int mw_caller_is_mpi(const struct mw_process *process, uint64_t module)
{
    static const char *const parts[] = {"mca_", "libmca_", "libmpi", "libopen-", "libopen_mpi"};
    const struct mw_module *found = module ? mw_process_module(process, module) : NULL;
    if (!found || found->role == MW_MODULE_MPI)
        return 1;
    const char *base = mw_module_base(process, module);
    for (size_t i = 0; i < COUNT(parts); i++)
        if (!strncmp(base, parts[i], strlen(parts[i])))
            return 1;
    return 0;
}
