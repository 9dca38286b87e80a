/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the tables of shapes and ordinal keys of one chunk in the making. Writer side, inside MPI
 * calls of other people's programs: no allocation, no locks, one thread at a time. Events may come
 * out of a damaged mapping, so no field of one is trusted to be in range.
 */
#include "trace/shapes.h"

void mw_shapes_clear(struct mw_shapes *shapes)
{
    shapes->tuple_count = shapes->number_count = shapes->key_count = 0;
    shapes->last = 0;
    /* The first event is compared with shape 0 before there is one: let no event be equal to it. */
    shapes->shape[0].successor = 0;
    shapes->shape[0].tuple.site_function_kind = MW_SHAPE_ORIGIN;
    memset(shapes->tuple_bucket, 0xff, sizeof shapes->tuple_bucket);
    memset(shapes->key_bucket, 0xff, sizeof shapes->key_bucket);
}

static unsigned bucket_of(uint64_t mixed)
{
    mixed ^= mixed >> 32;
    mixed *= 0x9e3779b97f4a7c15ull;
    return (unsigned)(mixed >> 48) & (MW_SHAPES_BUCKETS - 1);
}

static unsigned tuple_bucket(const struct mw_shape_tuple *tuple)
{
    return bucket_of(
        tuple->bytes * 0xa0761d6478bd642full + tuple->bytes_in * 0xe7037ed1a0b428dbull +
        tuple->flags_comm * 0x8ebc6af09c88c6e3ull + tuple->peer_tag * 0x589965cc75374cc3ull +
        tuple->site_function_kind * 0x1d8e4e27c47d124full);
}

/* The key under which an event of this shape is counted; MW_SHAPES_NONE when the table is full. */
static uint16_t key_intern(struct mw_shapes *shapes, const struct mw_shape *shape)
{
    struct mw_ordinal_key wanted = {
        .class = shape->kind == MW_EVENT_SEND || shape->kind == MW_EVENT_COLL ? shape->kind
                                                                              : MW_EVENT_RECV,
        .comm = (uint32_t)(shape->tuple.flags_comm >> 32),
        .peer = (int32_t)shape->tuple.peer_tag,
        .tag = (int32_t)(shape->tuple.peer_tag >> 32),
        .next = MW_ORDINAL_UNSEEN,
    };
    if (wanted.class == MW_EVENT_COLL) /* counted by communicator alone, whatever the root */
        wanted.peer = wanted.tag = 0;
    unsigned bucket =
        bucket_of((uint64_t)wanted.comm << 40 ^ (uint64_t)wanted.class << 34 ^
                  shape->tuple.peer_tag * 0x589965cc75374cc3ull * (wanted.class != MW_EVENT_COLL));
    uint16_t at = shapes->key_bucket[bucket];
    for (; at != MW_SHAPES_NONE; at = shapes->key[at].chain) {
        const struct mw_ordinal_key *key = &shapes->key[at];
        if (key->class == wanted.class && key->comm == wanted.comm && key->peer == wanted.peer &&
            key->tag == wanted.tag)
            return at;
    }
    if (shapes->key_count == MW_SHAPES_MAX)
        return MW_SHAPES_NONE;
    at = (uint16_t)shapes->key_count++;
    wanted.chain = shapes->key_bucket[bucket];
    shapes->key[at] = wanted;
    shapes->key_bucket[bucket] = at;
    return at;
}

static void shape_fill(struct mw_shape *shape, const struct mw_shape_tuple *tuple)
{
    unsigned kind = (unsigned)(tuple->site_function_kind >> 48) & 0xff;
    memset(shape, 0, sizeof *shape);
    shape->tuple = *tuple;
    shape->flags = (uint32_t)tuple->flags_comm & MW_EVENT_KNOWN_FLAGS & ~(uint32_t)MW_EVENT_ORDINAL;
    if (shape->flags & MW_EVENT_FOREIGN) /* the origin's upper bits are there instead */
        shape->flags &= ~(uint32_t)MW_EVENT_SPACES;
    shape->kind = MW_EVENT_KIND_KNOWN(kind) ? (uint8_t)kind : MW_EVENT_CALL;
}

struct mw_shape *mw_shapes_intern(struct mw_shapes *shapes, const struct mw_shape_tuple *tuple)
{
    unsigned bucket = tuple_bucket(tuple);
    uint16_t at = shapes->tuple_bucket[bucket];
    for (; at != MW_SHAPES_NONE; at = shapes->shape[at].chain)
        if (mw_shape_tuple_equal(&shapes->shape[at].tuple, tuple))
            return &shapes->shape[at];
    if (shapes->tuple_count == MW_SHAPES_MAX)
        return NULL;
    at = (uint16_t)shapes->tuple_count;
    struct mw_shape *shape = &shapes->shape[at];
    shape_fill(shape, tuple);
    if (shape->flags & MW_EVENT_COUNTED) {
        shape->key = key_intern(shapes, shape);
        if (shape->key == MW_SHAPES_NONE)
            return NULL;
    }
    shape->chain = shapes->tuple_bucket[bucket];
    shapes->tuple_bucket[bucket] = at;
    shapes->tuple_count++;
    return shape;
}
