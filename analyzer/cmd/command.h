/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A subcommand of mpiwatch, and what subcommands share: opening traces with errors said in one
 * line, output files. Main thread only. Exit codes: 0 done, 1 cannot do it, 129 wrong usage; of
 * those that judge 1 is the verdict, and 125 that there is none.
 */
#ifndef MW_CMD_COMMAND_H
#define MW_CMD_COMMAND_H

#include <stdio.h>

#include "analyzer/cmd/options.h"
#include "mpiwatch/trace.h"

#define MW_EXIT_OK          0
#define MW_EXIT_FAILED      1
#define MW_EXIT_USAGE       129
#define MW_EXIT_CANNOT_TELL 125 /* of those that judge: git bisect run skips the commit */

struct mw_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv); /* argv[0]: "mpiwatch NAME" */
    const struct argp *parser;
    /* For the completion: the words of --format, and those of any other option (NULL: any text). */
    const char *const *formats, *const *(*values)(int key);
    const char *const *actions; /* the words that the first argument may be; NULL: any text */
};

extern const struct mw_command mw_command_info, mw_command_report, mw_command_matrix,
    mw_command_dump, mw_command_run, mw_command_pack, mw_command_collect, mw_command_anonymize,
    mw_command_transports, mw_command_check, mw_command_compare, mw_command_placement,
    mw_command_waits, mw_command_history;
/* All of them, NULL-terminated, in the order of --help. */
extern const struct mw_command *const mw_commands[];
const struct mw_command *mw_command_find(const char *name); /* or NULL */

/* What the shells' completion asks (complete.c): how the last of these words may go on. */
void mw_complete(int count, char **words, FILE *out);

/* Opens the traces, or says why not and returns NULL. Damage is said on stderr, a line each. */
mw_trace *mw_command_open(const struct mw_paths *paths, unsigned flags);
/* Whether each path can be read by itself, which opening them together does not demand: 0, or -1
 * after saying which cannot. */
int mw_command_readable(const struct mw_paths *paths, unsigned flags);

/* Says which events could not be read, a line each. */
struct mw_tally;
void mw_command_damage(const struct mw_tally *tally);

/* One line on stderr: "mpiwatch: ...". */
void mw_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where the result goes: stdout, or a file that takes its name when it is complete. */
struct mw_output {
    FILE *stream;
    const char *path; /* NULL: stdout */
    char *temporary;
};
/* 0, or -1 when it cannot be written (said). exclusive: never replaces a file. */
int mw_output_open(struct mw_output *output, const char *path, int exclusive);
/* MW_EXIT_OK, or MW_EXIT_FAILED when not everything was written (said). keep 0: throws the file
 * away. */
int mw_output_close(struct mw_output *output, int exclusive, int keep);

/* The place of a rank; -1 with a word on stderr where the trace has none. Not recorded ones that
 * are known of have one. */
int64_t mw_command_rank(const struct mw_model *model, struct mw_rank_id id);

#endif
