/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profiling tool that works at the ends, as mpiP and IPM do: in MPI_Init it makes a communicator
 * of its own, in MPI_Finalize it gathers over it, and from exit it calls what may be called then;
 * where the program has not finalized MPI, it does. Compiled with the mpi.h of each MPI. Writes
 * what it found to MWTOOL_OUT.PID.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static MPI_Comm own = MPI_COMM_NULL;
static long calls; /* MPI_Sendrecv */

static void tell(const char *name, long value)
{
    const char *prefix = getenv("MWTOOL_OUT");
    char path[4096];
    if (!prefix)
        return;
    snprintf(path, sizeof path, "%s.%d", prefix, (int)getpid());
    FILE *file = fopen(path, "a");
    if (file) {
        fprintf(file, "%s %ld\n", name, value);
        fclose(file);
    }
}

static int gather_and_finalize(void)
{
    long all = 0;
    PMPI_Reduce(&calls, &all, 1, MPI_LONG, MPI_SUM, 0, own);
    PMPI_Comm_free(&own);
    tell("gathered", all);
    return PMPI_Finalize();
}

static void at_exit(void)
{
    int initialized = 0, finalized = 0, version = 0, subversion = 0;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    PMPI_Get_version(&version, &subversion);
    tell("version", version * 10 + subversion);
    tell("finalized_at_exit", finalized + 1);
    if (initialized && !finalized)
        gather_and_finalize();
}

static int started(int code)
{
    if (code == MPI_SUCCESS) {
        PMPI_Comm_dup(MPI_COMM_WORLD, &own);
        atexit(at_exit);
    }
    return code;
}

int MPI_Init(int *argc, char ***argv)
{
    return started(PMPI_Init(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return started(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int dest, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int source, int in_tag,
                 MPI_Comm comm, MPI_Status *status)
{
    calls++;
    return PMPI_Sendrecv(out, out_count, out_type, dest, out_tag, in, in_count, in_type, source,
                         in_tag, comm, status);
}

int MPI_Finalize(void)
{
    return gather_and_finalize();
}
