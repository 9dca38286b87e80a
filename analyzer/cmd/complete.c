/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "mpiwatch --complete WORD...": how the last word of a command line may go on. The shells' scripts
 * (analyzer/completion) ask this while one types, so that all of them know the commands' own option
 * tables, and nothing is told twice. A line for each possibility, "WORD<tab>WHAT"; ":paths" and
 * ":commands" leave it to the shell to find files or programs. Shells drop what does not fit.
 */
#include <ctype.h>
#include <string.h>

#include "analyzer/cmd/command.h"

/* Options that argp gives to every command, and those of mpiwatch itself. */
static const struct argp_option argp_options[] = {
    {"help", '?', NULL, 0, "give a help list", 0},
    {"usage", 1, NULL, 0, "give a short usage message", 0},
    {"version", 'V', NULL, 0, "print the version", 0},
    {0},
};
static const struct argp_option own_options[] = {
    {"help", '?', NULL, 0, "list the commands", 0},
    {"version", 'V', NULL, 0, "print the version", 0},
    {0},
};

/* The words before the last one, as the command would read them. */
struct line {
    const struct mw_command *command;
    const struct argp_option *open; /* option that the last word is the value of */
    int only_arguments;             /* behind "--", or behind the command that is to be run */
    int arguments;
};

static void print_word(const char *before, const char *word, const char *what, FILE *out)
{
    fprintf(out, "%s%s\t%s\n", before, word, what);
}

static void print_words(const char *before, const char *const *words, FILE *out)
{
    for (size_t i = 0; words[i]; i++)
        print_word(before, words[i], "", out);
}

static void print_commands(FILE *out)
{
    for (const struct mw_command *const *at = mw_commands; *at; at++)
        print_word("", (*at)->name, (*at)->summary, out);
}

static int has_letter(const struct argp_option *option)
{
    return option->key > 0 && option->key < 128 && isalpha(option->key);
}

/* The option of a table whose name is these `length` bytes, or whose letter it is. */
static const struct argp_option *find_option(const struct argp_option *table, const char *name,
                                             size_t length, int letter)
{
    for (; table->name; table++)
        if (letter ? table->key == letter
                   : strlen(table->name) == length && !strncmp(table->name, name, length))
            return table;
    return NULL;
}

static const struct argp_option *long_option(const struct mw_command *command, const char *word)
{
    return find_option(command->parser->options, word + 2, strcspn(word + 2, "="), 0);
}

/* The option that a word leaves without its value, or NULL. */
static const struct argp_option *left_open(const struct mw_command *command, const char *word)
{
    const struct argp_option *option = NULL;
    if (word[1] == '-') {
        option = strchr(word, '=') ? NULL : long_option(command, word);
        return option && option->arg ? option : NULL;
    }
    for (word++; *word; word++) { /* "-vo": the first that takes a value has the rest as such */
        option = find_option(command->parser->options, NULL, 0, *word);
        if (option && option->arg)
            return word[1] ? NULL : option;
    }
    return NULL;
}

static void line_read(struct line *line, const char *word)
{
    if (line->open) {
        line->open = NULL;
    } else if (line->only_arguments || word[0] != '-' || !word[1]) {
        line->arguments++;
        if (line->command == &mw_command_run)
            line->only_arguments = 1;
    } else if (!strcmp(word, "--")) {
        line->only_arguments = 1;
    } else {
        line->open = left_open(line->command, word);
    }
}

static void print_options(const struct argp_option *table, FILE *out)
{
    for (; table->name; table++) {
        print_word("--", table->name, table->doc, out);
        if (has_letter(table))
            print_word("-", (const char[]){(char)table->key, 0}, table->doc, out);
    }
}

/* before: what stands in the same word before the value, "--format=". */
static void print_values(const struct mw_command *command, const struct argp_option *option,
                         const char *before, FILE *out)
{
    const char *const *words = option->key == 'f' ? command->formats
                               : command->values  ? command->values(option->key)
                                                  : NULL;
    if (words)
        print_words(before, words, out);
    else if (!strcmp(option->arg, "FILE") || !strcmp(option->arg, "NAME"))
        fputs(":paths\n", out);
}

static void print_last(const struct line *line, const char *last, FILE *out)
{
    if (line->open) {
        print_values(line->command, line->open, "", out);
    } else if (!line->only_arguments && !strncmp(last, "--", 2) && strchr(last, '=')) {
        const struct argp_option *option = long_option(line->command, last);
        char before[64];
        snprintf(before, sizeof(before), "%.*s", (int)(strchr(last, '=') + 1 - last), last);
        if (option && option->arg)
            print_values(line->command, option, before, out);
    } else if (!line->only_arguments && last[0] == '-') {
        print_options(line->command->parser->options, out);
        print_options(argp_options, out);
    } else if (line->command->actions && !line->arguments) {
        print_words("", line->command->actions, out);
    } else {
        int starts = line->command == &mw_command_run && !line->arguments;
        fputs(starts ? ":commands\n" : ":paths\n", out);
    }
}

void mw_complete(int count, char **words, FILE *out)
{
    if (count <= 1) {
        print_commands(out);
        print_word("", "help", "say more about a command", out);
        print_options(own_options, out);
        return;
    }
    if (!strcmp(words[0], "help")) {
        print_commands(out);
        return;
    }
    struct line line = {.command = mw_command_find(words[0])};
    if (!line.command)
        return;
    for (int i = 1; i < count - 1; i++)
        line_read(&line, words[i]);
    print_last(&line, words[count - 1], out);
}
