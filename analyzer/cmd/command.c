/* SPDX-License-Identifier: BSD-3-Clause */
/* What subcommands share (command.h). */
#include "analyzer/cmd/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/analysis/tally.h"
#include "analyzer/base/memory.h"
#include "analyzer/render/progress.h"
#include "analyzer/render/text.h"

#define DAMAGE_LINES 10

void mw_complain(const char *format, ...)
{
    char *raw = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&raw, format, arguments) < 0)
        raw = mw_text_copy("out of memory");
    va_end(arguments);
    char *text = mw_text_escape(raw);
    mw_progress_end();
    fflush(stdout);
    fprintf(stderr, "mpiwatch: %s\n", text);
    free(text);
    free(raw);
}

static void complain_damage(const mw_trace *trace)
{
    size_t count = mw_trace_damage_count(trace);
    for (size_t i = 0; i < count && i < DAMAGE_LINES; i++) {
        const struct mw_damage *damage = mw_trace_damage(trace, i);
        mw_complain("%s: offset %" PRIu64 ": %s", damage->file, damage->offset, damage->text);
    }
    if (count > DAMAGE_LINES)
        mw_complain("... %zu more damaged places", count - DAMAGE_LINES);
}

void mw_command_damage(const struct mw_tally *tally)
{
    for (size_t i = 0; i < tally->damage.count && i < DAMAGE_LINES; i++)
        mw_complain("%s: offset %" PRIu64 ": %s", tally->damage.at[i].file,
                    tally->damage.at[i].offset, tally->damage.at[i].text);
    if (tally->damage.count > DAMAGE_LINES)
        mw_complain("... %zu more damaged places", tally->damage.count - DAMAGE_LINES);
    for (size_t i = 0; i < tally->model->process_count; i++)
        if (tally->processes[i].status != MW_OK) {
            mw_complain("not all events could be read: %s",
                        mw_status_text(tally->processes[i].status));
            return;
        }
}

static void complain_open(const struct mw_paths *paths, size_t failed, enum mw_status status,
                          int error)
{
    const char *path = failed < paths->count ? paths->at[failed] : paths->at[0];
    struct stat state;
    if (status == MW_ERR_SYSTEM)
        mw_complain("%s: %s", path, strerror(error));
    else if (status == MW_ERR_NOT_TRACE && !stat(path, &state) && S_ISDIR(state.st_mode))
        mw_complain("no trace files in %s", path);
    else if (status == MW_ERR_NOT_TRACE)
        mw_complain("%s: offset 0: not an mpiwatch trace", path);
    else if (status == MW_ERR_NEWER)
        mw_complain("%s: offset 0: written by a newer mpiwatch; this one reads format versions "
                    "up to %d",
                    path, MW_FORMAT_VERSION);
    else
        mw_complain("%s: offset 0: begins like a trace, but has no whole chunk (%s)", path,
                    mw_status_text(status));
}

mw_trace *mw_command_open(const struct mw_paths *paths, unsigned flags)
{
    mw_trace *trace = NULL;
    size_t failed = 0;
    mw_progress_begin("reading the trace", 0);
    errno = 0;
    enum mw_status status = mw_trace_open(paths->at, paths->count, flags, &trace, &failed);
    int error = errno;
    if (status != MW_OK) {
        complain_open(paths, failed, status, error);
        return NULL;
    }
    complain_damage(trace);
    return trace;
}

int mw_command_readable(const struct mw_paths *paths, unsigned flags)
{
    int unreadable = 0;
    for (size_t i = 0; i < paths->count; i++) {
        mw_trace *trace = NULL;
        errno = 0;
        enum mw_status status = mw_trace_open(&paths->at[i], 1, flags, &trace, NULL);
        if (status == MW_OK) {
            mw_trace_close(trace);
            continue;
        }
        complain_open(paths, i, status, errno);
        unreadable = 1;
    }
    return unreadable ? -1 : 0;
}

int mw_output_open(struct mw_output *output, const char *path, int exclusive)
{
    struct stat state;
    *output = (struct mw_output){.stream = stdout, .path = path};
    if (!path)
        return 0;
    if (!stat(path, &state) && (exclusive || !S_ISREG(state.st_mode))) {
        if (!exclusive && !S_ISDIR(state.st_mode)) { /* a pipe or a device is written as it is */
            output->stream = fopen(path, "w");
            if (output->stream)
                return 0;
        }
        mw_complain("%s: %s", path,
                    exclusive ? "exists already, and is not overwritten" : "is a folder");
        return -1;
    }
    output->temporary = mw_format("%s.part-%ld", path, (long)getpid());
    int fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    output->stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (output->stream)
        return 0;
    mw_complain("%s: %s", output->temporary, strerror(errno));
    free(output->temporary);
    return -1;
}

/* Gives the file its name. link() refuses to replace one that has appeared meanwhile. */
static int output_name(const struct mw_output *output, int exclusive)
{
    if (!exclusive)
        return rename(output->temporary, output->path);
    if (!link(output->temporary, output->path))
        return unlink(output->temporary);
    if (errno == EEXIST)
        return -1;
    return access(output->path, F_OK) == 0 ? (errno = EEXIST, -1)
                                           : rename(output->temporary, output->path);
}

int mw_output_close(struct mw_output *output, int exclusive, int keep)
{
    errno = 0;
    int failed = fflush(output->stream) || ferror(output->stream);
    int error = errno;
    if (output->path && fclose(output->stream) && !failed) {
        failed = 1;
        error = errno;
    }
    if (output->temporary && !failed && keep && output_name(output, exclusive)) {
        failed = 1;
        error = errno;
    }
    if (failed)
        mw_complain("%s: cannot be written: %s", output->path ? output->path : "standard output",
                    error ? strerror(error) : "unknown error");
    if (output->temporary && (failed || !keep))
        unlink(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
    return failed ? MW_EXIT_FAILED : MW_EXIT_OK;
}

int64_t mw_command_rank(const struct mw_model *model, struct mw_rank_id id)
{
    int64_t place = mw_model_find_rank(model, id);
    if (place >= 0 && (mw_model_rank(model, place) >= 0 || place < model->rank_total))
        return place;
    if (id.world)
        mw_complain("rank %" PRIu32 ":%" PRId64 " is not in this trace", id.world, id.rank);
    else if (model->world_count > 1)
        mw_complain("rank %" PRId64 ": which? this trace has %zu worlds, name it as 1:%" PRId64,
                    id.rank, model->world_count, id.rank);
    else
        mw_complain("rank %" PRId64 " is not in this trace", id.rank);
    return -1;
}
