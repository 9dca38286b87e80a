/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of the program; see regions.h. */
#include "record/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "output/output.h"
#include "output/shared.h"
#include "record/record.h"
#include "trace/aggregate.h"

#define PAGE 4096u

_Atomic uint32_t mw_region_open;
static struct mw_lock lock;

static struct mw_map_region *region_at(uint32_t id)
{
    return &mw_shared_header()->region[id - 1];
}

static void leave(uint64_t time)
{
    struct mw_map_region *region = region_at(mw_region_current());
    if (time > region->since)
        region->time += time - region->since;
    region->since = 0;
    atomic_store_explicit(&mw_region_open, region->parent, memory_order_relaxed);
}

/* The region of this name in the open one; 0 when there is no room for another. */
static uint32_t find(int level, const char *name)
{
    struct mw_map_header *map = mw_shared_header();
    uint32_t parent = mw_region_current();
    uint32_t count = atomic_load_explicit(&map->region_count, memory_order_relaxed);
    for (uint32_t id = 1; id <= count; id++) {
        const struct mw_map_region *region = region_at(id);
        if (region->parent == parent && region->level == level && strcmp(region->name, name) == 0)
            return id;
    }
    if (count == MW_MAP_REGIONS)
        return 0;
    struct mw_map_region *region = region_at(count + 1);
    region->parent = parent;
    region->level = level;
    strcpy(region->name, name);
    atomic_store_explicit(&map->region_count, count + 1, memory_order_release);
    return count + 1;
}

static void enter(int level, const char *name, uint64_t time)
{
    uint32_t id = find(level, name);
    if (!id) {
        mw_health("regions",
                  "more than 128 different regions (MPI_Pcontrol): the others are not told apart");
        return;
    }
    region_at(id)->entries++;
    region_at(id)->since = time;
    atomic_store_explicit(&mw_region_open, id, memory_order_relaxed);
}

void mw_region_mark(int level, const char *name, uint64_t time)
{
    int deepest = level < 0 ? -level : level;
    if (!mw_shared_header() || level == 0 || level == 1 || level < -INT32_MAX ||
        (level > 0 && !name))
        return;
    mw_lock_take(&lock);
    if (level == -1) {
        if (mw_region_current())
            leave(time);
    } else {
        while (mw_region_current() && region_at(mw_region_current())->level >= deepest)
            leave(time);
        if (level > 0)
            enter(level, name, time);
    }
    mw_lock_drop(&lock);
}

void mw_regions_end(uint64_t time)
{
    if (!mw_shared_header())
        return;
    mw_lock_take(&lock);
    while (mw_region_current())
        leave(time);
    mw_lock_drop(&lock);
}

void mw_regions_write(void)
{
    uint8_t memory[256];
    struct mw_buffer buffer;
    struct mw_map_header *map = mw_shared_header();
    if (!map)
        return;
    uint32_t count = atomic_load_explicit(&map->region_count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        mw_buffer_init(&buffer, memory, sizeof memory);
        mw_region_put(&buffer, i, &map->region[i]);
        mw_output_chunk(MW_CHUNK_REGION, buffer.data, buffer.size);
    }
}

/* Bytes at an address that need not be one. The kernel says whether they can be read. */
static int peek(uintptr_t address, void *to, size_t size)
{
    struct iovec here = {to, size}, there = {(void *)address, size};
    if (syscall(SYS_process_vm_readv, (long)getpid(), &here, 1, &there, 1, 0) == (long)size)
        return 1;
    if (errno != ENOSYS && errno != EPERM)
        return 0;
    int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC); /* where the call is forbidden */
    if (file < 0)
        return 0;
    int got = address <= INT64_MAX && pread(file, to, size, (off_t)address) == (ssize_t)size;
    close(file);
    return got;
}

/* The bytes of a UTF-8 sequence that stands there whole and is printable; 0 when it is none. */
static size_t character(const unsigned char *at)
{
    size_t more = *at < 0x80                  ? 0
                  : *at >= 0xc2 && *at < 0xe0 ? 1
                  : (*at & 0xf0) == 0xe0      ? 2
                  : *at >= 0xf0 && *at < 0xf5 ? 3
                                              : 9;
    if (more == 9 || *at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0))
        return 0;
    for (size_t i = 1; i <= more; i++)
        if ((at[i] & 0xc0) != 0x80) /* an end stops it */
            return 0;
    return more + 1;
}

static int is_name(const char *name)
{
    const unsigned char *at = (const unsigned char *)name;
    int begins = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                 (*at >= 'A' && *at <= 'Z') || *at == '_' || *at >= 0x80;
    for (size_t step; begins && *at; at += step)
        if (!(step = character(at)))
            return 0;
    return begins;
}

int mw_region_name(const void *pointer, char name[MW_MAP_REGION])
{
    uintptr_t address = (uintptr_t)pointer;
    int saved = errno;
    size_t size = 0;
    int found = 0;
    while (address >= PAGE && !found &&
           size < MW_MAP_REGION) { /* as far as the page goes, then the next */
        size_t step = PAGE - (address + size) % PAGE;
        if (step > MW_MAP_REGION - size)
            step = MW_MAP_REGION - size;
        if (!peek(address + size, name + size, step))
            break;
        found = memchr(name + size, '\0', step) != NULL;
        size += step;
    }
    errno = saved;
    return found && is_name(name);
}
