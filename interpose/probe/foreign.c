/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of the node that are none of the launcher's children and keep a processor busy:
 * readings of /proc at two times are compared; see placement.h. Bounded in time and number, the
 * newest processes first, since the oldest are the kernel's own. Pages of our own for the readings.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/placement.h"
#include "probe/probe.h"
#include "probe/procstat.h"
#include "probe/sysfile.h"
#include "record/record.h"
#include "trace/launchers.h"

#define PIDS_MOST    8192u
#define FOREIGN_MOST 256u
#define LATE_EVERY   16u
#define INTERVAL_MIN 100000000u /* ns: with less between, a tick of 10 ms would be a fifth */
#define BUSY_LEAST   20u        /* percent */

struct reading {
    uint32_t pid;
    uint64_t start, ticks;
};

struct readings {
    uint64_t time, boot_ticks;
    uint32_t count;
    struct reading process[PIDS_MOST]; /* pids descend */
};

static struct {
    struct readings *before, *now;
    uint32_t *pids;
    struct mw_cpus cpus;
    char path[320];
} run;

static const char *path_of(const char *root, uint64_t pid, const char *file)
{
    char number[24];
    struct mw_text text;
    mw_text_init(&text, number, sizeof number);
    mw_text_add_u64(&text, pid);
    return mw_join(run.path, sizeof run.path, root, "/proc/", number, file, NULL);
}

/* Ascending, as the kernel lists them. */
static uint32_t pids_list(const char *root)
{
    struct mw_dir dir;
    uint32_t count = 0;
    if (mw_dir_open(&dir, mw_join(run.path, sizeof run.path, root, "/proc", NULL)) != 0)
        return 0;
    dir.left = 2 * PIDS_MOST;
    for (const char *name; count < PIDS_MOST && (name = mw_dir_next(&dir));)
        if (*name >= '1' && *name <= '9')
            run.pids[count++] = (uint32_t)mw_number(name, 10, NULL);
    mw_dir_close(&dir);
    return count;
}

static const struct reading *reading_find(const struct readings *list, uint32_t pid)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (list->process[middle].pid == pid)
            return &list->process[middle];
        if (list->process[middle].pid > pid)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Percent of one processor since the reading before; 0 where that cannot be told. */
static uint64_t busy_since(const struct reading *now)
{
    const struct reading *before = reading_find(run.before, now->pid);
    uint64_t span = run.now->time - run.before->time, ticks;
    if (before && before->start == now->start)
        ticks = now->ticks > before->ticks ? now->ticks - before->ticks : 0;
    else if (now->start >= run.before->boot_ticks)
        ticks = now->ticks;
    else
        return 0;
    return ticks * (UINT64_C(1000000000) / MW_TICKS_A_SECOND) * 100 / span;
}

static int is_same_user(const char *root, uint64_t pid)
{
    struct stat info;
    int saved = errno;
    int same = fstatat(AT_FDCWD, path_of(root, pid, ""), &info, 0) == 0 &&
               info.st_uid == (uid_t)syscall(SYS_getuid);
    errno = saved;
    return same;
}

static void foreign_put(struct mw_buffer *buffer, const char *root, uint64_t pid,
                        const struct mw_procstat *stat, uint64_t busy)
{
    size_t mark = mw_put_begin(buffer, MW_F_PLACEMENT_foreign);
    mw_put_u64(buffer, MW_F_FOREIGN_pid, pid);
    mw_put_text(buffer, MW_F_FOREIGN_name, stat->name);
    mw_put_u64(buffer, MW_F_FOREIGN_cpu, stat->cpu + 1);
    mw_put_u64(buffer, MW_F_FOREIGN_busy, busy);
    mw_put_u64(buffer, MW_F_FOREIGN_same_user, (uint64_t)is_same_user(root, pid));
    mw_put_u64(buffer, MW_F_FOREIGN_parent, stat->parent);
    if (!root[0] && mw_cpus_of_thread(&run.cpus, (int)pid) == 0)
        mw_cpus_put(buffer, MW_F_FOREIGN_cpus, &run.cpus);
    mw_placement_record_end(buffer, mark);
}

/* 0: it has ended, or is outside our namespace. Process 1 is a launcher in a container alone, else
 * it adopts whoever has lost his parent. */
static uint64_t launcher_find(const char *root)
{
    struct mw_procstat stat;
    uint64_t parent = (uint64_t)syscall(SYS_getppid);
    if (parent == 1 &&
        (mw_procstat_read(path_of(root, 1, "/stat"), &stat) != 0 || !mw_is_launcher(stat.name)))
        return 0;
    return parent;
}

/* Reads them, and writes the busy ones where there is a reading before. How many there was no time
 * for. */
static uint32_t processes_read(struct mw_buffer *buffer, const char *root, uint32_t count)
{
    uint64_t own = (uint64_t)syscall(SYS_getpid), launcher = launcher_find(root);
    uint32_t written = 0;
    for (uint32_t left = count; left-- > 0;) {
        struct mw_procstat stat;
        uint64_t pid = run.pids[left];
        if (left % LATE_EVERY == 0 && mw_probe_late())
            return left + 1;
        if (mw_procstat_read(path_of(root, pid, "/stat"), &stat) != 0 ||
            (stat.flags & MW_PROCSTAT_KERNEL) || pid == own || stat.parent == own ||
            (launcher && (stat.parent == launcher || pid == launcher)))
            continue;
        struct reading *reading = &run.now->process[run.now->count++];
        *reading = (struct reading){(uint32_t)pid, stat.start, stat.ticks};
        uint64_t busy = run.before->time ? busy_since(reading) : 0;
        if (busy >= BUSY_LEAST && written < FOREIGN_MOST) {
            foreign_put(buffer, root, pid, &stat, busy);
            written++;
        }
    }
    return 0;
}

static int memory_take(void)
{
    static int tried;
    if (!tried++) {
        run.before = mw_pages(sizeof *run.before);
        run.now = mw_pages(sizeof *run.now);
        run.pids = mw_pages(PIDS_MOST * sizeof *run.pids);
    }
    return run.before && run.now && run.pids;
}

void mw_foreign_look(struct mw_buffer *buffer, const char *root)
{
    uint64_t now = mw_clock_ns(CLOCK_MONOTONIC);
    if (!memory_take() || (run.before->time && now - run.before->time < INTERVAL_MIN))
        return;
    run.now->time = now;
    run.now->boot_ticks = mw_clock_ns(CLOCK_BOOTTIME) / (1000000000u / MW_TICKS_A_SECOND);
    run.now->count = 0;
    uint32_t unwatched = processes_read(buffer, root, pids_list(root));
    mw_put_u64(buffer, MW_F_PLACEMENT_watched, run.before->time ? now - run.before->time : 0);
    mw_put_u64(buffer, MW_F_PLACEMENT_unwatched, unwatched);
    struct readings *old = run.before;
    run.before = run.now;
    run.now = old;
}
