/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing pages into a folder (history.h). Names are made of numbers; each file takes its name when
 * it is complete, in place of whatever had it: a link is replaced, never followed. Main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/index.h"
#include "analyzer/render/history.h"
#include "analyzer/render/json.h"

#define MARK "content=\"mpiwatch history\"" /* of pages that were made here */

struct mw_pages {
    const char *folder;
    int fd;
    char *why;
    json_t *benchmarks; /* of the index */
};

static void fail(struct mw_pages *pages, const char *name)
{
    if (!pages->why)
        pages->why = mw_format("%s/%s: %s", pages->folder, name, strerror(errno));
}

/* A file that nobody sees before it is complete. */
static FILE *file_begin(struct mw_pages *pages, char **temporary)
{
    *temporary = mw_format(".part-%ld", (long)getpid());
    unlinkat(pages->fd, *temporary, 0); /* of a process that is no more */
    int fd =
        openat(pages->fd, *temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out) {
        fail(pages, *temporary);
        free(*temporary);
    }
    return out;
}

static void file_end(struct mw_pages *pages, FILE *out, char *temporary, const char *name)
{
    int failed = ferror(out);
    failed |= fclose(out) != 0;
    if (failed || renameat(pages->fd, temporary, pages->fd, name)) {
        fail(pages, name);
        unlinkat(pages->fd, temporary, 0);
    }
}

static void write_file(struct mw_pages *pages, const char *page, const char *end,
                       const json_t *document, void (*form)(const json_t *, FILE *))
{
    char *temporary, *name = mw_format("%s.%s", page, end);
    FILE *out = pages->why ? NULL : file_begin(pages, &temporary);
    if (out) {
        form(document, out);
        file_end(pages, out, temporary, name);
        free(temporary);
    }
    free(name);
}

static void form_json(const json_t *document, FILE *out)
{
    mw_json_write(document, out);
}

static void write_page(struct mw_pages *pages, const char *page, const json_t *document,
                       void (*html)(const json_t *, FILE *))
{
    write_file(pages, page, "html", document, html);
    write_file(pages, page, "json", document, form_json);
}

/* The page of a benchmark: the same in every site that is made of it. */
static char *page_of(const char *benchmark)
{
    return mw_format("benchmark-%016" PRIx64, mw_hash_text(1, benchmark));
}

/* Somebody else's site must not lose its first page. */
static int is_ours(const struct mw_pages *pages)
{
    char head[1024] = "";
    int fd = openat(pages->fd, "index.html", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT;
    ssize_t size = read(fd, head, sizeof(head) - 1);
    close(fd);
    return size >= 0 && strstr(head, MARK) != NULL;
}

struct mw_pages *mw_pages_open(const char *folder)
{
    struct mw_pages *pages = mw_alloc(1, sizeof(*pages));
    pages->folder = folder;
    pages->benchmarks = json_array();
    pages->fd = -1;
    if (!mkdir(folder, 0777) || errno == EEXIST)
        pages->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (pages->fd < 0)
        pages->why = mw_format("%s: %s", folder, strerror(errno));
    else if (!is_ours(pages))
        pages->why = mw_format("%s: has an index.html that is not of a history, and is not "
                               "overwritten",
                               folder);
    return pages;
}

void mw_pages_run(struct mw_pages *pages, json_t *document)
{
    const json_t *run = json_object_get(document, "run");
    char *page = page_of(mw_json_string(run, "benchmark"));
    char *name = mw_format("run-%.0f", mw_json_count_of(run, "id"));
    json_object_set_new(document, "page", json_string(page));
    write_page(pages, name, document, mw_html_run);
    free(page);
    free(name);
}

/* What the index says of a benchmark. */
static json_t *summary_json(const json_t *document)
{
    const json_t *runs = json_object_get(document, "runs"), *steps;
    const json_t *last = json_array_get(runs, json_array_size(runs) - 1);
    steps = json_object_get(document, "steps");
    json_t *change = json_object_get(json_array_get(steps, json_array_size(steps) - 1), "run");
    return json_pack(
        "{s:O, s:O, s:I, s:O, s:o}", "benchmark", json_object_get(document, "benchmark"), "page",
        json_object_get(document, "page"), "runs", (json_int_t)json_array_size(runs), "began",
        json_object_get(last, "began"), "changed", change ? json_incref(change) : json_null());
}

void mw_pages_benchmark(struct mw_pages *pages, json_t *document)
{
    char *page = page_of(mw_json_string(document, "benchmark"));
    json_object_set_new(document, "page", json_string(page));
    write_page(pages, page, document, mw_html_benchmark);
    json_array_append_new(pages->benchmarks, summary_json(document));
    free(page);
}

int mw_pages_close(struct mw_pages *pages, int whole, char **why)
{
    json_t *index = mw_json_document("history-index");
    json_object_set_new(index, "benchmarks", pages->benchmarks);
    if (whole)
        write_page(pages, "index", index, mw_html_index);
    json_decref(index);
    if (pages->fd >= 0)
        close(pages->fd);
    *why = pages->why;
    free(pages);
    return *why ? -1 : 0;
}
