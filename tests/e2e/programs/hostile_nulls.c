/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives null pointers where MPI wants requests, arrays or handles, with MPI_ERRORS_RETURN, and
 * prints the class of each error. Only calls that both MPIs check are made; one rank.
 */
#include <mpi.h>
#include <stdio.h>

static void say(const char *what, int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    printf("%-14s class %d\n", what, class);
}

int main(int argc, char **argv)
{
    MPI_Status statuses[3];
    int flag, index, count, indices[3];
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    say("wait", MPI_Wait(NULL, statuses));
    say("test", MPI_Test(NULL, &flag, statuses));
    say("waitall", MPI_Waitall(3, NULL, statuses));
    say("waitall of -1", MPI_Waitall(-1, &none, statuses));
    say("testall", MPI_Testall(3, NULL, &flag, statuses));
    say("waitany", MPI_Waitany(3, NULL, &index, statuses));
    say("testany", MPI_Testany(3, NULL, &index, &flag, statuses));
    say("waitsome", MPI_Waitsome(3, NULL, &count, indices, statuses));
    say("testsome", MPI_Testsome(3, NULL, &count, indices, statuses));
    say("request free", MPI_Request_free(NULL));
    say("cancel", MPI_Cancel(NULL));
    say("start", MPI_Start(NULL));
    say("startall", MPI_Startall(2, NULL));
    say("dup", MPI_Comm_dup(MPI_COMM_WORLD, NULL));
#ifdef MPICH_VERSION /* Open MPI crashes here */
    say("comm free", MPI_Comm_free(NULL));
#else
    say("type free", MPI_Type_free(NULL));
#endif
    say("waitall of 0", MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
