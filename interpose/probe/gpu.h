/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs, by what the process has loaded: which memory a buffer of a call is (mw_gpu_space), the
 * devices that it sees. Nothing is linked and nothing exported: programs ask whether a hipMalloc or
 * a cuInit is there, and it must not be ours. What a buffer is, the runtime is asked (gpu_hsa.c,
 * gpu_cuda.c), by questions that initialise nothing and leave the program's last error alone; each
 * thread keeps the answers until the driver is called in a way that may change them (gpu_watch.c).
 */
#ifndef MW_PROBE_GPU_H
#define MW_PROBE_GPU_H

#include <stdatomic.h>
#include <stdint.h>

#include "probe/modules.h"
#include "record/record.h"
#include "trace/fields.h"

/* What memory an address lies in. */
struct mw_gpu_memory {
    enum mw_memory_kind kind; /* MW_MEMORY_HOST: the runtime does not know it */
    int device;               /* -1: none, or it has no number */
    int error;                /* of the runtime, where the kind is MW_MEMORY_UNKNOWN */
};

/* A device's record: the fields of DEVICE.device that are known. */
struct mw_gpu_device {
    unsigned index;
    char pci[24], name[80], uuid[48];
    uint64_t memory;
    int current;
};

struct mw_gpu_peer {
    int access;
    const char *link; /* as the runtime says it; NULL: it does not */
    uint32_t hops;
};

/* A runtime: how it is recognised and what it can be asked. One file each. */
struct mw_gpu_runtime {
    const char *name;   /* in the trace */
    const char *object; /* the beginning of the name of the object that is the runtime, */
    const char *symbol; /* which defines this: what is asked about buffers */
    /* Objects that call the kernel for it, by the beginning of their names: of the first `needed`
     * at least one must be watched. NULL at the end. */
    const char *const *drivers;
    unsigned needed;
    int (*attach)(const struct mw_module_entry *library); /* 0: a function is missing */
    struct mw_gpu_memory (*memory_of)(const void *address);
    int (*device_count)(void);                                      /* -1: it is not initialised */
    int (*device_at)(unsigned index, struct mw_gpu_device *device); /* 0: not known */
    /* Whether device `from` can reach the memory of `to`, and over what. 0: not known */
    int (*peer_at)(unsigned from, unsigned to, struct mw_gpu_peer *peer);
};
extern const struct mw_gpu_runtime mw_gpu_hsa, mw_gpu_cuda;

/* gpu_watch.c: which of the driver's doings may have changed what memory is. */
extern _Atomic uint32_t mw_gpu_changes;
/* The object stays loaded from now on: addresses in it are kept. 0: that cannot be done. Waits for
 * a dlopen in another thread, so that the loader is done with the object. */
int mw_gpu_pin(const struct mw_module_entry *object);
/* Watches the object's calls of ioctl, and pins it. 0: it has none, or it cannot be done. */
int mw_gpu_watch(const struct mw_module_entry *object);
/* Whether what was done still stands. */
int mw_gpu_watch_stands(void);

/* gpu.c: whether there is a runtime; looks for one where that is due. */
extern _Atomic uint64_t mw_gpu_next_look;
extern _Atomic int mw_gpu_there;
void mw_gpu_look(uint64_t now);
static inline int mw_gpu_is_there(uint64_t now)
{
    if (__builtin_expect(now >= atomic_load_explicit(&mw_gpu_next_look, memory_order_relaxed), 0))
        mw_gpu_look(now);
    return atomic_load_explicit(&mw_gpu_there, memory_order_relaxed);
}

/* gpu_memory.c: what the runtimes said of addresses, kept by each thread. */
#define MW_GPU_ANSWERS 256u
struct mw_gpu_answers {
    struct mw_gpu_answer {
        uintptr_t address;
        uint64_t time;
        uint32_t changes, space;
    } answer[MW_GPU_ANSWERS];
};
extern _Atomic uint64_t mw_gpu_keep; /* so long, in ticks; 0: not at all */

static inline unsigned mw_gpu_answer_place(const void *address)
{
    return (unsigned)(((uintptr_t)address * 0x9e3779b97f4a7c15u) >> 56);
}
_Static_assert(MW_GPU_ANSWERS == 1u << (64 - 56), "as many as the hash tells apart");

/* The space of an address by the answers that a thread has kept; -1 where there is none, or it may
 * be outdated. now: a reading of the clock. */
static inline int mw_gpu_answer(const struct mw_gpu_answers *answers, const void *address,
                                uint64_t now)
{
    const struct mw_gpu_answer *answer = &answers->answer[mw_gpu_answer_place(address)];
    return answer->address == (uintptr_t)address &&
                   answer->changes == atomic_load_explicit(&mw_gpu_changes, memory_order_acquire) &&
                   now - answer->time < atomic_load_explicit(&mw_gpu_keep, memory_order_relaxed)
               ? (int)answer->space
               : -1;
}
/* The same; the runtimes are asked where that is needed. 0: ordinary host memory. */
unsigned mw_gpu_space(struct mw_thread_state *thread, const void *address, uint64_t now);
/* A runtime that is asked from now on. */
void mw_gpu_memory_add(const struct mw_gpu_runtime *runtime);
#endif
