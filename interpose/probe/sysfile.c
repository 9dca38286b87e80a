/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See sysfile.h. The libc wrappers of open and read are avoided on purpose: an I/O tool in the
 * process replaces them, and a thread that is being cancelled must not end inside of us.
 */
#include "probe/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMES_MAX 4096u
#define RETRIES   16

int mw_sys_open(const char *path)
{
    int saved = errno;
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    errno = saved;
    return (int)fd;
}

void mw_sys_close(int fd)
{
    int saved = errno;
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved;
}

long mw_sys_read(int fd, void *out, size_t size)
{
    int saved = errno;
    long got = -1;
    for (int i = 0; i < RETRIES; i++) {
        got = syscall(SYS_read, fd, out, size);
        if (got >= 0 || errno != EINTR)
            break;
    }
    errno = saved;
    return got;
}

long mw_sys_pread(int fd, void *out, size_t size, uint64_t offset)
{
    int saved = errno;
    long got = -1;
    for (int i = 0; i < RETRIES; i++) {
        got = syscall(SYS_pread64, fd, out, size, offset);
        if (got >= 0 || errno != EINTR)
            break;
    }
    errno = saved;
    return got;
}

long mw_sys_slurp(const char *path, char *out, size_t capacity)
{
    out[0] = '\0';
    int fd = mw_sys_open(path);
    if (fd < 0)
        return -1;
    size_t size = 0;
    long got = 0;
    while (size + 1 < capacity) {
        got = mw_sys_read(fd, out + size, capacity - 1 - size);
        if (got <= 0)
            break;
        size += (size_t)got;
    }
    mw_sys_close(fd);
    out[size] = '\0';
    return got < 0 && size == 0 ? -1 : (long)size;
}

long mw_sys_line(const char *path, char *out, size_t capacity)
{
    if (mw_sys_slurp(path, out, capacity) < 0)
        return -1;
    size_t size = strcspn(out, "\n");
    while (size && (out[size - 1] == ' ' || out[size - 1] == '\t' || out[size - 1] == '\r'))
        size--;
    out[size] = '\0';
    return (long)size;
}

int mw_sys_number(const char *folder, const char *name, int base, uint64_t *value)
{
    char path[1024], text[64];
    const char *end;
    *value = 0;
    if (mw_sys_line(mw_join(path, sizeof path, folder, "/", name, NULL), text, sizeof text) <= 0)
        return 0;
    const char *start = base == 16 && strncmp(text, "0x", 2) == 0 ? text + 2 : text;
    *value = mw_number(start, base, &end);
    return end != start;
}

long mw_sys_link(const char *path, char *out, size_t capacity)
{
    int saved = errno;
    long got = syscall(SYS_readlinkat, AT_FDCWD, path, out, capacity - 1);
    errno = saved;
    out[got > 0 ? got : 0] = '\0';
    return got;
}

/* As the kernel writes it (getdents64(2)). */
struct dirent_record {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

int mw_dir_open(struct mw_dir *dir, const char *path)
{
    int saved = errno;
    dir->have = dir->at = 0;
    dir->left = NAMES_MAX;
    dir->fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0);
    errno = saved;
    return dir->fd < 0 ? -1 : 0;
}

static int fill(struct mw_dir *dir)
{
    int saved = errno;
    dir->at = 0;
    dir->have = syscall(SYS_getdents64, dir->fd, dir->buffer, sizeof dir->buffer);
    errno = saved;
    return dir->have > 0;
}

const char *mw_dir_next(struct mw_dir *dir)
{
    while (dir->fd >= 0 && dir->left) {
        if (dir->at >= dir->have && !fill(dir))
            break;
        const struct dirent_record *entry = (const void *)(dir->buffer + dir->at);
        dir->at += entry->length;
        dir->left--;
        if (entry->name[0] != '.')
            return entry->name;
    }
    return NULL;
}

void mw_dir_close(struct mw_dir *dir)
{
    mw_sys_close(dir->fd);
    dir->fd = -1;
}

void mw_text_init(struct mw_text *text, char *memory, size_t capacity)
{
    text->data = memory;
    text->size = 0;
    text->capacity = capacity;
    memory[0] = '\0';
}

void mw_text_add_some(struct mw_text *text, const char *string, size_t length)
{
    size_t room = text->capacity - 1 - text->size;
    if (length > room)
        length = room;
    memcpy(text->data + text->size, string, length);
    text->size += length;
    text->data[text->size] = '\0';
}

void mw_text_add(struct mw_text *text, const char *string)
{
    mw_text_add_some(text, string, strlen(string));
}

void mw_text_add_u64(struct mw_text *text, uint64_t value)
{
    char digits[24], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    mw_text_add_some(text, at, (size_t)(digits + sizeof digits - at));
}

void mw_text_add_hex(struct mw_text *text, uint64_t value)
{
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = "0123456789abcdef"[value % 16];
    while (value /= 16);
    mw_text_add_some(text, at, (size_t)(digits + sizeof digits - at));
}

const char *mw_join(char *out, size_t capacity, const char *first, ...)
{
    struct mw_text text;
    va_list parts;
    mw_text_init(&text, out, capacity);
    va_start(parts, first);
    for (const char *part = first; part; part = va_arg(parts, const char *))
        mw_text_add(&text, part);
    va_end(parts);
    return out;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

uint64_t mw_number(const char *text, int base, const char **end)
{
    uint64_t value = 0;
    const char *at = text;
    while (*at == ' ' || *at == '\t')
        at++;
    while (digit(*at) < base)
        value = value * (uint64_t)base + (uint64_t)digit(*at++);
    if (end)
        *end = at;
    return value;
}
