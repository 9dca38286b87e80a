/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command (job.h). Signal handlers are set while the child runs and do nothing but kill().
 */
#include "analyzer/launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/cmd/command.h"
#include "interpose/probe/redact.h"

#define ARGUMENT_MAX 4096

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))
static volatile sig_atomic_t job_child;

/* The terminal sends its signals to the whole process group: the job has them already. What a
 * process sent was meant for the job. */
static void pass_on(int signal, siginfo_t *info, void *unused)
{
    int error = errno;
    if (job_child > 0 && info->si_code <= 0)
        kill((pid_t)job_child, signal);
    errno = error;
}

static void signals_set(struct sigaction *old)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < PASSED_ON; i++) {
        sigaction(passed_on[i], NULL, &old[i]);
        /* What was ignored (nohup) stays ignored, here and in the child. */
        if (old[i].sa_handler != SIG_IGN)
            sigaction(passed_on[i], &action, NULL);
    }
}

static void signals_restore(const struct sigaction *old)
{
    for (size_t i = 0; i < PASSED_ON; i++)
        sigaction(passed_on[i], &old[i], NULL);
}

static void child_run(char *const *command, const struct sigaction *old, const sigset_t *mask,
                      int report)
{
    signals_restore(old);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(command[0], command);
    int error = errno;
    ssize_t ignored = write(report, &error, sizeof(error));
    (void)ignored;
    _exit(127);
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return MW_EXIT_FAILED;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int mw_job_run(char *const *command, int *code)
{
    struct sigaction old[PASSED_ON];
    sigset_t all, mask;
    int ends[2], error = 0;
    if (pipe2(ends, O_CLOEXEC)) {
        mw_complain("%s: %s", command[0], strerror(errno));
        *code = 126;
        return 0;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); /* no signal is lost between fork and job_child */
    signals_set(old);
    pid_t child = fork();
    if (child == 0)
        child_run(command, old, &mask, ends[1]);
    error = child < 0 ? errno : 0;
    job_child = child > 0 ? (sig_atomic_t)child : 0;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    if (child > 0 && read(ends[0], &error, sizeof(error)) != (ssize_t)sizeof(error))
        error = 0;
    close(ends[0]);
    *code = child > 0 ? wait_for(child) : 126;
    job_child = 0;
    signals_restore(old);
    if (!error)
        return 1;
    mw_complain("%s: %s", command[0], strerror(error));
    *code = error == ENOENT ? 127 : 126;
    return 0;
}

static int needs_quotes(const char *text)
{
    return !*text || strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "_-+=.,:/@%^<>[]") != strlen(text);
}

/* 'it'\''s' */
static char *quoted(const char *text)
{
    if (!needs_quotes(text))
        return mw_text_copy(text);
    char *out = mw_alloc(4 * strlen(text) + 3, 1), *to = out;
    *to++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            to = mempcpy(to, "'\\''", 4);
        else
            *to++ = *text;
    }
    *to = '\'';
    return out;
}

/* The value of a variable of ours, as in "-genv MPIWATCH_JOB x" or "MPIWATCH_JOB=x": it holds no
 * secret, but the job's key looks like one; the command line in it was redacted when it was made.
 * After "-x MPIWATCH_JOB" stands something else. */
static int own_variable(char *const *command, size_t at)
{
    static const char *const names[] = {"MPIWATCH_JOB", "MPIWATCH_OUT", "MPIWATCH_COMMAND"};
    int pair = at >= 2 && (!strcmp(command[at - 2], "-genv") || !strcmp(command[at - 2], "-env"));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);
        if ((pair && !strcmp(command[at - 1], names[i])) ||
            (!strncmp(command[at], names[i], length) && command[at][length] == '='))
            return 1;
    }
    return 0;
}

char *mw_job_command_text(char *const *command)
{
    char *text = mw_text_copy(""), argument[ARGUMENT_MAX];
    for (size_t i = 0; command[i]; i++) {
        int own = own_variable(command, i);
        if (!own)
            mw_redact_argument(i ? command[i - 1] : NULL, command[i], argument, sizeof(argument));
        char *safe = quoted(own ? command[i] : argument);
        char *longer = mw_format("%s%s%s", text, i ? " " : "", safe);
        free(safe);
        free(text);
        text = longer;
    }
    return text;
}
