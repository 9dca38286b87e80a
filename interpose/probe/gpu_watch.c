/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notices when a GPU runtime may have changed what memory is. Host memory becomes pinned, and an
 * address a device's, by the kernel alone, and the runtimes reach it by ioctl(): in the objects
 * that do so (and in no other) the slot of their table through which they call it is replaced by a
 * function of ours, which hands the call on to what the slot held and then counts. It runs on
 * any thread, in signal handlers and in children of fork; it does nothing else.
 *
 * The slot is written once, while the runtime is first seen, under the lock of the caller, and
 * stays: this library is never unloaded. Nothing of the program itself is touched.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/gpu.h"

_Atomic uint32_t mw_gpu_changes = 1; /* 0 is that of answers that were never given */

/* ioctl() is variadic, but every use of it hands over a number or a pointer, in the same place. */
typedef int ioctl_fn(int, unsigned long, void *);

#define SLOTS 6u
static struct {
    _Atomic(void *) *slot;
    ioctl_fn *handed_on;
} watched[SLOTS];
static _Atomic unsigned watched_count;

/* What the driver of AMD is asked at every wait, and changes no memory: number of ioctl by the
 * type 'K' of linux/kfd_ioctl.h (clock counters; create, destroy, set, reset an event; wait). */
static int is_harmless(unsigned long request)
{
    static const uint32_t numbers =
        1u << 0x05 | 1u << 0x08 | 1u << 0x09 | 1u << 0x0a | 1u << 0x0b | 1u << 0x0c;
    unsigned long type = request >> 8 & 0xff, number = request & 0xff;
    return type == 'K' && number < 32 && numbers >> number & 1;
}

static inline int hand_on(unsigned index, int fd, unsigned long request, void *argument)
{
    int result = watched[index].handed_on(fd, request, argument);
    if (!is_harmless(request))
        atomic_fetch_add_explicit(&mw_gpu_changes, 1, memory_order_release);
    return result;
}

#define WATCHER(index)                                                                             \
    static int watcher_##index(int fd, unsigned long request, void *argument)                      \
    {                                                                                              \
        return hand_on(index, fd, request, argument);                                              \
    }
WATCHER(0)
WATCHER(1)
WATCHER(2)
WATCHER(3)
WATCHER(4)
WATCHER(5)
static ioctl_fn *const watchers[SLOTS] = {watcher_0, watcher_1, watcher_2,
                                          watcher_3, watcher_4, watcher_5};

/* The part of the object that the loader made read-only after it had bound it (RELRO): 1 when the
 * address is in it. */
struct search {
    uintptr_t bias, address, page;
    int sealed;
};

static int search_visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    if (info->dlpi_addr != search->bias)
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_GNU_RELRO && search->address >= (start & ~(search->page - 1)) &&
            search->address < ((start + header->p_memsz) & ~(search->page - 1)))
            search->sealed = 1;
    }
    return 1;
}

static int slot_write(uintptr_t bias, _Atomic(void *) *slot, void *value)
{
    struct search search = {
        .bias = bias, .address = (uintptr_t)slot, .page = (uintptr_t)sysconf(_SC_PAGESIZE)};
    void *page = (void *)(search.address & ~(search.page - 1));
    dl_iterate_phdr(search_visit, &search);
    if (search.sealed && mprotect(page, search.page, PROT_READ | PROT_WRITE) != 0)
        return 0;
    atomic_store_explicit(slot, value, memory_order_release);
    if (search.sealed)
        mprotect(page, search.page, PROT_READ);
    return 1;
}

/* What the object calls through the slot: where it is not bound yet, what it would be bound to. */
static void *bound_to(const struct mw_module_entry *object, void *value)
{
    if ((uintptr_t)value >= object->start && (uintptr_t)value < object->end)
        return dlsym(RTLD_DEFAULT, "ioctl");
    return value;
}

int mw_gpu_pin(const struct mw_module_entry *object)
{
    return dlopen(object->path, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY) != NULL;
}

int mw_gpu_watch(const struct mw_module_entry *object)
{
    unsigned index = atomic_load_explicit(&watched_count, memory_order_relaxed);
    _Atomic(void *) *slot = (_Atomic(void *) *)mw_elf_slot(&object->elf, "ioctl");
    if (!slot)
        return 0;
    for (unsigned i = 0; i < index; i++)
        if (watched[i].slot == slot)
            return 1;
    int saved = errno, done = 0;
    void *real = bound_to(object, atomic_load_explicit(slot, memory_order_acquire));
    if (real && index < SLOTS && mw_gpu_pin(object)) {
        watched[index].slot = slot;
        watched[index].handed_on = (ioctl_fn *)real;
        done = slot_write(object->elf.bias, slot, (void *)watchers[index]);
        if (done)
            atomic_store_explicit(&watched_count, index + 1, memory_order_release);
    }
    errno = saved;
    return done;
}

/* Another tool may have come and replaced ours, or the loader, where it bound the slot late. */
int mw_gpu_watch_stands(void)
{
    unsigned count = atomic_load_explicit(&watched_count, memory_order_acquire);
    for (unsigned i = 0; i < count; i++)
        if (atomic_load_explicit(watched[i].slot, memory_order_relaxed) != (void *)watchers[i])
            return 0;
    return 1;
}
