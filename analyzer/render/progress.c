/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress line (progress.h). */
#include "analyzer/render/progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    int running, stop, shown;
    const char *what;
    uint64_t total;
    _Atomic uint64_t done;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};

static void progress_print(void)
{
    uint64_t done = atomic_load(&progress.done), total = progress.total;
    fprintf(stderr, "\rmpiwatch: %s", progress.what);
    if (total)
        fprintf(stderr, ": %3.0f %%", done >= total ? 100.0 : 100.0 * (double)done / (double)total);
    fputs("\033[K", stderr);
    fflush(stderr);
    progress.shown = 1;
}

static void *progress_run(void *unused)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&progress.lock);
    while (!progress.stop) {
        if (pthread_cond_timedwait(&progress.over, &progress.lock, &until) == 0)
            continue;
        progress_print();
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
    }
    pthread_mutex_unlock(&progress.lock);
    return NULL;
}

void mw_progress_begin(const char *what, uint64_t total)
{
    if (!isatty(STDERR_FILENO))
        return;
    pthread_mutex_lock(&progress.lock);
    progress.what = what;
    progress.total = total;
    atomic_store(&progress.done, 0);
    pthread_mutex_unlock(&progress.lock);
    if (!progress.running)
        progress.running = !pthread_create(&progress.thread, NULL, progress_run, NULL);
}

void mw_progress_add(uint64_t done)
{
    atomic_fetch_add(&progress.done, done);
}

void mw_progress_end(void)
{
    if (!progress.running)
        return;
    pthread_mutex_lock(&progress.lock);
    progress.stop = 1;
    pthread_cond_signal(&progress.over);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    if (progress.shown)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    progress.running = progress.stop = progress.shown = 0;
}
