/* SPDX-License-Identifier: BSD-3-Clause */
/* One line on stderr at most; see message.h. A single write, no stdio. */
#include "output/message.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int speaks = 1;
static _Atomic int said;
static struct stat standard_error; /* when MPI was initialised */

void mw_message_start(const struct mw_job_facts *job)
{
    speaks = job->rank <= 0 && fstat(STDERR_FILENO, &standard_error) == 0;
}

/* The program may have closed its stderr and opened a file of its own since. */
static int still_there(void)
{
    struct stat now;
    return fstat(STDERR_FILENO, &now) == 0 && now.st_dev == standard_error.st_dev &&
           now.st_ino == standard_error.st_ino;
}

/* A reader that has gone must not end the job: SIGPIPE is taken back, unless one was pending before. */
static void write_quietly(const char *line, size_t size)
{
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    if (pthread_sigmask(SIG_BLOCK, &pipe_signal, &before) != 0)
        return;
    if (write(STDERR_FILENO, line, size) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe_signal, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void mw_message_once(const char *what, const char *subject, const char *more)
{
    char line[2048];
    if (!speaks || !still_there() || atomic_exchange(&said, 1))
        return;
    int length = snprintf(line, sizeof line - 1, "mpiwatch: %s %s%s%s%s", what, subject,
                          more[0] ? " (" : "", more, more[0] ? ")" : "");
    if (length < 0)
        return;
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    for (int i = 0; i < length; i++) /* names may hold anything */
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = '?';
    line[length++] = '\n';
    write_quietly(line, (size_t)length);
}
