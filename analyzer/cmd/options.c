/* SPDX-License-Identifier: BSD-3-Clause */
/* Words, numbers and common options of command lines (options.h). */
#include "analyzer/cmd/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/cmd/command.h"

void mw_paths_add(struct mw_paths *paths, const char *path)
{
    const char **longer = mw_alloc(paths->count + 1, sizeof(*longer));
    if (paths->count)
        memcpy(longer, paths->at, paths->count * sizeof(*longer));
    longer[paths->count++] = path;
    free(paths->at);
    paths->at = longer;
}

error_t mw_view_option(struct mw_view_options *view, int key, char *value, struct argp_state *state)
{
    switch (key) {
    case 'f':
        view->format = mw_option_word(state, "--format", value, view->formats);
        return 0;
    case 'n':
        view->top = mw_option_number(state, "--top", value, view->top_least);
        return 0;
    case 'o':
        view->output = value;
        return 0;
    case ARGP_KEY_ARG:
        mw_paths_add(&view->paths, value);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which trace?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int mw_option_word(struct argp_state *state, const char *option, const char *word,
                   const char *const *known)
{
    char *list = mw_text_copy("");
    for (int i = 0; known[i]; i++) {
        if (!strcmp(word, known[i])) {
            free(list);
            return i;
        }
        char *longer = mw_format("%s%s%s", list, i ? ", " : "", known[i]);
        free(list);
        list = longer;
    }
    argp_error(state, "%s: unknown value \"%s\"; known: %s", option, word, list);
    exit(MW_EXIT_USAGE);
}

long mw_option_number(struct argp_state *state, const char *option, const char *text, long least)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < least) {
        argp_error(state, "%s: \"%s\" is not a whole number of at least %ld", option, text, least);
        exit(MW_EXIT_USAGE);
    }
    return value;
}

double mw_option_percent(struct argp_state *state, const char *option, const char *text)
{
    char *end;
    errno = 0;
    double percent = strtod(text, &end);
    if (*end == '%')
        end++;
    if (end == text || *end || errno || !(percent > 0) || percent > 1000) {
        argp_error(state, "%s: \"%s\" is no percentage above 0, as 5%%", option, text);
        exit(MW_EXIT_USAGE);
    }
    return percent / 100;
}

struct mw_rank_id mw_option_rank(struct argp_state *state, const char *option, const char *text)
{
    struct mw_rank_id id;
    if (!mw_rank_label_read(text, &id)) {
        argp_error(state,
                   "%s: \"%s\" is not a rank, as 3, or as 2:3 where there are several worlds",
                   option, text);
        exit(MW_EXIT_USAGE);
    }
    return id;
}
