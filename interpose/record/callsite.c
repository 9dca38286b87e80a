/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See callsite.h. A cache entry holds return address and frame address of the call and the checks
 * that prove that the rest of the stack is the same (unwind.c). The checked slots lie between the
 * frame and the top of the thread's own stack, which stays mapped while the thread runs; calls on
 * any other stack (coroutines, sigaltstack) are never cached, since such a stack can go away.
 *
 * A program that calls from ever new frame addresses would be walked each time: after the first
 * misses only every eighth pays for a walk with checks, the others take the quick one.
 */
#include "record/callsite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/sysfile.h"

#define ENTRIES     1024u /* a power of two */
#define WAYS        4u
#define WALKS_FREE  64u
#define WALKS_EVERY 8u
#define MAIN_STACK_MOST                                                                            \
    ((uintptr_t)128 << 20) /* the kernel maps nothing else that near below it                      \
                            */

struct check {
    uintptr_t value;
    uintptr_t offset; /* from the frame */
};

struct entry {
    const void *caller, *frame; /* caller NULL: free */
    uint32_t site, checks;
    struct check check[];
};

struct mw_callsite_cache {
    unsigned char *entries;
    size_t stride;
    unsigned checks_max;
    uint32_t generation; /* of the modules, when the entries were made */
    uintptr_t stack_low, stack_high;
    uint64_t misses, walks;
    unsigned victim;
    int used; /* some entry is not free */
};

static unsigned depth_wanted;

const char *mw_callsite_setup(unsigned depth, mw_site_new_fn tell, void *context)
{
    const char *reason = NULL;
    if (depth > MW_FRAMES_MAX)
        depth = MW_FRAMES_MAX;
    if (depth > 1 && (reason = mw_unwind_setup()))
        depth = 1;
    mw_sites_notify(tell, context);
    depth_wanted = depth;
    return reason;
}

unsigned mw_callsite_depth(void)
{
    return depth_wanted;
}

struct mw_callsite_cache *mw_callsite_cache_create(void)
{
    unsigned checks_max = depth_wanted > 1 ? 2 * (depth_wanted - 1) : 0;
    size_t stride = sizeof(struct entry) + checks_max * sizeof(struct check);
    stride = (stride + 63) & ~(size_t)63;
    size_t head = (sizeof(struct mw_callsite_cache) + 63) & ~(size_t)63;
    unsigned char *memory = mmap(NULL, head + ENTRIES * stride, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    struct mw_callsite_cache *cache = (struct mw_callsite_cache *)memory;
    cache->entries = memory + head;
    cache->stride = stride;
    cache->checks_max = checks_max;
    return cache;
}

static void forget_all(struct mw_callsite_cache *cache)
{
    for (unsigned i = 0; cache->used && i < ENTRIES; i++)
        ((struct entry *)(cache->entries + i * cache->stride))->caller = NULL;
    cache->used = 0;
    cache->generation = mw_modules_generation();
}

/* Field 28 of /proc/self/stat is where the first thread's stack began. */
static uintptr_t main_stack_start(void)
{
    char text[1024];
    if (mw_sys_slurp("/proc/self/stat", text, sizeof text) <= 0)
        return 0;
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = 2; at && field < 28; field++)
        at = strchr(at + 1, ' ');
    return at ? mw_number(at, 10, NULL) : 0;
}

/* Bounds that are safe to read between while this thread runs; an empty range when they are not
 * known. */
static void stack_bounds(uintptr_t *low, uintptr_t *high)
{
    pthread_attr_t attributes;
    void *base;
    size_t size;
    *low = *high = 0;
    if (syscall(SYS_gettid) == getpid()) {
        *high = main_stack_start();
        *low = *high > MAIN_STACK_MOST ? *high - MAIN_STACK_MOST : 0;
        return;
    }
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &base, &size) == 0) {
        *low = (uintptr_t)base;
        *high = *low + size;
    }
    pthread_attr_destroy(&attributes);
}

void mw_callsite_thread_start(struct mw_callsite_cache *cache)
{
    if (!cache)
        return;
    forget_all(cache);
    cache->misses = cache->walks = 0;
    stack_bounds(&cache->stack_low, &cache->stack_high);
}

static uint32_t site_of(const void *const *addresses, unsigned count, int truncated)
{
    struct mw_site_frame frames[MW_FRAMES_MAX];
    const struct mw_module_entry *module = NULL;
    for (unsigned i = 0; i < count; i++) {
        uintptr_t address = (uintptr_t)addresses[i];
        /* a return address may be one after the object's last byte: the call is what counts */
        if (!module || address - 1 < module->start || address - 1 >= module->end)
            module = mw_modules_locate((const void *)(address - 1));
        frames[i].module = module ? module->id : 0;
        frames[i].offset = module ? address - module->start : address;
    }
    return mw_site_intern(frames, count, truncated);
}

static struct entry *entry_at(struct mw_callsite_cache *cache, size_t home, unsigned way)
{
    return (struct entry *)(cache->entries + ((home + way) & (ENTRIES - 1)) * cache->stride);
}

static inline size_t home_of(const void *caller, const void *frame)
{
    uint64_t key = (uintptr_t)caller ^ ((uintptr_t)frame << 20);
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 48) & (ENTRIES - 1);
}

static void remember(struct mw_callsite_cache *cache, const void *caller, const void *frame,
                     const struct mw_stack *stack, uint32_t site)
{
    size_t home = home_of(caller, frame);
    struct entry *entry = NULL;
    if (stack->checks > cache->checks_max)
        return;
    for (unsigned i = 0; i < stack->checks; i++) {
        uintptr_t slot = (uintptr_t)stack->check[i].slot;
        if (slot < (uintptr_t)frame || slot + sizeof(uintptr_t) > cache->stack_high)
            return;
    }
    for (unsigned way = 0; way < WAYS && !entry; way++)
        if (!entry_at(cache, home, way)->caller)
            entry = entry_at(cache, home, way);
    if (!entry)
        entry = entry_at(cache, home, cache->victim++ % WAYS);
    cache->used = 1;
    entry->caller = caller;
    entry->frame = frame;
    entry->site = site;
    entry->checks = stack->checks;
    for (unsigned i = 0; i < stack->checks; i++) {
        entry->check[i].value = stack->check[i].value;
        entry->check[i].offset = (uintptr_t)stack->check[i].slot - (uintptr_t)frame;
    }
}

__attribute__((noinline, cold)) static uint32_t miss(struct mw_callsite_cache *cache,
                                                     const void *caller, const void *frame)
{
    struct mw_stack stack = {.count = 0};
    if (cache->generation != mw_modules_generation())
        forget_all(cache);
    cache->misses++;
    if (depth_wanted == 1) {
        uint32_t site = site_of(&caller, 1, 1);
        remember(cache, caller, frame, &stack, site);
        return site;
    }
    int own_stack = (uintptr_t)frame >= cache->stack_low && (uintptr_t)frame < cache->stack_high;
    int walk = own_stack && (cache->misses <= WALKS_FREE || cache->misses % WALKS_EVERY == 0);
    int found = -1;
    if (walk) {
        cache->walks++;
        found = mw_unwind_exact(caller, frame, depth_wanted, &stack);
    }
    if (found != 0)
        found = mw_unwind_quick(caller, depth_wanted, &stack);
    if (found != 0)
        return site_of(&caller, 1, 1);
    uint32_t site = site_of(stack.address, stack.count, stack.truncated);
    if (walk && stack.exact)
        remember(cache, caller, frame, &stack, site);
    return site;
}

/* Reads words that belong to other functions' frames, which a sanitizer would take for a mistake.
 */
__attribute__((no_sanitize("address", "undefined"))) static inline int
holds(const struct entry *entry, const void *frame)
{
    uintptr_t wrong = 0;
    for (uint32_t i = 0; i < entry->checks; i++)
        wrong |= *(const uintptr_t *)((const char *)frame + entry->check[i].offset) ^
                 entry->check[i].value;
    return wrong == 0;
}

uint32_t mw_callsite(struct mw_callsite_cache *cache, const void *caller, const void *frame)
{
    if (__builtin_expect(depth_wanted <= 1 || !cache, 0)) {
        if (depth_wanted == 0)
            return 0;
        if (!cache)
            return site_of(&caller, 1, 1);
        frame = NULL; /* the return address is all there is to know */
    }
    size_t home = home_of(caller, frame);
    if (__builtin_expect(cache->generation == mw_modules_generation(), 1))
        for (unsigned way = 0; way < WAYS; way++) {
            const struct entry *entry = entry_at(cache, home, way);
            if (entry->caller == caller && entry->frame == frame && holds(entry, frame))
                return entry->site;
        }
    return miss(cache, caller, frame);
}

int mw_callsite_on_stack(const struct mw_callsite_cache *cache, const void *place)
{
    return cache && (uintptr_t)place >= cache->stack_low && (uintptr_t)place < cache->stack_high;
}

void mw_callsite_cache_stats(const struct mw_callsite_cache *cache, uint64_t *misses,
                             uint64_t *walks)
{
    *misses = cache->misses;
    *walks = cache->walks;
}
