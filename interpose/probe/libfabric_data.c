/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of an endpoint that move data: forwarded to the provider's, and counted where they
 * were accepted. On the path of messages, any thread: no lock, no allocation, no system call but
 * for the first message to a peer.
 */
#include "probe/libfabric.h"

/* The provider's table. Where neither we nor the loader know one, the object is not libfabric's. */
#define ORIGINAL(type, which, member)                                                              \
    struct mw_fi_object *object;                                                                   \
    const struct type *real = mw_fi_original(ep, which, ep->member, &object);                      \
    if (__builtin_expect(!real, 0))                                                                \
    return -MW_FI_ENOSYS

/* The thread that uses an endpoint first, mostly the only one, counts without locking the bus. */
static inline void add(struct mw_fi_endpoint *endpoint, struct mw_fi_peer *peer,
                       enum mw_fi_counter counter, uint64_t value)
{
    if (atomic_load_explicit(&endpoint->owner, memory_order_relaxed) == &mw_fi_self) {
        uint64_t before = atomic_load_explicit(&peer->count[counter], memory_order_relaxed);
        atomic_store_explicit(&peer->count[counter], before + value, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(&peer->shared[counter], value, memory_order_relaxed);
    }
}

/* One operation and its bytes. */
static inline ssize_t counted(struct mw_fi_object *object, enum mw_fi_counter counter,
                              mw_fi_addr address, size_t bytes, ssize_t rc)
{
    if (rc != 0 || !object || !object->endpoint)
        return rc;
    struct mw_fi_endpoint *endpoint = object->endpoint;
    struct mw_fi_peer *peer = mw_fi_peer(endpoint, address);
    if (__builtin_expect(!peer, 0)) {
        atomic_fetch_add_explicit(&endpoint->unlisted, 1, memory_order_relaxed);
        return rc;
    }
    add(endpoint, peer, counter, 1);
    add(endpoint, peer, counter + 1, bytes);
    return rc;
}

static size_t iov_bytes(const struct iovec *iov, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; iov && i < count; i++)
        bytes += iov[i].iov_len;
    return bytes;
}

#define SENT(address, bytes, call) counted(object, MW_FI_SENDS, address, bytes, call)
#define PUT(address, bytes, call)  counted(object, MW_FI_PUTS, address, bytes, call)
#define GOT(address, bytes, call)  counted(object, MW_FI_GETS, address, bytes, call)

/* Messages. */
#define MSG ORIGINAL(mw_fi_ops_msg, MW_FI_MSG, msg)

static ssize_t msg_send(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                        mw_fi_addr to, void *context)
{
    MSG;
    return SENT(to, length, real->send(ep, buffer, length, desc, to, context));
}

static ssize_t msg_sendv(struct mw_fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                         mw_fi_addr to, void *context)
{
    MSG;
    return SENT(to, iov_bytes(iov, count), real->sendv(ep, iov, desc, count, to, context));
}

static ssize_t msg_sendmsg(struct mw_fid_ep *ep, const struct mw_fi_msg *msg, uint64_t flags)
{
    MSG;
    return SENT(msg->addr, iov_bytes(msg->iov, msg->count), real->sendmsg(ep, msg, flags));
}

static ssize_t msg_inject(struct mw_fid_ep *ep, const void *buffer, size_t length, mw_fi_addr to)
{
    MSG;
    return SENT(to, length, real->inject(ep, buffer, length, to));
}

static ssize_t msg_senddata(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                            uint64_t data, mw_fi_addr to, void *context)
{
    MSG;
    return SENT(to, length, real->senddata(ep, buffer, length, desc, data, to, context));
}

static ssize_t msg_injectdata(struct mw_fid_ep *ep, const void *buffer, size_t length,
                              uint64_t data, mw_fi_addr to)
{
    MSG;
    return SENT(to, length, real->injectdata(ep, buffer, length, data, to));
}

/* Tagged messages. */
#define TAGGED ORIGINAL(mw_fi_ops_tagged, MW_FI_TAGGED, tagged)

static ssize_t tagged_send(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                           mw_fi_addr to, uint64_t tag, void *context)
{
    TAGGED;
    return SENT(to, length, real->send(ep, buffer, length, desc, to, tag, context));
}

static ssize_t tagged_sendv(struct mw_fid_ep *ep, const struct iovec *iov, void **desc,
                            size_t count, mw_fi_addr to, uint64_t tag, void *context)
{
    TAGGED;
    return SENT(to, iov_bytes(iov, count), real->sendv(ep, iov, desc, count, to, tag, context));
}

static ssize_t tagged_sendmsg(struct mw_fid_ep *ep, const struct mw_fi_msg *msg, uint64_t flags)
{
    TAGGED;
    return SENT(msg->addr, iov_bytes(msg->iov, msg->count), real->sendmsg(ep, msg, flags));
}

static ssize_t tagged_inject(struct mw_fid_ep *ep, const void *buffer, size_t length, mw_fi_addr to,
                             uint64_t tag)
{
    TAGGED;
    return SENT(to, length, real->inject(ep, buffer, length, to, tag));
}

static ssize_t tagged_senddata(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                               uint64_t data, mw_fi_addr to, uint64_t tag, void *context)
{
    TAGGED;
    return SENT(to, length, real->senddata(ep, buffer, length, desc, data, to, tag, context));
}

static ssize_t tagged_injectdata(struct mw_fid_ep *ep, const void *buffer, size_t length,
                                 uint64_t data, mw_fi_addr to, uint64_t tag)
{
    TAGGED;
    return SENT(to, length, real->injectdata(ep, buffer, length, data, to, tag));
}

/* Remote memory. */
#define RMA ORIGINAL(mw_fi_ops_rma, MW_FI_RMA, rma)

static ssize_t rma_read(struct mw_fid_ep *ep, void *buffer, size_t length, void *desc,
                        mw_fi_addr from, uint64_t address, uint64_t key, void *context)
{
    RMA;
    return GOT(from, length, real->read(ep, buffer, length, desc, from, address, key, context));
}

static ssize_t rma_readv(struct mw_fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                         mw_fi_addr from, uint64_t address, uint64_t key, void *context)
{
    RMA;
    return GOT(from, iov_bytes(iov, count),
               real->readv(ep, iov, desc, count, from, address, key, context));
}

static ssize_t rma_readmsg(struct mw_fid_ep *ep, const struct mw_fi_msg *msg, uint64_t flags)
{
    RMA;
    return GOT(msg->addr, iov_bytes(msg->iov, msg->count), real->readmsg(ep, msg, flags));
}

static ssize_t rma_write(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                         mw_fi_addr to, uint64_t address, uint64_t key, void *context)
{
    RMA;
    return PUT(to, length, real->write(ep, buffer, length, desc, to, address, key, context));
}

static ssize_t rma_writev(struct mw_fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                          mw_fi_addr to, uint64_t address, uint64_t key, void *context)
{
    RMA;
    return PUT(to, iov_bytes(iov, count),
               real->writev(ep, iov, desc, count, to, address, key, context));
}

static ssize_t rma_writemsg(struct mw_fid_ep *ep, const struct mw_fi_msg *msg, uint64_t flags)
{
    RMA;
    return PUT(msg->addr, iov_bytes(msg->iov, msg->count), real->writemsg(ep, msg, flags));
}

static ssize_t rma_inject(struct mw_fid_ep *ep, const void *buffer, size_t length, mw_fi_addr to,
                          uint64_t address, uint64_t key)
{
    RMA;
    return PUT(to, length, real->inject(ep, buffer, length, to, address, key));
}

static ssize_t rma_writedata(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                             uint64_t data, mw_fi_addr to, uint64_t address, uint64_t key,
                             void *context)
{
    RMA;
    return PUT(to, length,
               real->writedata(ep, buffer, length, desc, data, to, address, key, context));
}

static ssize_t rma_injectdata(struct mw_fid_ep *ep, const void *buffer, size_t length,
                              uint64_t data, mw_fi_addr to, uint64_t address, uint64_t key)
{
    RMA;
    return PUT(to, length, real->injectdata(ep, buffer, length, data, to, address, key));
}

/* Atomic operations: what is combined with the other's memory is put there, what comes back is got.
 */
#define ATOMIC ORIGINAL(mw_fi_ops_atomic, MW_FI_ATOMIC, atomic)

/* Bytes of an element; 0: a type that came later. */
static size_t type_size(int datatype)
{
    static const uint8_t size[] = {
        1,  1,  2, 2, 4, 4, 8, 8, 4, 8, 8, 16, sizeof(long double), 2 * sizeof(long double),
        16, 16, 2, 2, 1, 1};
    return datatype >= 0 && (size_t)datatype < sizeof size ? size[datatype] : 0;
}

static size_t ioc_elements(const struct mw_fi_ioc *iov, size_t count)
{
    size_t elements = 0;
    for (size_t i = 0; iov && i < count; i++)
        elements += iov[i].count;
    return elements;
}

static ssize_t combined(struct mw_fi_object *object, mw_fi_addr address, size_t elements,
                        int datatype, int op, int fetches, ssize_t rc)
{
    size_t size = type_size(datatype);
    if (rc != 0 || !object || !object->endpoint)
        return rc;
    if (op != MW_FI_ATOMIC_READ)
        counted(object, MW_FI_PUTS, address, elements * size, rc);
    if (fetches)
        counted(object, MW_FI_GETS, address, elements * size, rc);
    struct mw_fi_peer *peer = size ? NULL : mw_fi_peer(object->endpoint, address);
    if (peer)
        add(object->endpoint, peer, MW_FI_UNSIZED, 1);
    return rc;
}

#define COMBINED(to, elements, call) combined(object, to, elements, datatype, op, 0, call)
#define FETCHED(to, elements, call)  combined(object, to, elements, datatype, op, 1, call)

static ssize_t atomic_write(struct mw_fid_ep *ep, const void *buffer, size_t count, void *desc,
                            mw_fi_addr to, uint64_t address, uint64_t key, int datatype, int op,
                            void *context)
{
    ATOMIC;
    return COMBINED(to, count,
                    real->write(ep, buffer, count, desc, to, address, key, datatype, op, context));
}

static ssize_t atomic_writev(struct mw_fid_ep *ep, const struct mw_fi_ioc *iov, void **desc,
                             size_t count, mw_fi_addr to, uint64_t address, uint64_t key,
                             int datatype, int op, void *context)
{
    ATOMIC;
    return COMBINED(to, ioc_elements(iov, count),
                    real->writev(ep, iov, desc, count, to, address, key, datatype, op, context));
}

static ssize_t atomic_writemsg(struct mw_fid_ep *ep, const struct mw_fi_msg_atomic *msg,
                               uint64_t flags)
{
    ATOMIC;
    int datatype = msg->datatype, op = msg->op;
    return COMBINED(msg->addr, ioc_elements(msg->iov, msg->count), real->writemsg(ep, msg, flags));
}

static ssize_t atomic_inject(struct mw_fid_ep *ep, const void *buffer, size_t count, mw_fi_addr to,
                             uint64_t address, uint64_t key, int datatype, int op)
{
    ATOMIC;
    return COMBINED(to, count, real->inject(ep, buffer, count, to, address, key, datatype, op));
}

static ssize_t atomic_readwrite(struct mw_fid_ep *ep, const void *buffer, size_t count, void *desc,
                                void *result, void *result_desc, mw_fi_addr to, uint64_t address,
                                uint64_t key, int datatype, int op, void *context)
{
    ATOMIC;
    return FETCHED(to, count,
                   real->readwrite(ep, buffer, count, desc, result, result_desc, to, address, key,
                                   datatype, op, context));
}

static ssize_t atomic_readwritev(struct mw_fid_ep *ep, const struct mw_fi_ioc *iov, void **desc,
                                 size_t count, struct mw_fi_ioc *result, void **result_desc,
                                 size_t result_count, mw_fi_addr to, uint64_t address, uint64_t key,
                                 int datatype, int op, void *context)
{
    ATOMIC;
    return FETCHED(to, ioc_elements(result, result_count),
                   real->readwritev(ep, iov, desc, count, result, result_desc, result_count, to,
                                    address, key, datatype, op, context));
}

static ssize_t atomic_readwritemsg(struct mw_fid_ep *ep, const struct mw_fi_msg_atomic *msg,
                                   struct mw_fi_ioc *result, void **result_desc,
                                   size_t result_count, uint64_t flags)
{
    ATOMIC;
    int datatype = msg->datatype, op = msg->op;
    return FETCHED(msg->addr, ioc_elements(result, result_count),
                   real->readwritemsg(ep, msg, result, result_desc, result_count, flags));
}

static ssize_t atomic_compwrite(struct mw_fid_ep *ep, const void *buffer, size_t count, void *desc,
                                const void *compare, void *compare_desc, void *result,
                                void *result_desc, mw_fi_addr to, uint64_t address, uint64_t key,
                                int datatype, int op, void *context)
{
    ATOMIC;
    return FETCHED(to, count,
                   real->compwrite(ep, buffer, count, desc, compare, compare_desc, result,
                                   result_desc, to, address, key, datatype, op, context));
}

static ssize_t atomic_compwritev(struct mw_fid_ep *ep, const struct mw_fi_ioc *iov, void **desc,
                                 size_t count, const struct mw_fi_ioc *compare, void **compare_desc,
                                 size_t compare_count, struct mw_fi_ioc *result, void **result_desc,
                                 size_t result_count, mw_fi_addr to, uint64_t address, uint64_t key,
                                 int datatype, int op, void *context)
{
    ATOMIC;
    return FETCHED(to, ioc_elements(result, result_count),
                   real->compwritev(ep, iov, desc, count, compare, compare_desc, compare_count,
                                    result, result_desc, result_count, to, address, key, datatype,
                                    op, context));
}

static ssize_t atomic_compwritemsg(struct mw_fid_ep *ep, const struct mw_fi_msg_atomic *msg,
                                   const struct mw_fi_ioc *compare, void **compare_desc,
                                   size_t compare_count, struct mw_fi_ioc *result,
                                   void **result_desc, size_t result_count, uint64_t flags)
{
    ATOMIC;
    int datatype = msg->datatype, op = msg->op;
    return FETCHED(msg->addr, ioc_elements(result, result_count),
                   real->compwritemsg(ep, msg, compare, compare_desc, compare_count, result,
                                      result_desc, result_count, flags));
}

/* The tables of what is replaced. */
static const struct mw_fi_patch msg_patch[] = {
    MW_FI_PATCH(mw_fi_ops_msg, send, msg_send),
    MW_FI_PATCH(mw_fi_ops_msg, sendv, msg_sendv),
    MW_FI_PATCH(mw_fi_ops_msg, sendmsg, msg_sendmsg),
    MW_FI_PATCH(mw_fi_ops_msg, inject, msg_inject),
    MW_FI_PATCH(mw_fi_ops_msg, senddata, msg_senddata),
    MW_FI_PATCH(mw_fi_ops_msg, injectdata, msg_injectdata),
};
const struct mw_fi_patches mw_fi_patches_msg =
    MW_FI_PATCHES(msg_patch, sizeof(struct mw_fi_ops_msg));

static const struct mw_fi_patch tagged_patch[] = {
    MW_FI_PATCH(mw_fi_ops_tagged, send, tagged_send),
    MW_FI_PATCH(mw_fi_ops_tagged, sendv, tagged_sendv),
    MW_FI_PATCH(mw_fi_ops_tagged, sendmsg, tagged_sendmsg),
    MW_FI_PATCH(mw_fi_ops_tagged, inject, tagged_inject),
    MW_FI_PATCH(mw_fi_ops_tagged, senddata, tagged_senddata),
    MW_FI_PATCH(mw_fi_ops_tagged, injectdata, tagged_injectdata),
};
const struct mw_fi_patches mw_fi_patches_tagged =
    MW_FI_PATCHES(tagged_patch, sizeof(struct mw_fi_ops_tagged));

static const struct mw_fi_patch rma_patch[] = {
    MW_FI_PATCH(mw_fi_ops_rma, read, rma_read),
    MW_FI_PATCH(mw_fi_ops_rma, readv, rma_readv),
    MW_FI_PATCH(mw_fi_ops_rma, readmsg, rma_readmsg),
    MW_FI_PATCH(mw_fi_ops_rma, write, rma_write),
    MW_FI_PATCH(mw_fi_ops_rma, writev, rma_writev),
    MW_FI_PATCH(mw_fi_ops_rma, writemsg, rma_writemsg),
    MW_FI_PATCH(mw_fi_ops_rma, inject, rma_inject),
    MW_FI_PATCH(mw_fi_ops_rma, writedata, rma_writedata),
    MW_FI_PATCH(mw_fi_ops_rma, injectdata, rma_injectdata),
};
const struct mw_fi_patches mw_fi_patches_rma =
    MW_FI_PATCHES(rma_patch, sizeof(struct mw_fi_ops_rma));

static const struct mw_fi_patch atomic_patch[] = {
    MW_FI_PATCH(mw_fi_ops_atomic, write, atomic_write),
    MW_FI_PATCH(mw_fi_ops_atomic, writev, atomic_writev),
    MW_FI_PATCH(mw_fi_ops_atomic, writemsg, atomic_writemsg),
    MW_FI_PATCH(mw_fi_ops_atomic, inject, atomic_inject),
    MW_FI_PATCH(mw_fi_ops_atomic, readwrite, atomic_readwrite),
    MW_FI_PATCH(mw_fi_ops_atomic, readwritev, atomic_readwritev),
    MW_FI_PATCH(mw_fi_ops_atomic, readwritemsg, atomic_readwritemsg),
    MW_FI_PATCH(mw_fi_ops_atomic, compwrite, atomic_compwrite),
    MW_FI_PATCH(mw_fi_ops_atomic, compwritev, atomic_compwritev),
    MW_FI_PATCH(mw_fi_ops_atomic, compwritemsg, atomic_compwritemsg),
};
const struct mw_fi_patches mw_fi_patches_atomic =
    MW_FI_PATCHES(atomic_patch, sizeof(struct mw_fi_ops_atomic));
