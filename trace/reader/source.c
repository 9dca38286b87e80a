/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of a trace: which ones there are, and their bytes at any offset. Read with pread and
 * not mapped: a file that is cut while we read must not kill the program that uses us. May be used
 * from several threads (a window belongs to one).
 */
#include "trace/reader/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/residue.h"

#define KEPT_OPEN 64 /* files whose descriptor is kept; a trace may have ten thousand */
#define SUFFIX    ".mpiw"

const char *mw_reader_shm = "/dev/shm";

static enum mw_status trace_text(struct mw_trace *trace, const char *text, const char **copy)
{
    return mw_pool_text(&trace->pool, text, strlen(text), copy);
}

static enum mw_status source_new(struct mw_trace *trace, const char *path, struct mw_source **added)
{
    void *memory;
    enum mw_status status = mw_pool_take(&trace->pool, sizeof(struct mw_source), &memory);
    if (status != MW_OK)
        return status;
    struct mw_source *source = memory;
    source->fd = -1;
    source->file.writer = source->file.host = source->file.boot_id = "";
    status = trace_text(trace, path, &source->file.path);
    if (status != MW_OK)
        return status;
    struct mw_source **slot =
        mw_vector_add(&trace->account, &trace->sources, sizeof *slot, &status);
    if (!slot)
        return status;
    *slot = source;
    *added = source;
    return MW_OK;
}

static int source_is_known(const struct mw_trace *trace, const struct stat *st)
{
    for (size_t i = 0; i < trace->sources.count; i++) {
        const struct mw_source *source = mw_trace_source(trace, i);
        if (!source->memory && source->ino == st->st_ino && source->dev == st->st_dev)
            return 1;
    }
    return 0;
}

/* Takes the open file `fd`. What can be said about it is MW_OK or a status; the fd is ours either
 * way. */
static enum mw_status source_add_fd(struct mw_trace *trace, const char *path, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        close(fd);
        return MW_ERR_SYSTEM;
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return MW_ERR_NOT_TRACE;
    }
    if (source_is_known(trace, &st)) {
        close(fd);
        return MW_OK;
    }
    struct mw_source *source;
    enum mw_status status = source_new(trace, path, &source);
    if (status != MW_OK) {
        close(fd);
        return status;
    }
    source->dev = st.st_dev;
    source->ino = st.st_ino;
    source->file.size = (uint64_t)st.st_size;
    char *real = realpath(path, NULL);
    status = trace_text(trace, real ? real : path, &source->real);
    free(real);
    if (status == MW_OK && trace->sources.count <= KEPT_OPEN)
        source->fd = fd;
    else
        close(fd);
    return status;
}

static int name_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder that end in .mpiw, sorted; the caller frees them. */
static enum mw_status folder_names(DIR *folder, struct mw_vector *names)
{
    enum mw_status status = MW_OK;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length < sizeof SUFFIX || strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) != 0)
            continue;
        char *name = strdup(entry->d_name);
        char **slot = name ? mw_vector_add(NULL, names, sizeof *slot, &status) : NULL;
        if (!slot) {
            free(name);
            return MW_ERR_MEMORY;
        }
        *slot = name;
    }
    if (names->count > 1)
        qsort(names->items, names->count, sizeof(char *), name_order);
    return MW_OK;
}

/* One file of a folder. A symbolic link is not followed: it could lead out of the trace, and what
 * it leads to within the trace is read anyway. Only a lack of memory stops the rest. */
static enum mw_status folder_add_file(struct mw_trace *trace, int folder, const char *path,
                                      const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    enum mw_status status = fd < 0 ? MW_ERR_SYSTEM : source_add_fd(trace, path, fd);
    if (status == MW_OK || status == MW_ERR_MEMORY || status == MW_ERR_LIMIT)
        return status;
    int error = errno;
    status = mw_sources_add_absent(trace, path);
    if (status != MW_OK)
        return status;
    uint32_t index = (uint32_t)(trace->sources.count - 1);
    if (fd >= 0)
        mw_damage_add(trace, index, 0, 0, MW_ERR_NOT_TRACE, "not a regular file");
    else if (error == ELOOP)
        mw_damage_add(trace, index, 0, 0, MW_ERR_NOT_TRACE, "a symbolic link: not followed");
    else
        mw_damage_add(trace, index, 0, 0, MW_ERR_SYSTEM, "cannot be opened: %s", strerror(error));
    return MW_OK;
}

static enum mw_status folder_add(struct mw_trace *trace, const char *path, int fd)
{
    struct stat st;
    struct mw_vector names = {0};
    enum mw_status status = MW_ERR_SYSTEM;
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close(fd);
        return MW_ERR_SYSTEM;
    }
    struct mw_folder *known = NULL;
    if (fstat(fd, &st) == 0)
        known = mw_vector_add(&trace->account, &trace->folders, sizeof *known, &status);
    if (known) {
        known->dev = st.st_dev;
        known->ino = st.st_ino;
        status = folder_names(folder, &names);
    }
    size_t base = strlen(path);
    while (base > 1 && path[base - 1] == '/')
        base--;
    for (size_t i = 0; i < names.count; i++) {
        char *name = ((char **)names.items)[i];
        size_t size = base + 1 + strlen(name) + 1;
        char *full = status == MW_OK ? malloc(size) : NULL;
        if (status == MW_OK && !full)
            status = MW_ERR_MEMORY;
        if (full) {
            memcpy(full, path, base);
            size_t at = base;
            if (path[base - 1] != '/')
                full[at++] = '/';
            memcpy(full + at, name, strlen(name) + 1);
            status = folder_add_file(trace, fd, full, name);
        }
        free(full);
        free(name);
    }
    if (status == MW_OK && names.count == 0)
        status = MW_ERR_NOT_TRACE;
    mw_vector_free(&names);
    closedir(folder);
    return status;
}

enum mw_status mw_sources_add_absent(struct mw_trace *trace, const char *path)
{
    struct mw_source *source;
    enum mw_status status = source_new(trace, path, &source);
    if (status == MW_OK)
        source->absent = 1;
    return status;
}

void mw_source_measure(struct mw_source *source)
{
    struct stat st;
    if (source->memory || source->absent)
        return;
    if ((source->fd >= 0 ? fstat(source->fd, &st) : stat(source->real, &st)) == 0 &&
        st.st_ino == source->ino && st.st_dev == source->dev)
        source->file.size = (uint64_t)st.st_size;
}

enum mw_status mw_sources_add(struct mw_trace *trace, const char *path)
{
    /* O_NONBLOCK: a FIFO must not make us wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return MW_ERR_SYSTEM;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        close(fd);
        return MW_ERR_SYSTEM;
    }
    return S_ISDIR(st.st_mode) ? folder_add(trace, path, fd) : source_add_fd(trace, path, fd);
}

/* Residues: the chunks of a mapping are gathered in memory. */
struct residue_bytes {
    struct mw_trace *trace;
    uint8_t *data;
    size_t size, capacity;
};

static enum mw_status residue_take(void *context, const uint8_t *chunk, size_t size)
{
    struct residue_bytes *bytes = context;
    if (size > bytes->capacity - bytes->size) {
        size_t capacity = (bytes->size + size) * 2;
        uint8_t *data = realloc(bytes->data, capacity);
        if (!data)
            return MW_ERR_MEMORY;
        bytes->data = data;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->size, chunk, size);
    bytes->size += size;
    return MW_OK;
}

static int is_of_trace(const struct mw_trace *trace, const struct mw_residue *residue)
{
    const struct mw_folder *folders = trace->folders.items;
    for (size_t i = 0; i < trace->folders.count; i++)
        if (mw_residue_belongs(residue, folders[i].dev, folders[i].ino))
            return 1;
    return 0;
}

static enum mw_status residue_visit(void *context, const char *path)
{
    struct residue_bytes bytes = {.trace = context};
    struct mw_residue residue;
    if (mw_residue_open(path, &residue) != MW_OK)
        return MW_OK; /* gone, another user's, or no mapping: none of this trace */
    if (!is_of_trace(bytes.trace, &residue)) {
        mw_residue_close(&residue);
        return MW_OK;
    }
    enum mw_status read = mw_residue_chunks(&residue, residue_take, &bytes);
    mw_residue_close(&residue);

    struct mw_source *source;
    enum mw_status status = source_new(bytes.trace, path, &source);
    if (status != MW_OK) {
        free(bytes.data);
        return status;
    }
    source->file.residue = 1;
    source->file.size = bytes.size;
    source->real = source->file.path;
    source->memory = bytes.data ? bytes.data : calloc(1, 1);
    if (!source->memory)
        return MW_ERR_MEMORY;
    if (read != MW_OK)
        mw_damage_add(bytes.trace, (uint32_t)(bytes.trace->sources.count - 1), bytes.size, 0, read,
                      "what this process left in memory could not be read to its end: %s",
                      mw_status_text(read));
    return MW_OK;
}

enum mw_status mw_sources_add_residues(struct mw_trace *trace)
{
    if (trace->folders.count == 0)
        return MW_OK;
    enum mw_status status = mw_residue_each(mw_reader_shm, residue_visit, trace);
    return status == MW_ERR_MEMORY || status == MW_ERR_LIMIT ? status : MW_OK;
}

/* Windows. */
static enum mw_status window_reopen(struct mw_window *window)
{
    const struct mw_source *source = window->source;
    struct stat st;
    window->fd = open(source->real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (window->fd < 0)
        return MW_ERR_SYSTEM;
    if (fstat(window->fd, &st) != 0 || st.st_ino != source->ino || st.st_dev != source->dev) {
        mw_window_rest(window); /* another file has taken its name */
        errno = ESTALE;
        return MW_ERR_SYSTEM;
    }
    return MW_OK;
}

void mw_window_open(struct mw_window *window, const struct mw_source *source, size_t ahead)
{
    memset(window, 0, sizeof *window);
    window->source = source;
    window->ahead = ahead;
    window->fd = source->fd;
}

void mw_window_rest(struct mw_window *window)
{
    if (window->fd >= 0 && window->fd != window->source->fd)
        close(window->fd);
    window->fd = window->source->fd;
}

static enum mw_status window_fill(struct mw_window *window, uint64_t offset, size_t length)
{
    uint64_t left = window->source->file.size - offset;
    size_t want = length < window->ahead ? window->ahead : length;
    if (want > left)
        want = (size_t)left;
    if (want > window->capacity || MW_EXACT_BUFFERS) {
        free(window->buffer);
        window->length = window->capacity = 0;
        window->buffer = malloc(want + (want == 0));
        if (!window->buffer)
            return MW_ERR_MEMORY;
        window->capacity = want;
    }
    window->offset = offset;
    window->length = 0;
    if (window->fd < 0 && window_reopen(window) != MW_OK)
        return MW_ERR_SYSTEM;
    while (window->length < want) {
        ssize_t got = pread(window->fd, window->buffer + window->length, want - window->length,
                            (off_t)(offset + window->length));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && window->length < length)
            return MW_ERR_SYSTEM;
        if (got <= 0)
            break;
        window->length += (size_t)got;
    }
    return window->length < length ? MW_ERR_TRUNCATED : MW_OK;
}

enum mw_status mw_window_get(struct mw_window *window, uint64_t offset, size_t length,
                             const uint8_t **data)
{
    uint64_t size = window->source->file.size;
    if (offset > size || length > size - offset)
        return MW_ERR_TRUNCATED;
    if (window->source->memory) {
        *data = window->source->memory + offset;
        return MW_OK;
    }
    if (offset < window->offset || offset - window->offset > window->length ||
        length > window->length - (size_t)(offset - window->offset)) {
        enum mw_status status = window_fill(window, offset, length);
        if (status != MW_OK)
            return status;
    }
    *data = window->buffer + (offset - window->offset);
    return MW_OK;
}

void mw_window_close(struct mw_window *window)
{
    mw_window_rest(window);
    free(window->buffer);
    window->buffer = NULL;
    window->length = window->capacity = 0;
}
