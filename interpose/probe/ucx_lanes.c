/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lanes of endpoints: asked of UCX where the caller of MPI could ask too (at an endpoint's
 * close, before MPI_Finalize, in a step of an MPI call), taken apart and kept, since many endpoints
 * have the same. Allocates what the C library needs for a stream.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "probe/ucx.h"
#include "record/record.h"
#include "trace/chunk.h"
#include "trace/fields.h"

#define SETS      256u
#define SET_BYTES 1400u /* of one set, encoded */
#define ARENA     (128u << 10)

static struct lane_set {
    uint64_t hash;
    const uint8_t *fields;
    uint32_t size;
} sets[SETS];
static _Atomic uint32_t set_count; /* entry 0 is none */
static uint8_t *arena;
static size_t arena_used;
static struct mw_lock lock;

int mw_ucx_print_begin(struct mw_ucx_print *print)
{
    print->size = MW_UCX_PRINT_SIZE;
    print->text =
        mmap(NULL, print->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (print->text == MAP_FAILED)
        return 0;
    print->stream = fmemopen(print->text, print->size - 1, "w");
    if (!print->stream)
        munmap(print->text, print->size);
    return print->stream != NULL;
}

size_t mw_ucx_print_end(struct mw_ucx_print *print)
{
    fclose(print->stream);
    return strnlen(print->text, print->size - 1);
}

void mw_ucx_print_release(struct mw_ucx_print *print)
{
    munmap(print->text, print->size);
}

/* The number of a set of lanes, given as the fields of a peer record; 0 no room. */
static uint32_t set_keep(const struct mw_buffer *fields)
{
    uint64_t hash = mw_hash64(fields->data, fields->size);
    uint32_t found = 0;
    mw_lock_take(&lock);
    uint32_t count = atomic_load_explicit(&set_count, memory_order_relaxed);
    for (uint32_t i = 1; i <= count && !found; i++)
        if (sets[i].hash == hash && sets[i].size == fields->size)
            found = i;
    if (!arena)
        arena = mw_pages(ARENA);
    if (!found && arena && count + 1 < SETS && fields->size <= ARENA - arena_used) {
        found = count + 1;
        memcpy(arena + arena_used, fields->data, fields->size);
        sets[found] = (struct lane_set){hash, arena + arena_used, (uint32_t)fields->size};
        arena_used += fields->size;
        atomic_store_explicit(&set_count, found, memory_order_release);
    }
    mw_lock_drop(&lock);
    if (!found)
        mw_health("ucx-lanes", "more different sets of UCX lanes than there is room for");
    return found;
}

void mw_ucx_lanes_put(uint32_t lanes, struct mw_buffer *buffer)
{
    if (lanes)
        mw_buffer_bytes(buffer, sets[lanes].fields, sets[lanes].size);
}

static void put_word(struct mw_buffer *buffer, unsigned field, const struct mw_ucx_word *word)
{
    if (word->size)
        mw_put_bytes(buffer, field, word->text, word->size < 64 ? word->size : 64);
}

static void put_lane(struct mw_buffer *buffer, const struct mw_ucx_lane *lane)
{
    size_t mark = mw_put_begin(buffer, MW_F_PEER_lane);
    put_word(buffer, MW_F_LANE_use, &lane->use);
    put_word(buffer, MW_F_LANE_transport, &lane->transport);
    put_word(buffer, MW_F_LANE_device, &lane->device);
    mw_put_end(buffer, mark);
}

/* What ucp_ep_print_info says: every lane with its uses. */
static void read_printed(mw_ucp_object ep, struct mw_buffer *buffer)
{
    struct mw_ucx_print print;
    struct mw_ucx_lane lane;
    if (!mw_ucx.ep_print || !mw_ucx_print_begin(&print))
        return;
    mw_ucx.ep_print(ep, print.stream);
    mw_ucx_print_end(&print);
    struct mw_ucx_lane_walk walk = {.at = print.text, .version = mw_ucx.version};
    while (!buffer->overflow && mw_ucx_lane_next(&walk, &lane))
        put_lane(buffer, &lane);
    mw_ucx_print_release(&print);
}

static struct mw_ucx_word word_of(const char *text)
{
    return (struct mw_ucx_word){text, text ? strnlen(text, 64) : 0};
}

/* From 1.14 on: transports and devices, without their uses. */
static void read_queried(mw_ucp_object ep, struct mw_buffer *buffer)
{
    struct mw_ucp_transport entries[32] = {0};
    struct mw_ucp_ep_attr attr = {.field_mask = MW_UCP_EP_ATTR_FIELD_TRANSPORTS};
    attr.transports.entries = entries;
    attr.transports.num_entries = 32;
    attr.transports.entry_size = sizeof *entries;
    if (!mw_ucx.ep_query || mw_ucx.version < 1014 || mw_ucx.ep_query(ep, &attr) != MW_UCS_OK)
        return;
    for (unsigned i = 0; i < attr.transports.num_entries && i < 32; i++) {
        struct mw_ucx_lane lane = {.transport = word_of(entries[i].transport_name),
                                   .device = word_of(entries[i].device_name)};
        if (lane.transport.size)
            put_lane(buffer, &lane);
    }
}

void mw_ucx_lanes_read(struct mw_ucx_peer *peer)
{
    uint8_t memory[SET_BYTES];
    struct mw_buffer buffer;
    int error = errno;
    mw_ucp_object ep = atomic_load(&peer->ep);
    if (!ep || atomic_load(&mw_ucx.several))
        return;
    mw_buffer_init(&buffer, memory, sizeof memory);
    read_printed(ep, &buffer);
    if (!buffer.size)
        read_queried(ep, &buffer);
    if (buffer.size) {
        uint32_t kept = set_keep(&buffer);
        if (kept)
            peer->lanes = kept;
    }
    errno = error;
}
