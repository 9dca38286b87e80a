/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walking over descriptors; see fdwalk.h. The kernel says how long its table is (FDSize), and
 * asking about a number that is not open takes a tenth of a microsecond, far less than an entry
 * of /proc/self/fd, which is made when it is listed. That folder serves where the table is huge,
 * as with a single descriptor of a high number.
 */
#include "probe/fdwalk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TABLE_MOST 65536u

/* Length of the kernel's table of our descriptors; 0 not known. */
static uint64_t table_size(void)
{
    char text[4096];
    const char *field;
    if (mw_sys_slurp("/proc/self/status", text, sizeof text) <= 0)
        return 0;
    field = strstr(text, "\nFDSize:");
    return field ? mw_number(field + 8, 10, NULL) : 0;
}

int mw_fdwalk_open_folder(struct mw_fdwalk *walk, int from)
{
    walk->next = from > 0 ? from : 0;
    walk->end = 0;
    if (mw_dir_open(&walk->dir, "/proc/self/fd") != 0)
        return -1;
    walk->dir.left = UINT_MAX; /* callers have bounds of their own */
    return 0;
}

int mw_fdwalk_open(struct mw_fdwalk *walk, int from)
{
    uint64_t size = table_size();
    if (size == 0 || size > TABLE_MOST)
        return mw_fdwalk_open_folder(walk, from);
    walk->next = from > 0 ? from : 0;
    walk->end = (int)size;
    walk->dir.fd = -1;
    return 0;
}

int mw_fdwalk_next(struct mw_fdwalk *walk)
{
    const char *name;
    if (walk->end)
        return walk->next < walk->end ? walk->next++ : -1;
    while ((name = mw_dir_next(&walk->dir))) {
        int fd = (int)mw_number(name, 10, NULL);
        if (fd >= walk->next && fd != walk->dir.fd)
            return fd;
    }
    return -1;
}

void mw_fdwalk_close(struct mw_fdwalk *walk)
{
    mw_dir_close(&walk->dir);
}

unsigned mw_fdwalk_rest(struct mw_fdwalk *walk, unsigned most)
{
    unsigned count = 0;
    int fd, saved = errno;
    while (count < most && (fd = mw_fdwalk_next(walk)) >= 0)
        count += syscall(SYS_fcntl, fd, F_GETFD) >= 0;
    errno = saved;
    return count;
}
