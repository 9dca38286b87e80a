/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the end-to-end programs share: each writes down, next to every MPI call, what a recorder
 * ought to have seen of it (environment variable MWTEST_EXPECT: prefix of one file a rank), and
 * stops the job when a result is wrong. A line is a function and the effects of that call:
 * "MPI_Send | SEND peer=1 tag=2 bytes=40 comm=world". A line "#MPI_Type_dup" is a call that may leave no
 * record: CALL(MPI_Type_dup)(...) writes it, and the test compares how often.
 */
#ifndef MWTEST_EXPECT_H
#define MWTEST_EXPECT_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MAYBE_UNUSED __attribute__((unused))

static FILE *expect_file;
MAYBE_UNUSED static void (*expect_step)(void); /* after each call, where there is one */
MAYBE_UNUSED static long expect_sum;           /* over all data received: the program's result */

MAYBE_UNUSED static void expect_open(int rank)
{
    const char *prefix = getenv("MWTEST_EXPECT");
    char path[4096];
    if (!prefix)
        return;
    snprintf(path, sizeof path, "%s.%d", prefix, rank);
    expect_file = fopen(path, "w");
    if (!expect_file) {
        perror(path);
        exit(90);
    }
}

__attribute__((unused, format(printf, 1, 2))) static void expect(const char *format, ...)
{
    va_list arguments;
    if (expect_step)
        expect_step();
    if (!expect_file)
        return;
    va_start(arguments, format);
    vfprintf(expect_file, format, arguments);
    va_end(arguments);
    fputc('\n', expect_file);
    fflush(expect_file);
}

MAYBE_UNUSED static void expect_count(const char *function)
{
    if (expect_file)
        fprintf(expect_file, "#%s\n", function);
}

/* A call that failed and called the program's error handler: MPICH 5 returns MPI_SUCCESS then. */
#define expect_handled(function, code) expect(function "%s", (code) ? " error" : " any-effects")

#define CALL(function) (expect_count(#function), function)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            MPI_Abort(MPI_COMM_WORLD, 91);                                                         \
        }                                                                                          \
    } while (0)

#endif
