/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns moving what a dead process left into its node file and removing the mapping. Runs in the
 * command and in a recording process when it starts, under the rules of residue.c: no malloc, no
 * stdio. Writes to one file only: the node file that the mapping names, after making sure that it
 * is a trace's file and this user's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/chunk.h"
#include "trace/residue.h"
#include "trace/residue_internal.h"

enum { UNFINISHED_SECONDS = 3600 };

static void fd_close(int fd)
{
    int saved = errno;
    close(fd);
    errno = saved;
}

static enum mw_status status_of_errno(void)
{
    return errno == ENOENT || errno == ENOTDIR ? MW_ERR_NOT_FOUND : MW_ERR_SYSTEM;
}

/* Parts of a path: the folder's name goes to `folder`, the file's is returned. NULL when it is no
 * absolute path of a file. */
static const char *path_split(const char path[MW_MAP_PATH], char folder[MW_MAP_PATH])
{
    if (path[0] != '/' || !memchr(path, '\0', MW_MAP_PATH))
        return NULL;
    const char *name = strrchr(path, '/') + 1;
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return NULL;
    memcpy(folder, path, (size_t)(name - path));
    folder[name - path] = '\0';
    return name;
}

/* The trace's folder itself, not one that has its name now. (Its device number may change when it
 * is mounted again.) */
static enum mw_status folder_open(const char *folder, uint64_t inode, int *fd)
{
    struct stat st;
    *fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return status_of_errno();
    if (fstat(*fd, &st) == 0 && (uint64_t)st.st_ino == inode)
        return MW_OK;
    fd_close(*fd);
    return MW_ERR_NOT_FOUND;
}

static enum mw_status node_file_check(int fd, uint64_t file_process)
{
    struct stat st;
    uint8_t first[MW_CHUNK_HEADER_SIZE];
    struct mw_chunk_header header;
    if (fstat(fd, &st) != 0)
        return MW_ERR_SYSTEM;
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return MW_ERR_NOT_TRACE;
    enum mw_status status = mw_residue_pread(fd, first, sizeof first, 0);
    if (status == MW_OK)
        status = mw_chunk_parse(first, &header);
    if (status == MW_OK && file_process && header.process != file_process)
        return MW_ERR_NOT_FOUND; /* a newer trace has the place of ours */
    return status == MW_OK || status == MW_ERR_SYSTEM ? status : MW_ERR_NOT_TRACE;
}

static enum mw_status node_file_open(const struct mw_map_header *header, int *fd)
{
    char folder[MW_MAP_PATH];
    const char *name = path_split(header->node_file, folder);
    int folder_fd;
    if (!name)
        return MW_ERR_CORRUPT;
    enum mw_status status = folder_open(folder, header->folder_ino, &folder_fd);
    if (status != MW_OK)
        return status;
    int opened = openat(folder_fd, name, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (opened < 0)
        status = errno == ELOOP ? MW_ERR_NOT_TRACE : status_of_errno();
    fd_close(folder_fd);
    if (status != MW_OK)
        return status;
    status = node_file_check(opened, header->file_process);
    if (status == MW_OK)
        *fd = opened;
    else
        fd_close(opened);
    return status;
}

int mw_residue_belongs(const struct mw_residue *residue, uint64_t folder_dev, uint64_t folder_ino)
{
    int fd;
    if (residue->header->folder_dev != folder_dev || residue->header->folder_ino != folder_ino)
        return 0;
    if (!residue->header->file_process)
        return 1; /* it had not begun to write */
    if (node_file_open(residue->header, &fd) != MW_OK)
        return 0;
    fd_close(fd);
    return 1;
}

struct append {
    int fd;
    uint64_t bytes;
};

/* Writing beyond the limit would raise SIGXFSZ in a program that is not ours. */
static int within_limit(int fd, size_t size)
{
    struct rlimit limit;
    struct stat st;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return 1;
    if (fstat(fd, &st) != 0)
        return 0;
    if ((uint64_t)st.st_size <= limit.rlim_cur && size <= limit.rlim_cur - (uint64_t)st.st_size)
        return 1;
    errno = EFBIG;
    return 0;
}

/* One write a chunk: others append to the same file. What a full disk cuts short is tried again at
 * once, because nothing else could make it whole. */
static enum mw_status append_chunk(void *context, const uint8_t *chunk, size_t size)
{
    struct append *append = context;
    size_t done = 0;
    if (!within_limit(append->fd, size))
        return MW_ERR_SYSTEM;
    while (done < size) {
        ssize_t wrote = write(append->fd, chunk + done, size - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return MW_ERR_SYSTEM;
        done += (size_t)wrote;
    }
    append->bytes += size;
    return MW_OK;
}

static enum mw_status residue_append(const struct mw_residue *residue, uint64_t *bytes)
{
    struct append append = {.fd = -1};
    enum mw_status status = node_file_open(residue->header, &append.fd);
    if (status != MW_OK)
        return status;
    status = mw_residue_chunks(residue, append_chunk, &append);
    fd_close(append.fd);
    /* What made no sense will not make more the next time. */
    if (status == MW_ERR_CORRUPT)
        status = MW_OK;
    if (status == MW_OK)
        *bytes = append.bytes;
    return status;
}

/* The name without a claim, and the name with ours. */
static enum mw_status claim_names(const char *path, char base[PATH_MAX], char claim[PATH_MAX])
{
    const char *name = strrchr(path, '/');
    const char *claimed = strstr(name ? name : path, MW_CLAIM_INFIX);
    size_t length = claimed ? (size_t)(claimed - path) : strlen(path);
    enum { SUFFIX_MAX = sizeof MW_CLAIM_INFIX + 20 };
    if (length + SUFFIX_MAX > PATH_MAX)
        return MW_ERR_ARGUMENT;
    memcpy(base, path, length);
    base[length] = '\0';
    memcpy(claim, base, length);
    strcpy(claim + length, MW_CLAIM_INFIX);
    char digits[20], *to = claim + strlen(claim);
    size_t count = 0;
    unsigned long pid = (unsigned long)getpid();
    do
        digits[count++] = (char)('0' + pid % 10);
    while (pid /= 10);
    while (count)
        *to++ = digits[--count];
    *to = '\0';
    return MW_OK;
}

/* The trace was removed or moved away: its folder's parent is there (so nothing is merely not mounted), but not
 * the folder. What is left of it here belongs nowhere and would fill /dev/shm for ever. */
static int trace_is_gone(const struct mw_map_header *header)
{
    char folder[MW_MAP_PATH];
    int fd;
    if (!path_split(header->node_file, folder))
        return 1;
    if (folder_open(folder, header->folder_ino, &fd) == MW_OK) {
        fd_close(fd);
        /* Somebody may be moving its files about; but a file of another trace has come to stay. */
        return access(header->node_file, F_OK) == 0;
    }
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        folder[--length] = '\0';
    char *slash = strrchr(folder, '/');
    slash[slash == folder ? 1 : 0] = '\0';
    return access(folder, F_OK) == 0;
}

static int path_is_still(const char *path, int fd)
{
    struct stat by_path, by_fd;
    return lstat(path, &by_path) == 0 && fstat(fd, &by_fd) == 0 && by_path.st_ino == by_fd.st_ino &&
           by_path.st_dev == by_fd.st_dev;
}

static enum mw_status residue_move(const char *path, const struct mw_residue *residue,
                                   uint64_t *bytes)
{
    char base[PATH_MAX], claim[PATH_MAX];
    enum mw_status status = claim_names(path, base, claim);
    if (status != MW_OK)
        return status;
    /* The lock, not the name, says who is at work: it goes when its holder dies. */
    if (flock(residue->file - 1, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? MW_ERR_ARGUMENT : MW_ERR_SYSTEM;
    if (!path_is_still(path, residue->file - 1))
        return MW_ERR_NOT_FOUND; /* whoever had the lock before has finished */
    if (rename(path, claim) != 0)
        return status_of_errno();
    status = residue_append(residue, bytes);
    int saved = errno;
    if (status == MW_OK || (status == MW_ERR_NOT_FOUND && trace_is_gone(residue->header)))
        unlink(claim);
    else
        rename(claim, base);
    errno = saved;
    return status;
}

/* A mapping whose process died before it wrote the magic has nothing in it and no end. */
static void unfinished_remove(const char *path)
{
    struct stat st;
    uint64_t magic = 1;
    int saved = errno;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        int old = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                  time(NULL) - st.st_mtime > UNFINISHED_SECONDS;
        enum mw_status status = mw_residue_pread(fd, &magic, sizeof magic, 0);
        if (old && (status == MW_ERR_CORRUPT || (status == MW_OK && magic == 0)) &&
            path_is_still(path, fd))
            unlink(path);
        close(fd);
    }
    errno = saved;
}

static enum mw_status collect(const char *path, int replaced, uint64_t *bytes)
{
    struct mw_residue residue;
    enum mw_status status = mw_residue_open(path, &residue);
    if (status == MW_ERR_CORRUPT)
        unfinished_remove(path);
    if (status != MW_OK)
        return status;
    int own = residue.alive && residue.header->pid == (uint64_t)getpid();
    if (residue.foreign || residue.alive != replaced || own != replaced) {
        status = MW_ERR_ARGUMENT;
    } else {
        residue.alive = 0;
        status = residue_move(path, &residue, bytes);
    }
    mw_residue_close(&residue);
    return status;
}

enum mw_status mw_residue_collect(const char *path, uint64_t *bytes)
{
    return collect(path, 0, bytes);
}

enum mw_status mw_residue_collect_replaced(const char *path, uint64_t *bytes)
{
    return collect(path, 1, bytes);
}
