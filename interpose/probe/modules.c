/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See modules.h. Writers are serialised by a flag that nobody waits long for: a thread inside
 * dlopen may hold the loader's lock and call MPI from a constructor. Readers of the address index
 * retry when a writer was at it, and after some tries search the entries themselves, which never
 * change.
 */
#include "probe/modules.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "probe/sysfile.h"

#define ARENA_SIZE  (1u << 20)
#define MAPS_MOST   (1u << 20) /* bytes of /proc/self/maps that are read at most */
#define BUSY_YIELDS 200
#define READ_TRIES  8

/* Ranges of the loaded objects, sorted by address. */
struct range {
    _Atomic uintptr_t start, end;
    _Atomic uint32_t entry;
};

static struct table {
    struct mw_module_entry entries[MW_MODULES_MAX];
    struct range ranges[MW_MODULES_MAX];
    char arena[ARENA_SIZE];
    char maps[1u << 15];
} * _Atomic modules;
static _Atomic uint32_t published, ranges_count, sequence, generation, lost;
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* Written under `busy` only. */
static size_t arena_used;
static uint32_t pass;
static unsigned long long last_adds, last_subs;
static mw_modules_new_fn tell;
static void *tell_context;
static unsigned told;

static struct table *table_get(void)
{
    struct table *table = atomic_load_explicit(&modules, memory_order_relaxed);
    if (table)
        return table;
    void *memory = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    atomic_store_explicit(&modules, memory, memory_order_release);
    return memory;
}

/* A copy that stays; "" when the arena is full. */
static const char *keep(struct table *table, const char *text, size_t length)
{
    if (length + 1 > ARENA_SIZE - arena_used)
        return "";
    char *copy = table->arena + arena_used;
    memcpy(copy, text, length);
    copy[length] = '\0';
    arena_used += length + 1;
    return copy;
}

struct visit {
    struct table *table;
    uint32_t count; /* of entries, the new ones included */
    int same, seen_first;
    int unloads; /* something was unloaded since: what stands at a known address may be new */
    uint32_t lost;
};

static struct mw_module_entry *known_at(struct visit *visit, uintptr_t start)
{
    struct mw_module_entry *entries = visit->table->entries;
    const struct mw_module_entry *found = mw_modules_find((const void *)start);
    return found && found->start == start ? &entries[found->id - 1] : NULL;
}

static int same_object(const struct visit *visit, const struct mw_module_entry *entry,
                       const struct mw_elf *elf, const struct dl_phdr_info *info)
{
    uint8_t id[MW_BUILD_ID_MAX];
    if (entry->end != elf->end)
        return 0;
    if (!visit->unloads)
        return 1;
    size_t size = mw_elf_build_id(elf, info->dlpi_phdr, info->dlpi_phnum, id, sizeof id);
    return size == entry->build_id_size && memcmp(id, entry->build_id, size) == 0 &&
           entry->elf.dynamic == elf->dynamic &&
           strcmp(entry->name, info->dlpi_name ? info->dlpi_name : "") == 0;
}

static void add(struct visit *visit, const struct mw_elf *elf, const struct dl_phdr_info *info)
{
    if (visit->count == MW_MODULES_MAX) {
        visit->lost++;
        return;
    }
    struct mw_module_entry *entry = &visit->table->entries[visit->count];
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    entry->id = ++visit->count;
    entry->start = elf->start;
    entry->end = elf->end;
    entry->elf = *elf;
    entry->build_id_size = (uint32_t)mw_elf_build_id(elf, info->dlpi_phdr, info->dlpi_phnum,
                                                     entry->build_id, MW_BUILD_ID_MAX);
    entry->role = mw_module_role_of(elf, name, visit->seen_first == 1);
    entry->name = entry->path = keep(visit->table, name, strlen(name));
    entry->pass = pass;
}

/* Runs under the loader's lock, so that nothing it reads can be unloaded. The program comes first.
 */
static int object_visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct visit *visit = data;
    struct mw_elf elf;
    if (!visit->seen_first++) {
        int told_changes =
            size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs;
        if (told_changes && info->dlpi_adds == last_adds && info->dlpi_subs == last_subs && pass) {
            visit->same = 1;
            return 1;
        }
        visit->unloads = !told_changes || info->dlpi_subs != last_subs;
        last_adds = told_changes ? info->dlpi_adds : 0;
        last_subs = told_changes ? info->dlpi_subs : 0;
        pass++;
    }
    if (mw_elf_open(&elf, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) != 0)
        return 0;
    struct mw_module_entry *known = known_at(visit, elf.start);
    if (known && same_object(visit, known, &elf, info))
        known->pass = pass;
    else
        add(visit, &elf, info);
    return 0;
}

/* One line of maps: "start-end perms offset dev inode path". */
static void path_take(struct table *table, const char *line, uint32_t first, uint32_t count)
{
    const char *at;
    uintptr_t start = mw_number(line, 16, &at);
    uintptr_t end = *at == '-' ? mw_number(at + 1, 16, &at) : 0;
    const char *path = strchr(at, '/');
    if (!path)
        return;
    size_t length = strlen(path);
    static const char deleted[] = " (deleted)";
    const size_t tail = sizeof deleted - 1;
    if (length > tail && strcmp(path + length - tail, deleted) == 0)
        length -= tail;
    for (uint32_t i = first; i < count; i++) {
        struct mw_module_entry *entry = &table->entries[i];
        if (entry->start < start || entry->start >= end)
            continue;
        if (strlen(entry->path) != length || memcmp(entry->path, path, length) != 0) {
            const char *copy = keep(table, path, length);
            entry->path = *copy ? copy : entry->path;
        }
    }
}

/* The loader's names may be relative, symbolic links, or empty (the program): the kernel knows the
 * file. */
static void paths_resolve(struct table *table, uint32_t first, uint32_t count)
{
    int fd = mw_sys_open("/proc/self/maps");
    size_t have = 0, total = 0;
    long got;
    while (fd >= 0 && total < MAPS_MOST &&
           (got = mw_sys_read(fd, table->maps + have, sizeof table->maps - 1 - have)) > 0) {
        char *line = table->maps, *end;
        total += (size_t)got;
        have += (size_t)got;
        table->maps[have] = '\0';
        while ((end = strchr(line, '\n'))) {
            *end = '\0';
            path_take(table, line, first, count);
            line = end + 1;
        }
        have -= (size_t)(line - table->maps);
        if (have == sizeof table->maps - 1)
            break; /* no line is that long */
        memmove(table->maps, line, have);
    }
    mw_sys_close(fd);
    for (uint32_t i = first; i < count; i++) {
        struct mw_module_entry *entry = &table->entries[i];
        char path[1024];
        if (!*entry->path && i == 0) {
            long length = mw_sys_link("/proc/self/exe", path, sizeof path);
            entry->path = length > 0 ? keep(table, path, (size_t)length) : "";
        }
    }
}

static void entries_retire(struct table *table, uint32_t count)
{
    int any = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct mw_module_entry *entry = &table->entries[i];
        if (entry->pass != pass && !atomic_load_explicit(&entry->gone, memory_order_relaxed)) {
            atomic_store_explicit(&entry->gone, 1, memory_order_relaxed);
            any = 1;
        }
    }
    if (any)
        atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}

/* Insertion sort: the old order is nearly the new one. */
static void ranges_build(struct table *table, uint32_t count)
{
    uint32_t used = 0;
    atomic_fetch_add_explicit(&sequence, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (uint32_t i = 0; i < count; i++) {
        const struct mw_module_entry *entry = &table->entries[i];
        if (atomic_load_explicit(&entry->gone, memory_order_relaxed))
            continue;
        uint32_t at = used++;
        for (; at > 0; at--) {
            struct range *below = &table->ranges[at - 1], *here = &table->ranges[at];
            uintptr_t start = atomic_load_explicit(&below->start, memory_order_relaxed);
            if (start < entry->start)
                break;
            uintptr_t end = atomic_load_explicit(&below->end, memory_order_relaxed);
            uint32_t number = atomic_load_explicit(&below->entry, memory_order_relaxed);
            atomic_store_explicit(&here->start, start, memory_order_relaxed);
            atomic_store_explicit(&here->end, end, memory_order_relaxed);
            atomic_store_explicit(&here->entry, number, memory_order_relaxed);
        }
        atomic_store_explicit(&table->ranges[at].start, entry->start, memory_order_relaxed);
        atomic_store_explicit(&table->ranges[at].end, entry->end, memory_order_relaxed);
        atomic_store_explicit(&table->ranges[at].entry, i, memory_order_relaxed);
    }
    atomic_store_explicit(&ranges_count, used, memory_order_relaxed);
    atomic_fetch_add_explicit(&sequence, 1, memory_order_release);
}

/* An image that has gone must not be read. */
static int is_loaded_mpi(const struct mw_module_entry *entry)
{
    return entry->role == MW_MODULE_MPI &&
           !atomic_load_explicit(&entry->gone, memory_order_relaxed);
}

/* Where one object is surely an MPI library, another that has all the PMPI names and nothing else of one
 * is a tool that was preloaded without being linked with it. */
static void tools_tell_apart(struct table *table, uint32_t count)
{
    uint32_t sure = count;
    for (uint32_t i = 0; i < count && sure == count; i++) {
        const struct mw_module_entry *entry = &table->entries[i];
        if (is_loaded_mpi(entry) && mw_module_is_surely_mpi(&entry->elf, entry->path))
            sure = i;
    }
    for (uint32_t i = 0; i < count && sure < count; i++) {
        struct mw_module_entry *entry = &table->entries[i];
        if (is_loaded_mpi(entry) && mw_elf_lookup(&entry->elf, "PMPI_Init") &&
            !mw_module_is_surely_mpi(&entry->elf, entry->path))
            entry->role = MW_MODULE_TOOL;
    }
}

static enum mw_modules_result update(void)
{
    struct table *table = table_get();
    if (!table)
        return MW_MODULES_FAILED;
    uint32_t first = atomic_load_explicit(&published, memory_order_relaxed);
    struct visit visit = {.table = table, .count = first};
    dl_iterate_phdr(object_visit, &visit);
    if (!visit.same) {
        if (visit.count > first)
            paths_resolve(table, first, visit.count);
        entries_retire(table, visit.count);
        tools_tell_apart(table, visit.count);
        if (visit.lost > atomic_load_explicit(&lost, memory_order_relaxed))
            atomic_store_explicit(&lost, visit.lost, memory_order_relaxed);
        atomic_store_explicit(&published, visit.count, memory_order_release);
        ranges_build(table, visit.count);
    }
    if (tell && told < visit.count) {
        tell(told, visit.count - told, tell_context);
        told = visit.count;
    }
    return visit.same ? MW_MODULES_SAME : MW_MODULES_CHANGED;
}

enum mw_modules_result mw_modules_refresh(void)
{
    for (int i = 0; atomic_flag_test_and_set_explicit(&busy, memory_order_acquire); i++) {
        if (i == BUSY_YIELDS)
            return MW_MODULES_BUSY;
        sched_yield();
    }
    enum mw_modules_result result = update();
    atomic_flag_clear_explicit(&busy, memory_order_release);
    return result;
}

void mw_modules_notify(mw_modules_new_fn function, void *context)
{
    for (int i = 0; atomic_flag_test_and_set_explicit(&busy, memory_order_acquire); i++) {
        if (i == BUSY_YIELDS)
            return;
        sched_yield();
    }
    tell = function;
    tell_context = context;
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

unsigned mw_modules_count(void)
{
    return atomic_load_explicit(&published, memory_order_acquire);
}

const struct mw_module_entry *mw_modules_at(unsigned index)
{
    struct table *table = atomic_load_explicit(&modules, memory_order_acquire);
    return table && index < mw_modules_count() ? &table->entries[index] : NULL;
}

/* The range that holds the address: its entry + 1, or 0. Only meaningful where `sequence` stood
 * still. */
static uint32_t range_search(struct table *table, uintptr_t address)
{
    uint32_t low = 0, high = atomic_load_explicit(&ranges_count, memory_order_relaxed);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct range *range = &table->ranges[middle];
        if (address < atomic_load_explicit(&range->start, memory_order_relaxed))
            high = middle;
        else if (address >= atomic_load_explicit(&range->end, memory_order_relaxed))
            low = middle + 1;
        else
            return atomic_load_explicit(&range->entry, memory_order_relaxed) + 1;
    }
    return 0;
}

const struct mw_module_entry *mw_modules_find(const void *address)
{
    struct table *table = atomic_load_explicit(&modules, memory_order_acquire);
    if (!table)
        return NULL;
    for (int i = 0; i < READ_TRIES; i++) {
        uint32_t before = atomic_load_explicit(&sequence, memory_order_acquire);
        uint32_t found = range_search(table, (uintptr_t)address);
        atomic_thread_fence(memory_order_acquire);
        if (!(before & 1) && atomic_load_explicit(&sequence, memory_order_relaxed) == before)
            return found ? &table->entries[found - 1] : NULL;
    }
    for (unsigned i = mw_modules_count(); i-- > 0;) {
        const struct mw_module_entry *entry = &table->entries[i];
        if ((uintptr_t)address >= entry->start && (uintptr_t)address < entry->end &&
            !atomic_load_explicit(&entry->gone, memory_order_relaxed))
            return entry;
    }
    return NULL;
}

const struct mw_module_entry *mw_modules_locate(const void *address)
{
    const struct mw_module_entry *found = mw_modules_find(address);
    if (!found && address) {
        mw_modules_refresh();
        found = mw_modules_find(address);
    }
    return found;
}

const struct mw_module_entry *mw_modules_first(enum mw_module_role role, const char *symbol)
{
    for (unsigned i = 0; i < mw_modules_count(); i++) {
        const struct mw_module_entry *entry = mw_modules_at(i);
        if (entry->role == role && !atomic_load_explicit(&entry->gone, memory_order_relaxed) &&
            (!symbol || mw_elf_symbol(entry, symbol)))
            return entry;
    }
    return NULL;
}

uint32_t mw_modules_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_acquire);
}

unsigned mw_modules_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_relaxed);
}

void *mw_elf_symbol(const struct mw_module_entry *module, const char *name)
{
    if (atomic_load_explicit(&module->gone, memory_order_relaxed))
        return NULL;
    return mw_elf_lookup(&module->elf, name);
}
