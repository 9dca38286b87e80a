/* SPDX-License-Identifier: BSD-3-Clause */
/* A preload library with a data race: what the sanitizer must notice where it is used as t_tsan.py does. */
#include <pthread.h>
#include <stddef.h>

static long shared;

static void *count(void *argument)
{
    for (int i = 0; i < 100000; i++)
        shared++;
    return argument;
}

__attribute__((constructor)) static void race(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}
