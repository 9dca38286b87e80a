/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of the self-made suite that the tests of suite.py compare: does what its argument says,
 * "pass" and "fail" with and without the library; "differ" fails with it; "count" ends with the number
 * of its errors, with the library another one; "turn FILE" passes every second time; "hang" never
 * ends; "hang-through" says that all is well first, "hang-differ" does not under the library; "abort"
 * ends with code 3, "abort-differ" with 4 under the library; "spoil" appends rubbish to the trace.
 */
#include <glob.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_recorded(void)
{
    return getenv("MPIWATCH_OUT") != NULL;
}

static int turn(const char *path)
{
    int times = 0;
    FILE *file = fopen(path, "a+");
    if (file) {
        while (fgetc(file) != EOF)
            times++;
        fputc('.', file);
        fclose(file);
    }
    return times % 2;
}

static void spoil(const char *folder)
{
    char pattern[4096];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/*.mpiw", folder);
    if (glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "r+");
        if (file) { /* over the first chunk behind the head of the file */
            fseek(file, 40, SEEK_SET);
            for (int k = 0; k < 400; k++)
                fputc('x', file);
            fclose(file);
        }
    }
    globfree(&found);
}

static int errors_of(const char *what, const char *path)
{
    if (!strcmp(what, "fail"))
        return 1;
    if (!strcmp(what, "differ"))
        return is_recorded();
    if (!strcmp(what, "turn"))
        return turn(path);
    if (!strcmp(what, "count"))
        return is_recorded() ? 3 : 5;
    return 0;
}

static void hang(const char *what, int rank)
{
    if (strncmp(what, "hang", 4))
        return;
    if (!rank && strcmp(what, "hang") && !(strstr(what, "differ") && is_recorded())) {
        printf(" No Errors\n");
        fflush(stdout);
    }
    for (;;)
        sleep(1);
}

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    const char *what = argc > 1 ? argv[1] : "pass";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!strncmp(what, "abort", 5))
        MPI_Abort(MPI_COMM_WORLD, strstr(what, "differ") && is_recorded() ? 4 : 3);
    hang(what, rank);
    MPI_Finalize();
    if (rank)
        return 0;
    if (!strcmp(what, "spoil") && is_recorded())
        spoil(getenv("MPIWATCH_OUT"));
    int errors = (sum != size * (size - 1) / 2) + errors_of(what, argc > 2 ? argv[2] : "");
    if (errors)
        printf("Found %d errors\n", errors);
    else
        printf(" No Errors\n");
    return strcmp(what, "count") ? 0 : errors;
}
