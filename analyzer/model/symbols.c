/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols by libdwfl (symbols.h). Modules are opened when first asked for and reported to one Dwfl,
 * which gives each its own range of addresses. Paths come from the trace and are not trusted: only
 * regular files are read. No network: debuginfod is switched off, a report must not depend on it.
 */
#include "analyzer/model/symbols.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/index.h"
#include "analyzer/base/memory.h"

typedef char *(*demangler)(const char *, char *, size_t *, int *);

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
    demangler demangle;
    void *runtime;
};

static const Dwfl_Callbacks symbol_callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

struct mw_symbols *mw_symbols_create(void)
{
    struct mw_symbols *symbols = mw_alloc(1, sizeof(*symbols));
    unsetenv("DEBUGINFOD_URLS");
    symbols->dwfl = dwfl_begin(&symbol_callbacks);
    /* C++ names become readable where the C++ runtime is installed; nothing depends on it. */
    symbols->runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (symbols->runtime)
        symbols->demangle = (demangler)dlsym(symbols->runtime, "__cxa_demangle");
    return symbols;
}

void mw_symbols_free(struct mw_symbols *symbols)
{
    if (!symbols)
        return;
    if (symbols->dwfl)
        dwfl_end(symbols->dwfl);
    if (symbols->runtime)
        dlclose(symbols->runtime);
    for (size_t i = 0; i < symbols->texts.count; i++)
        free(symbols->texts.at[i]);
    free(symbols->texts.at);
    free(symbols->modules.at);
    mw_index_free(&symbols->index);
    free(symbols);
}

static int open_regular(const char *path)
{
    struct stat state;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &state) || !S_ISREG(state.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static int same_build(Dwfl_Module *dwfl, const struct mw_module *recorded)
{
    const unsigned char *bits;
    GElf_Addr where;
    int size = dwfl_module_build_id(dwfl, &bits, &where);
    return size > 0 && (size_t)size == recorded->build_id_size &&
           !memcmp(bits, recorded->build_id, recorded->build_id_size);
}

static void module_load(struct mw_symbols *symbols, struct module *module,
                        const struct mw_module *recorded)
{
    if (!recorded->build_id_size) {
        module->reason = "the module has no build-id";
        return;
    }
    int fd = symbols->dwfl ? open_regular(recorded->path) : -1;
    if (fd < 0) {
        module->reason = "the module is not on this machine";
        return;
    }
    dwfl_report_begin_add(symbols->dwfl);
    Dwfl_Module *dwfl = dwfl_report_offline(symbols->dwfl, recorded->path, recorded->path, fd);
    dwfl_report_end(symbols->dwfl, NULL, NULL);
    if (!dwfl) {
        close(fd);
        module->reason = "the module's file cannot be read as ELF";
        return;
    }
    if (!same_build(dwfl, recorded)) {
        module->reason = "the module's file on this machine has another build-id";
        return;
    }
    module->dwfl = dwfl;
    dwfl_module_info(dwfl, NULL, &module->start, NULL, NULL, NULL, NULL, NULL);
}

static struct module *symbols_module(struct mw_symbols *symbols, const struct mw_module *recorded)
{
    uint64_t key =
        mw_hash_bytes(mw_hash_text(1, recorded->path), recorded->build_id, recorded->build_id_size);
    size_t number = mw_index_put(&symbols->index, key);
    if (number == symbols->modules.count) {
        mw_vector_add(&symbols->modules);
        module_load(symbols, &symbols->modules.at[number], recorded);
    }
    return &symbols->modules.at[number];
}

/* "solver::step(int, double)" becomes "solver::step": arguments take more room than they tell. */
static void name_shorten(char *name)
{
    int depth = 0;
    for (char *at = name; *at; at++) {
        if (*at == '<')
            depth++;
        else if (*at == '>' && depth && (at == name || at[-1] != '-'))
            depth--;
        else if (*at == '(' && !depth && at > name && strncmp(at, "(anonymous", 10) &&
                 strncmp(at - 1, "r()", 3)) {
            *at = 0;
            return;
        }
    }
}

static const char *symbols_keep(struct mw_symbols *symbols, const char *name)
{
    char *text = NULL;
    int status = -1;
    if (symbols->demangle && !strncmp(name, "_Z", 2))
        text = symbols->demangle(name, NULL, NULL, &status);
    if (text && status == 0)
        name_shorten(text);
    else
        text = mw_text_copy(name);
    *mw_vector_add(&symbols->texts) = text;
    return text;
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
    /* A symbol without a size, or one that ends before, is only the nearest neighbour. */
    if (name && (entry.st_size == 0 || offset < entry.st_size))
        symbol->function = symbols_keep(symbols, name);
    else
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
