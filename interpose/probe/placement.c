/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where this process may run, by whose leave, and where it was: masks, memory policy, last CPU, how
 * often the kernel moved it. A few system calls and lines of /proc; nothing is concluded. See
 * placement.h. Static memory.
 */
#include "probe/placement.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "output/output.h"
#include "probe/env_store.h"
#include "probe/probe.h"
#include "probe/sysfile.h"
#include "record/record.h"

#define RECORDS_ROOM 65536u
#define DURING_MOST  1000u /* looks in between that are written */

static struct {
    const char *root;
    struct mw_buffer buffer;
    uint8_t memory[RECORDS_ROOM];
    char path[640], text[16384];
    struct mw_cpus own, other;
} run;

/* Of the look before: what would make another one in between worth its bytes. */
static struct {
    struct mw_cpus cpus;
    long tid;
    unsigned node, looks;
} last;

static long call0(long number)
{
    int saved = errno;
    long got = syscall(number);
    errno = saved;
    return got;
}

/* A field "name: value" of run.text; NULL none. */
static const char *field(const char *name)
{
    size_t length = strlen(name);
    for (const char *line = run.text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0)
            continue;
        const char *at = line + length + strspn(line + length, " \t");
        if (*at == ':')
            return at + 1 + strspn(at + 1, " \t");
    }
    return NULL;
}

static int slurp(const char *middle, const char *name)
{
    mw_join(run.path, sizeof run.path, run.root, "/proc/", middle, name, NULL);
    return mw_sys_slurp(run.path, run.text, sizeof run.text) > 0;
}

static void number_put(unsigned id, const char *name, uint64_t more)
{
    const char *value = field(name);
    if (value)
        mw_put_u64(&run.buffer, id, mw_number(value, 10, NULL) + more);
}

static void list_put(unsigned id, const char *name)
{
    const char *value = field(name);
    if (!value)
        return;
    mw_cpus_of_list(&run.other, value);
    mw_cpus_put(&run.buffer, id, &run.other);
}

static void status_put(void)
{
    if (slurp("thread-self", "/status")) {
        number_put(MW_F_PLACEMENT_voluntary, "voluntary_ctxt_switches", 0);
        number_put(MW_F_PLACEMENT_involuntary, "nonvoluntary_ctxt_switches", 0);
        list_put(MW_F_PLACEMENT_mems, "Mems_allowed_list");
    }
    if (slurp("thread-self", "/sched"))
        number_put(MW_F_PLACEMENT_migrations, "se.nr_migrations", 1);
}

/* The parent is a launcher's daemon, or a script: its mask is what we began with, if nobody changed
 * ours. */
static void parent_put(void)
{
    char number[24], name[64];
    struct mw_text text;
    mw_text_init(&text, number, sizeof number);
    mw_text_add_u64(&text, (uint64_t)call0(SYS_getppid));
    if (!slurp(number, "/status"))
        return;
    list_put(MW_F_PLACEMENT_parent_cpus, "Cpus_allowed_list");
    const char *value = field("Name");
    mw_text_init(&text, name, sizeof name);
    mw_text_add_some(&text, value ? value : "", value ? strcspn(value, "\n") : 0);
    mw_put_text(&run.buffer, MW_F_PLACEMENT_parent, name);
}

static void policy_put(void)
{
    static const char *const words[] = {
        "default",        "preferred",          "bind", "interleave", "local",
        "preferred-many", "weighted-interleave"};
    enum { MODE_BITS = 0xff };
    unsigned long mask[MW_CPUS_BYTES / sizeof(unsigned long)] = {0};
    char words_of[512];
    struct mw_text text;
    int mode = 0, saved = errno;
    long got = syscall(SYS_get_mempolicy, &mode, mask, sizeof mask * 8, NULL, 0UL);
    errno = saved;
    unsigned which = (unsigned)mode & MODE_BITS;
    if (got != 0 || which >= sizeof words / sizeof *words)
        return;
    mw_text_init(&text, words_of, sizeof words_of);
    mw_text_add(&text, words[which]);
    mw_cpus_of_mask(&run.other, mask, sizeof mask);
    if (run.other.count) {
        mw_text_add(&text, ":");
        mw_cpus_text(&text, &run.other);
    }
    mw_put_text(&run.buffer, MW_F_PLACEMENT_policy, words_of);
}

/* 1 where the kernel told. */
static int where(unsigned *cpu, unsigned *node)
{
    int saved = errno;
    long got = syscall(SYS_getcpu, cpu, node, NULL);
    errno = saved;
    return got == 0;
}

static void masks_put(long tid, long pid)
{
    mw_cpus_put(&run.buffer, MW_F_PLACEMENT_cpus, &run.own);
    if (tid != pid && mw_cpus_of_thread(&run.other, (int)pid) == 0 &&
        !mw_cpus_equal(&run.other, &run.own))
        mw_cpus_put(&run.buffer, MW_F_PLACEMENT_process_cpus, &run.other);
}

/* What does not change while a process runs, or that costs more than some system calls. */
static void rest_put(enum mw_when when)
{
    if (when == MW_WHEN_INIT) {
        parent_put();
        mw_placement_cgroup(&run.other, run.root);
        mw_cpus_put(&run.buffer, MW_F_PLACEMENT_cgroup_cpus, &run.other);
    }
    mw_placement_threads(&run.buffer, run.root, &run.own);
    if (mw_env_is_writer())
        mw_foreign_look(&run.buffer, run.root);
}

void mw_placement_look(const char *root, enum mw_when when)
{
    long tid = call0(SYS_gettid), pid = call0(SYS_getpid);
    unsigned cpu = 0, node = 0;
    int known = where(&cpu, &node);
    run.root = root;
    if (mw_cpus_of_thread(&run.own, 0) != 0)
        mw_choice("probe", "placement", "partly", "the kernel does not tell where it may run");
    if (when == MW_WHEN_DURING && (tid != last.tid || last.looks >= DURING_MOST ||
                                   (node == last.node && mw_cpus_equal(&run.own, &last.cpus))))
        return;
    mw_buffer_init(&run.buffer, run.memory, sizeof run.memory);
    mw_put_u64(&run.buffer, MW_F_PLACEMENT_when, when);
    mw_put_u64(&run.buffer, MW_F_PLACEMENT_time, mw_now());
    masks_put(tid, pid);
    if (known) {
        mw_put_u64(&run.buffer, MW_F_PLACEMENT_cpu, cpu + 1);
        mw_put_u64(&run.buffer, MW_F_PLACEMENT_node, node + 1);
    }
    policy_put();
    status_put();
    if (when != MW_WHEN_DURING)
        rest_put(when);
    mw_output_chunk(MW_CHUNK_PLACEMENT, run.buffer.data, run.buffer.size);
    last.cpus = run.own;
    last.tid = tid;
    last.node = node;
    last.looks += when == MW_WHEN_DURING;
}

static void ready(void)
{
    mw_placement_look("", MW_WHEN_INIT);
}

static void flush(void)
{
    mw_placement_look("", MW_WHEN_DURING);
}

static void finish(enum mw_end_reason reason)
{
    mw_placement_look("", MW_WHEN_END);
}

const struct mw_probe mw_probe_placement = {
    .name = "placement", .limit_us = 15000, .ready = ready, .flush = flush, .finish = finish};
