/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ATTEMPT chunks of UCX: what was opened, and how that ended. Any thread that opens something; some
 * system calls each, never on the path of messages.
 */
#include <string.h>
#include <sys/mman.h>

#include "output/output.h"
#include "probe/real.h"
#include "probe/ucx.h"
#include "record/record.h"
#include "trace/fields.h"

#define ATTEMPTS   512u /* kept a process */
#define OFFERS     128u
#define CHUNK      (16u << 10)
#define OFFER_SIZE 160u

static _Atomic uint32_t attempts;

/* The number of a new one; 0 no more are kept. */
static uint32_t next_id(void)
{
    uint32_t id = atomic_fetch_add(&attempts, 1) + 1;
    if (id <= ATTEMPTS)
        return id;
    mw_health("ucx-attempts", "UCX was opened, or failed to connect, more often than is kept");
    return 0;
}

static void put_attempt(struct mw_buffer *buffer, const struct mw_ucx_attempt *attempt)
{
    mw_put_u64(buffer, MW_F_ATTEMPT_id, attempt->id);
    mw_put_text(buffer, MW_F_ATTEMPT_library, "ucx");
    mw_put_text(buffer, MW_F_ATTEMPT_call, attempt->call);
    mw_put_u64(buffer, MW_F_ATTEMPT_caller, attempt->caller);
    mw_put_u64(buffer, MW_F_ATTEMPT_start, attempt->start);
    mw_put_text(buffer, MW_F_ATTEMPT_asked, attempt->asked);
}

void mw_ucx_attempt_begin(struct mw_ucx_attempt *attempt, const char *call, const void *caller,
                          int now)
{
    uint8_t memory[512];
    struct mw_buffer buffer;
    attempt->call = call;
    attempt->caller = mw_real_module(caller);
    attempt->start = mw_now();
    attempt->id = 0;
    attempt->now = now;
    if (!now)
        return;
    if (!(attempt->id = next_id()))
        return;
    mw_buffer_init(&buffer, memory, sizeof memory);
    put_attempt(&buffer, attempt);
    mw_output_chunk(MW_CHUNK_ATTEMPT, buffer.data, buffer.size);
    mw_output_flush();
}

static int is_same(const struct mw_ucx_word *a, const struct mw_ucx_word *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static void put_offer(struct mw_buffer *buffer, const struct mw_ucx_word *transport,
                      const struct mw_ucx_word *device)
{
    size_t mark = mw_put_begin(buffer, MW_F_ATTEMPT_offer);
    mw_put_bytes(buffer, MW_F_OFFER_provider, transport->text,
                 transport->size < 64 ? transport->size : 64);
    mw_put_bytes(buffer, MW_F_OFFER_domain, device->text, device->size < 64 ? device->size : 64);
    mw_put_end(buffer, mark);
}

/* The transports and devices that the context may use. */
static void put_offers(struct mw_buffer *buffer, mw_ucp_object context)
{
    struct mw_ucx_print print;
    struct mw_ucx_word seen[OFFERS][2];
    unsigned count = 0;
    if (!mw_ucx.context_print || !mw_ucx_print_begin(&print))
        return;
    mw_ucx.context_print(context, print.stream);
    mw_ucx_print_end(&print);
    const char *at = print.text;
    while (count < OFFERS && buffer->size < CHUNK - OFFER_SIZE &&
           mw_ucx_resource_next(&at, &seen[count][0], &seen[count][1])) {
        unsigned i = 0;
        while (i < count &&
               !(is_same(&seen[i][0], &seen[count][0]) && is_same(&seen[i][1], &seen[count][1])))
            i++;
        if (i == count) {
            put_offer(buffer, &seen[count][0], &seen[count][1]);
            count++;
        }
    }
    mw_ucx_print_release(&print);
}

void mw_ucx_attempt_end(struct mw_ucx_attempt *attempt, mw_ucs_status result, uint32_t endpoint,
                        mw_ucp_object context)
{
    struct mw_buffer buffer;
    uint64_t end = mw_now();
    if (!attempt->now && !attempt->id)
        attempt->id = next_id();
    if (!attempt->id)
        return;
    uint8_t *memory = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    mw_buffer_init(&buffer, memory, CHUNK);
    put_attempt(&buffer, attempt);
    mw_put_u64(&buffer, MW_F_ATTEMPT_end, end);
    mw_put_i64(&buffer, MW_F_ATTEMPT_result, result);
    mw_put_u64(&buffer, MW_F_ATTEMPT_endpoint, endpoint);
    if (result < 0 && mw_ucx.status_string)
        mw_put_text(&buffer, MW_F_ATTEMPT_words, mw_ucx.status_string(result));
    if (context)
        put_offers(&buffer, context);
    mw_output_chunk(MW_CHUNK_ATTEMPT, buffer.data, buffer.size);
    munmap(memory, CHUNK);
    if (result < 0 || context)
        mw_output_flush();
}
