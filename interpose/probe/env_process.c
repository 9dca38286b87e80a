/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts of one process: the variables that concern MPI, its limits, where it may run, its cgroup
 * and namespaces, the scheduler's job. See environment.h for the rules of this code. Another thread
 * may change the environment meanwhile, as it may under getenv; each string is taken once.
 */
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/env_run.h"
#include "probe/redact.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define VALUE_MAX   12000 /* characters of a variable that are kept */

/* The variables that go into a trace: beginnings of names. Whoever adds one adds it here. Not on
 * it, on purpose: SINGULARITYENV_ and APPTAINERENV_ (anything of the user's), PATH and HOME. */
static const char *const prefixes[] = {
    /* MPI libraries and their launchers */
    "OMPI_", "OPAL_", "ORTE_", "PRTE_", "PMIX_", "PMI", "MPICH_", "MPIR_", "MPIEXEC_", "HYDRA_",
    "HYDI_", "I_MPI_", "MV2_", "MVP_", "MPI_", "PSP_", "HCOLL_", "SHARP_", "UCC_",
    /* fabrics */
    "FI_", "UCX_", "PSM_", "PSM2_", "PSM3_", "HFI_", "SLINGSHOT_", "CXI_", "PALS_", "RDMAV_",
    "IBV_", "MLX4_", "MLX5_", "EFA_",
    /* accelerators */
    "HSA_", "HIP_", "ROCR_", "ROCM_", "AMD_", "GPU_", "CUDA_", "NVIDIA_", "NCCL_", "RCCL_",
    "NVSHMEM_", "ZE_", "SYCL_", "ONEAPI_", "GDRCOPY_",
    /* schedulers */
    "SLURM_", "SLURMD_", "SRUN_", "PBS_", "LSB_", "LSF_", "JSM_", "FLUX_", "COBALT_", "OAR_",
    "PJM_",
    /* threads, numerics, memory, placement */
    "OMP_", "GOMP_", "KMP_", "LIBOMP_", "MKL_", "OPENBLAS_", "BLIS_", "HWLOC_", "MALLOC_",
    "TCMALLOC_", "MIMALLOC_", "HUGETLB_", "GLIBC_TUNABLES", "KOKKOS_",
    /* packages and containers */
    "GUIX_", "NIX_", "SPACK_", "EBROOT", "EBVERSION", "EASYBUILD_", "LMOD_SYSTEM", "APPTAINER_",
    "SINGULARITY_", "SARUS_", "PODMANHPC_", "SHIFTER_",
    /* us */
    "MPIWATCH"};
static const char *const names[] = {
    "LOADEDMODULES", "_LMFILES_", "LD_LIBRARY_PATH", "LD_PRELOAD",
    "LD_BIND_NOW",   "LD_AUDIT",  "CONDA_PREFIX",    "CONDA_DEFAULT_ENV",
    "VIRTUAL_ENV",   "container", "TMPDIR",          "NSLOTS"};

int mw_environment_wants(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        size_t size = strlen(prefixes[i]);
        if (length >= size && memcmp(name, prefixes[i], size) == 0)
            return 1;
    }
    for (size_t i = 0; i < COUNT(names); i++)
        if (length == strlen(names[i]) && memcmp(name, names[i], length) == 0)
            return 1;
    return 0;
}

void mw_env_variables(struct mw_env_run *run)
{
    extern char **environ;
    char name[256];
    char *const *list = environ;
    for (int i = 0; list && i < MW_ENV_VARIABLES_MAX; i++) {
        const char *variable = list[i];
        if (!variable)
            break;
        const char *equals = strchr(variable, '=');
        size_t length = equals ? (size_t)(equals - variable) : 0;
        if (!length || length >= sizeof name || !mw_environment_wants(variable, length))
            continue;
        memcpy(name, variable, length);
        name[length] = '\0';
        mw_redact_value(name, equals + 1, run->value, VALUE_MAX);
        mw_env_fact(run, "env", name, run->value, "environment");
    }
}

static void amount_add(struct mw_text *text, rlim_t value)
{
    if (value == RLIM_INFINITY)
        mw_text_add(text, "unlimited");
    else
        mw_text_add_u64(text, (uint64_t)value);
}

void mw_env_limits(struct mw_env_run *run)
{
    static const struct {
        int which;
        const char *key;
    } limits[] = {{RLIMIT_MEMLOCK, "memlock"}, {RLIMIT_STACK, "stack"},   {RLIMIT_NOFILE, "nofile"},
                  {RLIMIT_NPROC, "nproc"},     {RLIMIT_AS, "as"},         {RLIMIT_DATA, "data"},
                  {RLIMIT_CORE, "core"},       {RLIMIT_RTPRIO, "rtprio"}, {RLIMIT_CPU, "cpu"}};
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct rlimit limit;
        struct mw_text text;
        if (getrlimit(limits[i].which, &limit) != 0)
            continue;
        mw_text_init(&text, run->value, sizeof run->value);
        amount_add(&text, limit.rlim_cur);
        if (limit.rlim_cur != limit.rlim_max) {
            mw_text_add(&text, " (hard ");
            amount_add(&text, limit.rlim_max);
            mw_text_add(&text, ")");
        }
        mw_env_fact(run, "limit", limits[i].key, run->value, "getrlimit");
    }
}

static void scheduling(struct mw_env_run *run)
{
    static const char *const policies[] = {
        "SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH", "", "SCHED_IDLE", "SCHED_DEADLINE"};
    struct mw_text text;
    int policy = sched_getscheduler(0) & 0xffff;
    long nice = 20 - syscall(SYS_getpriority, PRIO_PROCESS, 0);
    if (policy >= 0 && policy < (int)COUNT(policies))
        mw_env_fact(run, "process", "scheduling_policy", policies[policy], "sched_getscheduler");
    if (nice < -20 || nice > 19)
        return;
    mw_text_init(&text, run->value, sizeof run->value);
    mw_text_add(&text, nice < 0 ? "-" : "");
    mw_text_add_u64(&text, (uint64_t)(nice < 0 ? -nice : nice));
    mw_env_fact(run, "process", "nice", run->value, "getpriority");
}

void mw_env_process(struct mw_env_run *run)
{
    static const struct {
        const char *key, *name;
    } fields[] = {{"cpus_allowed", "Cpus_allowed_list"},
                  {"memory_nodes_allowed", "Mems_allowed_list"},
                  {"seccomp", "Seccomp"},
                  {"seccomp_filters", "Seccomp_filters"},
                  {"no_new_privileges", "NoNewPrivs"},
                  {"capabilities", "CapEff"},
                  {"transparent_hugepages", "THP_enabled"}};
    static const char *const spaces[] = {"cgroup", "ipc",  "mnt",  "net",
                                         "pid",    "time", "user", "uts"};
    static const char *const modes[] = {"off", "strict", "filter"};
    const char *path = "/proc/self/status";
    if (mw_env_slurp(run, path) > 0)
        for (size_t i = 0; i < COUNT(fields); i++) {
            if (mw_env_field(run, fields[i].name) <= 0)
                continue;
            int mode = run->value[0] - '0';
            int named = strcmp(fields[i].name, "Seccomp") == 0 && mode >= 0 && mode < 3;
            mw_env_fact(run, "process", fields[i].key, named ? modes[mode] : run->value, path);
        }
    scheduling(run);
    for (size_t i = 0; i < COUNT(spaces); i++) {
        mw_join(run->path, sizeof run->path, "/proc/self/ns/", spaces[i], NULL);
        if (mw_env_link(run, run->path) > 0)
            mw_env_fact(run, "namespace", spaces[i], run->value, run->path);
    }
}

/* What a cgroup grants; files of version 2, and of the controllers of version 1. */
static const struct {
    const char *controller, *key, *file; /* controller NULL: version 2 */
} grants[] = {
    {NULL, "cpu.max", "cpu.max"},
    {NULL, "cpu.weight", "cpu.weight"},
    {NULL, "memory.max", "memory.max"},
    {NULL, "memory.high", "memory.high"},
    {NULL, "memory.swap.max", "memory.swap.max"},
    {NULL, "cpuset.cpus", "cpuset.cpus.effective"},
    {NULL, "cpuset.mems", "cpuset.mems.effective"},
    {NULL, "pids.max", "pids.max"},
    {"cpuset", "cpuset.cpus", "cpuset.cpus"},
    {"cpuset", "cpuset.mems", "cpuset.mems"},
    {"cpu", "cpu.cfs_quota_us", "cpu.cfs_quota_us"},
    {"cpu", "cpu.cfs_period_us", "cpu.cfs_period_us"},
    {"memory", "memory.limit_in_bytes", "memory.limit_in_bytes"},
};

/* Does a comma-separated list of controllers hold this one? */
static int has_controller(const char *list, size_t length, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = list; at < list + length;) {
        size_t span = strcspn(at, ",:");
        if (span == size && memcmp(at, name, size) == 0)
            return 1;
        at += span + 1;
    }
    return 0;
}

static void grant(struct mw_env_run *run, const char *controller, const char *group,
                  const char *key, const char *file)
{
    char path[768];
    const char *folder = controller ? controller : "", *slash = controller ? "/" : "";
    if (strcmp(group, "/") == 0)
        group = "";
    mw_join(path, sizeof path, "/sys/fs/cgroup", slash, folder, group, "/", file, NULL);
    if (mw_env_file(run, "cgroup", key, path) || !group[0])
        return;
    /* in a container the group's path may start at a root that is not mounted there */
    mw_join(path, sizeof path, "/sys/fs/cgroup", slash, folder, "/", file, NULL);
    mw_env_file(run, "cgroup", key, path);
}

static void cgroup_line(struct mw_env_run *run, const char *controllers, size_t length,
                        const char *group)
{
    int matters = length == 0;
    for (size_t i = 0; i < COUNT(grants) && !mw_env_late(run); i++) {
        const char *controller = grants[i].controller;
        if (controller ? !has_controller(controllers, length, controller) : length != 0)
            continue;
        matters = 1;
        grant(run, controller, group, grants[i].key, grants[i].file);
    }
    if (!matters) /* controllers that only count, of version 1 */
        return;
    char key[128];
    struct mw_text text;
    mw_text_init(&text, key, sizeof key);
    mw_text_add(&text, length ? "path." : "path");
    mw_text_add_some(&text, controllers, length);
    mw_env_fact(run, "cgroup", key, group, "/proc/self/cgroup");
}

/* Lines "number:controllers:path". */
void mw_env_cgroup(struct mw_env_run *run)
{
    if (mw_env_slurp(run, "/proc/self/cgroup") <= 0)
        return;
    char *line = run->file;
    for (int i = 0; line && *line && i < 32; i++) {
        char *end = strchr(line, '\n'), group[512];
        if (end)
            *end = '\0';
        const char *controllers = strchr(line, ':');
        const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (path) {
            mw_join(group, sizeof group, path + 1, NULL);
            cgroup_line(run, controllers + 1, (size_t)(path - controllers - 1), group);
        }
        line = end ? end + 1 : NULL;
    }
}

void mw_env_scheduler(struct mw_env_run *run)
{
    static const struct {
        const char *system, *job, *step, *queue;
    } known[] = {{"Slurm", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_JOB_PARTITION"},
                 {"Slurm", "SLURM_JOBID", "SLURM_STEPID", "SLURM_JOB_PARTITION"},
                 {"Flux", "FLUX_JOB_ID", NULL, NULL},
                 {"PBS", "PBS_JOBID", NULL, "PBS_QUEUE"},
                 {"LSF", "LSB_JOBID", "LS_JOBPID", "LSB_QUEUE"},
                 {"Cobalt", "COBALT_JOBID", NULL, "COBALT_QUEUE"},
                 {"OAR", "OAR_JOB_ID", NULL, "OAR_QUEUE"},
                 {"Fujitsu TCS", "PJM_JOBID", NULL, "PJM_RSCGRP"},
                 {"Grid Engine", "JOB_ID", NULL, "QUEUE"}};
    for (size_t i = 0; i < COUNT(known); i++) {
        const char *job = mw_env_variable(known[i].job);
        const char *step = known[i].step ? mw_env_variable(known[i].step) : NULL;
        const char *queue = known[i].queue ? mw_env_variable(known[i].queue) : NULL;
        if (!job || (strcmp(known[i].job, "JOB_ID") == 0 && !mw_env_variable("SGE_ROOT")))
            continue;
        mw_env_fact(run, "scheduler", "system", known[i].system, known[i].job);
        mw_redact_value("job", job, run->value, 256);
        mw_env_fact(run, "scheduler", "job", run->value, known[i].job);
        if (step) {
            mw_redact_value("step", step, run->value, 256);
            mw_env_fact(run, "scheduler", "step", run->value, known[i].step);
        }
        if (queue) {
            mw_redact_value("queue", queue, run->value, 256);
            mw_env_fact(run, "scheduler", "queue", run->value, known[i].queue);
        }
        return;
    }
}
