/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the collectors of environment facts share; private to probe/environment.c and probe/env_*.c.
 * One run on one thread; its buffers are pages of their own, since a program may call MPI on a
 * small stack.
 */
#ifndef MW_PROBE_ENV_RUN_H
#define MW_PROBE_ENV_RUN_H

#include "probe/environment.h"
#include "probe/sysfile.h"
#include "probe/timelimit.h"

#define MW_ENV_VARIABLES_MAX 20000

struct mw_env_run {
    struct mw_fact_sink *sink;
    const char *root;
    struct mw_time_limit limit;
    struct mw_text left_out;
    char left_out_names[512];
    char path[1024];      /* of the file being read, without root */
    char full_path[2048]; /* with root */
    char value[16384];    /* of a fact in the making */
    char file[1u << 16];  /* a file being taken apart */
    struct mw_dir dir, inner_dir;
};

/* 1 when the time is over. */
int mw_env_late(const struct mw_env_run *run);
void mw_env_fact(struct mw_env_run *run, const char *section, const char *key, const char *value,
                 const char *source);
/* root + path. The result lives until the next call. */
const char *mw_env_path(struct mw_env_run *run, const char *path);
/* The first line of a file into run->value. Its length; -1 when there is none or it is empty. */
long mw_env_line(struct mw_env_run *run, const char *path);
/* A whole (small) file into run->file. */
long mw_env_slurp(struct mw_env_run *run, const char *path);
/* The last part of what a symbolic link says, into run->value. -1: no link. */
long mw_env_link(struct mw_env_run *run, const char *path);
/* A fact that is the first line of a file; nothing when that cannot be read. 1 when there was one.
 */
int mw_env_file(struct mw_env_run *run, const char *section, const char *key, const char *path);

/* A table of such facts: a file below a folder. */
struct mw_env_attribute {
    const char *key, *file;
    int link; /* the last part of a symbolic link, instead of a file's line */
};
/* Facts (section, prefix.key) of the files in a folder. */
void mw_env_attributes(struct mw_env_run *run, const char *section, const char *prefix,
                       const char *folder, const struct mw_env_attribute *list, size_t count);

/* The value of an environment variable; NULL none. */
const char *mw_env_variable(const char *name);

/* The value after "name:" at the start of a line of run->file, into run->value. -1: no such line.
 */
long mw_env_field(struct mw_env_run *run, const char *name);

/* env_node.c, env_devices.c */
void mw_env_system(struct mw_env_run *run);
void mw_env_cpu(struct mw_env_run *run);
void mw_env_memory(struct mw_env_run *run);
void mw_env_kernel(struct mw_env_run *run);
void mw_env_infiniband(struct mw_env_run *run);
void mw_env_cxi(struct mw_env_run *run);
void mw_env_network(struct mw_env_run *run);
void mw_env_modules(struct mw_env_run *run);
void mw_env_container(struct mw_env_run *run);
/* env_process.c, env_params.c */
void mw_env_variables(struct mw_env_run *run);
void mw_env_limits(struct mw_env_run *run);
void mw_env_process(struct mw_env_run *run);
void mw_env_cgroup(struct mw_env_run *run);
void mw_env_scheduler(struct mw_env_run *run);
void mw_env_params(struct mw_env_run *run);

#endif
