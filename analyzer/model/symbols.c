/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols by libdwfl (symbols.h). Modules are opened when first asked for and reported to one Dwfl,
 * which gives each its own range of addresses; a file of another build is never reported to it. No
 * network: debuginfod is switched off, what it has fetched before is used.
 */
#include "analyzer/model/symbols.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/index.h"
#include "analyzer/base/memory.h"
#include "analyzer/model/debugfiles.h"
#include "analyzer/model/demangle.h"

struct module {
    Dwfl_Module *dwfl; /* NULL: cannot be used */
    Dwarf_Addr start;
    const char *reason;
};

struct mw_symbols {
    Dwfl *dwfl;
    struct mw_index index;
    MW_VECTOR(struct module) modules;
    MW_VECTOR(char *) texts;
    struct mw_demangler *demangler;
};

/* Debug information beside the module, else by its build-id. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word checksum, char **found)
{
    struct mw_build_id id = {0};
    GElf_Addr where;
    int fd = dwfl_standard_find_debuginfo(module, data, name, base, file, link, checksum, found);
    if (fd >= 0)
        return fd;
    int size = dwfl_module_build_id(module, &id.bytes, &where);
    id.size = size > 0 ? (size_t)size : 0;
    fd = mw_debug_file_open(id, found);
    return fd < 0 ? -1 : fd;
}

static const Dwfl_Callbacks symbol_callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

struct mw_symbols *mw_symbols_create(void)
{
    struct mw_symbols *symbols = mw_alloc(1, sizeof(*symbols));
    unsetenv("DEBUGINFOD_URLS");
    symbols->dwfl = dwfl_begin(&symbol_callbacks);
    symbols->demangler = mw_demangler_create();
    return symbols;
}

void mw_symbols_free(struct mw_symbols *symbols)
{
    if (!symbols)
        return;
    if (symbols->dwfl)
        dwfl_end(symbols->dwfl);
    mw_demangler_free(symbols->demangler);
    for (size_t i = 0; i < symbols->texts.count; i++)
        free(symbols->texts.at[i]);
    free(symbols->texts.at);
    free(symbols->modules.at);
    mw_index_free(&symbols->index);
    free(symbols);
}

static const char *open_reason(int result)
{
    switch (result) {
    case MW_ELF_OTHER_BUILD:
        return "the module's file on this machine has another build-id";
    case MW_ELF_NONE:
        return "the module's file cannot be read as ELF";
    default:
        return "the module is not on this machine";
    }
}

/* The module itself or, where it is not here, its debug information. */
static void module_load(struct mw_symbols *symbols, struct module *module,
                        const struct mw_module *recorded)
{
    struct mw_build_id id = {recorded->build_id, recorded->build_id_size};
    char *elsewhere = NULL;
    if (!id.size) {
        module->reason = "the module has no build-id";
        return;
    }
    int fd = mw_elf_open(recorded->path, id);
    module->reason = open_reason(fd);
    if (fd < 0)
        fd = mw_debug_file_open(id, &elsewhere);
    if (fd < 0)
        return;
    const char *path = elsewhere ? elsewhere : recorded->path;
    dwfl_report_begin_add(symbols->dwfl);
    module->dwfl = dwfl_report_offline(symbols->dwfl, path, path, fd);
    dwfl_report_end(symbols->dwfl, NULL, NULL);
    free(elsewhere);
    if (!module->dwfl) {
        close(fd);
        module->reason = open_reason(MW_ELF_NONE);
        return;
    }
    dwfl_module_info(module->dwfl, NULL, &module->start, NULL, NULL, NULL, NULL, NULL);
}

static struct module *symbols_module(struct mw_symbols *symbols, const struct mw_module *recorded)
{
    uint64_t key =
        mw_hash_bytes(mw_hash_text(1, recorded->path), recorded->build_id, recorded->build_id_size);
    size_t number = mw_index_put(&symbols->index, key);
    if (number == symbols->modules.count) {
        struct module *module = mw_vector_add(&symbols->modules);
        if (symbols->dwfl)
            module_load(symbols, module, recorded);
        else
            module->reason = "libdw does not work here";
    }
    return &symbols->modules.at[number];
}

/* The name for people. symbol: as the linker knows it; plain: as the source has it, or NULL. */
static const char *symbols_name(struct mw_symbols *symbols, const char *symbol, const char *plain)
{
    char *text = symbol ? mw_demangle(symbols->demangler, symbol) : NULL;
    if (!text)
        text = mw_text_copy(plain ? plain : symbol);
    *mw_vector_add(&symbols->texts) = text;
    return text;
}

static const char *die_name(struct mw_symbols *symbols, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *plain = dwarf_diename(die);
    const char *symbol =
        dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    return symbol || plain ? symbols_name(symbols, symbol, plain) : NULL;
}

/* The functions that an address is in, by debug information: the innermost one, which may have been
 * inlined, and the one that it was inlined into. */
static void lookup_scopes(struct mw_symbols *symbols, const struct module *module,
                          Dwarf_Addr address, struct mw_symbol *symbol)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(module->dwfl, address, &bias), *inner = NULL,
              *outer = NULL;
    int count = unit ? dwarf_getscopes(unit, address - bias, &inner) : 0, at = 0;
    while (at < count && dwarf_tag(&inner[at]) != DW_TAG_subprogram &&
           dwarf_tag(&inner[at]) != DW_TAG_inlined_subroutine)
        at++;
    if (at < count) {
        symbol->function = die_name(symbols, &inner[at]);
        /* behind an inlined function stand the scopes of its source, not its caller's */
        int inlined = dwarf_tag(&inner[at]) == DW_TAG_inlined_subroutine;
        int around = inlined ? dwarf_getscopes_die(&inner[at], &outer) : 0;
        for (int i = 0; i < around && !symbol->inlined_into; i++)
            if (dwarf_tag(&outer[i]) == DW_TAG_subprogram)
                symbol->inlined_into = die_name(symbols, &outer[i]);
    }
    free(outer);
    free(inner);
}

static void symbol_lookup(struct mw_symbols *symbols, const struct module *module,
                          struct mw_symbol *symbol)
{
    /* A return address stands behind its call, perhaps in the next line or function. */
    Dwarf_Addr address = module->start + symbol->offset - 1;
    GElf_Off offset;
    GElf_Sym entry;
    const char *name =
        dwfl_module_addrinfo(module->dwfl, address, &offset, &entry, NULL, NULL, NULL);
    lookup_scopes(symbols, module, address, symbol);
    /* A symbol without a size, or one that ends before, is only the nearest neighbour. */
    if (!symbol->function && name && (entry.st_size == 0 || offset < entry.st_size))
        symbol->function = symbols_name(symbols, name, NULL);
    if (!symbol->function)
        symbol->reason = "no symbol there";
    Dwfl_Line *line = dwfl_module_getsrc(module->dwfl, address);
    if (line)
        symbol->file = dwfl_lineinfo(line, NULL, &symbol->line, NULL, NULL, NULL);
}

struct mw_symbol mw_symbols_frame(struct mw_symbols *symbols, const struct mw_process *process,
                                  const struct mw_frame *frame)
{
    struct mw_symbol symbol = {.module = "?", .offset = frame->offset};
    const struct mw_module *recorded = mw_process_module(process, frame->module);
    if (!recorded) {
        symbol.reason = "the module was not recorded";
        return symbol;
    }
    const char *slash = strrchr(recorded->path, '/');
    symbol.module = slash && slash[1] ? slash + 1 : recorded->path;
    const struct module *module = symbols_module(symbols, recorded);
    if (module->dwfl && frame->offset)
        symbol_lookup(symbols, module, &symbol);
    else
        symbol.reason = module->reason;
    return symbol;
}
