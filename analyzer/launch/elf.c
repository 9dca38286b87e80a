/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the dependencies of a program with libelf (elf.h). Reads files only; bounded in the
 * number of objects.
 */
#include "analyzer/launch/elf.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/launch/search.h"
#include "analyzer/render/labels.h"

#define OBJECTS_MAX 256

struct object {
    int fd;
    Elf *elf;
    GElf_Ehdr header;
};

static int object_open(struct object *object, const char *path)
{
    struct stat state;
    object->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (object->fd < 0)
        return 0;
    object->elf = NULL;
    if (!fstat(object->fd, &state) && S_ISREG(state.st_mode) && elf_version(EV_CURRENT) != EV_NONE)
        object->elf = elf_begin(object->fd, ELF_C_READ_MMAP, NULL);
    if (object->elf && elf_kind(object->elf) == ELF_K_ELF &&
        gelf_getehdr(object->elf, &object->header))
        return 1;
    elf_end(object->elf);
    close(object->fd);
    return 0;
}

static void object_close(struct object *object)
{
    elf_end(object->elf);
    close(object->fd);
}

static Elf_Scn *object_section(const struct object *object, unsigned type, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(object->elf, section)))
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return section;
    return NULL;
}

/* Whether the object defines functions of these names; found[i] is set for each. */
static void object_symbols(const struct object *object, const char *const *names, int *found,
                           size_t count)
{
    GElf_Shdr header;
    GElf_Sym symbol;
    Elf_Scn *section = object_section(object, SHT_DYNSYM, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(object->elf, header.sh_link, symbol.st_name);
        if (!name || symbol.st_shndx == SHN_UNDEF)
            continue;
        for (size_t n = 0; n < count; n++)
            if (!strcmp(name, names[n]))
                found[n] = 1;
    }
}

/* 1 when this object is an MPI library. */
static int object_is_mpi(const struct object *object, const char *path,
                         struct mw_mpi_library *library)
{
    /* An MPI that has only some of the new functions counts as an old one: a function that looks
     * present but is not is worse than one that is not recorded. */
    static const char *const names[] = {"PMPI_Init", "MPI_Isendrecv", "MPI_Session_init",
                                        "MPI_Send_c"};
    int found[4] = {0};
    object_symbols(object, names, found, 4);
    if (!found[0])
        return 0;
    library->path = mw_text_copy(path);
    library->extent = !(found[1] && found[2]) ? MW_MPI_OLD : found[3] ? MW_MPI_FULL : MW_MPI_SMALL;
    return 1;
}

struct walk {
    MW_VECTOR(char *) paths;
    struct mw_search search;
};

static int walk_knows(const struct walk *walk, const char *name)
{
    for (size_t i = 0; i < walk->paths.count; i++)
        if (!strcmp(mw_basename(walk->paths.at[i]), name))
            return 1;
    return 0;
}

static void walk_add_needed(struct walk *walk, const struct object *object, const char *path)
{
    GElf_Shdr header;
    GElf_Dyn entry;
    Elf_Scn *section = object_section(object, SHT_DYNAMIC, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    const char *rpath = NULL, *runpath = NULL;
    for (int i = 0; data && gelf_getdyn(data, i, &entry); i++) {
        if (entry.d_tag == DT_RPATH)
            rpath = elf_strptr(object->elf, header.sh_link, entry.d_un.d_val);
        if (entry.d_tag == DT_RUNPATH)
            runpath = elf_strptr(object->elf, header.sh_link, entry.d_un.d_val);
    }
    mw_search_object(&walk->search, path, rpath, runpath);
    for (int i = 0; data && gelf_getdyn(data, i, &entry); i++) {
        if (entry.d_tag != DT_NEEDED || walk->paths.count >= OBJECTS_MAX)
            continue;
        const char *name = elf_strptr(object->elf, header.sh_link, entry.d_un.d_val);
        if (!name || walk_knows(walk, mw_basename(name)))
            continue;
        char *found = mw_search_find(&walk->search, name);
        if (found)
            *mw_vector_add(&walk->paths) = found;
    }
}

int mw_elf_find_mpi(const char *path, struct mw_mpi_library *library)
{
    struct walk walk = {0};
    int found = 0;
    *mw_vector_add(&walk.paths) = mw_text_copy(path);
    mw_search_init(&walk.search);
    for (size_t i = 0; i < walk.paths.count && !found; i++) {
        struct object object;
        if (!object_open(&object, walk.paths.at[i]))
            continue;
        if (i == 0)
            walk.search.machine = object.header.e_machine;
        if (object.header.e_machine == walk.search.machine) {
            found = object_is_mpi(&object, walk.paths.at[i], library);
            if (!found)
                walk_add_needed(&walk, &object, walk.paths.at[i]);
        }
        object_close(&object);
    }
    for (size_t i = 0; i < walk.paths.count; i++)
        free(walk.paths.at[i]);
    free(walk.paths.at);
    mw_search_free(&walk.search);
    return found;
}
