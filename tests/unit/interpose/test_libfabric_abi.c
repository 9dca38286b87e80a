/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What we take libfabric's binary interface to be, compared with the headers that are installed:
 * every offset, size and constant, at compile time. Not built where there are no headers.
 */
#include <stdio.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#define SINCE(major, minor)                                                                        \
    (FI_MAJOR_VERSION > (major) || (FI_MAJOR_VERSION == (major) && FI_MINOR_VERSION >= (minor)))
#if SINCE(1, 16)
#include <rdma/fi_ext.h>
#endif

#include "probe/libfabric_abi.h"

/* A member of ours and one of theirs: the same place, the same size. */
#define SAME(ours, our_member, theirs, their_member)                                               \
    _Static_assert(offsetof(struct ours, our_member) == offsetof(struct theirs, their_member) &&   \
                       sizeof(((struct ours *)0)->our_member) ==                                   \
                           sizeof(((struct theirs *)0)->their_member),                             \
                   #ours "." #our_member)
#define NAMED(ours, theirs, member) SAME(ours, member, theirs, member)
#define EQUAL(ours, theirs)         _Static_assert((uint64_t)(ours) == (uint64_t)(theirs), #ours)

EQUAL(MW_FI_ENOSYS, FI_ENOSYS);
EQUAL(MW_FI_ADDR_UNSPEC, FI_ADDR_UNSPEC);
EQUAL(MW_FI_VERSION(1, 13), FI_VERSION(1, 13));
EQUAL(MW_FI_CAP_MSG, FI_MSG);
EQUAL(MW_FI_CAP_RMA, FI_RMA);
EQUAL(MW_FI_CAP_TAGGED, FI_TAGGED);
EQUAL(MW_FI_CAP_ATOMIC, FI_ATOMIC);
EQUAL(MW_FI_EP_MSG, FI_EP_MSG);
NAMED(mw_fi_info, fi_info, caps);
EQUAL(MW_FI_CLASS_AV, FI_CLASS_AV);
EQUAL(MW_FI_ALIAS, FI_ALIAS);
EQUAL(MW_FI_ENABLE, FI_ENABLE);
EQUAL(MW_FI_LINK_UNKNOWN, FI_LINK_UNKNOWN);
EQUAL(MW_FI_LINK_DOWN, FI_LINK_DOWN);
EQUAL(MW_FI_LINK_UP, FI_LINK_UP);
EQUAL(MW_FI_LOG_WARN, FI_LOG_WARN);
EQUAL(MW_FI_ATOMIC_READ, FI_ATOMIC_READ);
_Static_assert(sizeof(mw_fi_addr) == sizeof(fi_addr_t), "fi_addr_t");

SAME(mw_fid, class, fid, fclass);
NAMED(mw_fid, fid, context);
NAMED(mw_fid, fid, ops);
_Static_assert(sizeof(struct mw_fid) == sizeof(struct fid), "struct fid");
NAMED(mw_fi_ops, fi_ops, size);
NAMED(mw_fi_ops, fi_ops, close);
NAMED(mw_fi_ops, fi_ops, bind);
NAMED(mw_fi_ops, fi_ops, control);
NAMED(mw_fi_ops, fi_ops, ops_open);
NAMED(mw_fi_alias, fi_alias, fid);
NAMED(mw_fi_alias, fi_alias, flags);

NAMED(mw_fi_device_attr, fi_device_attr, name);
NAMED(mw_fi_device_attr, fi_device_attr, driver);
NAMED(mw_fi_device_attr, fi_device_attr, firmware);
NAMED(mw_fi_link_attr, fi_link_attr, speed);
NAMED(mw_fi_link_attr, fi_link_attr, state);
NAMED(mw_fi_link_attr, fi_link_attr, network_type);
NAMED(mw_fid_nic, fid_nic, device_attr);
NAMED(mw_fid_nic, fid_nic, link_attr);
NAMED(mw_fi_fabric_attr, fi_fabric_attr, name);
NAMED(mw_fi_fabric_attr, fi_fabric_attr, prov_name);
NAMED(mw_fi_domain_attr, fi_domain_attr, name);
NAMED(mw_fi_ep_attr, fi_ep_attr, type);
NAMED(mw_fi_info, fi_info, next);
NAMED(mw_fi_info, fi_info, addr_format);
NAMED(mw_fi_info, fi_info, ep_attr);
NAMED(mw_fi_info, fi_info, domain_attr);
NAMED(mw_fi_info, fi_info, fabric_attr);
NAMED(mw_fi_info, fi_info, nic);

NAMED(mw_fid_fabric, fid_fabric, ops);
NAMED(mw_fi_ops_fabric, fi_ops_fabric, size);
NAMED(mw_fi_ops_fabric, fi_ops_fabric, domain);
NAMED(mw_fi_ops_fabric, fi_ops_fabric, passive_ep);
NAMED(mw_fi_ops_fabric, fi_ops_fabric, eq_open);
NAMED(mw_fi_ops_fabric, fi_ops_fabric, trywait);
NAMED(mw_fid_domain, fid_domain, ops);
NAMED(mw_fi_av_attr, fi_av_attr, type);
NAMED(mw_fi_av_attr, fi_av_attr, rx_ctx_bits);
NAMED(mw_fi_ops_domain, fi_ops_domain, size);
NAMED(mw_fi_ops_domain, fi_ops_domain, av_open);
NAMED(mw_fi_ops_domain, fi_ops_domain, cq_open);
NAMED(mw_fi_ops_domain, fi_ops_domain, endpoint);
NAMED(mw_fi_ops_domain, fi_ops_domain, scalable_ep);
NAMED(mw_fi_ops_domain, fi_ops_domain, cntr_open);
NAMED(mw_fi_ops_domain, fi_ops_domain, srx_ctx);
NAMED(mw_fi_ops_domain, fi_ops_domain, query_atomic);
#if SINCE(1, 17)
NAMED(mw_fi_ops_fabric, fi_ops_fabric, domain2);
NAMED(mw_fi_ops_domain, fi_ops_domain, endpoint2);
#endif
NAMED(mw_fid_av, fid_av, ops);
NAMED(mw_fi_ops_av, fi_ops_av, size);
NAMED(mw_fi_ops_av, fi_ops_av, remove);
NAMED(mw_fi_ops_av, fi_ops_av, lookup);
NAMED(mw_fi_ops_av, fi_ops_av, straddr);

NAMED(mw_fid_ep, fid_ep, ops);
NAMED(mw_fid_ep, fid_ep, cm);
NAMED(mw_fid_ep, fid_ep, msg);
NAMED(mw_fid_ep, fid_ep, rma);
NAMED(mw_fid_ep, fid_ep, tagged);
NAMED(mw_fid_ep, fid_ep, atomic);
NAMED(mw_fi_ops_ep, fi_ops_ep, size);
NAMED(mw_fi_ops_ep, fi_ops_ep, tx_ctx);
NAMED(mw_fi_ops_ep, fi_ops_ep, rx_ctx);
NAMED(mw_fi_ops_cm, fi_ops_cm, size);
NAMED(mw_fi_ops_cm, fi_ops_cm, getname);
NAMED(mw_fi_ops_cm, fi_ops_cm, getpeer);

SAME(mw_fi_msg, iov, fi_msg, msg_iov);
SAME(mw_fi_msg, count, fi_msg, iov_count);
NAMED(mw_fi_msg, fi_msg, addr);
SAME(mw_fi_msg, iov, fi_msg_tagged, msg_iov);
SAME(mw_fi_msg, count, fi_msg_tagged, iov_count);
NAMED(mw_fi_msg, fi_msg_tagged, addr);
SAME(mw_fi_msg, iov, fi_msg_rma, msg_iov);
SAME(mw_fi_msg, count, fi_msg_rma, iov_count);
NAMED(mw_fi_msg, fi_msg_rma, addr);
SAME(mw_fi_ioc, address, fi_ioc, addr);
NAMED(mw_fi_ioc, fi_ioc, count);
_Static_assert(sizeof(struct mw_fi_ioc) == sizeof(struct fi_ioc), "struct fi_ioc");
SAME(mw_fi_msg_atomic, iov, fi_msg_atomic, msg_iov);
SAME(mw_fi_msg_atomic, count, fi_msg_atomic, iov_count);
NAMED(mw_fi_msg_atomic, fi_msg_atomic, addr);
NAMED(mw_fi_msg_atomic, fi_msg_atomic, datatype);
NAMED(mw_fi_msg_atomic, fi_msg_atomic, op);

#define MESSAGES(ours, theirs)                                                                     \
    NAMED(ours, theirs, size);                                                                     \
    NAMED(ours, theirs, send);                                                                     \
    NAMED(ours, theirs, sendv);                                                                    \
    NAMED(ours, theirs, sendmsg);                                                                  \
    NAMED(ours, theirs, inject);                                                                   \
    NAMED(ours, theirs, senddata);                                                                 \
    NAMED(ours, theirs, injectdata)
MESSAGES(mw_fi_ops_msg, fi_ops_msg);
MESSAGES(mw_fi_ops_tagged, fi_ops_tagged);
NAMED(mw_fi_ops_rma, fi_ops_rma, size);
NAMED(mw_fi_ops_rma, fi_ops_rma, read);
NAMED(mw_fi_ops_rma, fi_ops_rma, readv);
NAMED(mw_fi_ops_rma, fi_ops_rma, readmsg);
NAMED(mw_fi_ops_rma, fi_ops_rma, write);
NAMED(mw_fi_ops_rma, fi_ops_rma, writev);
NAMED(mw_fi_ops_rma, fi_ops_rma, writemsg);
NAMED(mw_fi_ops_rma, fi_ops_rma, inject);
NAMED(mw_fi_ops_rma, fi_ops_rma, writedata);
NAMED(mw_fi_ops_rma, fi_ops_rma, injectdata);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, size);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, write);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, writev);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, writemsg);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, inject);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, readwrite);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, readwritev);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, readwritemsg);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, compwrite);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, compwritev);
NAMED(mw_fi_ops_atomic, fi_ops_atomic, compwritemsg);

NAMED(mw_fi_provider, fi_provider, version);
NAMED(mw_fi_provider, fi_provider, fi_version);
NAMED(mw_fi_provider, fi_provider, name);
#if SINCE(1, 16)
EQUAL(MW_FI_CLASS_LOG, FI_CLASS_LOG);
NAMED(mw_fi_ops_log, fi_ops_log, size);
NAMED(mw_fi_ops_log, fi_ops_log, enabled);
NAMED(mw_fi_ops_log, fi_ops_log, ready);
NAMED(mw_fi_ops_log, fi_ops_log, log);
_Static_assert(sizeof(struct mw_fi_ops_log) == sizeof(struct fi_ops_log), "struct fi_ops_log");
NAMED(mw_fid_logging, fid_logging, ops);
#endif

/* Sizes of the elements of atomic operations that the probe counts by: 0 to 13 in this order. */
EQUAL(FI_INT8, 0);
EQUAL(FI_UINT64, 7);
EQUAL(FI_FLOAT, 8);
EQUAL(FI_DOUBLE, 9);
EQUAL(FI_FLOAT_COMPLEX, 10);
EQUAL(FI_DOUBLE_COMPLEX, 11);
EQUAL(FI_LONG_DOUBLE, 12);
EQUAL(FI_LONG_DOUBLE_COMPLEX, 13);

int main(void)
{
    printf("libfabric's headers of %d.%d are as expected\n", FI_MAJOR_VERSION, FI_MINOR_VERSION);
    return 0;
}
