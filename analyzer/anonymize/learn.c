/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns from a whole trace which names must not appear in its anonymous form (rewrite.h). */
#include <ctype.h>
#include <string.h>

#include "analyzer/anonymize/addresses.h"
#include "analyzer/anonymize/rewrite.h"
#include "analyzer/anonymize/scrub.h"

/* Settings whose whole value is one name. */
static void learn_fact(struct mw_names *names, const struct mw_fact *fact)
{
    static const char *const users[] = {"USER", "LOGNAME", "USERNAME", "SLURM_JOB_USER",
                                        "PBS_O_LOGNAME"};
    static const char *const hosts[] = {"HOSTNAME",        "hostname",          "HOST",
                                        "SLURMD_NODENAME", "SLURM_SUBMIT_HOST", "SLURM_LAUNCH_NODE",
                                        "PBS_O_HOST",      "HYDI_CONTROL_HOST"};
    static const char *const jobs[] = {"SLURM_JOB_ID", "SLURM_JOBID",    "PBS_JOBID",
                                       "LSB_JOBID",    "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
                                       "JOB_ID",       "PALS_APID",      "FLUX_JOB_ID"};
    mw_names_learn_paths(names, fact->value);
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        if (!strcmp(fact->key, jobs[i]) && strlen(fact->value) >= MW_NAMES_SHORT)
            mw_names_forbid(names, MW_NAME_JOB, fact->value, strlen(fact->value));
    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
        if (!strcmp(fact->key, users[i]))
            mw_names_forbid(names, MW_NAME_USER, fact->value, strlen(fact->value));
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
        if (!strcmp(fact->key, hosts[i]))
            mw_names_forbid_host(names, fact->value);
}

/* What the libraries say names files of users; how addresses are to be read. */
static void learn_fabric(struct mw_names *names, const struct mw_process *process)
{
    for (size_t i = 0; i < process->log_count; i++)
        mw_names_learn_paths(names, process->log[i].text);
    for (size_t i = 0; i < process->choice_count; i++)
        mw_names_learn_paths(names, process->choices[i].source);
    for (size_t i = 0; i < process->endpoint_count; i++)
        mw_address_form_learn(names, process->key, &process->endpoints[i]);
}

static void learn_process(struct mw_names *names, const struct mw_process *process)
{
    mw_names_forbid_host(names, process->host);
    mw_names_forbid_host(names, process->processor_name);
    mw_names_add_program(names, process->exe);
    if (process->argument_count)
        mw_names_add_program(names, process->arguments[0]);
    mw_names_learn_paths(names, process->exe);
    mw_names_learn_paths(names, process->cwd);
    mw_names_learn_paths(names, process->mpi_library);
    for (size_t i = 0; i < process->argument_count; i++)
        mw_names_learn_paths(names, process->arguments[i]);
    for (size_t i = 0; i < process->module_count; i++)
        mw_names_learn_paths(names, process->modules[i].path);
    for (size_t i = 0; i < process->fact_count; i++)
        learn_fact(names, &process->facts[i]);
    learn_fabric(names, process);
}

/* The number of a batch job is in more settings than its own. */
static void learn_job(struct mw_names *names, const struct mw_job *job)
{
    size_t length = strlen(job->job_id);
    mw_names_add_program(names, job->program);
    if (length >= MW_NAMES_SHORT)
        mw_names_forbid(names, MW_NAME_JOB, job->job_id, length);
    for (size_t i = 0; i < job->command_count; i++)
        mw_names_learn_paths(names, job->command[i]);
}

void mw_rewrite_learn(struct mw_names *names, const mw_trace *trace)
{
    learn_job(names, mw_trace_job(trace));
    for (size_t i = 0; i < mw_trace_process_count(trace); i++)
        learn_process(names, mw_trace_process(trace, i));
    for (size_t i = 0; i < mw_trace_file_count(trace); i++)
        mw_names_forbid_host(names, mw_trace_file(trace, i)->host);
    mw_names_sort(names);
}
