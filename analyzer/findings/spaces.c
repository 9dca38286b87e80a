/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces and permissions of processes (spaces.h). */
#include "analyzer/findings/spaces.h"

#include <string.h>

static void take(struct mw_spaces *spaces, const struct mw_fact *fact)
{
    static const char *const namespaces[MW_SPACES] = {"user", "pid", "ipc", "mnt"};
    const char *key = fact->key;
    if (!strcmp(fact->section, "namespace")) {
        for (int i = 0; i < MW_SPACES; i++)
            if (!strcmp(key, namespaces[i]))
                spaces->in[i] = fact->value;
    } else if (!strcmp(fact->section, "process")) {
        if (!strcmp(key, "seccomp"))
            spaces->seccomp = fact->value;
        else if (!strcmp(key, "capabilities"))
            spaces->capabilities = fact->value;
    } else if (!strcmp(fact->section, "kernel") && !strcmp(key, "yama.ptrace_scope")) {
        spaces->ptrace_scope = fact->value;
    }
}

struct mw_spaces *mw_spaces_read(const struct mw_model *model)
{
    struct mw_spaces *all = mw_alloc(model->process_count + 1, sizeof(*all));
    for (size_t p = 0; p < model->process_count; p++) {
        const struct mw_process *process = mw_trace_process(model->trace, p);
        all[p] = (struct mw_spaces){
            .in = {"", "", "", ""}, .seccomp = "", .ptrace_scope = "", .capabilities = ""};
        for (size_t i = 0; i < process->fact_count; i++)
            take(&all[p], &process->facts[i]);
    }
    return all;
}

int mw_spaces_differ(const struct mw_spaces *a, const struct mw_spaces *b, enum mw_space space)
{
    return a->in[space][0] && b->in[space][0] && strcmp(a->in[space], b->in[space]);
}

const char *mw_space_word(enum mw_space space)
{
    static const char *const words[MW_SPACES] = {"user", "pid", "ipc", "mount"};
    return words[space];
}

int mw_spaces_share(const struct mw_spaces *a, const struct mw_spaces *b)
{
    return !mw_spaces_differ(a, b, MW_SPACE_IPC) && !mw_spaces_differ(a, b, MW_SPACE_MOUNT);
}
