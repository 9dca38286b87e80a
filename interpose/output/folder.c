/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making or joining the trace's folder; see folder.h. A folder belongs to the job whose key stands in its
 * job.mpiw. That file appears complete (link of a finished temporary file) or not at all, so that ranks
 * that come at the same time agree. A folder of another job is left alone and the next name tried.
 */
#include "output/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/chunk.h"
#include "trace/fields.h"

#define NAMES_TRIED 1000
#define MARK "job.mpiw"

enum claim { CLAIMED, OTHER_JOB, FAILED };

static size_t job_chunk(const struct mw_config *config, const struct mw_job_facts *job,
                        uint8_t *out, size_t size)
{
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, out + MW_CHUNK_HEADER_SIZE, size - MW_CHUNK_HEADER_SIZE);
    mw_put_text(&buffer, MW_F_JOB_key, job->key);
    mw_put_text(&buffer, MW_F_JOB_launcher, job->launcher);
    mw_put_text(&buffer, MW_F_JOB_job_id, job->job_id);
    mw_put_text(&buffer, MW_F_JOB_program, job->program);
    if (config->command)
        mw_put_text(&buffer, MW_F_JOB_command, config->command);
    mw_chunk_frame(out, MW_CHUNK_JOB, 0, 0, buffer.data, (uint32_t)buffer.size,
                   (uint32_t)buffer.size);
    return MW_CHUNK_HEADER_SIZE + buffer.size;
}

/* Whether the mark in this folder carries our key. */
static enum claim mark_says(int folder, const struct mw_job_facts *job)
{
    uint8_t bytes[16384];
    struct mw_chunk_header header;
    struct mw_field field;
    struct stat info;
    /* Whoever may write here can have put anything of that name: a pipe must not make us wait. */
    int file = openat(folder, MARK, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return FAILED;
    ssize_t size = fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? read(file, bytes, sizeof bytes)
                                                                     : -1;
    close(file);
    if (size < (ssize_t)MW_CHUNK_HEADER_SIZE || mw_chunk_parse(bytes, &header) != MW_OK ||
        header.length > (size_t)size - MW_CHUNK_HEADER_SIZE)
        return OTHER_JOB;
    struct mw_reader reader = {bytes + MW_CHUNK_HEADER_SIZE,
                               bytes + MW_CHUNK_HEADER_SIZE + header.length};
    while (mw_field_next(&reader, &field) == MW_OK)
        if (field.id == MW_F_JOB_key && field.is_bytes && field.size == strlen(job->key) &&
            memcmp(field.data, job->key, field.size) == 0)
            return CLAIMED;
    return OTHER_JOB;
}

/* Whether there is nothing in it but marks that ranks are making. */
static int is_empty(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    int empty = entries != NULL;
    if (!entries && copy >= 0)
        close(copy);
    while (empty && (entry = readdir(entries)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                strcmp(entry->d_name, MARK) == 0 || strncmp(entry->d_name, ".job-", 5) == 0;
    if (entries)
        closedir(entries);
    return empty;
}

/* A folder without a mark may be taken when it is empty: somebody made it for us, or a rank is about to
 * mark it. Anything else in it is not ours to touch. */
static enum claim claim(int folder, const struct mw_config *config, const struct mw_job_facts *job)
{
    uint8_t chunk[8192];
    char temporary[64];
    enum claim said = mark_says(folder, job);
    if (said != FAILED || errno != ENOENT)
        return said;
    if (!is_empty(folder)) /* or has been marked this instant */
        return mark_says(folder, job) == CLAIMED ? CLAIMED : OTHER_JOB;
    snprintf(temporary, sizeof temporary, ".job-%llu-%llx", (unsigned long long)job->pid,
             (unsigned long long)job->start_time);
    int file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return FAILED;
    size_t size = job_chunk(config, job, chunk, sizeof chunk);
    int complete =
        mw_file_size_allowed(size) && write(file, chunk, size) == (ssize_t)size;
    int error = errno;
    close(file);
    if (complete && linkat(folder, temporary, folder, MARK, 0) != 0 && errno != EEXIST)
        /* no hard links here: a rename may replace the mark of a rank of the same job only */
        complete = faccessat(folder, MARK, F_OK, 0) == 0 ||
                   renameat(folder, temporary, folder, MARK) == 0;
    unlinkat(folder, temporary, 0);
    if (!complete) {
        errno = error ? error : ENOSPC;
        return FAILED;
    }
    return mark_says(folder, job);
}

void mw_folder_host_name(const struct mw_job_facts *job, char *out, size_t size)
{
    snprintf(out, size, "%.200s", job->host);
    for (char *c = out; *c; c++)
        if (*c == '/' || (unsigned char)*c <= ' ' || (*c == '.' && c == out))
            *c = '_';
}

/* Whether the file of this node was begun under another daemon of the launcher: a job that is called as we are. */
static int is_of_other_daemon(int folder, const struct mw_job_facts *job)
{
    uint8_t bytes[4096];
    char host[208], name[256];
    struct mw_chunk_header header;
    struct mw_field field;
    struct stat info;
    mw_folder_host_name(job, host, sizeof host);
    snprintf(name, sizeof name, "%s.mpiw", host);
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return 0;
    ssize_t size = fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? read(file, bytes, sizeof bytes)
                                                                     : -1;
    close(file);
    if (size < (ssize_t)MW_CHUNK_HEADER_SIZE || mw_chunk_parse(bytes, &header) != MW_OK ||
        header.type != MW_CHUNK_FILE || header.length > (size_t)size - MW_CHUNK_HEADER_SIZE)
        return 0;
    struct mw_reader reader = {bytes + MW_CHUNK_HEADER_SIZE,
                               bytes + MW_CHUNK_HEADER_SIZE + header.length};
    while (mw_field_next(&reader, &field) == MW_OK)
        if (field.id == MW_F_FILE_daemon && field.value && field.value != job->daemon)
            return 1;
    return 0;
}

/* Opens or makes the folder of this name. -1 with errno: it cannot be had. -2: it is another job's. */
static int take(const char *path, const struct mw_config *config, const struct mw_job_facts *job)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -1;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0) /* a file or a link of that name: taken */
        return errno == ENOTDIR || errno == ELOOP ? -2 : -1;
    enum claim result = claim(folder, config, job);
    if (result == CLAIMED && job->daemon && is_of_other_daemon(folder, job))
        result = OTHER_JOB;
    if (result == CLAIMED)
        return folder;
    int error = errno;
    close(folder);
    errno = error;
    return result == OTHER_JOB ? -2 : -1;
}

/* `stem`.mpiw, or the next of stem-2.mpiw, stem-3.mpiw, ... that is free or ours. */
static int take_name(const char *stem, const struct mw_config *config,
                     const struct mw_job_facts *job, struct mw_folder *folder)
{
    for (int i = 1; i <= NAMES_TRIED; i++) {
        char suffix[16] = "";
        if (i > 1)
            snprintf(suffix, sizeof suffix, "-%d", i);
        int length = snprintf(folder->path, sizeof folder->path, "%s%s.mpiw", stem, suffix);
        if (length < 0 || (size_t)length >= sizeof folder->path) {
            errno = ENAMETOOLONG;
            return 0;
        }
        folder->fd = take(folder->path, config, job);
        folder->numbered = i > 1;
        if (folder->fd >= 0)
            return 1;
        if (folder->fd == -1)
            return 0;
    }
    errno = EEXIST;
    return 0;
}

/* The name without its suffix, absolute where the working directory can be told. */
static void stem_of(const struct mw_config *config, const struct mw_job_facts *job, char *stem,
                    size_t size)
{
    char cwd[MW_PATH_MAX] = "";
    const char *wanted = config->out;
    if (!(wanted && wanted[0] == '/') && getcwd(cwd, sizeof cwd) && cwd[0] == '/')
        strncat(cwd, cwd[1] ? "/" : "", sizeof cwd - strlen(cwd) - 1);
    else
        cwd[0] = '\0';
    if (!wanted) {
        snprintf(stem, size, "%smpiwatch-%s-%s", cwd, job->program, job->id);
        return;
    }
    size_t length = strlen(wanted);
    while (length > 1 && wanted[length - 1] == '/')
        length--;
    if (length > 5 && strncmp(wanted + length - 5, ".mpiw", 5) == 0)
        length -= 5;
    snprintf(stem, size, "%s%.*s", cwd, (int)length, wanted);
}

int mw_folder_open(const struct mw_config *config, const struct mw_job_facts *job,
                   struct mw_folder *folder)
{
    char stem[2 * MW_PATH_MAX];
    folder->why[0] = '\0';
    stem_of(config, job, stem, sizeof stem);
    if (take_name(stem, config, job, folder))
        return 1;
    char reason[128];
    snprintf(folder->why, sizeof folder->why, "%.150s.mpiw: %s", stem,
             strerror_r(errno, reason, sizeof reason));
    return mw_folder_elsewhere(config, job, folder);
}

int mw_folder_elsewhere(const struct mw_config *config, const struct mw_job_facts *job,
                        struct mw_folder *folder)
{
    char stem[2 * MW_PATH_MAX];
    snprintf(stem, sizeof stem, "%s/mpiwatch-%s-%s", config->tmp, job->program, job->id);
    return take_name(stem, config, job, folder);
}
