/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walking /proc/self/fd; see fdwalk.h. Where a walk begins in the middle it asks the kernel to begin there (the
 * position in this folder is the descriptor + 2) and does not rely on it: what comes too early is passed over.
 */
#include "probe/fdwalk.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int mw_fdwalk_open(struct mw_fdwalk *walk, int from)
{
    int saved = errno;
    walk->from = from;
    if (mw_dir_open(&walk->dir, "/proc/self/fd") != 0)
        return -1;
    walk->dir.left = UINT_MAX; /* callers have bounds of their own */
    if (from > 0)
        (void)!syscall(SYS_lseek, walk->dir.fd, (long)from + 2, SEEK_SET);
    errno = saved;
    return 0;
}

int mw_fdwalk_next(struct mw_fdwalk *walk)
{
    const char *name;
    while ((name = mw_dir_next(&walk->dir))) {
        int fd = (int)mw_number(name, 10, NULL);
        if (fd >= walk->from && fd != walk->dir.fd)
            return fd;
    }
    return -1;
}

void mw_fdwalk_close(struct mw_fdwalk *walk)
{
    mw_dir_close(&walk->dir);
}

unsigned mw_fdwalk_total(const struct mw_fdwalk *walk)
{
    struct stat info;
    int saved = errno;
    int got = fstat(walk->dir.fd, &info);
    errno = saved;
    return got == 0 && info.st_size > 1 ? (unsigned)info.st_size - 1 : 0;
}
