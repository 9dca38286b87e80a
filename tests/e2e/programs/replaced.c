/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program that replaces itself by another MPI program without MPI_Finalize: first some messages with
 * tag 1, then, as the second, some with tag 2. "vfork": runs /bin/true by vfork and exec instead,
 * again and again. Alone, without a launcher.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void messages(int count, int tag)
{
    int from = tag, to;
    for (int i = 0; i < count; i++)
        MPI_Sendrecv(&from, 1, MPI_INT, 0, tag, &to, 1, MPI_INT, 0, tag, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
}

static int start_true(void)
{
    int status = -1;
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

int main(int argc, char **argv)
{
    int second = argc > 1 && strcmp(argv[1], "second") == 0;
    MPI_Init(&argc, &argv);
    messages(100, second ? 2 : 1);
    if (argc > 1 && strcmp(argv[1], "vfork") == 0) {
        for (int i = 0; i < 20; i++) {
            if (start_true() != 0)
                return 3;
            messages(10, 1);
        }
    } else if (!second) {
        execl(argv[0], argv[0], "second", (char *)NULL);
        return 4;
    }
    MPI_Finalize();
    puts(second ? "second done" : "done");
    return 0;
}
