/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wrapped functions of UCX that move data. Any thread; some ns each: no lock, no allocation.
 * Each counts what the real function took on, after the call, so that what was refused counts
 * nothing.
 *
 * The return address tells the program's and MPI's calls from UCX's own: its functions call each
 * other by their exported names, and one operation must count once. So a real function must be
 * called, not jumped to: the counting after it sees to that.
 */
#include "probe/ucx.h"

#define MW_EXPORT __attribute__((visibility("default")))
#define UNSIZED   UINT64_MAX
#define REFUSED   ((mw_ucs_pointer)(intptr_t)MW_UCS_ERR_UNSUPPORTED)

enum kind { SEND, PUT, GET };

static inline void add(_Atomic uint64_t *counter, uint64_t amount, int multi)
{
    if (__builtin_expect(multi, 0))
        atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
    else
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + amount,
                              memory_order_relaxed);
}

static void stray(void)
{
    if (atomic_load_explicit(&mw_ucx_slots, memory_order_relaxed)) /* somebody looks on */
        atomic_fetch_add_explicit(&mw_ucx_strays, 1, memory_order_relaxed);
}

static inline void count(mw_ucp_object ep, enum kind kind, uint64_t bytes)
{
    struct mw_ucx_peer *peer = mw_ucx_peer_of(ep);
    if (__builtin_expect(!peer, 0)) {
        stray();
        return;
    }
    int multi = peer->multi;
    if (__builtin_expect(bytes == UNSIZED, 0)) {
        add(&peer->unsized, 1, multi);
        bytes = 0;
    }
    add(kind == SEND ? &peer->sends : kind == PUT ? &peer->puts : &peer->gets, 1, multi);
    add(kind == SEND ? &peer->sent : kind == PUT ? &peer->put : &peer->got, bytes, multi);
}

static uint64_t iov_bytes(const struct mw_ucp_iov *iov, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; iov && i < count; i++)
        bytes += iov[i].length;
    return bytes;
}

/* Bytes of `count` elements of a type. What a generic type packs only its owner knows. */
static inline uint64_t type_bytes(mw_ucp_type type, const void *buffer, size_t count)
{
    if (__builtin_expect((type & MW_UCP_TYPE_CLASS) == MW_UCP_TYPE_CONTIG, 1))
        return count * (type >> MW_UCP_TYPE_SHIFT);
    return (type & MW_UCP_TYPE_CLASS) == MW_UCP_TYPE_IOV ? iov_bytes(buffer, count) : UNSIZED;
}

/* The same for functions that take their options in a structure; without a type, elements are
 * bytes. */
static inline uint64_t param_bytes(const struct mw_ucp_request_param *param, const void *buffer,
                                   size_t count)
{
    if (param->op_attr_mask & MW_UCP_OP_FIELD_DATATYPE)
        return type_bytes(param->datatype, buffer, count);
    return count;
}

static inline int taken_on(mw_ucs_pointer result)
{
    return (uintptr_t)result < (uintptr_t)(intptr_t)MW_UCS_ERR_LAST;
}

/* The body of a wrapper: name, type of result, what to return where there is no such function,
 * whether a result is a success, kind, bytes, declared arguments, arguments. The bytes are told
 * before the call, as buffers that describe others may be freed in it. */
#define WRAP(name, type, refused, good, kind, bytes, declared, arguments)                          \
    MW_EXPORT type ucp_##name declared;                                                            \
    type ucp_##name declared                                                                       \
    {                                                                                              \
        const void *caller = __builtin_return_address(0);                                          \
        type(*real) declared = mw_ucx_real(MW_UCX_##name, caller);                                 \
        if (__builtin_expect(!real, 0))                                                            \
            return refused;                                                                        \
        if (mw_ucx_inner(caller))                                                                  \
            return real arguments;                                                                 \
        uint64_t amount = bytes;                                                                   \
        type result = real arguments;                                                              \
        if (good(result))                                                                          \
            count(ep, kind, amount);                                                               \
        return result;                                                                             \
    }
#define IS_GOOD(status) ((status) >= MW_UCS_OK)
#define WRAP_POINTER(name, kind, bytes, declared, arguments)                                       \
    WRAP(name, mw_ucs_pointer, REFUSED, taken_on, kind, bytes, declared, arguments)
#define WRAP_STATUS(name, kind, bytes, declared, arguments)                                        \
    WRAP(name, mw_ucs_status, MW_UCS_ERR_UNSUPPORTED, IS_GOOD, kind, bytes, declared, arguments)

#define PARAM const struct mw_ucp_request_param *param

/* Messages */

WRAP_POINTER(tag_send_nbx, SEND, param_bytes(param, buffer, size),
             (mw_ucp_object ep, const void *buffer, size_t size, uint64_t tag, PARAM),
             (ep, buffer, size, tag, param))
WRAP_POINTER(tag_send_sync_nbx, SEND, param_bytes(param, buffer, size),
             (mw_ucp_object ep, const void *buffer, size_t size, uint64_t tag, PARAM),
             (ep, buffer, size, tag, param))
WRAP_POINTER(tag_send_nb, SEND, type_bytes(type, buffer, size),
             (mw_ucp_object ep, const void *buffer, size_t size, mw_ucp_type type, uint64_t tag,
              mw_ucp_callback done),
             (ep, buffer, size, type, tag, done))
WRAP_POINTER(tag_send_sync_nb, SEND, type_bytes(type, buffer, size),
             (mw_ucp_object ep, const void *buffer, size_t size, mw_ucp_type type, uint64_t tag,
              mw_ucp_callback done),
             (ep, buffer, size, type, tag, done))
WRAP_STATUS(tag_send_nbr, SEND, type_bytes(type, buffer, size),
            (mw_ucp_object ep, const void *buffer, size_t size, mw_ucp_type type, uint64_t tag,
             void *request),
            (ep, buffer, size, type, tag, request))
WRAP_POINTER(am_send_nb, SEND, type_bytes(type, buffer, size),
             (mw_ucp_object ep, uint16_t id, const void *buffer, size_t size, mw_ucp_type type,
              mw_ucp_callback done, unsigned flags),
             (ep, id, buffer, size, type, done, flags))

static inline uint64_t am_bytes(PARAM, size_t header, const void *buffer, size_t size)
{
    uint64_t bytes = param_bytes(param, buffer, size);
    return bytes == UNSIZED ? UNSIZED : bytes + header;
}

WRAP_POINTER(am_send_nbx, SEND, am_bytes(param, header_size, buffer, size),
             (mw_ucp_object ep, unsigned id, const void *header, size_t header_size,
              const void *buffer, size_t size, PARAM),
             (ep, id, header, header_size, buffer, size, param))
WRAP_POINTER(stream_send_nb, SEND, type_bytes(type, buffer, size),
             (mw_ucp_object ep, const void *buffer, size_t size, mw_ucp_type type,
              mw_ucp_callback done, unsigned flags),
             (ep, buffer, size, type, done, flags))
WRAP_POINTER(stream_send_nbx, SEND, param_bytes(param, buffer, size),
             (mw_ucp_object ep, const void *buffer, size_t size, PARAM), (ep, buffer, size, param))

/* Remote memory */

WRAP_STATUS(put, PUT, size,
            (mw_ucp_object ep, const void *buffer, size_t size, uint64_t at, mw_ucp_object key),
            (ep, buffer, size, at, key))
WRAP_STATUS(put_nbi, PUT, size,
            (mw_ucp_object ep, const void *buffer, size_t size, uint64_t at, mw_ucp_object key),
            (ep, buffer, size, at, key))
WRAP_POINTER(put_nb, PUT, size,
             (mw_ucp_object ep, const void *buffer, size_t size, uint64_t at, mw_ucp_object key,
              mw_ucp_callback done),
             (ep, buffer, size, at, key, done))
WRAP_POINTER(put_nbx, PUT, param_bytes(param, buffer, size),
             (mw_ucp_object ep, const void *buffer, size_t size, uint64_t at, mw_ucp_object key,
              PARAM),
             (ep, buffer, size, at, key, param))
WRAP_STATUS(get, GET, size,
            (mw_ucp_object ep, void *buffer, size_t size, uint64_t at, mw_ucp_object key),
            (ep, buffer, size, at, key))
WRAP_STATUS(get_nbi, GET, size,
            (mw_ucp_object ep, void *buffer, size_t size, uint64_t at, mw_ucp_object key),
            (ep, buffer, size, at, key))
WRAP_POINTER(get_nb, GET, size,
             (mw_ucp_object ep, void *buffer, size_t size, uint64_t at, mw_ucp_object key,
              mw_ucp_callback done),
             (ep, buffer, size, at, key, done))
WRAP_POINTER(get_nbx, GET, param_bytes(param, buffer, size),
             (mw_ucp_object ep, void *buffer, size_t size, uint64_t at, mw_ucp_object key, PARAM),
             (ep, buffer, size, at, key, param))

/* Atomic operations: those with an answer count as gets, the others as puts. */

WRAP_STATUS(atomic_post, PUT, size,
            (mw_ucp_object ep, int operation, uint64_t value, size_t size, uint64_t at,
             mw_ucp_object key),
            (ep, operation, value, size, at, key))
WRAP_POINTER(atomic_fetch_nb, GET, size,
             (mw_ucp_object ep, int operation, uint64_t value, void *answer, size_t size,
              uint64_t at, mw_ucp_object key, mw_ucp_callback done),
             (ep, operation, value, answer, size, at, key, done))
WRAP_POINTER(atomic_op_nbx, param->op_attr_mask &MW_UCP_OP_FIELD_REPLY_BUFFER ? GET : PUT,
             param_bytes(param, buffer, size),
             (mw_ucp_object ep, int operation, const void *buffer, size_t size, uint64_t at,
              mw_ucp_object key, PARAM),
             (ep, operation, buffer, size, at, key, param))
WRAP_STATUS(atomic_add32, PUT, 4,
            (mw_ucp_object ep, uint32_t value, uint64_t at, mw_ucp_object key),
            (ep, value, at, key))
WRAP_STATUS(atomic_add64, PUT, 8,
            (mw_ucp_object ep, uint64_t value, uint64_t at, mw_ucp_object key),
            (ep, value, at, key))
WRAP_STATUS(atomic_fadd32, GET, 4,
            (mw_ucp_object ep, uint32_t value, uint64_t at, mw_ucp_object key, uint32_t *answer),
            (ep, value, at, key, answer))
WRAP_STATUS(atomic_fadd64, GET, 8,
            (mw_ucp_object ep, uint64_t value, uint64_t at, mw_ucp_object key, uint64_t *answer),
            (ep, value, at, key, answer))
WRAP_STATUS(atomic_swap32, GET, 4,
            (mw_ucp_object ep, uint32_t value, uint64_t at, mw_ucp_object key, uint32_t *answer),
            (ep, value, at, key, answer))
WRAP_STATUS(atomic_swap64, GET, 8,
            (mw_ucp_object ep, uint64_t value, uint64_t at, mw_ucp_object key, uint64_t *answer),
            (ep, value, at, key, answer))
WRAP_STATUS(atomic_cswap32, GET, 4,
            (mw_ucp_object ep, uint32_t compare, uint32_t value, uint64_t at, mw_ucp_object key,
             uint32_t *answer),
            (ep, compare, value, at, key, answer))
WRAP_STATUS(atomic_cswap64, GET, 8,
            (mw_ucp_object ep, uint64_t compare, uint64_t value, uint64_t at, mw_ucp_object key,
             uint64_t *answer),
            (ep, compare, value, at, key, answer))
