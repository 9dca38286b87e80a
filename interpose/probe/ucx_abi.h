/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of UCX's binary interface is used, from UCX 1.8 on: none of its headers is needed to build.
 * Only leading members that have not moved since are declared; tests/unit/interpose/test_ucx_abi.c
 * checks them against the headers that are installed.
 */
#ifndef MW_PROBE_UCX_ABI_H
#define MW_PROBE_UCX_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef signed char mw_ucs_status; /* ucs_status_t is a packed enum */
typedef void
    *mw_ucs_pointer; /* ucs_status_ptr_t: NULL done, a small negative number, or a request */
typedef void *mw_ucp_object;  /* any handle */
typedef uint64_t mw_ucp_type; /* ucp_datatype_t */
typedef void (*mw_ucp_callback)(void *request, mw_ucs_status status);

enum {
    MW_UCS_OK = 0,
    MW_UCS_ERR_UNSUPPORTED = -22,
    MW_UCS_ERR_LAST = -100, /* pointers from here on are no requests */

    MW_UCS_THREAD_MODE_SINGLE = 0,
    MW_UCS_THREAD_MODE_SERIALIZED = 1,
    MW_UCS_THREAD_MODE_MULTI = 2,

    MW_UCP_TYPE_SHIFT = 3,
    MW_UCP_TYPE_CLASS = 7,
    MW_UCP_TYPE_CONTIG = 0,
    MW_UCP_TYPE_IOV = 2,

    MW_UCP_OP_FIELD_DATATYPE = 1 << 3,
    MW_UCP_OP_FIELD_REPLY_BUFFER = 1 << 5,

    MW_UCP_PARAM_FIELD_FEATURES = 1 << 0,
    MW_UCP_WORKER_PARAM_FIELD_THREAD_MODE = 1 << 0,
    MW_UCP_EP_PARAM_FIELD_REMOTE_ADDRESS = 1 << 0,
    MW_UCP_WORKER_ADDRESS_FIELD_UID = 1 << 0,
    MW_UCP_EP_ATTR_FIELD_TRANSPORTS = 1 << 3, /* from 1.14 on */

    MW_UCP_FEATURE_TAG = 1 << 0,
    MW_UCP_FEATURE_RMA = 1 << 1,
    MW_UCP_FEATURE_AMO32 = 1 << 2,
    MW_UCP_FEATURE_AMO64 = 1 << 3,
    MW_UCP_FEATURE_WAKEUP = 1 << 4,
    MW_UCP_FEATURE_STREAM = 1 << 5,
    MW_UCP_FEATURE_AM = 1 << 6,
    MW_UCP_FEATURE_EXPORTED_MEMH = 1 << 7,
    MW_UCP_FEATURE_DEVICE = 1 << 8,
};

struct mw_ucp_params {
    uint64_t field_mask, features;
};

struct mw_ucp_worker_params {
    uint64_t field_mask;
    int thread_mode;
};

struct mw_ucp_ep_params {
    uint64_t field_mask;
    const void *address;
};

struct mw_ucp_worker_address_attr {
    uint64_t field_mask, worker_uid;
    uint64_t reserve[8]; /* none of a later version is written past us */
};

struct mw_ucp_iov {
    void *buffer;
    size_t length;
};

struct mw_ucp_request_param {
    uint32_t op_attr_mask, flags;
    void *request;
    void *callback;
    mw_ucp_type datatype;
};

struct mw_ucp_transport {
    const char *transport_name, *device_name;
};

struct mw_ucp_ep_attr { /* with the members of 1.14 */
    uint64_t field_mask;
    char name[32];
    char local_sockaddr[128], remote_sockaddr[128];
    struct {
        struct mw_ucp_transport *entries;
        unsigned num_entries;
        size_t entry_size;
    } transports;
    void *user_data;
    uint64_t reserve[16];
};

/* ucs_log_component_config_t from 1.9 on. */
struct mw_ucs_log_component {
    int log_level;
    char name[16];
};

#endif
