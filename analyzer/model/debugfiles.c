/* SPDX-License-Identifier: BSD-3-Clause */
/* Files by build-id (debugfiles.h). No network: a report must not depend on it. */
#include "analyzer/model/debugfiles.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/memory.h"

#define ID_MAX        64
#define SYSTEM_FOLDER "/usr/lib/debug"
#define CACHE_FOLDER  "debuginfod_client"

static int open_regular(const char *path)
{
    struct stat state;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &state) || !S_ISREG(state.st_mode))) {
        close(fd);
        return MW_ELF_MISSING;
    }
    return fd < 0 ? MW_ELF_MISSING : fd;
}

/* 0, or what mw_elf_open says instead. */
static int check_build(int fd, struct mw_build_id id)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *bytes;
    int result = MW_ELF_NONE;
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
        int same = size > 0 && (size_t)size == id.size && !memcmp(bytes, id.bytes, id.size);
        result = same ? 0 : MW_ELF_OTHER_BUILD;
    }
    elf_end(elf);
    return result;
}

int mw_elf_open(const char *path, struct mw_build_id id)
{
    int fd = open_regular(path);
    if (fd < 0)
        return fd;
    int result = check_build(fd, id);
    if (result == 0)
        return fd;
    close(fd);
    return result;
}

/* Takes the path over. */
static int try_path(char *candidate, struct mw_build_id id, char **path)
{
    int fd = mw_elf_open(candidate, id);
    if (fd >= 0)
        *path = candidate;
    else
        free(candidate);
    return fd;
}

/* hex: the whole id */
static int try_folder(const char *folder, const char *hex, struct mw_build_id id, char **path)
{
    return try_path(mw_format("%s/.build-id/%.2s/%s.debug", folder, hex, hex + 2), id, path);
}

static int try_folders(const char *hex, struct mw_build_id id, char **path)
{
    const char *variable = getenv("MPIWATCH_DEBUGINFO");
    char *folders = mw_text_copy(variable ? variable : ""), *rest = folders;
    int fd = MW_ELF_MISSING;
    for (char *folder = strsep(&rest, ":"); folder && fd < 0; folder = strsep(&rest, ":"))
        if (folder[0])
            fd = try_folder(folder, hex, id, path);
    free(folders);
    return fd < 0 ? try_folder(SYSTEM_FOLDER, hex, id, path) : fd;
}

/* Where debuginfod's client keeps what it has fetched, in the order of its documentation. */
static int try_cache(const char *hex, struct mw_build_id id, char **path)
{
    const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    char *folder = own && own[0]       ? mw_text_copy(own)
                   : cache && cache[0] ? mw_format("%s/" CACHE_FOLDER, cache)
                                       : mw_format("%s/.cache/" CACHE_FOLDER, home ? home : "");
    int fd = try_path(mw_format("%s/%s/debuginfo", folder, hex), id, path);
    free(folder);
    return fd;
}

int mw_debug_file_open(struct mw_build_id id, char **path)
{
    char hex[2 * ID_MAX + 1];
    if (id.size < 2 || id.size > ID_MAX)
        return MW_ELF_MISSING;
    for (size_t i = 0; i < id.size; i++)
        snprintf(hex + 2 * i, 3, "%02x", id.bytes[i]);
    int fd = try_folders(hex, id, path);
    return fd < 0 ? try_cache(hex, id, path) : fd;
}
