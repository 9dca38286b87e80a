/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding what a caller would have bound; see real.h. The order is the loader's own: the global
 * scope first, then the scope of the object that came in with its dependencies.
 */
#include "probe/real.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "probe/modules.h"

#define PATH_CAPACITY 1024u

static void *look_up(void *handle, const char *name, const char *version)
{
    return version ? dlvsym(handle, name, version) : dlsym(handle, name);
}

/* A handle of the program, or of an object whose dependencies include us, finds our own definition.
 * The loader is asked where the table of modules is busy: to call ourselves would never end. */
static int is_ours(const void *found)
{
    static const char here;
    Dl_info us, other;
    const struct mw_module_entry *module = mw_modules_locate(found);
    if (module)
        return module->role == MW_MODULE_MPIWATCH;
    return dladdr(&here, &us) && dladdr(found, &other) && us.dli_fbase == other.dli_fbase;
}

static void *look_into(const char *path, const char *name, const char *version)
{
    void *handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        return NULL;
    void *found = look_up(handle, name, version);
    dlclose(handle);
    return found && !is_ours(found) ? found : NULL;
}

/* The path of an object that defines a function. */
struct search {
    const char *name;
    unsigned skip; /* so many such objects */
    char path[PATH_CAPACITY];
};

static int search_visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    struct mw_elf elf;
    (void)size;
    if (!info->dlpi_name || strlen(info->dlpi_name) >= PATH_CAPACITY ||
        mw_elf_open(&elf, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) != 0 ||
        !mw_elf_lookup(&elf, search->name) || search->skip-- > 0)
        return 0;
    strcpy(search->path, info->dlpi_name);
    return 1;
}

/* The program, which has no path here, is in the global scope and was asked first. */
void *mw_real_anywhere(const char *name, const char *version)
{
    struct search search = {.name = name};
    for (unsigned i = 0;; i++) {
        search.skip = i;
        if (!dl_iterate_phdr(search_visit, &search))
            return NULL;
        void *found = *search.path ? look_into(search.path, name, version) : NULL;
        if (found)
            return found;
    }
}

void *mw_real_find(const char *name, const char *version, const void *caller)
{
    void *found = look_up(RTLD_NEXT, name, version);
    if (found && !is_ours(found))
        return found;
    const struct mw_module_entry *module = mw_modules_locate(caller);
    return module && module->path[0] == '/' ? look_into(module->path, name, version) : NULL;
}

unsigned mw_real_module(const void *address)
{
    const struct mw_module_entry *module = mw_modules_locate(address);
    return module ? module->id : 0;
}
