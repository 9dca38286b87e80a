/* SPDX-License-Identifier: BSD-3-Clause */
/* One line on stderr at most; see message.h. A single write, no stdio. */
#include "output/message.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static int speaks = 1;
static _Atomic int said;

void mw_message_start(const struct mw_job_facts *job)
{
    speaks = job->rank <= 0;
}

void mw_message_once(const char *what, const char *subject, const char *more)
{
    char line[2048];
    if (!speaks || atomic_exchange(&said, 1))
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
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)length);
    (void)ignored;
}
