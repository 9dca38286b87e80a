/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a trace has all of its job (whole.h). */
#include "analyzer/findings/whole.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/findings/crowd.h"
#include "analyzer/model/labels.h"

static const char *bad_end(const struct mw_process *process)
{
    switch (process->end_reason) {
    case MW_END_FINALIZE:
        return NULL;
    case MW_END_EXIT:
        return "left without MPI_Finalize";
    case MW_END_ABORT:
        return "called MPI_Abort";
    case MW_END_COLLECTED:
        return "died";
    case MW_END_SNAPSHOT:
        return "still ran when the trace was read";
    default:
        return "has no end in the trace";
    }
}

char *mw_bad_ends_words(const struct mw_model *model)
{
    size_t bad = 0, first = 0;
    for (size_t i = 0; i < model->process_count; i++)
        if (bad_end(mw_trace_process(model->trace, i)) && !bad++)
            first = i;
    if (!bad)
        return NULL;
    char *who = mw_process_words(model, (uint32_t)first);
    const char *how = bad_end(mw_trace_process(model->trace, first));
    char *words = bad == 1 ? mw_format("%s %s", who, how)
                           : mw_format("%s %s, and %zu more did not end well", who, how, bad - 1);
    free(who);
    return words;
}

char *mw_missing_events_words(const struct mw_tally *tally)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < tally->model->process_count; i++)
        missing += tally->processes[i].events_missing;
    size_t damage = mw_trace_damage_count(tally->model->trace) + tally->damage.count;
    if (damage)
        return mw_format("%zu place%s of the trace cannot be read", damage, damage == 1 ? "" : "s");
    return missing ? mw_format("%" PRIu64 " calls are missing in the trace", missing) : NULL;
}

char *mw_missing_ranks_words(const struct mw_model *model)
{
    uint64_t count;
    char *missing = mw_missing_ranks(model, &count), *words = NULL;
    if (!model->process_count)
        words = mw_text_copy("the trace has no process");
    else if (count)
        words = mw_format("rank%s %s %s not recorded", count == 1 ? "" : "s", missing,
                          count == 1 ? "was" : "were");
    free(missing);
    return words;
}
