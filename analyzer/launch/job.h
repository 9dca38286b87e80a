/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running the command of `mpiwatch run` as a child and outliving it: signals from the terminal
 * reach the job by themselves, those sent to us are passed on. Main thread only.
 */
#ifndef MW_LAUNCH_JOB_H
#define MW_LAUNCH_JOB_H

/* 1 when the command could be started. *code: for the shell: the command's, 128 + the signal that
 * killed it, 127 not found, 126 cannot be run (said). */
int mw_job_run(char *const *command, int *code);

/* A command line as one text that a shell would read back. Secrets are redacted. Free it. */
char *mw_job_command_text(char *const *command);

#endif
