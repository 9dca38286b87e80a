/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wrapped functions of UCX that open and close: contexts, workers, endpoints. Any thread. Each
 * passes its arguments on as they are and returns what the real one returned.
 */
#include <string.h>

#include "probe/real.h"
#include "probe/ucx.h"
#include "record/record.h"

#define MW_EXPORT __attribute__((visibility("default")))
#define CALLER()  __builtin_return_address(0)

#define CLOSE_BUDGET_NS 20000000u /* for asking about lanes at closes, a process */

/* What callers know from UCX's headers. */
MW_EXPORT mw_ucs_status ucp_init_version(unsigned major, unsigned minor,
                                         const struct mw_ucp_params *params, const void *config,
                                         mw_ucp_object *context);
MW_EXPORT mw_ucs_status ucp_worker_create(mw_ucp_object context,
                                          const struct mw_ucp_worker_params *params,
                                          mw_ucp_object *worker);
MW_EXPORT void ucp_worker_destroy(mw_ucp_object handle);
MW_EXPORT mw_ucs_status ucp_ep_create(mw_ucp_object handle, const struct mw_ucp_ep_params *params,
                                      mw_ucp_object *ep);
MW_EXPORT mw_ucs_pointer ucp_ep_close_nb(mw_ucp_object ep, unsigned mode);
MW_EXPORT mw_ucs_pointer ucp_ep_close_nbx(mw_ucp_object ep, const void *params);
MW_EXPORT mw_ucs_pointer ucp_disconnect_nb(mw_ucp_object ep);
MW_EXPORT void ucp_ep_destroy(mw_ucp_object ep);

static _Atomic uint64_t close_ns;

/* The uid of the worker that made this address; 0 it is not to be had. */
static uint64_t uid_of(const void *address)
{
    struct mw_ucp_worker_address_attr attr = {.field_mask = MW_UCP_WORKER_ADDRESS_FIELD_UID};
    uint64_t uid = 0;
    if (mw_ucx.address_query) {
        if (mw_ucx.address_query((void *)(uintptr_t)address, &attr) == MW_UCS_OK)
            uid = attr.worker_uid;
    } else if (mw_ucx.version >= MW_UCX_OLDEST && mw_ucx.version < 1012) {
        /* no function for it yet: it stands first, from 1.9 on after a byte */
        memcpy(&uid, (const char *)address + (mw_ucx.version >= 1009), sizeof uid);
    }
    return uid;
}

mw_ucs_status ucp_init_version(unsigned major, unsigned minor, const struct mw_ucp_params *params,
                               const void *config, mw_ucp_object *context)
{
    const void *caller = CALLER();
    mw_ucs_status (*real)(unsigned, unsigned, const struct mw_ucp_params *, const void *,
                          mw_ucp_object *) = mw_ucx_enter(caller);
    if (!real)
        return MW_UCS_ERR_UNSUPPORTED;
    if (!mw_probe_on(&mw_probe_ucx) || mw_ucx_inner(caller))
        return real(major, minor, params, config, context);
    struct mw_ucx_attempt attempt = {0};
    if (params && params->field_mask & MW_UCP_PARAM_FIELD_FEATURES)
        mw_ucx_features_text(params->features, attempt.asked, sizeof attempt.asked);
    mw_ucx_attempt_begin(&attempt, "ucp_init", caller, 1);
    mw_ucx_log_deepen();
    mw_ucs_status status = real(major, minor, params, config, context);
    mw_ucx_log_restore();
    mw_ucx_attempt_end(&attempt, status, 0,
                       status == MW_UCS_OK && !atomic_load(&mw_ucx.several) ? *context : NULL);
    return status;
}

/* A worker that has come to be: its own address is what others know it by. */
static uint32_t enter_worker(mw_ucp_object handle, const struct mw_ucp_worker_params *params,
                             const void *caller)
{
    int mode = params && params->field_mask & MW_UCP_WORKER_PARAM_FIELD_THREAD_MODE
                   ? params->thread_mode
                   : MW_UCS_THREAD_MODE_SINGLE;
    struct mw_ucx_worker *worker = mw_ucx_worker_add(handle, mode, mw_real_module(caller));
    void *address;
    size_t length;
    if (!worker)
        return 0;
    if (mw_ucx.get_address && mw_ucx.release_address && !atomic_load(&mw_ucx.several) &&
        mw_ucx.get_address(handle, &address, &length) == MW_UCS_OK) {
        worker->uid = uid_of(address);
        worker->has_uid = worker->uid != 0;
        mw_ucx.release_address(handle, address);
    }
    mw_ucx_worker_write(worker, 1);
    return worker->id;
}

mw_ucs_status ucp_worker_create(mw_ucp_object context, const struct mw_ucp_worker_params *params,
                                mw_ucp_object *worker)
{
    const void *caller = CALLER();
    mw_ucs_status (*real)(mw_ucp_object, const struct mw_ucp_worker_params *, mw_ucp_object *) =
        mw_ucx_real(MW_UCX_worker_create, caller);
    if (!real)
        return MW_UCS_ERR_UNSUPPORTED;
    if (!mw_probe_on(&mw_probe_ucx) || mw_ucx_inner(caller))
        return real(context, params, worker);
    struct mw_ucx_attempt attempt = {0};
    mw_ucx_attempt_begin(&attempt, "ucp_worker_create", caller, 1);
    mw_ucx_log_deepen();
    mw_ucs_status status = real(context, params, worker);
    mw_ucx_log_restore();
    uint32_t id = status == MW_UCS_OK ? enter_worker(*worker, params, caller) : 0;
    mw_ucx_attempt_end(&attempt, status, id, NULL);
    return status;
}

void ucp_worker_destroy(mw_ucp_object handle)
{
    const void *caller = CALLER();
    void (*real)(mw_ucp_object) = mw_ucx_real(MW_UCX_worker_destroy, caller);
    struct mw_ucx_worker *worker = mw_ucx_worker_of(handle);
    if (!real)
        return;
    if (worker) {
        worker->handle = NULL; /* the next one may get its address */
        if (mw_ucx_open())
            mw_ucx_worker_write(worker, 1);
    }
    real(handle);
}

mw_ucs_status ucp_ep_create(mw_ucp_object handle, const struct mw_ucp_ep_params *params,
                            mw_ucp_object *ep)
{
    const void *caller = CALLER();
    mw_ucs_status (*real)(mw_ucp_object, const struct mw_ucp_ep_params *, mw_ucp_object *) =
        mw_ucx_real(MW_UCX_ep_create, caller);
    if (!real)
        return MW_UCS_ERR_UNSUPPORTED;
    if (!mw_probe_on(&mw_probe_ucx) || mw_ucx_inner(caller))
        return real(handle, params, ep);
    struct mw_ucx_attempt attempt = {0};
    struct mw_ucx_worker *worker = mw_ucx_worker_of(handle);
    uint64_t began = mw_now();
    uint64_t uid = 0;
    if (params && params->field_mask & MW_UCP_EP_PARAM_FIELD_REMOTE_ADDRESS &&
        !atomic_load(&mw_ucx.several))
        uid = uid_of(params->address);
    mw_ucs_status status = real(handle, params, ep);
    if (status != MW_UCS_OK) {
        mw_ucx_attempt_begin(&attempt, "ucp_ep_create", caller, 0);
        attempt.start = began;
        mw_ucx_attempt_end(&attempt, status, worker ? worker->id : 0, NULL);
    } else if (worker) {
        mw_ucx_ep_add(worker, *ep, uid != 0, uid);
    }
    return status;
}

/* An endpoint is about to be closed: the last moment to ask for its lanes. */
static void on_close(mw_ucp_object ep, const void *caller)
{
    struct mw_ucx_peer *peer = mw_ucx_inner(caller) ? NULL : mw_ucx_peer_of(ep);
    if (!peer || atomic_load(&peer->ep) != ep)
        return;
    if (mw_ucx_open() && atomic_load(&close_ns) < CLOSE_BUDGET_NS) {
        uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
        mw_ucx_lanes_read(peer);
        atomic_fetch_add(&close_ns, mw_clock_ns(CLOCK_MONOTONIC_RAW) - began);
    }
    atomic_store(&peer->ep, NULL);
}

mw_ucs_pointer ucp_ep_close_nb(mw_ucp_object ep, unsigned mode)
{
    const void *caller = CALLER();
    mw_ucs_pointer (*real)(mw_ucp_object, unsigned) = mw_ucx_real(MW_UCX_ep_close_nb, caller);
    if (!real)
        return (mw_ucs_pointer)(intptr_t)MW_UCS_ERR_UNSUPPORTED;
    on_close(ep, caller);
    return real(ep, mode);
}

mw_ucs_pointer ucp_ep_close_nbx(mw_ucp_object ep, const void *params)
{
    const void *caller = CALLER();
    mw_ucs_pointer (*real)(mw_ucp_object, const void *) = mw_ucx_real(MW_UCX_ep_close_nbx, caller);
    if (!real)
        return (mw_ucs_pointer)(intptr_t)MW_UCS_ERR_UNSUPPORTED;
    on_close(ep, caller);
    return real(ep, params);
}

mw_ucs_pointer ucp_disconnect_nb(mw_ucp_object ep)
{
    const void *caller = CALLER();
    mw_ucs_pointer (*real)(mw_ucp_object) = mw_ucx_real(MW_UCX_disconnect_nb, caller);
    if (!real)
        return (mw_ucs_pointer)(intptr_t)MW_UCS_ERR_UNSUPPORTED;
    on_close(ep, caller);
    return real(ep);
}

void ucp_ep_destroy(mw_ucp_object ep)
{
    const void *caller = CALLER();
    void (*real)(mw_ucp_object) = mw_ucx_real(MW_UCX_ep_destroy, caller);
    if (!real)
        return;
    on_close(ep, caller);
    real(ep);
}
