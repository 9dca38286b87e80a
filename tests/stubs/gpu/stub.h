/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the stubs of GPU runtimes share: memory that looks like a GPU's and is the host's, so that
 * any MPI can work on it, with a list of what it is. As in the real ones every change of memory
 * goes through ioctl(), on a descriptor that does not exist. Settings, from the environment:
 *
 *     STUB_GPUS      how many devices there are (8)
 *     STUB_LOAD_MS   how long initialising takes (2)
 *     STUB_FAIL      "pointer": questions about an address fail; "init": initialising fails
 */
#ifndef MW_STUB_GPU_H
#define MW_STUB_GPU_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STUB_GPUS_MOST 16
#define STUB_REGIONS   4096

enum stub_kind { STUB_FREE, STUB_PINNED, STUB_MANAGED, STUB_DEVICE, STUB_REGISTERED };

struct stub_region {
    enum stub_kind kind;
    char *start;
    size_t size;
    int device;
};
static struct stub_region stub_regions[STUB_REGIONS];
static pthread_mutex_t stub_lock = PTHREAD_MUTEX_INITIALIZER;

static inline const char *stub_setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static inline int stub_fails(const char *what)
{
    return strcmp(stub_setting("STUB_FAIL", ""), what) == 0;
}

static inline int stub_devices(void)
{
    int count = atoi(stub_setting("STUB_GPUS", "8"));
    return count < 0 ? 0 : count > STUB_GPUS_MOST ? STUB_GPUS_MOST : count;
}

/* The kernel is told; with STUB_NO_IOCTL in a way that nobody can watch. */
static inline void stub_kernel(void)
{
    unsigned long allocate = 0xc0284b16ul; /* as the driver of AMD numbers it */
#ifdef STUB_NO_IOCTL
    (void)syscall(SYS_ioctl, -1, allocate, NULL);
#else
    (void)ioctl(-1, allocate, NULL);
#endif
}

static inline void stub_start(void)
{
    long ms = atol(stub_setting("STUB_LOAD_MS", "2"));
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    stub_kernel();
}

static inline int stub_add(enum stub_kind kind, void *start, size_t size, int device)
{
    int added = 0;
    pthread_mutex_lock(&stub_lock);
    for (int i = 0; i < STUB_REGIONS && !added; i++)
        if (stub_regions[i].kind == STUB_FREE) {
            stub_regions[i] = (struct stub_region){kind, start, size, device};
            added = 1;
        }
    pthread_mutex_unlock(&stub_lock);
    stub_kernel();
    return added;
}

static inline void *stub_allocate(enum stub_kind kind, size_t size, int device)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || !stub_add(kind, memory, size, device))
        return NULL;
    return memory;
}

/* The region that holds the address, taken out of the list where `remove` says so. */
static inline struct stub_region stub_find(const void *address, int remove)
{
    struct stub_region found = {0};
    const char *at = address;
    pthread_mutex_lock(&stub_lock);
    for (int i = 0; i < STUB_REGIONS; i++)
        if (stub_regions[i].kind != STUB_FREE && at >= stub_regions[i].start &&
            at < stub_regions[i].start + stub_regions[i].size) {
            found = stub_regions[i];
            if (remove)
                stub_regions[i].kind = STUB_FREE;
        }
    pthread_mutex_unlock(&stub_lock);
    return found;
}

static inline int stub_free(void *address)
{
    struct stub_region region = stub_find(address, 1);
    if (region.kind == STUB_FREE)
        return 0;
    if (region.kind != STUB_REGISTERED)
        munmap(region.start, region.size);
    stub_kernel();
    return 1;
}

/* Buses of the devices: two dies a card, as on a node with eight dies. */
static inline unsigned stub_bus(int device)
{
    static const unsigned char buses[STUB_GPUS_MOST] = {0xc1, 0xc6, 0xc9, 0xce, 0xd1, 0xd6,
                                                        0xd9, 0xde, 0x31, 0x36, 0x39, 0x3e,
                                                        0x41, 0x46, 0x49, 0x4e};
    return buses[device];
}

/* How many links join two devices: four within a card, two or one between cards, none across. */
static inline int stub_links(int a, int b)
{
    if (a / 2 == b / 2)
        return 4;
    if (a % 2 == b % 2)
        return 2;
    return (a + b) % 4 == 3 ? 1 : 0;
}

#endif
