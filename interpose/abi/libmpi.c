/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the MPI library that serves a caller, its ABI and its functions; see libmpi.h. Runs on the
 * first MPI call of a process and of each function, on whatever thread makes it.
 */
#include "abi/libmpi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "record/record.h"
#include "trace/names.h"

#define LIBS_MAX 4
#define SERVED_MAX 64

static struct mw_libmpi libs[LIBS_MAX];
static _Atomic unsigned lib_count;
static struct mw_lock libs_lock; /* for some instructions: never over a call of the loader or of MPI */

/* Which library each object that has called MPI is served by. */
static struct {
    _Atomic(const struct mw_module_entry *) object;
    struct mw_libmpi *lib;
} served[SERVED_MAX];
static _Atomic unsigned served_count;
_Atomic(struct mw_libmpi *) mw_libmpi_single;

static const struct mw_module_entry *module_of(const void *address)
{
    const struct mw_module_entry *module = address ? mw_modules_find(address) : NULL;
    if (!module && address) {
        mw_modules_refresh();
        module = mw_modules_find(address);
    }
    return module;
}

static const struct mw_module_entry *self_module(void)
{
    static _Atomic(const struct mw_module_entry *) self;
    const struct mw_module_entry *found = atomic_load_explicit(&self, memory_order_relaxed);
    if (!found) {
        found = module_of((const void *)self_module);
        atomic_store_explicit(&self, found, memory_order_relaxed);
    }
    return found;
}

/* A symbol's object as the program sees it: a copy relocation may have moved it into the executable,
 * so the global scope is asked first (FACTS: "Copy relocations"). */
static void *object_address(const struct mw_module_entry *object, const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    return address ? address : mw_elf_symbol(object, name);
}

static void fill(const struct mw_module_entry *object, mw_handle *handle, const char *name)
{
    if (name)
        *handle = (mw_handle)object_address(object, name);
}

/* Runs of blanks become one: MPICH sets its version as a table. */
static void first_line(const char *text, char *out, size_t size)
{
    size_t length = 0;
    for (const char *c = text; *c && *c != '\n' && length < size - 1; c++) {
        char plain = *c == '\t' ? ' ' : *c;
        if (plain != ' ' || (length && out[length - 1] != ' '))
            out[length++] = plain;
    }
    out[length] = '\0';
}

/* Open MPI exports its world object, the standard ABI has a library name of its own, and MPICH's family
 * says what it is when asked (callable before MPI_Init). */
static const struct mw_abi *detect(const struct mw_module_entry *object, const char *text)
{
    const char *base = strrchr(object->path, '/');
    base = base ? base + 1 : object->path;
    if (strncmp(base, "libmpi_abi.so", 13) == 0)
        return &mw_abi_standard;
    if (mw_elf_symbol(object, "ompi_mpi_comm_world"))
        return &mw_abi_openmpi;
    static const char *const family[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPICH"};
    for (size_t i = 0; i < sizeof family / sizeof *family; i++)
        if (strncmp(text, family[i], strlen(family[i])) == 0)
            return &mw_abi_mpich;
    return NULL;
}

/* The library's own definition of PMPI_Init, reached from this caller. */
static void *init_seen_by(const void *caller)
{
    const struct mw_module_entry *module = module_of(caller);
    const char name[] = "PMPI_Init";
    /* A plug-in sees what it was linked with, whatever the program itself uses. */
    if (module && module->path[0] == '/' && module != self_module()) {
        void *handle = dlopen(module->path, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
        if (handle) {
            void *found = dlsym(handle, name);
            dlclose(handle);
            if (found && module_of(found) != self_module())
                return found;
        }
    }
    return dlsym(RTLD_NEXT, name);
}

static const struct mw_module_entry *library_of(const void *caller)
{
    const struct mw_module_entry *module = module_of(init_seen_by(caller));
    if (module && module->role == MW_MODULE_MPI)
        return module;
    /* Another tool stands in front, or the library came in with RTLD_LOCAL. */
    mw_modules_refresh();
    return mw_modules_first(MW_MODULE_MPI, "PMPI_Init");
}

#define VERSION_MAX 16384u /* MPI-5 allows 8192 */

/* What a library says it is, in pages of its own: the stack may be small. "" when it does not say. */
static char *ask_version(const struct mw_module_entry *object)
{
    int length = 0, (*version)(char *, int *) =
                        (int (*)(char *, int *))mw_elf_symbol(object, "PMPI_Get_library_version");
    char *text = mmap(NULL, VERSION_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        return NULL;
    if (!version || version(text, &length) != 0)
        text[0] = '\0';
    text[VERSION_MAX - 1] = '\0';
    return text;
}

/* A library as it will stand in the table. Asks the loader and MPI, which may wait for a thread that waits for us: without
 * the lock. */
static void learn(const struct mw_module_entry *object, struct mw_abi *found, char *name, size_t size)
{
    /* We keep addresses in it: it must stay where it is, even if the program unloads it. */
    dlopen(object->path, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY);
    char *text = ask_version(object);
    const struct mw_abi *abi = detect(object, text ? text : "");
    first_line(text ? text : "", name, size);
    if (text)
        munmap(text, VERSION_MAX);
    if (!abi)
        return;
    *found = *abi;
    fill(object, &found->comm_world, abi->comm_world_object);
    fill(object, &found->comm_self, abi->comm_self_object);
    fill(object, &found->comm_null, abi->comm_null_object);
    fill(object, &found->request_null, abi->request_null_object);
    fill(object, &found->datatype_byte, abi->datatype_byte_object);
    fill(object, &found->datatype_null, abi->datatype_null_object);
    fill(object, &found->op_no_op, abi->op_no_op_object);
}

static struct mw_libmpi *known(const struct mw_module_entry *object)
{
    unsigned count = atomic_load_explicit(&lib_count, memory_order_acquire);
    for (unsigned i = 0; i < count; i++)
        if (libs[i].object == object)
            return &libs[i];
    return NULL;
}

/* Under the lock. */
static struct mw_libmpi *add(const struct mw_module_entry *object, const struct mw_abi *abi,
                             const char *version)
{
    unsigned count = atomic_load_explicit(&lib_count, memory_order_relaxed);
    struct mw_libmpi *lib = known(object); /* another thread was faster */
    if (lib || count == LIBS_MAX)
        return lib;
    lib = &libs[count];
    lib->object = object;
    lib->abi = *abi;
    memcpy(lib->version, version, sizeof lib->version);
    atomic_store_explicit(&lib_count, count + 1, memory_order_release);
    atomic_store_explicit(&mw_libmpi_single, count == 0 ? lib : NULL, memory_order_release);
    return lib;
}

static struct mw_libmpi *served_by(const struct mw_module_entry *caller)
{
    unsigned count = atomic_load_explicit(&served_count, memory_order_acquire);
    for (unsigned i = 0; i < count; i++)
        if (atomic_load_explicit(&served[i].object, memory_order_relaxed) == caller)
            return served[i].lib;
    return NULL;
}

/* Under the lock. */
static void remember(const struct mw_module_entry *caller, struct mw_libmpi *lib)
{
    unsigned count = atomic_load_explicit(&served_count, memory_order_relaxed);
    if (!caller || count == SERVED_MAX || served_by(caller))
        return;
    atomic_store_explicit(&served[count].object, caller, memory_order_relaxed);
    served[count].lib = lib;
    atomic_store_explicit(&served_count, count + 1, memory_order_release);
}

struct mw_libmpi *mw_libmpi_of(const void *caller)
{
    const struct mw_module_entry *module = module_of(caller);
    struct mw_libmpi *lib = module ? served_by(module) : NULL;
    if (lib)
        return lib;
    const struct mw_module_entry *object = library_of(caller);
    struct mw_abi abi = {.name = NULL};
    char version[sizeof lib->version] = "";
    if (!object)
        return NULL;
    lib = known(object);
    if (!lib)
        learn(object, &abi, version, sizeof version);
    mw_lock_take(&libs_lock);
    if (!lib)
        lib = add(object, &abi, version);
    if (lib)
        remember(module, lib);
    mw_lock_drop(&libs_lock);
    return lib;
}

static struct mw_libmpi *known_library(enum mw_function function, const void *caller)
{
    struct mw_libmpi *single = atomic_load_explicit(&mw_libmpi_single, memory_order_acquire);
    if (single && !(mw_function_flags[function] & MW_FUNCTION_EARLY))
        return single;
    return mw_libmpi_of(caller);
}

/* RTLD_NEXT finds what stands behind us in the global scope: another tool, which must get the call, or
 * the library. Another MPI library than the caller's is refused. */
static void *next_of(const struct mw_libmpi *lib, const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    const struct mw_module_entry *module = module_of(next);
    if (!module || module == self_module())
        return NULL;
    return module == lib->object || module->role != MW_MODULE_MPI ? next : NULL;
}

void *mw_libmpi_resolve(enum mw_function function, enum mw_entry entry, const void *caller)
{
    struct mw_libmpi *lib = known_library(function, caller);
    if (!lib)
        return NULL;
    void *real = atomic_load_explicit(&lib->real[function][entry], memory_order_relaxed);
    if (real)
        return real;
    const char *name = mw_function_name(function);
    char profiled[128];
    snprintf(profiled, sizeof profiled, "P%s", name);
    real = next_of(lib, entry == MW_ENTRY_PMPI ? profiled : name);
    if (!real)
        real = mw_elf_symbol(lib->object, entry == MW_ENTRY_PMPI ? profiled : name);
    if (!real) /* some libraries lack one of the two names */
        real = mw_elf_symbol(lib->object, entry == MW_ENTRY_PMPI ? name : profiled);
    atomic_store_explicit(&lib->real[function][entry], real, memory_order_relaxed);
    return real;
}

void *mw_libmpi_own(struct mw_libmpi *lib, enum mw_function function)
{
    void *own = atomic_load_explicit(&lib->own[function], memory_order_relaxed);
    if (!own) {
        char profiled[128];
        snprintf(profiled, sizeof profiled, "P%s", mw_function_name(function));
        own = mw_elf_symbol(lib->object, profiled);
        atomic_store_explicit(&lib->own[function], own, memory_order_relaxed);
    }
    return own;
}

static int looks_present_wrongly(const struct mw_libmpi *lib, const char *name)
{
    return strncmp(name, "MPI_", 4) == 0 && mw_elf_symbol(self_module(), name) &&
           !mw_elf_symbol(lib->object, name);
}

const char *mw_libmpi_misled(const struct mw_libmpi *lib)
{
    for (unsigned i = 0; i < mw_modules_count(); i++) {
        const struct mw_module_entry *module = mw_modules_at(i);
        const char *name;
        uint32_t at = 0;
        if (module->role == MW_MODULE_MPI || module->role == MW_MODULE_MPIWATCH ||
            atomic_load_explicit(&module->gone, memory_order_relaxed))
            continue;
        while ((name = mw_elf_weak_next(&module->elf, &at)))
            if (looks_present_wrongly(lib, name))
                return name;
    }
    return NULL;
}
