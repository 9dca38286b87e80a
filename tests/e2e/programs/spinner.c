/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps processors busy for half a minute: `spinner THREADS`. No MPI: what an earlier job left. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *spin(void *unused)
{
    for (volatile unsigned long i = 0;; i++)
        ;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
        pthread_create(&thread, NULL, spin, NULL);
    sleep(30);
    return 0;
}
