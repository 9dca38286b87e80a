/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects residues (collect.h); trace/residue.h does the work and knows the dangers. */
#include "analyzer/launch/collect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/cmd/command.h"
#include "analyzer/render/text.h"
#include "trace/residue.h"

struct collecting {
    struct stat folder;
    int one_folder;
    FILE *out;
    struct mw_collected *result;
};

static void tell(const struct collecting *collecting, const struct mw_residue *residue,
                 const char *what)
{
    char file[sizeof(residue->header->node_file) + 1] = "";
    if (!collecting->out)
        return;
    memcpy(file, residue->header->node_file, sizeof(residue->header->node_file));
    char *name = mw_text_escape(file);
    fprintf(collecting->out, "process %" PRIu64 ": %s (%s)\n", residue->header->pid, what, name);
    free(name);
}

static void collect_one(const struct collecting *collecting, const char *path,
                        const struct mw_residue *residue)
{
    struct mw_collected *result = collecting->result;
    uint64_t bytes = 0;
    char what[64];
    if (residue->foreign) {
        result->foreign++;
        tell(collecting, residue, "belongs to another container or boot, left alone");
        return;
    }
    if (residue->alive) {
        result->alive++;
        tell(collecting, residue, "still running, left alone");
        return;
    }
    errno = 0;
    enum mw_status status = mw_residue_collect(path, &bytes);
    if (status == MW_OK) {
        result->processes++;
        result->bytes += bytes;
        snprintf(what, sizeof(what), "%" PRIu64 " bytes appended", bytes);
        tell(collecting, residue, what);
    } else if (status == MW_ERR_NOT_FOUND) {
        int kept = access(path, F_OK) == 0;
        result->failed += (size_t)kept;
        if (kept)
            mw_complain("%s: its trace is gone; remove the file if it is not needed", path);
        else
            tell(collecting, residue, "its trace was removed, so is what it left");
    } else if (status == MW_ERR_ARGUMENT) {
        tell(collecting, residue, "another process is collecting it");
    } else {
        result->failed++;
        mw_complain("%s: %s", path,
                    status == MW_ERR_SYSTEM && errno ? strerror(errno) : mw_status_text(status));
    }
}

static enum mw_status collect_visit(void *context, const char *path)
{
    const struct collecting *collecting = context;
    struct mw_residue residue;
    enum mw_status status = mw_residue_open(path, &residue);
    if (status != MW_OK) {
        /* One that is gone was collected by somebody else meanwhile. */
        if (status != MW_ERR_NOT_FOUND && !collecting->one_folder) {
            collecting->result->failed++;
            mw_complain("%s: %s", path, mw_status_text(status));
        }
        return MW_OK;
    }
    if (!collecting->one_folder || mw_residue_belongs(&residue, (uint64_t)collecting->folder.st_dev,
                                                      (uint64_t)collecting->folder.st_ino))
        collect_one(collecting, path, &residue);
    mw_residue_close(&residue);
    return MW_OK;
}

void mw_collect(const char *folder, FILE *out, struct mw_collected *result)
{
    struct collecting collecting = {.one_folder = folder != NULL, .out = out, .result = result};
    const char *memory = getenv("MPIWATCH_SHM");
    *result = (struct mw_collected){0};
    if (folder && stat(folder, &collecting.folder)) {
        result->failed++;
        mw_complain("%s: %s", folder, strerror(errno));
        return;
    }
    mw_residue_each(memory && memory[0] ? memory : "/dev/shm", collect_visit, &collecting);
}
