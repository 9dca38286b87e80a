/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a loaded object's own dynamic section: its symbols, what it needs, its build id. Works on
 * the mapped image alone, so it has none of dlsym's effects (no lock of the loader, no IFUNC
 * resolver run, no search order). Any thread, no allocation; the object must stay loaded meanwhile.
 */
#ifndef MW_PROBE_ELF_H
#define MW_PROBE_ELF_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

#define MW_ELF_SEGMENTS 8u

struct mw_elf {
    uintptr_t bias;       /* added to the addresses in the file */
    uintptr_t start, end; /* of the image: first loaded byte, one after the last */
    struct mw_elf_range {
        uintptr_t start, end;
    } readable[MW_ELF_SEGMENTS]; /* every read stays within one of these */
    unsigned readable_count;
    const ElfW(Dyn) * dynamic;
    size_t dynamic_count;
    const ElfW(Sym) * symbols;
    const char *strings;
    size_t strings_size;
    const uint32_t *gnu_hash, *hash;
    const ElfW(Half) * versions;
};

/* From the program headers that dl_iterate_phdr gives. 0, or -1 where there is no loaded segment;
 * an object without symbols is no failure. */
int mw_elf_open(struct mw_elf *elf, uintptr_t bias, const ElfW(Phdr) * headers, size_t count);

/* The address of a function or object that this image defines itself; NULL when it does not, or
 * when the symbol is an IFUNC (its address would be the resolver's) or thread-local. */
void *mw_elf_lookup(const struct mw_elf *elf, const char *name);

/* The place of the object's table through which it calls or reads a symbol of others; NULL none. It is
 * read-only where the loader sealed it. */
void *mw_elf_slot(const struct mw_elf *elf, const char *name);

/* Names that the object uses if somebody defines them (weak, undefined): *at starts at 0. NULL at the end. */
const char *mw_elf_weak_next(const struct mw_elf *elf, uint32_t *at);

/* DT_SONAME; NULL none. */
const char *mw_elf_soname(const struct mw_elf *elf);
/* Does one of the DT_NEEDED names begin so? */
int mw_elf_needs(const struct mw_elf *elf, const char *prefix);

/* Copies the GNU build id (at most `capacity` bytes of it) and returns its length, 0 none. */
size_t mw_elf_build_id(const struct mw_elf *elf, const ElfW(Phdr) * headers, size_t count,
                       uint8_t *out, size_t capacity);

#endif
