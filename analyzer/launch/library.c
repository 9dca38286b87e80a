/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the preload library (library.h). */
#include "analyzer/launch/library.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/launch/elf.h"
#include "analyzer/launch/search.h"
#include "analyzer/render/labels.h"

/* The first word of the command that names a program with an MPI library. Options of launchers are
 * no programs, and their values hardly ever the name of one that uses MPI. */
static char *find_program(char *const *command, struct mw_mpi_library *mpi)
{
    for (size_t i = 0; command[i]; i++) {
        if (command[i][0] == '-')
            continue;
        char *path = mw_search_program(command[i]);
        if (path && mw_elf_find_mpi(path, mpi))
            return path;
        free(path);
    }
    return NULL;
}

/* Beside this program in the build tree, else where it is installed, else where it was configured
 * to be. */
static char *find_library(const char *name)
{
    static const char *const places[] = {"../interpose", MW_LIBDIR_FROM_BINDIR};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = 0;
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
        *slash = 0;
        char *path = mw_format("%s/%s/%s", self, places[i], name), *real = realpath(path, NULL);
        *slash = '/';
        free(path);
        if (real)
            return real;
    }
    char *path = mw_format("%s/%s", MW_LIBDIR, name), *real = realpath(path, NULL);
    free(path);
    return real;
}

/* By enum mw_mpi_extent. */
static const struct {
    const char *name, *has;
} libraries[] = {
    {"libmpiwatch-mpi3.so", "does not have all functions of MPI-4.0"},
    {"libmpiwatch-mpi4.so", "has the functions of MPI-4.0 without large counts"},
    {"libmpiwatch.so", "has all functions of MPI-4.0"},
};

void mw_library_choose(char *const *command, struct mw_library_choice *choice)
{
    struct mw_mpi_library mpi = {0};
    char *program = find_program(command, &mpi);
    const char *name = libraries[mpi.extent].name;
    choice->library = find_library(name);
    choice->program = mw_text_copy(mw_basename(program ? program : command[0]));
    if (program)
        choice->reason =
            mw_format("%s uses %s, which %s", program, mpi.path, libraries[mpi.extent].has);
    else
        choice->reason = mw_text_copy("which MPI library the job uses cannot be told beforehand");
    if (!choice->library)
        choice->reason = (free(choice->reason), mw_format("%s is not where it should be", name));
    free(program);
    free(mpi.path);
}
