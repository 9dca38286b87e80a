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

#define RUNTIMES 2u

_Atomic uint64_t mw_gpu_keep;
static const struct mw_gpu_runtime *_Atomic runtimes[RUNTIMES];

void mw_gpu_memory_add(const struct mw_gpu_runtime *runtime)
{
    for (unsigned i = 0; i < RUNTIMES; i++) {
        const struct mw_gpu_runtime *none = NULL;
        if (atomic_compare_exchange_strong(&runtimes[i], &none, runtime))
            return;
    }
}

static unsigned number_of(const struct mw_gpu_runtime *runtime, const struct mw_gpu_memory *memory)
{
    char note[96] = "";
    if (memory->kind == MW_MEMORY_UNKNOWN)
        snprintf(note, sizeof note, "%s: error %d", runtime->symbol, memory->error);
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

unsigned mw_gpu_space(struct mw_thread_state *thread, const void *address, uint64_t now)
{
    struct mw_gpu_answers *answers = thread->gpu_answers;
    int known = answers ? mw_gpu_answer(answers, address, now) : -1;
    if (known >= 0)
        return (unsigned)known;
    uint32_t changes = atomic_load_explicit(&mw_gpu_changes, memory_order_acquire);
    unsigned space = ask(address);
    if (!answers)
        answers = thread->gpu_answers = mw_pages(sizeof *answers);
    if (answers)
        answers->answer[mw_gpu_answer_place(address)] =
            (struct mw_gpu_answer){(uintptr_t)address, now, changes, space};
    return space;
}
