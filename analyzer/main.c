/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mpiwatch command: finds the subcommand and hands over to it. Each stands in a file of its own
 * under cmd/.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/cmd/command.h"

const char *argp_program_version = "mpiwatch " MW_VERSION;

static void print_help(FILE *out)
{
    fputs("Usage: mpiwatch COMMAND [OPTION...] [ARGUMENT...]\n"
          "Records MPI jobs and says who talked to whom, how much and how long.\n\n",
          out);
    for (const struct mw_command *const *at = mw_commands; *at; at++)
        fprintf(out, "  %-10s %s\n", (*at)->name, (*at)->summary);
    fputs("\n\"mpiwatch COMMAND --help\" says more about each; \"mpiwatch --version\" gives the\n"
          "version. A TRACE is a folder NAME.mpiw, a packed file, or node files of one.\n",
          out);
}

static int run_command(const struct mw_command *command, int argc, char **argv)
{
    argv[0] = mw_format("mpiwatch %s", command->name);
    int status = command->run(argc, argv);
    free(argv[0]);
    return status;
}

/* "mpiwatch help report" is "mpiwatch report --help". */
static int help_command(const char *name)
{
    const struct mw_command *command = name ? mw_command_find(name) : NULL;
    char option[] = "--help", *argv[] = {NULL, option, NULL};
    if (command)
        return run_command(command, 2, argv);
    if (name) {
        mw_complain("there is no command \"%s\"", name);
        return MW_EXIT_USAGE;
    }
    print_help(stdout);
    return MW_EXIT_OK;
}

int main(int argc, char **argv)
{
    /* Characters as the terminal has them; numbers always with a point. */
    setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX == 1) /* libsmartcols never ends on a byte that the locale has no character for */
        setlocale(LC_CTYPE, "C.UTF-8");
    argp_err_exit_status = MW_EXIT_USAGE;
    if (argc < 2) {
        print_help(stderr);
        return MW_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        puts(argp_program_version);
        return MW_EXIT_OK;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "-h"))
        return help_command(NULL);
    if (!strcmp(argv[1], "help"))
        return help_command(argc > 2 ? argv[2] : NULL);
    if (!strcmp(argv[1], "--complete")) {
        mw_complete(argc - 2, argv + 2, stdout);
        return MW_EXIT_OK;
    }
    const struct mw_command *command = mw_command_find(argv[1]);
    if (!command) {
        mw_complain("there is no command \"%s\"; \"mpiwatch --help\" lists them", argv[1]);
        return MW_EXIT_USAGE;
    }
    return run_command(command, argc - 1, argv + 1);
}
