/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of the preload libraries a job gets, and where it is. libmpiwatch.so exports every MPI
 * function of our table; with an MPI that lacks the new ones, programs that test for them would be
 * misled, so such jobs get libmpiwatch-mpi4.so (no large counts) or libmpiwatch-mpi3.so. When it
 * cannot be told it is the last: at worst some new calls are not recorded.
 */
#ifndef MW_LAUNCH_LIBRARY_H
#define MW_LAUNCH_LIBRARY_H

#include "analyzer/launch/launcher.h"

struct mw_library_choice {
    char *library; /* absolute path; NULL: not found */
    char *program; /* base name of the program that uses MPI, else of the command */
    char *reason;  /* in words, for -v */
};

void mw_library_choose(char *const *command, struct mw_library_choice *choice);

#endif
