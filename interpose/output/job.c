/* SPDX-License-Identifier: BSD-3-Clause */
/* Which job this is; see job.h. */
#include "output/job.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/chunk.h"

long mw_read_file(const char *path, char *buffer, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    size_t length = 0;
    ssize_t got;
    while (length < size - 1 && (got = read(file, buffer + length, size - 1 - length)) > 0)
        length += (size_t)got;
    close(file);
    buffer[length] = '\0';
    return (long)length;
}

int mw_file_size_allowed(uint64_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           size <= limit.rlim_cur;
}

uint64_t mw_process_start_time(uint64_t pid)
{
    char path[64], stat[1024];
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    if (mw_read_file(path, stat, sizeof stat) < 0)
        return 0;
    const char *field = strrchr(stat, ')'); /* the name before it may hold anything */
    unsigned long long start = 0;
    if (!field || sscanf(field + 1,
                         " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                         "%*d %*d %llu",
                         &start) != 1)
        return 0;
    return start;
}

static uint64_t namespace_of(const char *name)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof path, "/proc/self/ns/%s", name);
    return stat(path, &info) == 0 ? (uint64_t)info.st_ino : 0;
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

static int number(const char *const *names)
{
    for (; *names; names++) {
        const char *value = environment(*names);
        char *end;
        long parsed = value ? strtol(value, &end, 10) : -1;
        if (value && end != value && *end == '\0' && parsed >= 0 && parsed < 1 << 30)
            return (int)parsed;
    }
    return -1;
}

/* Launchers, by variables that are the same in all ranks of a job and (together) in no other job's. The
 * first launcher of which one variable is set is taken. */
static const struct launcher {
    const char *name;
    const char *variables[4];
    int enough; /* unique by itself: the parent need not be asked */
} launchers[] = {
    {"Open MPI", {"OMPI_MCA_orte_precondition_transports", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}, 1},
    {"PRRTE", {"PMIX_NAMESPACE", "PRTE_MCA_ess_base_jobid", "SLURM_JOB_ID"}, 1},
    {"slurm", {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"}, 1},
    {"PALS", {"PALS_APID"}, 1},
    {"flux", {"FLUX_JOB_ID"}, 1},
    {"hydra", {"PMI_SIZE"}, 0},
};

/* hydra's proxies on all nodes were given the address of the one mpiexec; other parents are told by who
 * they are, which holds for the ranks of one node. */
static void parent_key(const struct mw_job_facts *job, char *out, size_t size)
{
    char path[64], line[4096];
    snprintf(path, sizeof path, "/proc/%llu/cmdline", (unsigned long long)job->ppid);
    long length = mw_read_file(path, line, sizeof line);
    for (long i = 0; i < length; i += (long)strlen(line + i) + 1) {
        if (strcmp(line + i, "--control-port") == 0 && i + 15 < length) {
            snprintf(out, size, "%s", line + i + 15);
            return;
        }
    }
    snprintf(out, size, "%s-%llu-%llu", job->host, (unsigned long long)job->ppid,
             (unsigned long long)mw_process_start_time(job->ppid));
}

static void append(char *out, size_t size, const char *text)
{
    size_t length = strlen(out);
    snprintf(out + length, size - length, "%s%s", length ? "/" : "", text);
}

static void find_key(const struct mw_config *config, struct mw_job_facts *job)
{
    char parent[320];
    int enough = 0;
    job->launcher = "";
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && !job->launcher[0]; i++) {
        const struct launcher *launcher = &launchers[i];
        if (!environment(launcher->variables[0]))
            continue;
        job->launcher = launcher->name;
        enough = launcher->enough;
        for (size_t v = 0; v < 4 && launcher->variables[v]; v++)
            if (environment(launcher->variables[v]))
                append(job->key, sizeof job->key, environment(launcher->variables[v]));
    }
    if (config->job) {
        snprintf(job->key, sizeof job->key, "%s", config->job);
    } else if (!enough) {
        parent_key(job, parent, sizeof parent);
        append(job->key, sizeof job->key, parent);
    }
}

static void find_id(struct mw_job_facts *job)
{
    static const char *const ids[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID",
                                      "COBALT_JOBID", "FLUX_JOB_ID", NULL};
    job->job_id = "";
    for (const char *const *name = ids; *name && !job->job_id[0]; name++)
        if (environment(*name))
            job->job_id = environment(*name);
    if (job->job_id[0])
        snprintf(job->id, sizeof job->id, "%.40s", job->job_id);
    else
        snprintf(job->id, sizeof job->id, "%08x", mw_checksum(job->key, strlen(job->key)));
    for (char *c = job->id; *c; c++) /* it becomes part of a file name */
        if (*c == '/' || *c == '.' || (unsigned char)*c <= ' ')
            *c = '_';
}

static void find_program(struct mw_job_facts *job)
{
    const char *contexts = environment("OMPI_NUM_APP_CTX");
    const char *base = strrchr(job->exe, '/');
    base = base ? base + 1 : job->exe;
    snprintf(job->program, sizeof job->program, "%.63s",
             contexts && atoi(contexts) > 1 ? "mpmd" : base[0] ? base : "program");
    for (char *c = job->program; *c; c++)
        if ((unsigned char)*c <= ' ')
            *c = '_';
}

void mw_job_facts_read(const struct mw_config *config, struct mw_job_facts *job)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID", "PALS_RANKID", NULL};
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};
    memset(job, 0, sizeof *job);
    if (gethostname(job->host, sizeof job->host - 1) != 0)
        snprintf(job->host, sizeof job->host, "unknown");
    ssize_t length = readlink("/proc/self/exe", job->exe, sizeof job->exe - 1);
    job->exe[length > 0 ? length : 0] = '\0';
    if (mw_read_file("/proc/sys/kernel/random/boot_id", job->boot_id, sizeof job->boot_id) > 0)
        job->boot_id[strcspn(job->boot_id, "\n")] = '\0';
    job->pid = (uint64_t)getpid();
    job->ppid = (uint64_t)getppid();
    job->start_time = mw_process_start_time(job->pid);
    job->pid_ns = namespace_of("pid");
    job->mnt_ns = namespace_of("mnt");
    job->user_ns = namespace_of("user");
    job->time_ns = namespace_of("time");
    job->rank = number(ranks);
    job->size = number(sizes);
    find_key(config, job);
    find_id(job);
    find_program(job);
}
