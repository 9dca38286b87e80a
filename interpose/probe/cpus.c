/* SPDX-License-Identifier: BSD-3-Clause */
/* See cpus.h. The mask is asked of the kernel itself: libc's wrapper would zero what it did not
 * write, and a tool may have replaced it. */
#include "probe/cpus.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPUS_MOST (1u << 20) /* numbers beyond are nonsense */

static void run_add(struct mw_cpus *cpus, uint64_t first, uint64_t last)
{
    if (first > last || last >= CPUS_MOST)
        return;
    uint32_t count = (uint32_t)(last - first) + 1;
    if (cpus->count && cpus->run[cpus->count - 1].first + cpus->run[cpus->count - 1].count == first)
        cpus->run[cpus->count - 1].count += count;
    else if (cpus->count < MW_CPU_RUNS) {
        cpus->run[cpus->count].first = (uint32_t)first;
        cpus->run[cpus->count++].count = count;
    }
}

void mw_cpus_of_list(struct mw_cpus *cpus, const char *list)
{
    const char *at = list, *end;
    cpus->count = 0;
    for (;;) {
        uint64_t first = mw_number(at, 10, &end), last = first;
        if (end == at)
            return;
        if (*end == '-')
            last = mw_number(end + 1, 10, &end);
        run_add(cpus, first, last);
        if (*end != ',')
            return;
        at = end + 1;
    }
}

void mw_cpus_of_mask(struct mw_cpus *cpus, const void *mask, size_t bytes)
{
    const uint8_t *byte = mask; /* the kernel's words are little-endian here */
    cpus->count = 0;
    for (size_t i = 0; i < bytes; i++)
        for (unsigned bit = 0; byte[i] && bit < 8; bit++)
            if (byte[i] >> bit & 1)
                run_add(cpus, 8 * i + bit, 8 * i + bit);
}

int mw_cpus_of_thread(struct mw_cpus *cpus, int tid)
{
    _Alignas(8) uint8_t mask[MW_CPUS_BYTES];
    int saved = errno;
    long got = syscall(SYS_sched_getaffinity, tid, sizeof mask, mask);
    errno = saved;
    mw_cpus_of_mask(cpus, mask, got > 0 ? (size_t)got : 0);
    return got > 0 ? 0 : -1;
}

int mw_cpus_equal(const struct mw_cpus *a, const struct mw_cpus *b)
{
    return a->count == b->count && memcmp(a->run, b->run, a->count * sizeof *a->run) == 0;
}

uint64_t mw_cpus_total(const struct mw_cpus *cpus)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < cpus->count; i++)
        total += cpus->run[i].count;
    return total;
}

void mw_cpus_text(struct mw_text *text, const struct mw_cpus *cpus)
{
    for (uint32_t i = 0; i < cpus->count; i++) {
        mw_text_add(text, i ? "," : "");
        mw_text_add_u64(text, cpus->run[i].first);
        if (cpus->run[i].count == 1)
            continue;
        mw_text_add(text, "-");
        mw_text_add_u64(text, cpus->run[i].first + cpus->run[i].count - 1);
    }
}

void mw_cpus_put(struct mw_buffer *buffer, unsigned id, const struct mw_cpus *cpus)
{
    if (!cpus->count)
        return;
    size_t mark = mw_put_begin(buffer, id);
    for (uint32_t i = 0; i < cpus->count; i++) {
        mw_buffer_varint(buffer, cpus->run[i].first);
        mw_buffer_varint(buffer, cpus->run[i].count);
    }
    mw_put_end(buffer, mark);
}
