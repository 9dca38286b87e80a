/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading command lines: words and numbers with a usage error that says what is known, and what all
 * commands that show something of a trace have in common. The texts of --help stay with each
 * command, where they differ. Main thread only; a usage error ends the program.
 */
#ifndef MW_CMD_OPTIONS_H
#define MW_CMD_OPTIONS_H

#include <argp.h>
#include <stddef.h>

#include "analyzer/model/labels.h"

/* The trace arguments of a command line. */
struct mw_paths {
    const char **at;
    size_t count;
};
void mw_paths_add(struct mw_paths *paths, const char *path);

/* TRACE..., -f FORMAT, -n N and -o FILE. A command sets the defaults, lists in its table those that
 * it has, and hands every key that it does not know itself to mw_view_option. */
struct mw_view_options {
    struct mw_paths paths;
    const char *const *formats; /* the words of --format */
    int format;                 /* index of one */
    long top, top_least;        /* -1: not given */
    const char *output;         /* NULL: standard output */
};
#define MW_OPTION_OUTPUT                                                                           \
    {                                                                                              \
        "output", 'o', "FILE", 0, "write to FILE instead of standard output", 0                    \
    }
error_t mw_view_option(struct mw_view_options *view, int key, char *value,
                       struct argp_state *state);

/* The index of a word in a NULL-terminated list, or a usage error that names the list. */
int mw_option_word(struct argp_state *state, const char *option, const char *word,
                   const char *const *known);
/* A whole number of at least `least`, or a usage error. */
long mw_option_number(struct argp_state *state, const char *option, const char *text, long least);
/* "5%" or "5" as 0.05, above 0, or a usage error. */
double mw_option_percent(struct argp_state *state, const char *option, const char *text);
/* A rank as reports name it, "3" or "2:3", or a usage error. */
struct mw_rank_id mw_option_rank(struct argp_state *state, const char *option, const char *text);

#endif
