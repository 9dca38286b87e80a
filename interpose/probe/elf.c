/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See elf.h. The tables of a loaded object are trusted no further than its readable segments reach:
 * packers and broken tools leave images whose section or hash data point elsewhere.
 */
#include "probe/elf.h"

#include <string.h>

#define DYNAMIC_MAX 512u
#define NOTES_MAX   64u
#define CHAIN_MAX   (1u << 20)

/* `size` readable bytes at this address? */
static int covers(const struct mw_elf *elf, const void *address, size_t size)
{
    uintptr_t at = (uintptr_t)address;
    for (unsigned i = 0; i < elf->readable_count; i++)
        if (at >= elf->readable[i].start && at < elf->readable[i].end)
            return size <= elf->readable[i].end - at;
    return 0;
}

/* The loader rewrites the addresses in most dynamic sections, but not in read-only ones (vDSO). */
static const void *located(const struct mw_elf *elf, uintptr_t value)
{
    if (value >= elf->start && value < elf->end)
        return (const void *)value;
    value += elf->bias;
    return value >= elf->start && value < elf->end ? (const void *)value : NULL;
}

/* A string of the image that ends inside it; NULL otherwise. */
static const char *string_at(const struct mw_elf *elf, size_t offset)
{
    if (!elf->strings || offset >= elf->strings_size)
        return NULL;
    const char *string = elf->strings + offset;
    return memchr(string, '\0', elf->strings_size - offset) ? string : NULL;
}

static void segments_read(struct mw_elf *elf, const ElfW(Phdr) * headers, size_t count)
{
    uintptr_t page = 4095;
    elf->start = UINTPTR_MAX;
    for (size_t i = 0; i < count; i++) {
        const ElfW(Phdr) *header = &headers[i];
        uintptr_t at = elf->bias + header->p_vaddr;
        if (header->p_type != PT_LOAD)
            continue;
        if ((at & ~page) < elf->start)
            elf->start = at & ~page;
        if (at + header->p_memsz > elf->end)
            elf->end = at + header->p_memsz;
        if ((header->p_flags & PF_R) && elf->readable_count < MW_ELF_SEGMENTS)
            elf->readable[elf->readable_count++] = (struct mw_elf_range){at, at + header->p_memsz};
    }
}

static void dynamic_read(struct mw_elf *elf, uintptr_t at, size_t size)
{
    const ElfW(Dyn) *entries = (const ElfW(Dyn) *)at;
    size_t count = size / sizeof *entries;
    if (count > DYNAMIC_MAX)
        count = DYNAMIC_MAX;
    if (!covers(elf, entries, count * sizeof *entries))
        return;
    elf->dynamic = entries;
    for (elf->dynamic_count = 0; elf->dynamic_count < count; elf->dynamic_count++) {
        const ElfW(Dyn) *entry = &entries[elf->dynamic_count];
        const void *target = located(elf, entry->d_un.d_ptr);
        if (entry->d_tag == DT_NULL)
            break;
        if (entry->d_tag == DT_SYMTAB)
            elf->symbols = target;
        else if (entry->d_tag == DT_STRTAB)
            elf->strings = target;
        else if (entry->d_tag == DT_STRSZ)
            elf->strings_size = entry->d_un.d_val;
        else if (entry->d_tag == DT_GNU_HASH)
            elf->gnu_hash = target;
        else if (entry->d_tag == DT_HASH)
            elf->hash = target;
        else if (entry->d_tag == DT_VERSYM)
            elf->versions = target;
    }
    if (!elf->strings || !covers(elf, elf->strings, elf->strings_size))
        elf->strings = NULL;
}

int mw_elf_open(struct mw_elf *elf, uintptr_t bias, const ElfW(Phdr) * headers, size_t count)
{
    memset(elf, 0, sizeof *elf);
    elf->bias = bias;
    segments_read(elf, headers, count);
    if (elf->start >= elf->end)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_DYNAMIC)
            dynamic_read(elf, bias + headers[i].p_vaddr, headers[i].p_memsz);
    return 0;
}

/* Symbol number `index` if it is this name's definition, with *hidden saying that it is an old
 * version that the linker would not choose. */
static const ElfW(Sym) *
    symbol_match(const struct mw_elf *elf, uint32_t index, const char *name, int *hidden)
{
    const ElfW(Sym) *symbol = &elf->symbols[index];
    if (!covers(elf, symbol, sizeof *symbol) || symbol->st_shndx == SHN_UNDEF)
        return NULL;
    const char *own = string_at(elf, symbol->st_name);
    if (!own || strcmp(own, name) != 0)
        return NULL;
    const ElfW(Half) *version = elf->versions ? &elf->versions[index] : NULL;
    *hidden = version && covers(elf, version, sizeof *version) && (*version & 0x8000);
    return symbol;
}

static void *symbol_address(const struct mw_elf *elf, const ElfW(Sym) * symbol)
{
    unsigned type = symbol->st_info & 0xf;
    if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE)
        return NULL;
    if (symbol->st_shndx == SHN_ABS)
        return (void *)(uintptr_t)symbol->st_value;
    return (void *)(elf->bias + symbol->st_value);
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = hash * 33 + *c;
    return hash;
}

static const ElfW(Sym) * gnu_lookup(const struct mw_elf *elf, const char *name)
{
    const uint32_t *table = elf->gnu_hash;
    if (!covers(elf, table, 16) || table[0] == 0 || table[2] == 0)
        return NULL;
    uint32_t buckets_count = table[0], first = table[1], bloom_count = table[2], shift = table[3];
    const ElfW(Addr) *bloom = (const ElfW(Addr) *)(table + 4);
    const uint32_t *buckets = (const uint32_t *)(bloom + bloom_count);
    const uint32_t *chain = buckets + buckets_count;
    uint32_t hash = gnu_hash_of(name);
    const unsigned bits = sizeof(ElfW(Addr)) * 8;
    const ElfW(Addr) *word = &bloom[(hash / bits) % bloom_count];
    const uint32_t *bucket = &buckets[hash % buckets_count];
    if (!covers(elf, word, sizeof *word) || !covers(elf, bucket, sizeof *bucket))
        return NULL;
    if (!((*word >> (hash % bits)) & (*word >> ((hash >> (shift % 32)) % bits)) & 1))
        return NULL;
    const ElfW(Sym) *old = NULL;
    uint32_t index = *bucket;
    for (unsigned steps = 0; index >= first && steps < CHAIN_MAX; index++, steps++) {
        const uint32_t *link = &chain[index - first];
        int hidden = 0;
        if (!covers(elf, link, sizeof *link))
            break;
        const ElfW(Sym) *found =
            (*link | 1) == (hash | 1) ? symbol_match(elf, index, name, &hidden) : NULL;
        if (found && !hidden)
            return found;
        if (found)
            old = found;
        if (*link & 1)
            break;
    }
    return old;
}

static uint32_t sysv_hash_of(const char *name)
{
    uint32_t hash = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        hash = (hash << 4) + *c;
        uint32_t high = hash & 0xf0000000u;
        hash = (hash ^ (high >> 24)) & ~high;
    }
    return hash;
}

static const ElfW(Sym) * sysv_lookup(const struct mw_elf *elf, const char *name)
{
    const uint32_t *table = elf->hash;
    if (!covers(elf, table, 8) || table[0] == 0)
        return NULL;
    uint32_t buckets_count = table[0], count = table[1];
    const uint32_t *buckets = table + 2, *chain = buckets + buckets_count;
    const uint32_t *bucket = &buckets[sysv_hash_of(name) % buckets_count];
    if (!covers(elf, bucket, sizeof *bucket))
        return NULL;
    const ElfW(Sym) *old = NULL;
    uint32_t index = *bucket;
    for (unsigned steps = 0; index && index < count && steps < CHAIN_MAX; steps++) {
        int hidden = 0;
        const ElfW(Sym) *found = symbol_match(elf, index, name, &hidden);
        if (found && !hidden)
            return found;
        if (found)
            old = found;
        if (!covers(elf, &chain[index], sizeof *chain))
            break;
        index = chain[index];
    }
    return old;
}

void *mw_elf_lookup(const struct mw_elf *elf, const char *name)
{
    if (!elf->symbols || !elf->strings)
        return NULL;
    const ElfW(Sym) *symbol = NULL;
    if (elf->gnu_hash)
        symbol = gnu_lookup(elf, name);
    else if (elf->hash)
        symbol = sysv_lookup(elf, name);
    return symbol ? symbol_address(elf, symbol) : NULL;
}

#if defined __x86_64__
#define SLOT_TYPES R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT
#elif defined __aarch64__
#define SLOT_TYPES R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT
#endif

#ifdef SLOT_TYPES
static uintptr_t dynamic_value(const struct mw_elf *elf, ElfW(Sxword) tag)
{
    for (size_t i = 0; i < elf->dynamic_count; i++)
        if (elf->dynamic[i].d_tag == tag)
            return elf->dynamic[i].d_un.d_val;
    return 0;
}

static void *slot_in(const struct mw_elf *elf, uintptr_t table, size_t size, const char *name)
{
    static const uint32_t types[] = {SLOT_TYPES};
    const ElfW(Rela) *relocations = located(elf, table);
    size_t count = size / sizeof *relocations;
    if (!relocations || !covers(elf, relocations, count * sizeof *relocations))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        uint32_t type = (uint32_t)ELF64_R_TYPE(relocations[i].r_info);
        const ElfW(Sym) *symbol = &elf->symbols[ELF64_R_SYM(relocations[i].r_info)];
        if ((type != types[0] && type != types[1]) || !covers(elf, symbol, sizeof *symbol))
            continue;
        const char *own = string_at(elf, symbol->st_name);
        void *slot = (void *)(elf->bias + relocations[i].r_offset);
        if (own && strcmp(own, name) == 0)
            return covers(elf, slot, sizeof(void *)) ? slot : NULL;
    }
    return NULL;
}

void *mw_elf_slot(const struct mw_elf *elf, const char *name)
{
    if (!elf->symbols || !elf->strings)
        return NULL;
    void *slot = slot_in(elf, dynamic_value(elf, DT_JMPREL), dynamic_value(elf, DT_PLTRELSZ), name);
    if (!slot)
        slot = slot_in(elf, dynamic_value(elf, DT_RELA), dynamic_value(elf, DT_RELASZ), name);
    return slot;
}
#else
void *mw_elf_slot(const struct mw_elf *elf, const char *name)
{
    return NULL;
}
#endif

/* Symbols below this number may be undefined: a GNU hash table holds the others. */
static uint32_t undefined_end(const struct mw_elf *elf)
{
    if (elf->gnu_hash)
        return covers(elf, elf->gnu_hash, 16) ? elf->gnu_hash[1] : 0;
    return elf->hash && covers(elf, elf->hash, 8) ? elf->hash[1] : 0;
}

const char *mw_elf_weak_next(const struct mw_elf *elf, uint32_t *at)
{
    uint32_t end = elf->symbols && elf->strings ? undefined_end(elf) : 0;
    while (++*at < end) {
        const ElfW(Sym) *symbol = &elf->symbols[*at];
        if (!covers(elf, symbol, sizeof *symbol))
            return NULL;
        if (symbol->st_shndx == SHN_UNDEF && symbol->st_info >> 4 == STB_WEAK)
            return string_at(elf, symbol->st_name);
    }
    return NULL;
}

const char *mw_elf_soname(const struct mw_elf *elf)
{
    for (size_t i = 0; i < elf->dynamic_count; i++)
        if (elf->dynamic[i].d_tag == DT_SONAME)
            return string_at(elf, elf->dynamic[i].d_un.d_val);
    return NULL;
}

int mw_elf_needs(const struct mw_elf *elf, const char *prefix)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < elf->dynamic_count; i++) {
        if (elf->dynamic[i].d_tag != DT_NEEDED)
            continue;
        const char *name = string_at(elf, elf->dynamic[i].d_un.d_val);
        if (name && strncmp(name, prefix, length) == 0)
            return 1;
    }
    return 0;
}

/* Notes are padded to the alignment of their segment: 4, or 8 in newer x86 property notes. */
static size_t build_id_in(const uint8_t *notes, size_t size, size_t align, uint8_t *out,
                          size_t capacity)
{
    for (unsigned steps = 0; size >= sizeof(ElfW(Nhdr)) && steps < NOTES_MAX; steps++) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof note);
        size_t name_at = sizeof note;
        size_t data_at = (name_at + (size_t)note.n_namesz + align - 1) & ~(align - 1);
        size_t next = (data_at + (size_t)note.n_descsz + align - 1) & ~(align - 1);
        if (data_at > size || note.n_descsz > size - data_at)
            break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + name_at, "GNU", 4) == 0) {
            size_t length = note.n_descsz < capacity ? note.n_descsz : capacity;
            memcpy(out, notes + data_at, length);
            return length;
        }
        if (next >= size)
            break;
        notes += next;
        size -= next;
    }
    return 0;
}

size_t mw_elf_build_id(const struct mw_elf *elf, const ElfW(Phdr) * headers, size_t count,
                       uint8_t *out, size_t capacity)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *notes = (const uint8_t *)(elf->bias + headers[i].p_vaddr);
        size_t align = headers[i].p_align == 8 ? 8 : 4;
        if (headers[i].p_type != PT_NOTE || !covers(elf, notes, headers[i].p_memsz))
            continue;
        size_t length = build_id_in(notes, headers[i].p_memsz, align, out, capacity);
        if (length)
            return length;
    }
    return 0;
}
