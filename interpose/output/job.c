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

/* Launchers, by variables that are the same in all ranks of a world and (together) in no other's.
 * The first launcher of which one variable is set is taken. The first `job` of them are the same in
 * the worlds that a job spawns, too. */
static const struct launcher {
    const char *name;
    const char *variables[4];
    int job;
    int enough; /* unique by itself: the parent need not be asked */
} launchers[] = {
    {"Open MPI",
     {"OMPI_MCA_orte_precondition_transports", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"},
     1,
     1},
    {"PRRTE", {"PMIX_NAMESPACE", "SLURM_JOB_ID", "PRTE_MCA_ess_base_jobid"}, 2, 1},
    {"slurm", {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"}, 3, 1},
    {"PALS", {"PALS_APID"}, 1, 1},
    {"flux", {"FLUX_JOB_ID"}, 1, 1},
    {"hydra", {"PMI_SIZE"}, 0, 0},
};

#define ANCESTORS                                                                                  \
    8 /* that are looked at: scripts may stand between a launcher's daemon and its rank */

static uint64_t parent_of(uint64_t pid)
{
    char path[64], stat[1024];
    unsigned long long parent = 0;
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    const char *field = mw_read_file(path, stat, sizeof stat) < 0 ? NULL : strrchr(stat, ')');
    return field && sscanf(field + 1, " %*c %llu", &parent) == 1 ? parent : 0;
}

/* What stands behind an option in a command line as /proc has it; NULL nothing. */
static const char *option(const char *line, long length, const char *name)
{
    for (long i = 0; i < length; i += (long)strlen(line + i) + 1) {
        long next = i + (long)strlen(line + i) + 1;
        if (strcmp(line + i, name) == 0 && next < length)
            return line + next;
    }
    return NULL;
}

static void append(char *out, size_t size, const char *text)
{
    size_t length = strlen(out);
    snprintf(out + length, size - length, "%s%s", length ? "/" : "", text);
}

static uint64_t process_hash(const struct mw_job_facts *job, uint64_t pid)
{
    char text[160];
    snprintf(text, sizeof text, "%s %llu %llu", job->boot_id, (unsigned long long)pid,
             (unsigned long long)mw_process_start_time(pid));
    return mw_hash64(text, strlen(text));
}

/* The port of mpiexec can be that of a later job again. Its ranks on one node have one mpiexec above them, or where that is
 * elsewhere one proxy, but for worlds that were spawned, which have their own. */
static uint64_t daemon_of(const struct mw_job_facts *job, uint64_t proxy, int spawned)
{
    char path[64], name[32];
    uint64_t pid = proxy;
    for (int i = 0; i < ANCESTORS && pid > 1; i++, pid = parent_of(pid)) {
        snprintf(path, sizeof path, "/proc/%llu/comm", (unsigned long long)pid);
        if (mw_read_file(path, name, sizeof name) > 0 &&
            (strncmp(name, "mpiexec", 7) == 0 || strncmp(name, "mpirun", 6) == 0))
            return process_hash(job, pid);
    }
    return spawned ? 0 : process_hash(job, proxy);
}

/* hydra's proxies on all nodes were given the address of the one mpiexec, and the number of the
 * group of processes: each world that is spawned is another. 0: no proxy is above this process. */
static int proxy_keys(struct mw_job_facts *job, char *world, size_t size)
{
    char path[64], line[4096];
    uint64_t pid = job->ppid;
    for (int i = 0; i < ANCESTORS && pid > 1; i++, pid = parent_of(pid)) {
        snprintf(path, sizeof path, "/proc/%llu/cmdline", (unsigned long long)pid);
        long length = mw_read_file(path, line, sizeof line);
        const char *address = option(line, length, "--control-port");
        const char *group = option(line, length, "--pgid");
        if (!address)
            continue;
        append(job->key, sizeof job->key, address);
        append(world, size, address);
        append(world, size, group ? group : "");
        job->daemon = daemon_of(job, pid, group && strcmp(group, "0") != 0);
        return 1;
    }
    return 0;
}

/* Other parents are told by who they are, which holds for the ranks of one node. */
static void parent_key(const struct mw_job_facts *job, char *out, size_t size)
{
    snprintf(out, size, "%llu-%llu-%.100s", (unsigned long long)job->ppid,
             (unsigned long long)mw_process_start_time(job->ppid), job->host);
}

/* prterun's namespaces are "prterun-HOST-PID@1", and "@2" for what the first spawns; those of a
 * daemon that runs several jobs begin otherwise. */
static void append_job(char *out, size_t size, const char *value)
{
    char text[160];
    snprintf(text, sizeof text, "%s", value);
    if (strncmp(text, "prterun-", 8) == 0)
        text[strcspn(text, "@")] = '\0';
    append(out, size, text);
}

static const struct launcher *find_launcher(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (environment(launchers[i].variables[0]))
            return &launchers[i];
    return NULL;
}

/* The keys of the job and of the world, as far as the launcher's variables tell. */
static void variable_keys(const struct launcher *launcher, struct mw_job_facts *job, char *world,
                          size_t size)
{
    for (int v = 0; v < 4 && launcher->variables[v]; v++) {
        const char *value = environment(launcher->variables[v]);
        if (value)
            append(world, size, value);
        if (value && v < launcher->job)
            append_job(job->key, sizeof job->key, value);
    }
}

static uint64_t name_hash(const struct mw_job_facts *job, const char *name, size_t length)
{
    char text[512];
    snprintf(text, sizeof text, "%s %.*s", job->key, (int)length, name);
    return mw_hash64(text, strlen(text));
}

/* PMIx calls a process "NAMESPACE.RANK", and the port of the one that spawned it, "NAMESPACE.RANK:TAG", Open MPI
 * leaves to the spawned. After the launcher's key of the job: namespaces may be numbers. */
static void find_names(struct mw_job_facts *job)
{
    const char *space = environment("PMIX_NAMESPACE"), *rank = environment("PMIX_RANK");
    const char *port = environment("OMPI_PARENT_PORT"), *tag = port ? strrchr(port, ':') : NULL;
    char own[320];
    if (!space || !rank)
        return;
    int length = snprintf(own, sizeof own, "%s.%s", space, rank);
    if (length > 0 && (size_t)length < sizeof own)
        job->name = name_hash(job, own, (size_t)length);
    if (tag && (size_t)(tag - port) < sizeof own)
        job->spawner = name_hash(job, port, (size_t)(tag - port));
}

static void find_key(const struct mw_config *config, struct mw_job_facts *job)
{
    char world[256] = "";
    const struct launcher *launcher = find_launcher();
    job->launcher = launcher ? launcher->name : "";
    if (launcher)
        variable_keys(launcher, job, world, sizeof world);
    int known = launcher && launcher->enough;
    if (!known) {
        known = proxy_keys(job, world, sizeof world);
        if (!known)
            parent_key(job, job->key, sizeof job->key);
    }
    if (known)
        job->world = mw_hash64(world, strlen(world));
    find_names(job);
    if (config->job) {
        snprintf(job->key, sizeof job->key, "%s", config->job);
        job->daemon = 0;
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
