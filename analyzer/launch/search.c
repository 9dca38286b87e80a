/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds libraries and programs by name (search.h). */
#include "analyzer/launch/search.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/memory.h"

#define CACHE_MAGIC  "glibc-ld.so.cache1.1"
#define CACHE_HEADER 48
#define CACHE_ENTRY  24
#define CACHE_LIMIT  (64u << 20)

static unsigned char *read_file(const char *path, size_t *size)
{
    struct stat state;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    unsigned char *data = NULL;
    if (!fstat(fd, &state) && S_ISREG(state.st_mode) && state.st_size <= (off_t)CACHE_LIMIT) {
        data = mw_alloc((size_t)state.st_size + 1, 1);
        ssize_t got = read(fd, data, (size_t)state.st_size);
        *size = got > 0 ? (size_t)got : 0;
    }
    close(fd);
    return data;
}

void mw_search_init(struct mw_search *search)
{
    *search = (struct mw_search){0};
    search->cache = read_file("/etc/ld.so.cache", &search->cache_size);
}

void mw_search_free(struct mw_search *search)
{
    free(search->rpath);
    free(search->runpath);
    free(search->cache);
}

/* Replaces $ORIGIN and ${ORIGIN} by the folder of the object. */
static char *expand_origin(const char *paths, const char *object)
{
    char *real = realpath(object, NULL), *out = mw_text_copy("");
    char *slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        *slash = 0;
    while (*paths) {
        size_t plain = strcspn(paths, "$");
        size_t skip = !strncmp(paths + plain, "$ORIGIN", 7)     ? 7
                      : !strncmp(paths + plain, "${ORIGIN}", 9) ? 9
                                                                : paths[plain] != 0;
        char *longer = mw_format("%s%.*s%s", out, (int)plain, paths,
                                 skip > 1 ? real ? real : "."
                                 : skip   ? "$"
                                          : "");
        free(out);
        out = longer;
        paths += plain + skip;
    }
    free(real);
    return out;
}

void mw_search_object(struct mw_search *search, const char *path, const char *rpath,
                      const char *runpath)
{
    free(search->runpath);
    search->runpath = runpath ? expand_origin(runpath, path) : NULL;
    if (!rpath || runpath)
        return;
    char *own = expand_origin(rpath, path);
    char *all = search->rpath ? mw_format("%s:%s", search->rpath, own) : mw_text_copy(own);
    free(own);
    free(search->rpath);
    search->rpath = all;
}

static int is_right_object(const char *path, unsigned machine)
{
    unsigned char head[20];
    struct stat state;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return 0;
    int right = !fstat(fd, &state) && S_ISREG(state.st_mode) &&
                read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
                !memcmp(head, ELFMAG, SELFMAG) && (head[18] | head[19] << 8) == (int)machine;
    close(fd);
    return right;
}

static char *find_in(const char *folders, const char *name, unsigned machine)
{
    while (folders && *folders) {
        size_t length = strcspn(folders, ":;");
        char *path = mw_format("%.*s/%s", (int)length, folders, name);
        if (length && is_right_object(path, machine))
            return path;
        free(path);
        folders += length + (folders[length] != 0);
    }
    return NULL;
}

static uint32_t word_at(const struct mw_search *search, size_t offset)
{
    uint32_t word = 0;
    if (offset + 4 <= search->cache_size)
        memcpy(&word, search->cache + offset, 4);
    return word;
}

/* Text in the cache, or "" where the offset leads out of it. The buffer ends in a zero. */
static const char *text_at(const struct mw_search *search, size_t offset)
{
    return offset < search->cache_size ? (const char *)search->cache + offset : "";
}

static char *find_in_cache(const struct mw_search *search, const char *name)
{
    size_t base = 0, magic = strlen(CACHE_MAGIC);
    const unsigned char *at =
        search->cache ? memmem(search->cache, search->cache_size, CACHE_MAGIC, magic) : NULL;
    if (!at)
        return NULL;
    base = (size_t)(at - search->cache);
    uint32_t count = word_at(search, base + magic);
    for (uint32_t i = 0; i < count; i++) {
        size_t entry = base + CACHE_HEADER + (size_t)i * CACHE_ENTRY;
        if (entry + CACHE_ENTRY > search->cache_size)
            break;
        if (strcmp(text_at(search, base + word_at(search, entry + 4)), name))
            continue;
        const char *path = text_at(search, base + word_at(search, entry + 8));
        if (is_right_object(path, search->machine))
            return mw_text_copy(path);
    }
    return NULL;
}

static const char *usual_folders(unsigned machine)
{
    if (machine == EM_AARCH64)
        return "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";
    return "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";
}

char *mw_search_find(const struct mw_search *search, const char *name)
{
    char *found = NULL;
    if (strchr(name, '/'))
        return is_right_object(name, search->machine) ? mw_text_copy(name) : NULL;
    found = find_in(search->rpath, name, search->machine);
    if (!found)
        found = find_in(getenv("LD_LIBRARY_PATH"), name, search->machine);
    if (!found)
        found = find_in(search->runpath, name, search->machine);
    if (!found)
        found = find_in_cache(search, name);
    if (!found)
        found = find_in(usual_folders(search->machine), name, search->machine);
    return found;
}

static int is_program(const char *path)
{
    struct stat state;
    return !stat(path, &state) && S_ISREG(state.st_mode) && !access(path, X_OK);
}

char *mw_search_program(const char *name)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/'))
        return is_program(name) ? mw_text_copy(name) : NULL;
    if (!name[0])
        return NULL;
    if (!folders)
        folders = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t length = strcspn(folders, ":");
        char *path = mw_format("%.*s/%s", length ? (int)length : 1, length ? folders : ".", name);
        if (is_program(path))
            return path;
        free(path);
        if (!folders[length])
            return NULL;
        folders += length + 1;
    }
}
