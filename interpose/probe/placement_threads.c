/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of this process, and the cpuset that it is in; see placement.h. Static memory, one
 * thread at a time.
 */
#include <string.h>

#include "probe/placement.h"
#include "probe/probe.h"
#include "probe/procstat.h"
#include "probe/sysfile.h"
#include "record/record.h"

#define THREADS_MOST 64u /* that are recorded */
#define GROUP_DEPTH  64

static struct {
    struct mw_cpus cpus;
    char text[8192], group[1024], path[1280];
} run;

static int calls_mpi(uint64_t tid)
{
    for (const struct mw_thread_state *t = mw_threads_first(); t; t = t->link)
        if (atomic_load_explicit(&t->in_use, memory_order_acquire) &&
            __atomic_load_n(&t->area->tid, __ATOMIC_RELAXED) == tid)
            return 1;
    return 0;
}

static void thread_put(struct mw_buffer *buffer, uint64_t tid, const struct mw_procstat *stat,
                       const struct mw_cpus *own)
{
    size_t mark = mw_put_begin(buffer, MW_F_PLACEMENT_thread);
    mw_put_u64(buffer, MW_F_PLACEDTHREAD_tid, tid);
    mw_put_u64(buffer, MW_F_PLACEDTHREAD_cpu, stat->cpu + 1);
    mw_put_u64(buffer, MW_F_PLACEDTHREAD_ticks, stat->ticks);
    mw_put_text(buffer, MW_F_PLACEDTHREAD_name, stat->name);
    mw_put_u64(buffer, MW_F_PLACEDTHREAD_mpi, (uint64_t)calls_mpi(tid));
    if (mw_cpus_of_thread(&run.cpus, (int)tid) == 0 && !mw_cpus_equal(&run.cpus, own))
        mw_cpus_put(buffer, MW_F_PLACEDTHREAD_cpus, &run.cpus);
    mw_placement_record_end(buffer, mark);
}

void mw_placement_threads(struct mw_buffer *buffer, const char *root, const struct mw_cpus *own)
{
    struct mw_dir dir;
    struct mw_procstat stat;
    unsigned total = 0, recorded = 0;
    mw_join(run.path, sizeof run.path, root, "/proc/self/task", NULL);
    if (mw_dir_open(&dir, run.path) != 0)
        return;
    for (const char *name; (name = mw_dir_next(&dir)); total++) {
        uint64_t tid = mw_number(name, 10, NULL);
        if (recorded == THREADS_MOST || mw_probe_late())
            continue; /* they are counted all the same */
        mw_join(run.path, sizeof run.path, root, "/proc/self/task/", name, "/stat", NULL);
        if (mw_procstat_read(run.path, &stat) != 0 || (!stat.ticks && !calls_mpi(tid)))
            continue;
        thread_put(buffer, tid, &stat, own);
        recorded++;
    }
    mw_dir_close(&dir);
    mw_put_u64(buffer, MW_F_PLACEMENT_threads, total);
}

/* --- cpuset --- */

/* The path of this process's group: of version 1's cpuset, or of version 2 (then *unified). Lines
 * "number:controllers:path". */
static int group_find(const char *root, int *unified)
{
    int found = 0;
    mw_join(run.path, sizeof run.path, root, "/proc/self/cgroup", NULL);
    if (mw_sys_slurp(run.path, run.text, sizeof run.text) <= 0)
        return 0;
    for (const char *line = run.text; *line; line += strspn(line, "\n")) {
        size_t length = strcspn(line, "\n");
        const char *controllers = memchr(line, ':', length);
        const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (path && path < line + length) {
            const char *cpuset = memmem(controllers, (size_t)(path - controllers), "cpuset", 6);
            if (cpuset || (!found && path == controllers + 1)) {
                struct mw_text text;
                mw_text_init(&text, run.group, sizeof run.group);
                mw_text_add_some(&text, path + 1, (size_t)(line + length - path - 1));
                *unified = !cpuset;
                found = 1;
            }
        }
        line += length;
    }
    return found;
}

static int group_read(struct mw_cpus *cpus, const char *root, const char *mount, const char *file)
{
    mw_join(run.path, sizeof run.path, root, mount, run.group, "/", file, NULL);
    if (mw_sys_line(run.path, run.text, sizeof run.text) <= 0)
        return 0;
    mw_cpus_of_list(cpus, run.text);
    return cpus->count > 0;
}

/* A group without a cpuset of its own has that of the one above; in a container the path may begin
 * at a root that is not mounted there. */
void mw_placement_cgroup(struct mw_cpus *cpus, const char *root)
{
    int unified = 0;
    cpus->count = 0;
    if (!group_find(root, &unified))
        return;
    if (strcmp(run.group, "/") == 0)
        run.group[0] = '\0';
    for (int i = 0; i < GROUP_DEPTH; i++) {
        if (unified ? group_read(cpus, root, "/sys/fs/cgroup", "cpuset.cpus.effective")
                    : group_read(cpus, root, "/sys/fs/cgroup/cpuset", "cpuset.effective_cpus") ||
                          group_read(cpus, root, "/sys/fs/cgroup/cpuset", "cpuset.cpus"))
            return;
        char *slash = strrchr(run.group, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}
