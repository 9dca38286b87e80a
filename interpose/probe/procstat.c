/* SPDX-License-Identifier: BSD-3-Clause */
/* See procstat.h. A name may hold anything, also blanks and parentheses: it ends at the last one.
 */
#include "probe/procstat.h"

#include <string.h>

#include "probe/sysfile.h"

enum { FIRST = 3, PARENT = 4, FLAGS = 9, UTIME = 14, STIME = 15, START = 22, CPU = 39 };

int mw_procstat_read(const char *path, struct mw_procstat *stat)
{
    char text[1024];
    uint64_t field[CPU + 1] = {0};
    struct mw_text name;
    if (mw_sys_slurp(path, text, sizeof text) <= 0)
        return -1;
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open)
        return -1;
    mw_text_init(&name, stat->name, sizeof stat->name);
    mw_text_add_some(&name, open + 1, (size_t)(close - open - 1));
    const char *at = close + 1;
    for (int i = FIRST; i <= CPU; i++) {
        at += strspn(at, " ");
        if (!*at)
            return -1;
        field[i] = mw_number(at, 10, NULL); /* of those that are no number or negative, 0 */
        at += strcspn(at, " \n");
    }
    stat->parent = field[PARENT];
    stat->flags = field[FLAGS];
    stat->ticks = field[UTIME] + field[STIME];
    stat->start = field[START];
    stat->cpu = field[CPU];
    return 0;
}
