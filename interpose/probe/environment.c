/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See environment.h: the order of collection, the time limit, and the small steps that the
 * collectors share. What is cheapest and asked for most comes first, so that a slow machine loses
 * the rest.
 */
#include "probe/environment.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "probe/env_run.h"

int mw_env_late(const struct mw_env_run *run)
{
    return mw_time_limit_reached(&run->limit);
}

void mw_env_fact(struct mw_env_run *run, const char *section, const char *key, const char *value,
                 const char *source)
{
    run->sink->fact(run->sink, section, key, value, source);
}

const char *mw_env_path(struct mw_env_run *run, const char *path)
{
    return mw_join(run->full_path, sizeof run->full_path, run->root, path, NULL);
}

long mw_env_line(struct mw_env_run *run, const char *path)
{
    long size = mw_sys_line(mw_env_path(run, path), run->value, sizeof run->value);
    return size > 0 ? size : -1;
}

long mw_env_slurp(struct mw_env_run *run, const char *path)
{
    return mw_sys_slurp(mw_env_path(run, path), run->file, sizeof run->file);
}

long mw_env_link(struct mw_env_run *run, const char *path)
{
    if (mw_sys_link(mw_env_path(run, path), run->value, sizeof run->value) <= 0)
        return -1;
    const char *last = strrchr(run->value, '/');
    if (last)
        memmove(run->value, last + 1, strlen(last + 1) + 1);
    return (long)strlen(run->value);
}

int mw_env_file(struct mw_env_run *run, const char *section, const char *key, const char *path)
{
    if (mw_env_line(run, path) < 0)
        return 0;
    mw_env_fact(run, section, key, run->value, path);
    return 1;
}

void mw_env_attributes(struct mw_env_run *run, const char *section, const char *prefix,
                       const char *folder, const struct mw_env_attribute *list, size_t count)
{
    char key[256];
    for (size_t i = 0; i < count && !mw_env_late(run); i++) {
        mw_join(run->path, sizeof run->path, folder, "/", list[i].file, NULL);
        long size = list[i].link ? mw_env_link(run, run->path) : mw_env_line(run, run->path);
        if (size < 0)
            continue;
        mw_join(key, sizeof key, prefix, prefix[0] ? "." : "", list[i].key, NULL);
        mw_env_fact(run, section, key, run->value, run->path);
    }
}

long mw_env_field(struct mw_env_run *run, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = run->file; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0)
            continue;
        const char *at = line + length;
        at += strspn(at, " \t");
        if (*at != ':')
            continue;
        at++;
        at += strspn(at, " \t");
        struct mw_text text;
        mw_text_init(&text, run->value, sizeof run->value);
        mw_text_add_some(&text, at, strcspn(at, "\n"));
        return (long)text.size;
    }
    return -1;
}

/* Not getenv: a program may have put its own in front. */
const char *mw_env_variable(const char *name)
{
    extern char **environ;
    size_t length = strlen(name);
    for (int i = 0; environ && environ[i] && i < MW_ENV_VARIABLES_MAX; i++)
        if (strncmp(environ[i], name, length) == 0 && environ[i][length] == '=')
            return environ[i] + length + 1;
    return NULL;
}

static const struct group {
    const char *name;
    unsigned what;
    void (*collect)(struct mw_env_run *run);
} groups[] = {
    {"variables", MW_ENV_PROCESS, mw_env_variables},
    {"limits", MW_ENV_PROCESS, mw_env_limits},
    {"process", MW_ENV_PROCESS, mw_env_process},
    {"scheduler", MW_ENV_PROCESS, mw_env_scheduler},
    {"parameter files", MW_ENV_PROCESS, mw_env_params},
    {"cgroup", MW_ENV_PROCESS, mw_env_cgroup},
    {"system", MW_ENV_NODE, mw_env_system},
    {"memory", MW_ENV_NODE, mw_env_memory},
    {"container", MW_ENV_NODE, mw_env_container},
    {"kernel", MW_ENV_NODE, mw_env_kernel},
    {"cxi", MW_ENV_NODE, mw_env_cxi},
    {"infiniband", MW_ENV_NODE, mw_env_infiniband},
    {"network", MW_ENV_NODE, mw_env_network},
    {"cpu", MW_ENV_NODE, mw_env_cpu},
    {"modules", MW_ENV_NODE, mw_env_modules},
};

/* A group that ended after its time may have stopped half-way: it is named too. */
static void collect(struct mw_env_run *run, unsigned what)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (!(groups[i].what & what))
            continue;
        int late = mw_env_late(run);
        if (!late) {
            groups[i].collect(run);
            late = mw_env_late(run);
        }
        if (late) {
            if (run->left_out.size)
                mw_text_add(&run->left_out, ", ");
            mw_text_add(&run->left_out, groups[i].name);
        }
    }
    if (!run->left_out.size)
        return;
    mw_env_fact(run, "mpiwatch",
                what & MW_ENV_NODE ? "environment.left_out" : "environment.process_left_out",
                run->left_out.data, "time limit");
}

void mw_environment_collect_at(struct mw_fact_sink *sink, unsigned what, const char *root,
                               uint64_t budget_ns)
{
    int saved = errno;
    struct mw_env_run *run =
        mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (run == MAP_FAILED) {
        errno = saved;
        return;
    }
    run->sink = sink;
    run->root = root;
    run->limit = mw_time_limit_begin(budget_ns);
    mw_text_init(&run->left_out, run->left_out_names, sizeof run->left_out_names);
    collect(run, what);
    munmap(run, sizeof *run);
    errno = saved;
}

void mw_environment_collect(struct mw_fact_sink *sink, unsigned what)
{
    mw_environment_collect_at(sink, what, "", MW_ENV_BUDGET_NS);
}
