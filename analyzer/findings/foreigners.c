/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the job's own processes from those of others (foreigners.h). */
#include "analyzer/findings/foreigners.h"
#include "trace/launchers.h"

#include <string.h>


#define NAME_MAX_KERNEL 15 /* bytes of a name that the kernel keeps */

/* A number means one process only within a node and a namespace of pids. */
static int shares_numbers(const struct mw_model *model, uint32_t a, uint32_t b)
{
    return model->process_node[a] == model->process_node[b] &&
           mw_trace_process(model->trace, a)->pid_ns == mw_trace_process(model->trace, b)->pid_ns;
}

/* Process 1 adopts everybody's orphans, unless it is the launcher, in a container. */
static int has_launcher(const struct mw_process *process)
{
    return process->ppid > 1 || (process->ppid == 1 && process->placement_count &&
                                 mw_is_launcher(process->placements[0].parent));
}

static int number_is_ours(const struct mw_model *model, uint32_t seer, uint64_t pid)
{
    for (uint32_t p = 0; p < model->process_count; p++) {
        const struct mw_process *process = mw_trace_process(model->trace, p);
        if (shares_numbers(model, seer, p) &&
            (process->pid == pid || (process->ppid == pid && has_launcher(process))))
            return 1;
    }
    return 0;
}

static const struct mw_foreign *foreign_numbered(const struct mw_process *seer, uint64_t pid)
{
    const struct mw_placement *last = &seer->placements[seer->placement_count - 1];
    for (size_t i = 0; i < mw_foreign_count(last); i++)
        if (last->foreign[i].pid == pid)
            return &last->foreign[i];
    return NULL;
}

int mw_foreign_is_ours(const struct mw_model *model, uint32_t seer,
                       const struct mw_foreign *foreign)
{
    const struct mw_process *process = mw_trace_process(model->trace, seer);
    if (number_is_ours(model, seer, foreign->pid))
        return 1;
    /* A damaged record may go round in circles. */
    size_t left = mw_foreign_count(&process->placements[process->placement_count - 1]);
    for (const struct mw_foreign *at = foreign; at && left-- > 0;
         at = foreign_numbered(process, at->parent))
        if (number_is_ours(model, seer, at->parent))
            return 1;
    return 0;
}

int mw_foreign_is_namesake(const struct mw_model *model, uint32_t seer,
                           const struct mw_foreign *foreign)
{
    const char *exe = mw_trace_process(model->trace, seer)->exe, *slash = strrchr(exe, '/');
    const char *own = slash ? slash + 1 : exe;
    return *own && strlen(foreign->name) <= NAME_MAX_KERNEL &&
           !strncmp(own, foreign->name, NAME_MAX_KERNEL);
}
