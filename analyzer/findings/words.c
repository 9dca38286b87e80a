/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences that several rules need (words.h). */
#include "analyzer/findings/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/model/labels.h"

char *mw_list_add(char *list, const char *separator, char *item)
{
    if (!list)
        return item;
    char *longer = mw_format("%s%s%s", list, separator, item);
    free(list);
    free(item);
    return longer;
}

const char *mw_mpi_word(const struct mw_finding_input *in, uint32_t process)
{
    enum mw_abi_kind abi = mw_trace_process(in->model->trace, process)->abi;
    return abi == MW_ABI_OPENMPI || abi == MW_ABI_MPICH ? mw_abi_word(abi) : "MPI";
}

char *mw_choice_words(const struct mw_finding_input *in, uint32_t process)
{
    const struct mw_process_choice *choice = &in->transports->choices[process];
    const char *btls = choice->btls ? choice->btls : "";
    if (choice->pml[0] && choice->mtl[0] && !strcmp(choice->pml, "cm"))
        return mw_format("PML cm with MTL %s", choice->mtl);
    if (choice->pml[0] && btls[0] && !strcmp(choice->pml, "ob1"))
        return mw_format("PML ob1 with BTLs %s", btls);
    if (choice->pml[0])
        return mw_format("PML %s", choice->pml);
    if (choice->netmod[0])
        return mw_format("netmod %s", choice->netmod);
    return NULL;
}

char *mw_fabric_words(const char *library, const char *provider, const char *domain)
{
    const char *name = !strcmp(library, "ucx") ? "UCX" : library;
    const char *kind = !strcmp(library, "ucx") ? "transport" : "provider";
    if (!provider[0] && !domain[0])
        return mw_text_copy(name);
    if (!provider[0])
        return mw_format("%s (domain %s)", name, domain);
    if (!domain[0])
        return mw_format("%s %s %s", name, kind, provider);
    return mw_format("%s %s %s (%s %s)", name, kind, provider,
                     !strcmp(library, "ucx") ? "device" : "domain", domain);
}

char *mw_failure_words(const struct mw_failure *failure)
{
    char *result = failure->words[0]
                       ? mw_format("%" PRId64 " (%s)", failure->result, failure->words)
                       : mw_format("%" PRId64, failure->result);
    char *words;
    if (failure->hangs)
        words = mw_format("%s had not returned", failure->call);
    else if (failure->silent && !failure->result)
        words = mw_format("%s succeeded without offering it", failure->call);
    else if (failure->silent)
        words = mw_format("%s did not offer it and returned %s", failure->call, result);
    else
        words = mw_format("%s returned %s", failure->call, result);
    free(result);
    return words;
}

char *mw_setting_words(const struct mw_setting *setting, const struct mw_setting_variant *variant)
{
    return mw_format("%s=%s (%s)", setting->name, variant->in_force.value,
                     variant->in_force.source);
}

const char *mw_place_words(const struct mw_setting_place *place)
{
    static const char command_line[] = "by the launcher's command line";
    switch (place->origin) {
    case MW_ORIGIN_FILE:
        return "by a file, not by your environment";
    case MW_ORIGIN_OVERRIDE:
        return "by a file that wins over your environment";
    case MW_ORIGIN_COMMAND_LINE:
        return command_line;
    default: /* launchers hand their command line on in the environment */
        return strstr(place->source, "command line") ? command_line : "by the environment";
    }
}

int mw_died_in_init(const struct mw_process *process)
{
    return !process->has_rank && !process->init_end && process->end_reason != MW_END_FINALIZE;
}

char *mw_init_end_words(const struct mw_model *model, uint32_t number)
{
    const struct mw_process *process = mw_trace_process(model->trace, number);
    char *who = mw_process_words(model, number), *words;
    switch (process->end_reason) {
    case MW_END_EXIT:
        words = mw_format("%s left by exit before MPI_Init returned", who);
        break;
    case MW_END_ABORT:
        words = mw_format("%s was aborted before MPI_Init returned", who);
        break;
    case MW_END_COLLECTED:
        words = mw_format("%s died before MPI_Init returned", who);
        break;
    case MW_END_SNAPSHOT:
        words = mw_format("%s was still in MPI_Init when the trace was read", who);
        break;
    default:
        words = mw_format("%s did not come out of MPI_Init: its trace has no end", who);
    }
    free(who);
    return words;
}

int mw_state_up(const char *state)
{
    static const char *const down[] = {"down",    "inactive", "disabled", "absent",
                                       "init",    "polling",  "sleep",    "lowerlayerdown",
                                       "dormant", "off",      "testing",  "notpresent"};
    for (size_t i = 0; i < sizeof(down) / sizeof(down[0]); i++)
        if (strcasestr(state, down[i]))
            return 0;
    return 1;
}
