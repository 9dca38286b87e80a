/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which devices this process has open, and which kinds of shared memory of MPI and fabric
 * libraries it has mapped: links in /proc/self/fd at the end of MPI_Init and at the end, lines of
 * /proc/self/maps at the end of MPI_Init. Says too whether the devices for copies within a node
 * are there at all. Runs in steps of probes.c; opens no device.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/fdwalk.h"
#include "probe/probe.h"
#include "trace/chunk.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define LOOK_MOST   65536u
#define TOLD_MAX    128u
#define TEXT_MAX    8192u

/* Devices of networks, GPUs and copying; what stands here begins their names. */
static const char *const devices[] = {
    "/dev/infiniband/", "/dev/hfi1",   "/dev/cxi",   "/dev/ipath", "/dev/usnic",   "/dev/kgni",
    "/dev/bxi",         "/dev/efa",    "/dev/knem",  "/dev/xpmem", "/dev/gdrdrv",  "/dev/kfd",
    "/dev/dri/render",  "/dev/nvidia", "/dev/accel", "/dev/psm",   "/dev/open-mx", "/dev/dsa/",
};

/* Names of files by which libraries share memory within a node; numbers and random letters
 * follow. */
static const char *const segments[] = {
    "vader_segment", "sm_segment",     "shared_mem_pool", "osc_sm",
    "osc_rdma",      "mpich_shar_tmp", "ucx_shm_posix",   "SYSV",
    "psm2_shm",      "psm3_shm",       "cray-shared-mem", "Intel_MPI",
    "fi_shm",        "ofi_shm",
};

/* What has been said: hashes, for an item is written once. */
static uint64_t told[TOLD_MAX];
static unsigned told_count;

static int first_time(const char *text, size_t length)
{
    uint64_t hash = mw_hash64(text, length);
    for (unsigned i = 0; i < told_count; i++)
        if (told[i] == hash)
            return 0;
    if (told_count == TOLD_MAX)
        return 0;
    told[told_count++] = hash;
    return 1;
}

static int begins(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, list[i], strlen(list[i])) == 0)
            return (int)i;
    return -1;
}

/* Most descriptors are none, and need no look at what they are called. */
static int is_file(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && !S_ISSOCK(info.st_mode) && !S_ISFIFO(info.st_mode);
}

/* What /proc says a device is called. */
static long device_path(int fd, char *out, size_t capacity)
{
    char link[40];
    struct mw_text text;
    mw_text_init(&text, link, sizeof link);
    mw_text_add(&text, "/proc/self/fd/");
    mw_text_add_u64(&text, (uint64_t)fd);
    return mw_sys_link(link, out, capacity);
}

static void look_at_descriptors(void)
{
    struct mw_fdwalk walk;
    char path[256];
    unsigned looked = 0;
    int fd, unread = 0;
    if (mw_fdwalk_open(&walk, 0) != 0) {
        mw_choice("probe", "openfiles", "not covered", "/proc cannot be read");
        return;
    }
    while ((fd = mw_fdwalk_next(&walk)) >= 0) {
        if (looked++ == LOOK_MOST || mw_probe_late()) {
            mw_choice("probe", "openfiles", "partly", "not all descriptors were looked at");
            break;
        }
        if (!is_file(fd))
            continue;
        if (device_path(fd, path, sizeof path) <= 0)
            unread |= is_file(fd); /* and not closed meanwhile */
        else if (begins(path, devices, COUNT(devices)) >= 0 && first_time(path, strlen(path)))
            mw_choice("device", path, "open", "/proc/self/fd");
    }
    mw_fdwalk_close(&walk);
    if (unread)
        mw_choice("probe", "openfiles", "partly", "links in /proc/self/fd cannot be read");
}

/* A line of maps: "from-to rwxs offset device inode    path". */
static void look_at_mapping(char *line)
{
    char *path = strchr(line, '/');
    if (!path)
        return;
    char *gone = strstr(path, " (deleted)");
    if (gone)
        *gone = '\0';
    if (begins(path, devices, COUNT(devices)) >= 0) {
        if (first_time(path, strlen(path)))
            mw_choice("device", path, "open", "/proc/self/maps");
        return;
    }
    const char *base = strrchr(path, '/') + 1;
    int which = begins(base, segments, COUNT(segments));
    char mode = line[strcspn(line, " ")] == ' ' ? line[strcspn(line, " ") + 4] : 'p';
    if (which >= 0 && mode == 's' && first_time(segments[which], strlen(segments[which])))
        mw_choice("shm", segments[which], "mapped", "/proc/self/maps");
}

static void look_at_mappings(void)
{
    static char text[TEXT_MAX]; /* one step at a time */
    size_t have = 0;
    long got;
    int fd = mw_sys_open("/proc/self/maps");
    if (fd < 0)
        return;
    while ((got = mw_sys_read(fd, text + have, sizeof text - 1 - have)) > 0) {
        char *line = text, *end;
        have += (size_t)got;
        text[have] = '\0';
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            look_at_mapping(line);
        }
        have = have - (size_t)(line - text);
        memmove(text, line, have);
        if (mw_probe_late()) {
            mw_choice("probe", "openfiles", "partly", "not all mappings were looked at");
            break;
        }
        if (have == sizeof text - 1) /* a line longer than any path */
            have = 0;
    }
    mw_sys_close(fd);
}

/* Devices that MPI would use for copies between processes if they were there. */
static void look_for(const char *path)
{
    if (syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0)
        return;
    int allowed = syscall(SYS_faccessat, AT_FDCWD, path, R_OK | W_OK) == 0;
    mw_choice("device", path, allowed ? "present" : "not permitted", "access");
}

static void ready(void)
{
    int saved = errno;
    look_for("/dev/knem");
    look_for("/dev/xpmem");
    look_at_descriptors();
    look_at_mappings();
    errno = saved;
}

/* Devices may have been opened since. Shared memory is set up in MPI_Init, and the kernel takes
 * its time for the list of mappings (half a millisecond where many libraries are loaded): not
 * again. */
static void finish(enum mw_end_reason reason)
{
    int saved = errno;
    look_at_descriptors();
    errno = saved;
}

const struct mw_probe mw_probe_openfiles = {
    .name = "openfiles", .limit_us = 10000, .ready = ready, .finish = finish};
