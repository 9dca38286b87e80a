/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects that are loaded into this process: where they lie, their build ids, and what part
 * they play (docs/format.md, MODULES). The table only grows; an object that is unloaded keeps its
 * entry, and whatever is loaded at its address later gets a new one. Finding takes no lock and may
 * be done by any thread at any time, in a signal handler too. Refreshing calls dl_iterate_phdr and
 * reads /proc/self/maps: any thread, but with no lock held that a dlopen in another thread could
 * wait for.
 */
#ifndef MW_PROBE_MODULES_H
#define MW_PROBE_MODULES_H

#include <stdint.h>

#include "mpiwatch/format.h"
#include "probe/elf.h"

#define MW_MODULES_MAX  4096u
#define MW_BUILD_ID_MAX 64u

struct mw_module_entry {
    uint32_t id; /* 1 or more, never used again */
    enum mw_module_role role;
    /* Addresses in the image; start is the first segment's rounded down to 4 KiB. The address that
     * the object's file gives for a place is (place − start) + (first segment's p_vaddr rounded the
     * same way). */
    uintptr_t start, end;
    /* path: the file as the kernel knows it, symbolic links resolved; else the loader's name.
     * name: as the loader was told: may be relative, a link, or "" for the program. */
    const char *path, *name;
    uint8_t build_id[MW_BUILD_ID_MAX];
    uint32_t build_id_size;
    uint32_t pass;    /* refresh that saw it last */
    _Atomic int gone; /* has been unloaded: its image must not be read any more */
    struct mw_elf elf;
};

enum mw_modules_result {
    MW_MODULES_SAME =
        0, /* nothing loaded or unloaded since the last time: this costs about 0.1 us */
    MW_MODULES_CHANGED = 1,
    MW_MODULES_BUSY = -1,   /* another thread is at it and did not end in a bounded time */
    MW_MODULES_FAILED = -2, /* no memory for the table */
};
/* Brings the table up to date. The first call builds it. */
enum mw_modules_result mw_modules_refresh(void);

/* The loaded object that contains this address, as of the last refresh; NULL none is known. */
const struct mw_module_entry *mw_modules_find(const void *address);
/* The same after a refresh where that helps. */
const struct mw_module_entry *mw_modules_locate(const void *address);

/* Entries in order of discovery: id i stands at index i − 1. Gone ones are among them. */
unsigned mw_modules_count(void);
const struct mw_module_entry *mw_modules_at(unsigned index);
/* The first loaded one of this role that defines the symbol (NULL: any); NULL none. */
const struct mw_module_entry *mw_modules_first(enum mw_module_role role, const char *symbol);

/* Changes whenever an entry has gone: what was concluded from addresses may be wrong then. */
uint32_t mw_modules_generation(void);
/* The most loaded objects that found no room in the table at any one time. */
unsigned mw_modules_lost(void);

/* From now on every refresh tells of entries that have not been told yet: indexes first to first +
 * count − 1. Called on the refreshing thread; it may find, but not refresh. */
typedef void (*mw_modules_new_fn)(unsigned first, unsigned count, void *context);
void mw_modules_notify(mw_modules_new_fn tell, void *context);

/* The function or object that this module defines itself; NULL when it has none, when it is an
 * IFUNC, or when the module has gone. Never runs code of the module. */
void *mw_elf_symbol(const struct mw_module_entry *module, const char *name);

/* roles.c: what part an object plays. `name` is the loader's; main: it is the program itself. */
/* It has what only an MPI library has inside, or the name that the standard gives to one. */
int mw_module_is_surely_mpi(const struct mw_elf *elf, const char *name);
enum mw_module_role mw_module_role_of(const struct mw_elf *elf, const char *name, int is_main);

#endif
