/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds of calls (rounds.h) of one kind, whose instructions valgrind counts (instructions.py): count KIND ROUNDS.
 * Those in counted() are counted; some have gone before, so that first times are not among them. They
 * are made in a thread, as the kernel does not tell where valgrind's program has its first stack, and
 * call sites on a stack of unknown extent are unwound anew each time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "rounds.h"

enum { WARM = 300 };

static const struct kind {
    const char *name;
    void (*body)(long rounds);
} kinds[] = {{"iprobe", iprobe}, {"self_message", messages_to_self}, {"allreduce", allreduce}};

static const struct kind *kind;
static long rounds;

static __attribute__((noinline)) void *counted(void *argument)
{
    kind->body(rounds);
    return argument;
}

static void *thread_main(void *argument)
{
    kind->body(WARM);
    return counted(argument);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided;
    if (argc < 3)
        return 2;
    rounds = atol(argv[2]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(argv[1], kinds[i].name))
            kind = &kinds[i];
    if (kind && !pthread_create(&thread, NULL, thread_main, NULL))
        pthread_join(thread, NULL);
    MPI_Finalize();
    return kind ? 0 : 2;
}
