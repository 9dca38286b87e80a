/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our own declarations of UCX's interface against its headers, whatever version is installed:
 * offsets, sizes and numbers, when this is compiled.
 */
#include <stdio.h>
#include <ucp/api/ucp.h>

#include "probe/ucx_abi.h"

#define SAME_NUMBER(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours)
#define SAME_PLACE(our_type, ours, their_type, theirs)                                             \
    _Static_assert(offsetof(our_type, ours) == offsetof(their_type, theirs), #our_type " " #ours); \
    _Static_assert(sizeof(((our_type *)0)->ours) == sizeof(((their_type *)0)->theirs),             \
                   "size of " #our_type " " #ours)

_Static_assert(sizeof(mw_ucs_status) == sizeof(ucs_status_t), "status");
_Static_assert(sizeof(mw_ucs_pointer) == sizeof(ucs_status_ptr_t), "status pointer");
_Static_assert(sizeof(mw_ucp_type) == sizeof(ucp_datatype_t), "type");
_Static_assert(sizeof(ucp_tag_t) == sizeof(uint64_t), "tag");
_Static_assert(sizeof(ucp_atomic_post_op_t) == sizeof(int), "operation");
_Static_assert(sizeof(ucp_atomic_fetch_op_t) == sizeof(int), "operation");

SAME_NUMBER(MW_UCS_OK, UCS_OK);
SAME_NUMBER(MW_UCS_ERR_UNSUPPORTED, UCS_ERR_UNSUPPORTED);
SAME_NUMBER(MW_UCS_ERR_LAST, UCS_ERR_LAST);
SAME_NUMBER(MW_UCS_THREAD_MODE_SINGLE, UCS_THREAD_MODE_SINGLE);
SAME_NUMBER(MW_UCS_THREAD_MODE_SERIALIZED, UCS_THREAD_MODE_SERIALIZED);
SAME_NUMBER(MW_UCS_THREAD_MODE_MULTI, UCS_THREAD_MODE_MULTI);
SAME_NUMBER(MW_UCP_TYPE_SHIFT, UCP_DATATYPE_SHIFT);
SAME_NUMBER(MW_UCP_TYPE_CLASS, UCP_DATATYPE_CLASS_MASK);
SAME_NUMBER(MW_UCP_TYPE_CONTIG, UCP_DATATYPE_CONTIG);
SAME_NUMBER(MW_UCP_TYPE_IOV, UCP_DATATYPE_IOV);
SAME_NUMBER(MW_UCP_PARAM_FIELD_FEATURES, UCP_PARAM_FIELD_FEATURES);
SAME_NUMBER(MW_UCP_WORKER_PARAM_FIELD_THREAD_MODE, UCP_WORKER_PARAM_FIELD_THREAD_MODE);
SAME_NUMBER(MW_UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, UCP_EP_PARAM_FIELD_REMOTE_ADDRESS);
SAME_NUMBER(MW_UCP_FEATURE_TAG, UCP_FEATURE_TAG);
SAME_NUMBER(MW_UCP_FEATURE_RMA, UCP_FEATURE_RMA);
SAME_NUMBER(MW_UCP_FEATURE_AMO32, UCP_FEATURE_AMO32);
SAME_NUMBER(MW_UCP_FEATURE_AMO64, UCP_FEATURE_AMO64);
SAME_NUMBER(MW_UCP_FEATURE_WAKEUP, UCP_FEATURE_WAKEUP);
SAME_NUMBER(MW_UCP_FEATURE_STREAM, UCP_FEATURE_STREAM);
SAME_NUMBER(MW_UCP_FEATURE_AM, UCP_FEATURE_AM);

SAME_PLACE(struct mw_ucp_params, field_mask, ucp_params_t, field_mask);
SAME_PLACE(struct mw_ucp_params, features, ucp_params_t, features);
SAME_PLACE(struct mw_ucp_worker_params, field_mask, ucp_worker_params_t, field_mask);
SAME_PLACE(struct mw_ucp_worker_params, thread_mode, ucp_worker_params_t, thread_mode);
SAME_PLACE(struct mw_ucp_ep_params, field_mask, ucp_ep_params_t, field_mask);
SAME_PLACE(struct mw_ucp_ep_params, address, ucp_ep_params_t, address);
SAME_PLACE(struct mw_ucp_iov, buffer, ucp_dt_iov_t, buffer);
SAME_PLACE(struct mw_ucp_iov, length, ucp_dt_iov_t, length);
_Static_assert(sizeof(struct mw_ucp_iov) == sizeof(ucp_dt_iov_t), "iov");

#define AT_LEAST(minor) (UCP_API_VERSION >= UCP_VERSION(1, minor))
#if AT_LEAST(9)
SAME_NUMBER(MW_UCP_OP_FIELD_DATATYPE, UCP_OP_ATTR_FIELD_DATATYPE);
SAME_NUMBER(MW_UCP_OP_FIELD_REPLY_BUFFER, UCP_OP_ATTR_FIELD_REPLY_BUFFER);
SAME_PLACE(struct mw_ucp_request_param, op_attr_mask, ucp_request_param_t, op_attr_mask);
SAME_PLACE(struct mw_ucp_request_param, datatype, ucp_request_param_t, datatype);
#endif
#if AT_LEAST(12)
SAME_NUMBER(MW_UCP_WORKER_ADDRESS_FIELD_UID, UCP_WORKER_ADDRESS_ATTR_FIELD_UID);
SAME_PLACE(struct mw_ucp_worker_address_attr, field_mask, ucp_worker_address_attr_t, field_mask);
SAME_PLACE(struct mw_ucp_worker_address_attr, worker_uid, ucp_worker_address_attr_t, worker_uid);
_Static_assert(sizeof(struct mw_ucp_worker_address_attr) >= sizeof(ucp_worker_address_attr_t),
               "room for the address's attributes");
#endif
#if AT_LEAST(14)
SAME_NUMBER(MW_UCP_EP_ATTR_FIELD_TRANSPORTS, UCP_EP_ATTR_FIELD_TRANSPORTS);
SAME_PLACE(struct mw_ucp_ep_attr, field_mask, ucp_ep_attr_t, field_mask);
SAME_PLACE(struct mw_ucp_ep_attr, transports.entries, ucp_ep_attr_t, transports.entries);
SAME_PLACE(struct mw_ucp_ep_attr, transports.num_entries, ucp_ep_attr_t, transports.num_entries);
SAME_PLACE(struct mw_ucp_ep_attr, transports.entry_size, ucp_ep_attr_t, transports.entry_size);
SAME_PLACE(struct mw_ucp_transport, transport_name, ucp_transport_entry_t, transport_name);
SAME_PLACE(struct mw_ucp_transport, device_name, ucp_transport_entry_t, device_name);
_Static_assert(sizeof(struct mw_ucp_ep_attr) >= sizeof(ucp_ep_attr_t), "room for attributes");
#endif
#if AT_LEAST(15)
SAME_NUMBER(MW_UCP_FEATURE_EXPORTED_MEMH, UCP_FEATURE_EXPORTED_MEMH);
#endif

int main(void)
{
    printf("the declarations agree with those of UCX %d.%d\n", UCP_API_MAJOR, UCP_API_MINOR);
    return 0;
}
