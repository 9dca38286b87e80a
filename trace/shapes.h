/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the events of one chunk have in common: its shapes, and the ordinal that each key of
 * messages or collectives reached (docs/format.md section 5). Writer side, part of an encoder:
 * fixed tables, no allocation, no locks, one thread at a time. A program repeats its loop, so each
 * shape remembers which one came next: the usual event costs one comparison and no hashing.
 */
#ifndef MW_TRACE_SHAPES_H
#define MW_TRACE_SHAPES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mpiwatch/format.h"
#include "trace/encoder.h"

#define MW_SHAPES_MAX     4096u /* a chunk, both tuples and numbers */
#define MW_SHAPES_BUCKETS 4096u /* a power of two */
#define MW_SHAPES_NONE    0xffffu

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tuples are read as little-endian words");
_Static_assert(offsetof(struct mw_raw_event, tag) == offsetof(struct mw_raw_event, peer) + 4 &&
                   offsetof(struct mw_raw_event, function) ==
                       offsetof(struct mw_raw_event, site) + 4 &&
                   offsetof(struct mw_raw_event, kind) == offsetof(struct mw_raw_event, site) + 6 &&
                   offsetof(struct mw_raw_event, origin) == offsetof(struct mw_raw_event, site) + 7,
               "fields that are read together");
#define MW_SHAPE_ORIGIN (0xffull << 56) /* of a word that ends in the origin */

/* The common part of an event: words of a raw event, with what varies left out. */
struct mw_shape_tuple {
    uint64_t bytes, bytes_in, flags_comm, peer_tag, site_function_kind;
};

/* One cache line. A tuple has up to two shapes: without and with an explicit ordinal. */
struct mw_shape {
    struct mw_shape_tuple tuple;
    uint32_t flags;     /* known ones, without ORDINAL */
    uint16_t number[2]; /* in the chunk, + 1; [1]: with ORDINAL; 0: not introduced yet */
    uint16_t key;       /* with COUNTED: index of its key */
    uint16_t successor; /* the tuple that came after it last time */
    uint16_t chain;     /* next in its bucket */
    uint8_t kind;
    uint8_t pad[9];
};
_Static_assert(sizeof(struct mw_shape) == 64, "one cache line");

struct mw_ordinal_key {
    uint32_t class, comm; /* class: kind of the event that is counted */
    int32_t peer, tag;
    uint64_t next; /* the ordinal that needs no saying; MW_ORDINAL_UNSEEN before the first */
    uint16_t chain;
    uint8_t pad[6];
};
#define MW_ORDINAL_UNSEEN UINT64_MAX

struct mw_shapes {
    uint32_t tuple_count, number_count, key_count;
    uint32_t last; /* index of the tuple of the event before */
    uint16_t tuple_bucket[MW_SHAPES_BUCKETS];
    uint16_t key_bucket[MW_SHAPES_BUCKETS];
    struct mw_shape shape[MW_SHAPES_MAX] __attribute__((aligned(64)));
    struct mw_ordinal_key key[MW_SHAPES_MAX];
};

/* Forgets everything: a new chunk. */
void mw_shapes_clear(struct mw_shapes *shapes);
/* Finds or adds a tuple by its hash. NULL when the tables are full. */
struct mw_shape *mw_shapes_intern(struct mw_shapes *shapes, const struct mw_shape_tuple *tuple);

static inline int mw_raw_event_is_special(const struct mw_raw_event *event)
{
    return event->kind == MW_EVENT_POLL || (event->flags & (MW_EVENT_ERROR | MW_EVENT_OFFSET));
}

static inline struct mw_shape_tuple mw_shape_tuple_of(const struct mw_raw_event *event)
{
    struct mw_shape_tuple tuple = {
        .bytes = event->bytes,
        .bytes_in = event->bytes_in,
        .flags_comm = (uint64_t)event->comm << 32 | event->flags,
    };
    /* Neighbours in the event, read at once: it is the hottest code of the recorder. */
    memcpy(&tuple.peer_tag, &event->peer, sizeof tuple.peer_tag);
    memcpy(&tuple.site_function_kind, &event->site, sizeof tuple.site_function_kind);
    tuple.site_function_kind &= ~MW_SHAPE_ORIGIN;
    if (__builtin_expect(mw_raw_event_is_special(event), 0)) {
        /* those fields hold the code, the counts of polls or an offset */
        if (event->kind == MW_EVENT_POLL || (event->flags & MW_EVENT_ERROR))
            tuple.bytes = 0;
        if (event->kind == MW_EVENT_POLL || (event->flags & MW_EVENT_OFFSET))
            tuple.bytes_in = 0;
    }
    return tuple;
}

static inline int mw_shape_tuple_equal(const struct mw_shape_tuple *a,
                                       const struct mw_shape_tuple *b)
{
    return ((a->bytes ^ b->bytes) | (a->bytes_in ^ b->bytes_in) | (a->flags_comm ^ b->flags_comm) |
            (a->peer_tag ^ b->peer_tag) | (a->site_function_kind ^ b->site_function_kind)) == 0;
}

/* The tuple of an event; NULL when the tables are full. */
static inline struct mw_shape *mw_shapes_find(struct mw_shapes *shapes,
                                              const struct mw_raw_event *event)
{
    struct mw_shape_tuple tuple = mw_shape_tuple_of(event);
    struct mw_shape *before = &shapes->shape[shapes->last];
    struct mw_shape *found = &shapes->shape[before->successor];
    if (!mw_shape_tuple_equal(&found->tuple, &tuple)) {
        found = mw_shapes_intern(shapes, &tuple);
        if (!found)
            return NULL;
        before->successor = (uint16_t)(found - shapes->shape);
    }
    shapes->last = (uint32_t)(found - shapes->shape);
    return found;
}

#endif
