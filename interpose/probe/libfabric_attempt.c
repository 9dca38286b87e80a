/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ATTEMPT chunks: what was opened, in which words it failed, and what could have been had. Written
 * before the call and after it, so that a call that hangs or aborts is explained by what is in the
 * file. On the threads that call libfabric; bounded a process, what is beyond is a health note.
 */
#include <errno.h>
#include <string.h>

#include "output/output.h"
#include "probe/libfabric.h"
#include "record/record.h"
#include "trace/fields.h"

#define ATTEMPTS_MAX  512u /* written a process */
#define SUCCESSES_MAX 384u /* of these: the last ones are kept for failures */
#define GETINFO_MAX   64u  /* calls of fi_getinfo that are written although they succeed */
#define OFFERS_MAX    64u  /* different ones of an attempt */
#define INFOS_MAX     1024u
#define LISTS         32u /* lists of offers that are remembered */
#define PAYLOAD       16384u

static _Atomic uint64_t attempts, unwritten;
static _Atomic uint32_t getinfos, inner_attempts;
static _Atomic(const void *) library;
static _Atomic uint64_t lists[LISTS];
static _Atomic uint32_t list_count;

void mw_fi_attempts_library(const void *real)
{
    atomic_store_explicit(&library, real, memory_order_relaxed);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

/* 0: not to be written; it may still get an id when it fails. */
static uint64_t take_id(const struct mw_fi_attempt *attempt, int failed)
{
    uint64_t limit = failed ? ATTEMPTS_MAX : SUCCESSES_MAX;
    if (!failed && strcmp(attempt->call, "fi_getinfo") == 0 &&
        atomic_fetch_add(&getinfos, 1) >= GETINFO_MAX)
        return 0;
    if (!failed && attempt->identity->inner &&
        atomic_fetch_add(&inner_attempts, 1) >= SUCCESSES_MAX / 2)
        return 0;
    uint64_t id = atomic_load(&attempts);
    do {
        if (id >= limit) {
            atomic_fetch_add(&unwritten, 1);
            return 0;
        }
    } while (!atomic_compare_exchange_weak(&attempts, &id, id + 1));
    return MW_FI_FIRST_ID + id;
}

/* The library's own words for what it returned. */
static const char *words_of(int64_t result)
{
    const void *real = atomic_load_explicit(&library, memory_order_relaxed);
    const char *(*strerror_of)(int) = NULL;
    if (result >= 0 || result < -INT32_MAX || !real)
        return NULL;
    *(void **)&strerror_of = mw_fi_library_symbol(real, "fi_strerror", "FABRIC_1.0");
    return strerror_of ? strerror_of((int)-result) : NULL;
}

static void put(struct mw_buffer *buffer, const struct mw_fi_attempt *attempt, int64_t result,
                const char *words, uint64_t end)
{
    const struct mw_fi_identity *identity = attempt->identity;
    mw_put_u64(buffer, MW_F_ATTEMPT_id, attempt->id);
    mw_put_text(buffer, MW_F_ATTEMPT_library, MW_FI_LIBRARY);
    mw_put_text(buffer, MW_F_ATTEMPT_call, attempt->call);
    mw_put_i64(buffer, MW_F_ATTEMPT_result, result);
    mw_put_text(buffer, MW_F_ATTEMPT_words, words);
    mw_put_text(buffer, MW_F_ATTEMPT_provider, identity->provider);
    mw_put_text(buffer, MW_F_ATTEMPT_domain, identity->domain);
    mw_put_text(buffer, MW_F_ATTEMPT_fabric, identity->fabric);
    mw_put_u64(buffer, MW_F_ATTEMPT_caller, identity->caller);
    mw_put_u64(buffer, MW_F_ATTEMPT_start, attempt->start);
    mw_put_u64(buffer, MW_F_ATTEMPT_end, end);
    mw_put_u64(buffer, MW_F_ATTEMPT_inner, (uint64_t)identity->inner);
    mw_put_text(buffer, MW_F_ATTEMPT_device, identity->device);
    mw_put_u64(buffer, MW_F_ATTEMPT_speed, identity->speed);
    mw_put_text(buffer, MW_F_ATTEMPT_driver, identity->driver);
    mw_put_text(buffer, MW_F_ATTEMPT_asked, attempt->asked);
    mw_put_u64(buffer, MW_F_ATTEMPT_endpoint, attempt->endpoint);
}

void mw_fi_attempt_begin(struct mw_fi_attempt *attempt)
{
    uint8_t memory[2048];
    struct mw_buffer buffer;
    int error = errno;
    attempt->start = mw_now();
    attempt->id = take_id(attempt, 0);
    if (attempt->id) {
        mw_buffer_init(&buffer, memory, sizeof memory);
        put(&buffer, attempt, 0, NULL, 0);
        mw_output_chunk(MW_CHUNK_ATTEMPT, buffer.data, buffer.size);
        if (!attempt->identity->inner) /* what it is a layer of is in the file already */
            mw_output_flush();
    }
    errno = error;
}

void mw_fi_attempt_failed(const char *call, const struct mw_fi_identity *identity, int64_t result)
{
    struct mw_fi_attempt attempt = {.call = call, .identity = identity, .start = mw_now()};
    if (result < 0)
        mw_fi_attempt_end(&attempt, result, NULL, 0);
}

static const char *state_word(int state)
{
    return state == MW_FI_LINK_UP ? "up" : state == MW_FI_LINK_DOWN ? "down" : NULL;
}

struct offer {
    const char *provider, *domain, *fabric, *device, *driver, *state;
    uint64_t speed, hash;
};

static void offer_read(struct offer *offer, const struct mw_fi_info *info, int has_nic)
{
    memset(offer, 0, sizeof *offer);
    if (info->fabric_attr) {
        offer->provider = info->fabric_attr->prov_name;
        offer->fabric = info->fabric_attr->name;
    }
    if (info->domain_attr)
        offer->domain = info->domain_attr->name;
    const struct mw_fid_nic *nic = has_nic ? info->nic : NULL;
    if (nic && nic->device_attr) {
        offer->device = nic->device_attr->name;
        offer->driver = nic->device_attr->driver;
    }
    if (nic && nic->link_attr) {
        offer->speed = nic->link_attr->speed;
        offer->state = state_word(nic->link_attr->state);
    }
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325) ^ offer->speed, offer->provider);
    hash = hash_text(hash_text(hash, offer->domain), offer->fabric);
    offer->hash = hash_text(hash_text(hash, offer->device), offer->state);
}

static void put_offer(struct mw_buffer *buffer, const struct offer *offer)
{
    size_t before = buffer->size;
    size_t mark = mw_put_begin(buffer, MW_F_ATTEMPT_offer);
    mw_put_text(buffer, MW_F_OFFER_provider, offer->provider);
    mw_put_text(buffer, MW_F_OFFER_domain, offer->domain);
    mw_put_text(buffer, MW_F_OFFER_fabric, offer->fabric);
    mw_put_text(buffer, MW_F_OFFER_device, offer->device);
    mw_put_u64(buffer, MW_F_OFFER_speed, offer->speed);
    mw_put_text(buffer, MW_F_OFFER_state, offer->state);
    mw_put_text(buffer, MW_F_OFFER_driver, offer->driver);
    mw_put_end(buffer, mark);
    if (buffer->overflow) {
        buffer->size = before;
        buffer->overflow = 0;
    }
}

/* 1 when an earlier attempt had the same list. */
static int list_known(uint64_t hash)
{
    uint32_t count = atomic_load(&list_count);
    for (uint32_t i = 0; i < count && i < LISTS; i++)
        if (atomic_load(&lists[i]) == hash)
            return 1;
    uint32_t at = atomic_fetch_add(&list_count, 1);
    if (at < LISTS)
        atomic_store(&lists[at], hash);
    return 0;
}

/* Each different offer once, in the library's order, which is its preference. */
static void put_offers(struct mw_buffer *buffer, const struct mw_fi_attempt *attempt,
                       const struct mw_fi_info *infos, int has_nic)
{
    uint64_t seen[OFFERS_MAX];
    unsigned count = 0, walked = 0;
    size_t before = buffer->size;
    uint64_t all = hash_text(attempt->identity->caller, attempt->asked);
    for (const struct mw_fi_info *info = infos; info && walked < INFOS_MAX;
         info = info->next, walked++) {
        struct offer offer;
        unsigned i = 0;
        offer_read(&offer, info, has_nic);
        while (i < count && seen[i] != offer.hash)
            i++;
        if (i < count || count == OFFERS_MAX)
            continue;
        seen[count++] = offer.hash;
        all = (all ^ offer.hash) * UINT64_C(0x100000001b3);
        put_offer(buffer, &offer);
    }
    if (count && list_known(all))
        buffer->size = before;
}

void mw_fi_attempt_end(struct mw_fi_attempt *attempt, int64_t result,
                       const struct mw_fi_info *infos, int has_nic)
{
    uint8_t memory[PAYLOAD];
    struct mw_buffer buffer;
    int error = errno;
    if (!attempt->id && result < 0 && atomic_load(&mw_recording.state) == MW_RECORDING)
        attempt->id = take_id(attempt, 1);
    if (attempt->id) {
        uint64_t end = mw_now();
        mw_buffer_init(&buffer, memory, sizeof memory);
        put(&buffer, attempt, result, words_of(result), end ? end : 1);
        if (result >= 0)
            put_offers(&buffer, attempt, infos, has_nic);
        mw_output_packed(MW_CHUNK_ATTEMPT, buffer.data, buffer.size);
        if (result < 0)
            mw_output_flush();
    }
    errno = error;
}

void mw_fi_attempts_finish(void)
{
    if (atomic_exchange(&unwritten, 0))
        mw_health(
            "libfabric-attempts",
            "more attempts to open fabrics than are written: the later ones are not in the trace");
}
