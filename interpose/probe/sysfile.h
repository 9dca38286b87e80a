/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small files of /proc and /sys, and folders, read by system calls of our own: no stdio, no
 * allocation, no cancellation point, and nothing that an I/O tool in the same process would take
 * for the program's own reading. Any thread; every read is bounded; errno is left alone.
 */
#ifndef MW_PROBE_SYSFILE_H
#define MW_PROBE_SYSFILE_H

#include <stddef.h>
#include <stdint.h>

/* A file descriptor to read from, or -1. Never blocks on a FIFO, never becomes a controlling
 * terminal. */
int mw_sys_open(const char *path);
void mw_sys_close(int fd);
/* Like read(2), begun again after a signal. */
long mw_sys_read(int fd, void *out, size_t size);
/* Like pread(2). */
long mw_sys_pread(int fd, void *out, size_t size, uint64_t offset);

/* The first capacity − 1 bytes of a file, terminated. Returns the length, or -1 (out is then
 * empty). */
long mw_sys_slurp(const char *path, char *out, size_t capacity);
/* The same, first line only, without trailing blanks. */
long mw_sys_line(const char *path, char *out, size_t capacity);
/* The number at the start of a file in a folder ("123", "0x8086" with base 16, "123@1700000000.5").
 * 0: there is none, *value is then 0. */
int mw_sys_number(const char *folder, const char *name, int base, uint64_t *value);
/* What a symbolic link says. The length, or -1 (out is then empty). */
long mw_sys_link(const char *path, char *out, size_t capacity);

/* Names in a folder, but for those with a leading dot. A loop over mw_dir_next ends with NULL. */
struct mw_dir {
    int fd;
    long have, at;
    unsigned left; /* names still to be given: the bound */
    _Alignas(8) char buffer[2048];
};
int mw_dir_open(struct mw_dir *dir, const char *path); /* 0 or -1 */
const char *mw_dir_next(struct mw_dir *dir);
void mw_dir_close(struct mw_dir *dir);

/* A text of bounded length, built up in the caller's memory; what does not fit is left out. */
struct mw_text {
    char *data;
    size_t size, capacity; /* size never counts the terminator */
};
void mw_text_init(struct mw_text *text, char *memory, size_t capacity);
void mw_text_add(struct mw_text *text, const char *string);
void mw_text_add_some(struct mw_text *text, const char *string, size_t length);
void mw_text_add_u64(struct mw_text *text, uint64_t value);
void mw_text_add_hex(struct mw_text *text, uint64_t value);

/* The parts joined, for paths: NULL ends the list. Returns out. */
const char *mw_join(char *out, size_t capacity, const char *first, ...) __attribute__((sentinel));

/* The number at the start of a text, after blanks, with digits below `base` (10 or 16, no prefix);
 * *end (or NULL) is where it ends. */
uint64_t mw_number(const char *text, int base, const char **end);

#endif
