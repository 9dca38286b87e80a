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

struct pages {
    const char *folder;
    int fd;
    char *why;
};

static void fail(struct pages *pages, const char *name)
{
    if (!pages->why)
        pages->why = mw_format("%s/%s: %s", pages->folder, name, strerror(errno));
}

/* A file that nobody sees before it is complete. */
static FILE *file_begin(struct pages *pages, char **temporary)
{
    *temporary = mw_format(".part-%ld", (long)getpid());
    unlinkat(pages->fd, *temporary, 0); /* of a process that is no more */
    int fd =
        openat(pages->fd, *temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        fail(pages, *temporary);
    return out;
}

static void file_end(struct pages *pages, FILE *out, char *temporary, const char *name)
{
    int failed = ferror(out);
    failed |= fclose(out) != 0;
    if (failed || renameat(pages->fd, temporary, pages->fd, name)) {
        fail(pages, name);
        unlinkat(pages->fd, temporary, 0);
    }
}

static void write_html(struct pages *pages, const char *page, const json_t *document,
                       void (*html)(const json_t *, FILE *))
{
    char *temporary, *name = mw_format("%s.html", page);
    FILE *out = pages->why ? NULL : file_begin(pages, &temporary);
    if (out) {
        html(document, out);
        file_end(pages, out, temporary, name);
        free(temporary);
    }
    free(name);
}

static void write_json(struct pages *pages, const char *page, const json_t *document)
{
    char *temporary, *name = mw_format("%s.json", page);
    FILE *out = pages->why ? NULL : file_begin(pages, &temporary);
    if (out) {
        mw_json_write(document, out);
        file_end(pages, out, temporary, name);
        free(temporary);
    }
    free(name);
}

/* The page of a benchmark: the same in every site that is made of it. */
static char *page_of(const char *benchmark)
{
    return mw_format("benchmark-%016" PRIx64, mw_hash_text(1, benchmark));
}

/* Somebody else's site must not lose its first page. */
static int is_ours(const struct pages *pages)
{
    char head[1024] = "";
    int fd = openat(pages->fd, "index.html", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT;
    ssize_t size = read(fd, head, sizeof(head) - 1);
    close(fd);
    return size >= 0 && strstr(head, MARK) != NULL;
}

static void pages_open(struct pages *pages)
{
    if (mkdir(pages->folder, 0777) && errno != EEXIST) {
        pages->why = mw_format("%s: %s", pages->folder, strerror(errno));
        return;
    }
    pages->fd = open(pages->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (pages->fd < 0)
        pages->why = mw_format("%s: %s", pages->folder, strerror(errno));
    else if (!is_ours(pages))
        pages->why = mw_format("%s: has an index.html that is not of a history, and is not "
                               "overwritten",
                               pages->folder);
}

int mw_history_pages(const char *folder, const json_t *documents, const json_t *shown, char **why)
{
    struct pages pages = {.folder = folder, .fd = -1};
    size_t i;
    json_t *document;
    pages_open(&pages);
    json_array_foreach(shown, i, document) {
        const json_t *run = json_object_get(document, "run");
        char *page = page_of(mw_json_string(run, "benchmark"));
        char *name = mw_format("run-%.0f", mw_json_count_of(run, "id"));
        json_object_set_new(document, "page", json_string(page));
        write_html(&pages, name, document, mw_html_run);
        write_json(&pages, name, document);
        free(page);
        free(name);
    }
    json_array_foreach(documents, i, document) {
        char *page = page_of(mw_json_string(document, "benchmark"));
        json_object_set_new(document, "page", json_string(page));
        write_html(&pages, page, document, mw_html_benchmark);
        write_json(&pages, page, document);
        free(page);
    }
    write_html(&pages, "index", documents, mw_html_index);
    if (pages.fd >= 0)
        close(pages.fd);
    *why = pages.why;
    return pages.why ? -1 : 0;
}
