/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What opens, binds, enables and closes objects of libfabric: the tables of fabric, domain, address
 * vector and endpoint, but for those that move data. On the threads that call libfabric; every
 * function forwards to the provider's and returns what that returned.
 */
#include <errno.h>

#include "probe/libfabric.h"
#include "record/record.h"

#define INNER_ENDPOINTS_MAX 512u /* layers' own endpoints that are counted at one time */

#define TABLE(type, fid, which, current)                                                           \
    struct mw_fi_object *object;                                                                   \
    const struct type *real = mw_fi_original(fid, which, current, &object);                        \
    if (__builtin_expect(!real, 0))                                                                \
    return -MW_FI_ENOSYS
#define CALLER __builtin_return_address(0)

static _Atomic unsigned inner_endpoints;

static int recording(void)
{
    return mw_probe_on(&mw_probe_libfabric);
}

/* fi_close, of every kind of object. */
static int fid_close(struct mw_fid *fid)
{
    TABLE(mw_fi_ops, fid, MW_FI_FID, fid->ops);
    if (!object)
        return real->close(fid);
    if (atomic_load(&object->fid) != fid) {
        mw_fi_object_unalias(fid);
        return real->close(fid);
    }
    struct mw_fi_endpoint *endpoint = object->endpoint;
    if (endpoint && recording())
        mw_fi_endpoint_write(endpoint, 1);
    mw_fi_object_restore(object); /* the provider may free its tables, or compare them */
    int rc = real->close(fid);
    int error = errno;
    if (rc != 0) {
        mw_fi_object_return(object, fid);
    } else {
        if (endpoint) {
            if (object->identity.inner)
                atomic_fetch_sub(&inner_endpoints, 1);
            mw_fi_endpoint_close(endpoint);
        }
        mw_fi_object_free(object);
    }
    errno = error;
    return rc;
}

static const struct mw_fi_patch close_patch[] = {MW_FI_PATCH(mw_fi_ops, close, fid_close)};
static const struct mw_fi_patches close_patches =
    MW_FI_PATCHES(close_patch, offsetof(struct mw_fi_ops, ops_open));

/* Endpoints. */
static int ep_bind(struct mw_fid *fid, struct mw_fid *other, uint64_t flags)
{
    TABLE(mw_fi_ops, fid, MW_FI_FID, fid->ops);
    int rc = real->bind(fid, other, flags);
    if (!object || !object->endpoint)
        return rc;
    if (rc == 0 && other && other->class == MW_FI_CLASS_AV) {
        struct mw_fi_object *av = mw_fi_object_find(other);
        unsigned bits = av && av->kind == MW_FI_AV ? av->rx_ctx_bits : 0;
        atomic_store(&object->endpoint->address_mask, bits < 64 ? UINT64_MAX >> bits : UINT64_MAX);
        atomic_store(&object->endpoint->av, (struct mw_fid_av *)other);
    }
    if (rc < 0 && recording())
        mw_fi_attempt_failed("fi_ep_bind", &object->identity, rc);
    return rc;
}

/* The pointers to the tables that move data, in the order in which they stand in an endpoint. */
#define DATA_TABLES 4u
static const struct {
    size_t offset;
    enum mw_fi_which which;
    const struct mw_fi_patches *patches;
    uint64_t capability;
} data_table[DATA_TABLES] = {
    {offsetof(struct mw_fid_ep, msg), MW_FI_MSG, &mw_fi_patches_msg, MW_FI_CAP_MSG},
    {offsetof(struct mw_fid_ep, rma), MW_FI_RMA, &mw_fi_patches_rma, MW_FI_CAP_RMA},
    {offsetof(struct mw_fid_ep, tagged), MW_FI_TAGGED, &mw_fi_patches_tagged, MW_FI_CAP_TAGGED},
    {offsetof(struct mw_fid_ep, atomic), MW_FI_ATOMIC, &mw_fi_patches_atomic, MW_FI_CAP_ATOMIC},
};

/* How many of them there are for sure: a provider need not have room for those beyond what the
 * endpoint was opened for. */
static unsigned tables_of(uint64_t capabilities)
{
    unsigned tables = capabilities ? 0 : DATA_TABLES;
    for (unsigned i = 0; i < DATA_TABLES; i++)
        if (capabilities & data_table[i].capability)
            tables = i + 1;
    return tables;
}

static const void *table_at(const struct mw_fid_ep *ep, unsigned i)
{
    return *(const void *const *)((const char *)ep + data_table[i].offset);
}

/* `before`: what stood there before the provider's call, NULL: patch them all. A provider may put
 * other tables in place when an endpoint is enabled. Only what changed in this very call is the
 * provider's: anything else that is not ours stands above us, and calls us. */
static void patch_data(struct mw_fi_object *object, struct mw_fid_ep *ep, const void *const *before)
{
    for (unsigned i = 0; i < object->data_tables; i++)
        if (!before || table_at(ep, i) != before[i])
            mw_fi_object_patch(object, data_table[i].which, (const char *)ep + data_table[i].offset,
                               data_table[i].patches);
}

static int enable(const struct mw_fi_ops *real, struct mw_fi_object *object, struct mw_fid *fid,
                  void *argument)
{
    struct mw_fid_ep *ep = (struct mw_fid_ep *)fid;
    const void *before[DATA_TABLES] = {NULL};
    struct mw_fi_attempt attempt = {.call = "fi_enable", .identity = &object->identity};
    int on = recording();
    for (unsigned i = 0; i < object->data_tables; i++)
        before[i] = table_at(ep, i);
    if (object->endpoint)
        attempt.endpoint = object->endpoint->id;
    if (on)
        mw_fi_attempt_begin(&attempt);
    int rc = real->control(fid, MW_FI_ENABLE, argument);
    if (rc == 0) {
        patch_data(object, ep, before);
        if (on && object->endpoint)
            mw_fi_endpoint_enabled(object->endpoint);
    }
    if (on)
        mw_fi_attempt_end(&attempt, rc, NULL, 0);
    return rc;
}

static int ep_control(struct mw_fid *fid, int command, void *argument)
{
    TABLE(mw_fi_ops, fid, MW_FI_FID, fid->ops);
    if (command == MW_FI_ENABLE && object)
        return enable(real, object, fid, argument);
    int rc = real->control(fid, command, argument);
    if (rc == 0 && command == MW_FI_ALIAS && object && argument) {
        struct mw_fid **alias = ((struct mw_fi_alias *)argument)->fid;
        if (alias && *alias && *alias != fid && mw_fi_is_copy((*alias)->ops))
            mw_fi_object_alias(*alias, object);
    }
    return rc;
}

static const struct mw_fi_patch ep_fid_patch[] = {
    MW_FI_PATCH(mw_fi_ops, close, fid_close),
    MW_FI_PATCH(mw_fi_ops, bind, ep_bind),
    MW_FI_PATCH(mw_fi_ops, control, ep_control),
};
static const struct mw_fi_patches ep_fid_patches =
    MW_FI_PATCHES(ep_fid_patch, offsetof(struct mw_fi_ops, ops_open));

static const struct mw_fi_patches ep_patches;

/* A new endpoint, opened by what the identity says. Returns the id of its counters. */
static uint64_t opened_endpoint(struct mw_fid_ep *ep, const struct mw_fi_identity *identity,
                                int connected, unsigned data_tables, uint64_t since)
{
    if (identity->inner && atomic_load(&inner_endpoints) >= INNER_ENDPOINTS_MAX)
        return 0;
    struct mw_fi_object *object = mw_fi_object_add(ep, MW_FI_ENDPOINT, since);
    if (!object)
        return 0;
    int known = object->endpoint != NULL;
    object->identity = *identity;
    if (!known)
        object->endpoint = mw_fi_endpoint_create(ep, &object->identity, connected);
    if (object->endpoint) {
        if (identity->inner && !known)
            atomic_fetch_add(&inner_endpoints, 1);
        mw_fi_endpoint_announce(object->endpoint);
    }
    if (!known) {
        mw_fi_object_patch(object, MW_FI_FID, &ep->fid.ops, &ep_fid_patches);
        mw_fi_object_patch(object, MW_FI_MAIN, &ep->ops, &ep_patches);
        object->data_tables = data_tables;
        patch_data(object, ep, NULL);
    }
    return object->endpoint ? object->endpoint->id : 0;
}

/* A transmit context of a scalable endpoint: counts of its own, the vector of the whole. */
static int ep_tx_ctx(struct mw_fid_ep *sep, int index, void *attr, struct mw_fid_ep **tx_ep,
                     void *context)
{
    TABLE(mw_fi_ops_ep, sep, MW_FI_MAIN, sep->ops);
    uint64_t since = mw_fi_serial();
    int rc = real->tx_ctx(sep, index, attr, tx_ep, context);
    if (!object || !recording())
        return rc;
    if (rc != 0) {
        mw_fi_attempt_failed("fi_tx_context", &object->identity, rc);
        return rc;
    }
    opened_endpoint(*tx_ep, &object->identity, 0, object->data_tables, since);
    struct mw_fi_object *context_object = mw_fi_object_find(*tx_ep);
    if (context_object && context_object->endpoint && object->endpoint) {
        struct mw_fi_endpoint *whole = object->endpoint, *part = context_object->endpoint;
        atomic_store(&part->address_mask, atomic_load(&whole->address_mask));
        atomic_store(&part->av, atomic_load(&whole->av));
    }
    return rc;
}

static const struct mw_fi_patch ep_patch[] = {MW_FI_PATCH(mw_fi_ops_ep, tx_ctx, ep_tx_ctx)};
static const struct mw_fi_patches ep_patches =
    MW_FI_PATCHES(ep_patch, offsetof(struct mw_fi_ops_ep, rx_ctx));

/* Address vectors. */
static int av_remove(struct mw_fid_av *av, mw_fi_addr *addr, size_t count, uint64_t flags)
{
    TABLE(mw_fi_ops_av, av, MW_FI_MAIN, av->ops);
    int rc = real->remove(av, addr, count, flags);
    for (size_t i = 0; rc == 0 && addr && i < count; i++)
        mw_fi_endpoints_removed(av, addr[i]);
    return rc;
}

static const struct mw_fi_patch av_patch[] = {MW_FI_PATCH(mw_fi_ops_av, remove, av_remove)};
static const struct mw_fi_patches av_patches =
    MW_FI_PATCHES(av_patch, offsetof(struct mw_fi_ops_av, straddr));

/* Domains. */
static int domain_av_open(struct mw_fid_domain *domain, struct mw_fi_av_attr *attr, void **av,
                          void *context)
{
    TABLE(mw_fi_ops_domain, domain, MW_FI_MAIN, domain->ops);
    uint64_t since = mw_fi_serial();
    int rc = real->av_open(domain, attr, av, context);
    if (!object || !recording())
        return rc;
    if (rc != 0) {
        mw_fi_attempt_failed("fi_av_open", &object->identity, rc);
        return rc;
    }
    struct mw_fid_av *opened = *av;
    struct mw_fi_object *known = mw_fi_object_add(opened, MW_FI_AV, since);
    if (known) {
        known->identity = object->identity;
        known->rx_ctx_bits = attr && attr->rx_ctx_bits > 0 ? (unsigned)attr->rx_ctx_bits : 0;
        mw_fi_object_patch(known, MW_FI_FID, &opened->fid.ops, &close_patches);
        mw_fi_object_patch(known, MW_FI_MAIN, &opened->ops, &av_patches);
    }
    return rc;
}

static int domain_cq_open(struct mw_fid_domain *domain, void *attr, void **cq, void *context)
{
    TABLE(mw_fi_ops_domain, domain, MW_FI_MAIN, domain->ops);
    int rc = real->cq_open(domain, attr, cq, context);
    if (rc != 0 && object && recording())
        mw_fi_attempt_failed("fi_cq_open", &object->identity, rc);
    return rc;
}

static int domain_cntr_open(struct mw_fid_domain *domain, void *attr, void **cntr, void *context)
{
    TABLE(mw_fi_ops_domain, domain, MW_FI_MAIN, domain->ops);
    int rc = real->cntr_open(domain, attr, cntr, context);
    if (rc != 0 && object && recording())
        mw_fi_attempt_failed("fi_cntr_open", &object->identity, rc);
    return rc;
}

static int domain_srx_ctx(struct mw_fid_domain *domain, void *attr, void **rx_ep, void *context)
{
    TABLE(mw_fi_ops_domain, domain, MW_FI_MAIN, domain->ops);
    int rc = real->srx_ctx(domain, attr, rx_ep, context);
    if (rc != 0 && object && recording())
        mw_fi_attempt_failed("fi_srx_context", &object->identity, rc);
    return rc;
}

/* The ways to open an endpoint have one form but for the flags. */
typedef int (*open_fn)(struct mw_fid_domain *domain, struct mw_fi_info *info, void **ep,
                       void *context);
typedef int (*open2_fn)(struct mw_fid_domain *domain, struct mw_fi_info *info, void **ep,
                        uint64_t flags, void *context);
struct opening {
    const char *call;
    open_fn open;
    open2_fn open2;
    uint64_t flags;
    const void *caller;
};

static int open_endpoint(const struct opening *how, struct mw_fid_domain *domain,
                         struct mw_fi_info *info, void **ep, void *context)
{
    struct mw_fi_identity identity;
    struct mw_fi_attempt attempt = {.call = how->call, .identity = &identity};
    int on = recording();
    uint64_t since = mw_fi_serial();
    if (on) {
        mw_fi_identify(&identity, info, how->caller);
        mw_fi_attempt_begin(&attempt);
    }
    int connected = info && info->ep_attr && info->ep_attr->type == MW_FI_EP_MSG;
    int rc = how->open ? how->open(domain, info, ep, context)
                       : how->open2(domain, info, ep, how->flags, context);
    if (on) {
        if (rc == 0)
            attempt.endpoint =
                opened_endpoint(*ep, &identity, connected, tables_of(info ? info->caps : 0), since);
        mw_fi_attempt_end(&attempt, rc, NULL, 0);
    }
    return rc;
}

static int domain_endpoint(struct mw_fid_domain *domain, struct mw_fi_info *info, void **ep,
                           void *context)
{
    TABLE(mw_fi_ops_domain, domain, MW_FI_MAIN, domain->ops);
    struct opening how = {.call = "fi_endpoint", .open = real->endpoint, .caller = CALLER};
    return open_endpoint(&how, domain, info, ep, context);
}

static int domain_scalable_ep(struct mw_fid_domain *domain, struct mw_fi_info *info, void **sep,
                              void *context)
{
    TABLE(mw_fi_ops_domain, domain, MW_FI_MAIN, domain->ops);
    struct opening how = {.call = "fi_scalable_ep", .open = real->scalable_ep, .caller = CALLER};
    return open_endpoint(&how, domain, info, sep, context);
}

static int domain_endpoint2(struct mw_fid_domain *domain, struct mw_fi_info *info, void **ep,
                            uint64_t flags, void *context)
{
    TABLE(mw_fi_ops_domain, domain, MW_FI_MAIN, domain->ops);
    struct opening how = {
        .call = "fi_endpoint2", .open2 = real->endpoint2, .flags = flags, .caller = CALLER};
    return open_endpoint(&how, domain, info, ep, context);
}

static const struct mw_fi_patch domain_patch[] = {
    MW_FI_PATCH(mw_fi_ops_domain, av_open, domain_av_open),
    MW_FI_PATCH(mw_fi_ops_domain, cq_open, domain_cq_open),
    MW_FI_PATCH(mw_fi_ops_domain, endpoint, domain_endpoint),
    MW_FI_PATCH(mw_fi_ops_domain, scalable_ep, domain_scalable_ep),
    MW_FI_PATCH(mw_fi_ops_domain, cntr_open, domain_cntr_open),
    MW_FI_PATCH(mw_fi_ops_domain, srx_ctx, domain_srx_ctx),
    MW_FI_PATCH(mw_fi_ops_domain, endpoint2, domain_endpoint2),
};
static const struct mw_fi_patches domain_patches =
    MW_FI_PATCHES(domain_patch, offsetof(struct mw_fi_ops_domain, query_atomic));

/* Fabrics. */
static void opened_domain(struct mw_fid_domain *domain, const struct mw_fi_identity *identity,
                          uint64_t since)
{
    struct mw_fi_object *object = mw_fi_object_add(domain, MW_FI_DOMAIN, since);
    if (!object)
        return;
    object->identity = *identity;
    if (object->table[MW_FI_MAIN].copy)
        return; /* the object of a layer below, handed on: it has ours already */
    mw_fi_object_patch(object, MW_FI_FID, &domain->fid.ops, &close_patches);
    mw_fi_object_patch(object, MW_FI_MAIN, &domain->ops, &domain_patches);
}

static int open_domain(const char *call, struct mw_fid_fabric *fabric, struct mw_fi_info *info,
                       void **domain, uint64_t flags, void *context, const void *caller, int two)
{
    TABLE(mw_fi_ops_fabric, fabric, MW_FI_MAIN, fabric->ops);
    struct mw_fi_identity identity;
    struct mw_fi_attempt attempt = {.call = call, .identity = &identity};
    int on = recording();
    uint64_t since = mw_fi_serial();
    if (on) {
        mw_fi_identify(&identity, info, caller);
        mw_fi_attempt_begin(&attempt);
    }
    int rc = two ? real->domain2(fabric, info, domain, flags, context)
                 : real->domain(fabric, info, domain, context);
    if (on) {
        if (rc == 0)
            opened_domain(*domain, &identity, since);
        mw_fi_attempt_end(&attempt, rc, NULL, 0);
    }
    return rc;
}

static int fabric_domain(struct mw_fid_fabric *fabric, struct mw_fi_info *info, void **domain,
                         void *context)
{
    return open_domain("fi_domain", fabric, info, domain, 0, context, CALLER, 0);
}

static int fabric_domain2(struct mw_fid_fabric *fabric, struct mw_fi_info *info, void **domain,
                          uint64_t flags, void *context)
{
    return open_domain("fi_domain2", fabric, info, domain, flags, context, CALLER, 1);
}

static int fabric_passive_ep(struct mw_fid_fabric *fabric, struct mw_fi_info *info, void **pep,
                             void *context)
{
    TABLE(mw_fi_ops_fabric, fabric, MW_FI_MAIN, fabric->ops);
    int rc = real->passive_ep(fabric, info, pep, context);
    if (rc != 0 && object && recording())
        mw_fi_attempt_failed("fi_passive_ep", &object->identity, rc);
    return rc;
}

static int fabric_eq_open(struct mw_fid_fabric *fabric, void *attr, void **eq, void *context)
{
    TABLE(mw_fi_ops_fabric, fabric, MW_FI_MAIN, fabric->ops);
    int rc = real->eq_open(fabric, attr, eq, context);
    if (rc != 0 && object && recording())
        mw_fi_attempt_failed("fi_eq_open", &object->identity, rc);
    return rc;
}

static const struct mw_fi_patch fabric_patch[] = {
    MW_FI_PATCH(mw_fi_ops_fabric, domain, fabric_domain),
    MW_FI_PATCH(mw_fi_ops_fabric, passive_ep, fabric_passive_ep),
    MW_FI_PATCH(mw_fi_ops_fabric, eq_open, fabric_eq_open),
    MW_FI_PATCH(mw_fi_ops_fabric, domain2, fabric_domain2),
};
static const struct mw_fi_patches fabric_patches =
    MW_FI_PATCHES(fabric_patch, offsetof(struct mw_fi_ops_fabric, trywait));

void mw_fi_opened_fabric(struct mw_fid_fabric *fabric, const struct mw_fi_identity *identity,
                         uint64_t since)
{
    struct mw_fi_object *object = mw_fi_object_add(fabric, MW_FI_FABRIC, since);
    if (!object)
        return;
    object->identity = *identity;
    if (object->table[MW_FI_MAIN].copy)
        return;
    mw_fi_object_patch(object, MW_FI_FID, &fabric->fid.ops, &close_patches);
    mw_fi_object_patch(object, MW_FI_MAIN, &fabric->ops, &fabric_patches);
}
