/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns finding and opening the mappings that processes left in /dev/shm, and telling whether their
 * process still lives. Runs in the reader, in the command, and in a recording process when it
 * starts: no malloc, no stdio, no locale, errno is the caller's on success. The mapping is read,
 * never mapped and never written, and nothing in it is believed: it may be half made, damaged, or
 * somebody's attempt to mislead us.
 */
#include "trace/residue.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/residue_internal.h"

enum mw_status mw_residue_pread(int fd, void *to, size_t size, uint64_t offset)
{
    uint8_t *at = to;
    while (size) {
        ssize_t got = pread(fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return MW_ERR_SYSTEM;
        if (got == 0)
            return MW_ERR_CORRUPT;
        at += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return MW_OK;
}

void *mw_residue_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void mw_residue_memory_free(void *memory, size_t size)
{
    int saved = errno;
    if (memory)
        munmap(memory, size);
    errno = saved;
}

static void fd_close(int fd)
{
    int saved = errno;
    close(fd);
    errno = saved;
}

uint64_t mw_residue_namespace(const char *path)
{
    struct stat st;
    int saved = errno;
    uint64_t inode = stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
    errno = saved;
    return inode;
}

/* A small file of /proc as text; its length, 0 where it cannot be read. */
static size_t proc_read(const char *path, char *text, size_t room)
{
    int saved = errno;
    size_t size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t got;
        while (size < room - 1 && (got = read(fd, text + size, room - 1 - size)) > 0)
            size += (size_t)got;
        close(fd);
    }
    text[size] = '\0';
    errno = saved;
    return size;
}

int mw_residue_same_boot(const char *boot_id, size_t size)
{
    char here[64];
    enum { LENGTH = 36 };
    return size > LENGTH && boot_id[LENGTH] == '\0' &&
           proc_read("/proc/sys/kernel/random/boot_id", here, sizeof here) >= LENGTH &&
           memcmp(boot_id, here, LENGTH) == 0;
}

/* Writes digits at `to`; returns the place after them. */
static char *put_decimal(char *to, uint64_t value)
{
    char digits[20];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

/* The field of that number (from 3) of a /proc/PID/stat line, after the name in parentheses. */
static uint64_t stat_field(const char *after_name, int number)
{
    uint64_t value = 0;
    for (int at = 3; *after_name && at < number; after_name++)
        at += *after_name == ' ';
    for (; *after_name >= '0' && *after_name <= '9'; after_name++)
        value = value * 10 + (uint64_t)(*after_name - '0');
    return value;
}

enum life { DEAD, ALIVE, UNKNOWN };

/* In this pid namespace. A number that was given to another process since has another start time.
 */
static enum life process_life(uint64_t pid, uint64_t start_time)
{
    char path[64] = "/proc/", text[1024];
    strcpy(put_decimal(path + strlen(path), pid), "/stat");
    if (proc_read(path, text, sizeof text) == 0) {
        int saved = errno;
        int gone = kill((pid_t)pid, 0) != 0 && errno == ESRCH;
        errno = saved;
        return gone ? DEAD : UNKNOWN;
    }
    const char *after_name = strrchr(text, ')');
    if (!after_name || after_name[1] != ' ')
        return UNKNOWN;
    after_name += 2;
    if (stat_field(after_name, 22) != start_time)
        return DEAD;
    /* A zombie with more threads than one is a program whose first thread has left. */
    if ((*after_name == 'Z' || *after_name == 'X') && stat_field(after_name, 20) <= 1)
        return DEAD;
    return ALIVE;
}

static void residue_judge(struct mw_residue *residue)
{
    const struct mw_map_header *header = residue->header;
    uint64_t pid_ns = mw_residue_namespace("/proc/self/ns/pid");
    residue->alive = 0;
    residue->foreign = 1;
    if (!mw_residue_same_boot(header->boot_id, sizeof header->boot_id)) {
        return;
    }
    if (pid_ns == 0 || header->pid_ns != pid_ns)
        return;
    enum life life = process_life(header->pid, header->start_time);
    residue->alive = life == ALIVE;
    residue->foreign = life == UNKNOWN;
}

static enum mw_status header_check(const struct mw_map_header *header)
{
    if (header->magic != MW_MAP_MAGIC)
        return MW_ERR_CORRUPT;
    if (header->layout != MW_MAP_LAYOUT)
        return MW_ERR_NEWER;
    if (header->header_size != sizeof *header || header->pid == 0 || header->pid > INT_MAX ||
        header->shift > 63)
        return MW_ERR_CORRUPT;
    return MW_OK;
}

/* Ours alone: a file that somebody else can write is not evidence, and its name proves nothing. */
static enum mw_status file_check(int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return MW_ERR_SYSTEM;
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
        return MW_ERR_CORRUPT;
    if ((uint64_t)st.st_size < sizeof(struct mw_map_header))
        return MW_ERR_CORRUPT;
    *size = (size_t)st.st_size;
    return MW_OK;
}

enum mw_status mw_residue_open(const char *path, struct mw_residue *residue)
{
    /* O_NONBLOCK: a fifo of that name must not stop us. */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? MW_ERR_NOT_FOUND
               : errno == ELOOP                    ? MW_ERR_CORRUPT
                                                   : MW_ERR_SYSTEM;
    struct mw_residue opened = {.file = fd + 1};
    enum mw_status status = file_check(fd, &opened.size);
    struct mw_map_header *header = NULL;
    if (status == MW_OK) {
        header = mw_residue_memory(sizeof *header);
        status = header ? mw_residue_pread(fd, header, sizeof *header, 0) : MW_ERR_MEMORY;
    }
    if (status == MW_OK)
        status = header_check(header);
    if (status != MW_OK) {
        mw_residue_memory_free(header, sizeof *header);
        fd_close(fd);
        return status;
    }
    opened.header = header;
    residue_judge(&opened);
    *residue = opened;
    return MW_OK;
}

void mw_residue_close(struct mw_residue *residue)
{
    if (residue->file == 0)
        return;
    mw_residue_memory_free((void *)residue->header, sizeof *residue->header);
    fd_close(residue->file - 1);
    *residue = (struct mw_residue){0};
}

/* What getdents64 gives. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

struct names {
    char *memory; /* terminated names, one after the other */
    size_t used, room;
    char prefix[64];
};

static void names_add(struct names *names, const char *name)
{
    size_t size = strlen(name) + 1;
    if (strncmp(name, names->prefix, strlen(names->prefix)) != 0 ||
        size > names->room - names->used)
        return;
    memcpy(names->memory + names->used, name, size);
    names->used += size;
}

static enum mw_status names_read(struct names *names, const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? MW_ERR_NOT_FOUND : MW_ERR_SYSTEM;
    char block[4096] __attribute__((aligned(8)));
    long got;
    /* opendir would allocate. */
    while ((got = syscall(SYS_getdents64, fd, block, sizeof block)) > 0) {
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(block + at);
            names_add(names, entry->name);
            at += entry->length;
        }
    }
    fd_close(fd);
    return got < 0 ? MW_ERR_SYSTEM : MW_OK;
}

static enum mw_status names_visit(const struct names *names, const char *folder,
                                  enum mw_status (*visit)(void *context, const char *path),
                                  void *context)
{
    char path[PATH_MAX];
    size_t length = strlen(folder);
    memcpy(path, folder, length);
    path[length++] = '/';
    for (size_t at = 0; at < names->used; at += strlen(names->memory + at) + 1) {
        strcpy(path + length, names->memory + at);
        enum mw_status status = visit(context, path);
        if (status != MW_OK)
            return status;
    }
    return MW_OK;
}

enum mw_status mw_residue_each(const char *folder,
                               enum mw_status (*visit)(void *context, const char *path),
                               void *context)
{
    enum { ROOM = 1 << 20 }; /* some ten thousand names; more are for the next time */
    if (strlen(folder) + 1 + NAME_MAX + 1 > PATH_MAX)
        return MW_ERR_ARGUMENT;
    struct names names = {.room = ROOM, .prefix = MW_MAP_PREFIX};
    strcpy(put_decimal(names.prefix + strlen(names.prefix), geteuid()), "-");
    /* First all names, then the visits: those rename and remove what is being listed. */
    names.memory = mw_residue_memory(ROOM);
    if (!names.memory)
        return MW_ERR_MEMORY;
    enum mw_status status = names_read(&names, folder);
    if (status == MW_OK)
        status = names_visit(&names, folder, visit, context);
    mw_residue_memory_free(names.memory, ROOM);
    return status;
}
