/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which space the memory at an address belongs to. Each thread keeps the last answers by address:
 * they hold while the driver has not been called in a way that may change them (gpu_watch.c), and
 * for a short time at most, in case it has other ways. Any thread, in its call of MPI.
 */
#include <stdio.h>

#include "probe/gpu.h"
#include "record/record.h"
#include "record/spaces.h"

#define ANSWERS  256u /* a power of two */
#define RUNTIMES 2u

struct mw_gpu_answers {
    struct answer {
        uintptr_t address;
        uint64_t time;
        uint32_t changes, space;
    } answer[ANSWERS];
};

static const struct mw_gpu_runtime *_Atomic runtimes[RUNTIMES];
static _Atomic uint64_t keep; /* ticks */

void mw_gpu_memory_add(const struct mw_gpu_runtime *runtime)
{
    for (unsigned i = 0; i < RUNTIMES; i++) {
        const struct mw_gpu_runtime *none = NULL;
        if (atomic_compare_exchange_strong(&runtimes[i], &none, runtime))
            return;
    }
}

void mw_gpu_memory_keep(uint64_t ticks)
{
    atomic_store_explicit(&keep, ticks, memory_order_relaxed);
}

static unsigned number_of(const struct mw_gpu_runtime *runtime, const struct mw_gpu_memory *memory)
{
    char note[96] = "";
    if (memory->kind == MW_MEMORY_UNKNOWN)
        snprintf(note, sizeof note, "%s: error %d", runtime->question, memory->error);
    return mw_space_number(memory->kind, runtime->name, memory->device, note);
}

static unsigned ask(const void *address)
{
    for (unsigned i = 0; i < RUNTIMES; i++) {
        const struct mw_gpu_runtime *runtime =
            atomic_load_explicit(&runtimes[i], memory_order_acquire);
        if (!runtime)
            break;
        struct mw_gpu_memory memory = runtime->memory_of(address);
        if (memory.kind != MW_MEMORY_HOST)
            return number_of(runtime, &memory);
    }
    return 0;
}

static struct answer *answer_at(struct mw_thread_state *thread, uintptr_t address)
{
    if (__builtin_expect(!thread->gpu_answers, 0))
        thread->gpu_answers = mw_pages(sizeof *thread->gpu_answers);
    if (!thread->gpu_answers)
        return NULL;
    return &thread->gpu_answers->answer[(address * 0x9e3779b97f4a7c15u) >> 56];
}
_Static_assert(ANSWERS == 1u << (64 - 56), "as many as the hash tells apart");

unsigned mw_gpu_space(struct mw_thread_state *thread, const void *address, uint64_t now)
{
    struct answer *answer = answer_at(thread, (uintptr_t)address);
    uint32_t changes = atomic_load_explicit(&mw_gpu_changes, memory_order_acquire);
    if (answer && answer->address == (uintptr_t)address && answer->changes == changes &&
        now - answer->time < atomic_load_explicit(&keep, memory_order_relaxed))
        return answer->space;
    unsigned space = ask(address);
    if (answer)
        *answer = (struct answer){(uintptr_t)address, now, changes, space};
    return space;
}
