/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives of messages that are too long, in every form: each has taken its message, as the next one
 * shows. Collectives that are refused on one rank for a wrong argument and are made again, and one that
 * fails where it is. MPI_ERRORS_RETURN; rank 1 receives; prints classes. Two ranks.
 */
#include <mpi.h>
#include <stdio.h>

enum { FORMS = 7, LENGTH = 8 };

static int rank, buffer[LENGTH];
static MPI_Status status;

static int receive_short(int form)
{
    MPI_Request request;
    MPI_Message message;
    int code = MPI_SUCCESS, flag = 0, none = 0;
    switch (form) {
    case 0:
        return MPI_Recv(buffer, 1, MPI_INT, 0, form, MPI_COMM_WORLD, &status);
    case 1:
        return MPI_Recv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE);
    case 2:
        MPI_Irecv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, form, MPI_COMM_WORLD, &request);
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    case 3:
        MPI_Irecv(buffer, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        return MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    case 4:
        return MPI_Sendrecv(&none, 1, MPI_INT, 0, form, buffer, 1, MPI_INT, 0, form, MPI_COMM_WORLD,
                            &status);
    case 5:
        MPI_Mprobe(0, form, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        return MPI_Mrecv(buffer, 1, MPI_INT, &message, &status);
    default:
        MPI_Irecv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, form, MPI_COMM_WORLD, &request);
        while (code == MPI_SUCCESS && !flag)
            code = MPI_Test(&request, &flag, &status);
        return code;
    }
}

static void receive(int form)
{
    int class = -1, code = receive_short(form);
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    MPI_Recv(buffer, LENGTH, MPI_INT, 0, form, MPI_COMM_WORLD, &status);
    /* in one piece, as the other rank prints, too */
    printf("form %d %s, then message %d\n", form,
           class == MPI_ERR_TRUNCATE || class == MPI_ERR_IN_STATUS ? "truncated" : "otherwise",
           buffer[0]);
}

static void send(int form)
{
    for (int i = 0; i < 2; i++) {
        buffer[0] = i;
        MPI_Send(buffer, LENGTH, MPI_INT, 1, form, MPI_COMM_WORLD);
    }
    if (form == 4)
        MPI_Recv(buffer, LENGTH, MPI_INT, 1, form, MPI_COMM_WORLD, &status);
}

static void say(const char *what, int code)
{
    int class = 0;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    printf("%s %s\n", what, class ? "failed" : "succeeded");
}

static void collectives(void)
{
    MPI_Comm comm;
    MPI_Request request;
    if (rank == 0) {
        say("count", MPI_Bcast(buffer, -1, MPI_INT, 0, MPI_COMM_WORLD));
        say("root", MPI_Bcast(buffer, 1, MPI_INT, 77, MPI_COMM_WORLD));
        say("operation", MPI_Allreduce(MPI_IN_PLACE, buffer, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
        say("nonblocking", MPI_Ibcast(buffer, -1, MPI_INT, 0, MPI_COMM_WORLD, &request));
        say("communicator", MPI_Comm_dup(MPI_COMM_WORLD, NULL));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* both are in it; the other's message is too long */
    say("gather", MPI_Gather(buffer, rank == 1 ? 4 : 1, MPI_INT, buffer + 4, 1, MPI_INT, 0,
                             MPI_COMM_WORLD) == MPI_SUCCESS || rank == 0 ? MPI_SUCCESS : 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int form = 0; form < FORMS; form++) {
        if (rank == 0)
            send(form);
        else
            receive(form);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    collectives();
    MPI_Finalize();
    return 0;
}
