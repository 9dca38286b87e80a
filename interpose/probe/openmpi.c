/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Open MPI chose: PML, MTL, BTLs and the way of single copies within a node, from objects
 * that its libraries export (the same in 4.1, 5.0 and the development branch). Their layout is no
 * interface, so nothing is believed that does not say what it is (class names, component types,
 * version 2 of the component interface), and every read goes through /proc/self/mem, where a
 * wrong address is an error and no crash. Runs after the real MPI_Init, on the thread that called
 * it. MPI_T is never called: it loads components and crashes in some versions.
 */
#include "probe/openmpi.h"

#include <string.h>

#include "probe/modules.h"
#include "probe/probe.h"
#include "probe/sysfile.h"
#include "record/record.h"

#define BTLS_MOST     256u
#define DEBUG_MAGIC   UINT64_C(0xdeafbeeddeafbeed) /* first word of every object in debug builds */
#define MCA_MAJOR     2
#define NAME_CAPACITY 64u

/* The head of every component. */
struct component {
    int32_t mca[3];
    char project[16];
    int32_t project_version[3];
    char type[32];
    int32_t type_version[3];
    char name[NAME_CAPACITY];
};

/* Where things stand in objects, lists and their items. */
struct layout {
    size_t class, next, list_sentinel, list_length, item_component;
};
static const struct layout release = {0, 16, 16, 56, 40}, debug = {8, 40, 40, 112, 72};

static int memory_fd = -1;

static int peek(uintptr_t address, void *out, size_t size)
{
    return address && mw_sys_pread(memory_fd, out, size, address) == (long)size;
}

static uintptr_t peek_pointer(uintptr_t address)
{
    uintptr_t value = 0;
    return peek(address, &value, sizeof value) ? value : 0;
}

/* A class begins with a pointer to its name. */
static int is_a(uintptr_t object, const struct layout *layout, const char *name)
{
    char text[64];
    size_t size = strlen(name) + 1;
    uintptr_t class = peek_pointer(object + layout->class);
    return peek(peek_pointer(class), text, size) && memcmp(text, name, size) == 0;
}

static int printable(const char *text, size_t capacity)
{
    size_t size = strnlen(text, capacity);
    for (size_t i = 0; i < size; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return 0;
    return size > 0 && size < capacity;
}

/* 1 when there is a component of this type at the address. */
static int component_read(uintptr_t address, const char *type, struct component *component)
{
    return peek(address, component, sizeof *component) && component->mca[0] == MCA_MAJOR &&
           strncmp(component->type, type, sizeof component->type) == 0 &&
           printable(component->name, sizeof component->name);
}

/* --- BTLs: the list of modules that were initialised --- */

static int btl_told(const char names[][NAME_CAPACITY], unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return 0;
}

/* One item for each component that has modules in the list; 0 when something in it is not what it
 * should be. A list that was never made (no PML asked for BTLs) is empty. */
int mw_openmpi_btls(uintptr_t list)
{
    static char names[16][NAME_CAPACITY];
    unsigned told = 0;
    uint64_t length = 0;
    uintptr_t first = peek_pointer(list);
    const struct layout *layout = first == DEBUG_MAGIC ? &debug : &release;
    struct component component;
    if (!first)
        return 1;
    if (!is_a(list, layout, "opal_list_t") ||
        !peek(list + layout->list_length, &length, sizeof length) || length > BTLS_MOST)
        return 0;
    uintptr_t sentinel = list + layout->list_sentinel, item = sentinel;
    for (uint64_t i = 0; i < length; i++) {
        item = peek_pointer(item + layout->next);
        if (!item || item == sentinel || !is_a(item, layout, "mca_btl_base_selected_module_t") ||
            !component_read(peek_pointer(item + layout->item_component), "btl", &component))
            return 0;
        if (told < 16 && !btl_told(names, told, component.name)) {
            memcpy(names[told++], component.name, NAME_CAPACITY);
            mw_choice("btl", component.name, "selected", "mca_btl_base_modules_initialized");
        }
    }
    return 1;
}

/* Where the list cannot be read: components that are loaded as files of their own (Open MPI 4)
 * closed down where they were of no use. */
static int btls_loaded(void)
{
    static const char prefix[] = "mca_btl_";
    int found = 0;
    for (unsigned i = 0; i < mw_modules_count(); i++) {
        const struct mw_module_entry *module = mw_modules_at(i);
        const char *base = strrchr(module->path, '/');
        char name[NAME_CAPACITY];
        struct mw_text text;
        if (!base || strncmp(base + 1, prefix, sizeof prefix - 1) != 0 ||
            atomic_load_explicit(&module->gone, memory_order_relaxed))
            continue;
        base += sizeof prefix;
        mw_text_init(&text, name, sizeof name);
        mw_text_add_some(&text, base, strcspn(base, "."));
        mw_choice("btl", name, "loaded", module->path);
        found = 1;
    }
    return found;
}

/* --- finding the objects --- */

/* libmpi's own, else that of a library that came with it (libopen-pal). */
static uintptr_t symbol(const char *name)
{
    uintptr_t found = (uintptr_t)mw_elf_symbol(mw_recorder.lib->object, name);
    for (unsigned i = 0; !found && i < mw_modules_count(); i++)
        if (mw_modules_at(i)->role != MW_MODULE_MPIWATCH)
            found = (uintptr_t)mw_elf_symbol(mw_modules_at(i), name);
    return found;
}

/* An MTL counts where a PML that uses one was chosen: "cm", or one that stands before another. */
static int uses_mtl(const char *pml)
{
    return strcmp(pml, "cm") == 0 || strcmp(pml, "v") == 0 || strcmp(pml, "monitoring") == 0;
}

static int pml_and_mtl(void)
{
    struct component component;
    static const char pml[] = "mca_pml_base_selected_component",
                      mtl[] = "ompi_mtl_base_selected_component";
    if (!component_read(symbol(pml), "pml", &component))
        return 0;
    mw_choice("pml", component.name, "selected", pml);
    if (uses_mtl(component.name) && component_read(peek_pointer(symbol(mtl)), "mtl", &component))
        mw_choice("mtl", component.name, "selected", mtl);
    return 1;
}

/* Open MPI 5: a pointer to the module of one of some components, whose modules are exported too. */
static void single_copy(void)
{
    static const char *const kinds[] = {"cma", "xpmem", "knem", "accelerator"};
    uintptr_t pointer = symbol("mca_smsc"), chosen = peek_pointer(pointer);
    if (!pointer)
        return;
    if (!chosen)
        mw_choice("smsc", "none", "selected", "mca_smsc");
    for (size_t i = 0; chosen && i < sizeof kinds / sizeof *kinds; i++) {
        char name[64];
        mw_join(name, sizeof name, "mca_smsc_", kinds[i], "_module", NULL);
        if (symbol(name) == chosen)
            mw_choice("smsc", kinds[i], "selected", "mca_smsc");
    }
}

static int is_openmpi(void)
{
    return strncmp(mw_recorder.lib->version, "Open MPI", 8) == 0 ||
           mw_recorder.abi->kind == MW_ABI_OPENMPI;
}

static void look(void)
{
    uintptr_t list = symbol("mca_btl_base_modules_initialized");
    const char *missing = NULL;
    if (!pml_and_mtl())
        missing = "the selected PML cannot be read in this version";
    if (!list || !mw_openmpi_btls(list))
        if (!btls_loaded() && !missing)
            missing = "the list of BTLs cannot be read in this version";
    single_copy();
    if (missing)
        mw_choice("probe", "openmpi", list ? "partly" : "not covered", missing);
}

int mw_openmpi_memory_open(void)
{
    memory_fd = mw_sys_open("/proc/self/mem");
    return memory_fd >= 0;
}

void mw_openmpi_memory_close(void)
{
    mw_sys_close(memory_fd);
    memory_fd = -1;
}

static void ready(void)
{
    if (!is_openmpi()) {
        mw_choice("probe", "openmpi", "absent", "");
        return;
    }
    if (!mw_openmpi_memory_open()) {
        mw_choice("probe", "openmpi", "not covered", "/proc/self/mem cannot be opened");
        return;
    }
    look();
    mw_openmpi_memory_close();
}

const struct mw_probe mw_probe_openmpi = {.name = "openmpi", .limit_us = 2000, .ready = ready};
