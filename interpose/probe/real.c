/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding what a caller would have bound; see real.h. The order is the loader's own: the global scope
 * first, then the scope of the object that came in with its dependencies. */
#include "probe/real.h"

#include <dlfcn.h>
#include <stddef.h>

#include "probe/modules.h"

static void *look_up(void *handle, const char *name, const char *version)
{
    return version ? dlvsym(handle, name, version) : dlsym(handle, name);
}

/* A handle of the program, or of an object whose dependencies include us, finds our own definition. */
static int is_ours(const void *found)
{
    const struct mw_module_entry *module = mw_modules_locate(found);
    return module && module->role == MW_MODULE_MPIWATCH;
}

void *mw_real_find(const char *name, const char *version, const void *caller)
{
    void *found = look_up(RTLD_NEXT, name, version);
    if (found && !is_ours(found))
        return found;
    const struct mw_module_entry *module = mw_modules_locate(caller);
    if (!module || module->path[0] != '/')
        return NULL;
    void *handle = dlopen(module->path, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        return NULL;
    found = look_up(handle, name, version);
    dlclose(handle);
    return found && !is_ours(found) ? found : NULL;
}

unsigned mw_real_module(const void *address)
{
    const struct mw_module_entry *module = mw_modules_locate(address);
    return module ? module->id : 0;
}
