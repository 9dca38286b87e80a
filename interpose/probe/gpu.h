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
    const char *name;     /* in the trace */
    const char *object;   /* the beginning of the name of the object that is the runtime, */
    const char *symbol;   /* which defines this */
    const char *question; /* what it is asked about buffers, in words */
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
/* Watches the object's calls of ioctl. 0: it has none, or it cannot be done. */
int mw_gpu_watch(const struct mw_module_entry *object);
/* Whether what was done still stands. */
int mw_gpu_watch_stands(void);

/* gpu.c: looks for runtimes where that is due, and says whether there is one. */
int mw_gpu_look(uint64_t now);

/* gpu_memory.c: the space of an address, for the thread that asks. now: a reading of the clock. 0:
 * ordinary host memory. */
struct mw_thread_state;
unsigned mw_gpu_space(struct mw_thread_state *thread, const void *address, uint64_t now);
/* A runtime that is asked from now on. */
void mw_gpu_memory_add(const struct mw_gpu_runtime *runtime);
/* Answers are kept so long, in ticks; 0: not at all, as nothing tells when they are outdated. */
void mw_gpu_memory_keep(uint64_t ticks);

#endif
