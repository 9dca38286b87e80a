/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What we know of libfabric's binary interface, as little of it as the probe needs, so that the
 * library builds without libfabric's headers and for any version of it. Only members whose place
 * has never changed since FABRIC_1.0 are declared, but for those that say since when they exist.
 * tests/unit/interpose/test_libfabric_abi.c compares all of it with the headers that are installed.
 */
#ifndef MW_PROBE_LIBFABRIC_ABI_H
#define MW_PROBE_LIBFABRIC_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define MW_FI_ENOSYS                38
#define MW_FI_ADDR_UNSPEC           UINT64_MAX
#define MW_FI_VERSION(major, minor) ((uint32_t)(major) << 16 | (uint32_t)(minor))

enum {
    MW_FI_CAP_MSG = 1 << 1,
    MW_FI_CAP_RMA = 1 << 2,
    MW_FI_CAP_TAGGED = 1 << 3,
    MW_FI_CAP_ATOMIC = 1 << 4,
};
enum { MW_FI_EP_MSG = 1 };
enum { MW_FI_CLASS_AV = 11, MW_FI_CLASS_LOG = 26 };
enum { MW_FI_ALIAS = 4, MW_FI_ENABLE = 6 };
enum { MW_FI_LINK_UNKNOWN = 0, MW_FI_LINK_DOWN = 1, MW_FI_LINK_UP = 2 };
enum { MW_FI_LOG_WARN = 0 };
enum { MW_FI_ATOMIC_READ = 10 };

typedef uint64_t mw_fi_addr;

struct mw_fi_ops;
struct mw_fid {
    size_t class;
    void *context;
    const struct mw_fi_ops *ops;
};
struct mw_fi_ops {
    size_t size;
    int (*close)(struct mw_fid *fid);
    int (*bind)(struct mw_fid *fid, struct mw_fid *other, uint64_t flags);
    int (*control)(struct mw_fid *fid, int command, void *argument);
    int (*ops_open)(struct mw_fid *fid, const char *name, uint64_t flags, void **ops,
                    void *context);
};
struct mw_fi_alias {
    struct mw_fid **fid;
    uint64_t flags;
};

/* What fi_getinfo gives. The caller's, or the library's, in the layout of the node (FABRIC_1.x)
 * that the caller was linked against. */
struct mw_fi_device_attr {
    const char *name, *device_id, *device_version, *vendor_id, *driver, *firmware;
};
struct mw_fi_link_attr {
    const char *address;
    size_t mtu, speed;
    int state;
    const char *network_type;
};
struct mw_fid_nic {
    struct mw_fid fid;
    const struct mw_fi_device_attr *device_attr;
    const void *bus_attr;
    const struct mw_fi_link_attr *link_attr;
};
struct mw_fi_fabric_attr {
    void *fabric;
    const char *name, *prov_name;
};
struct mw_fi_domain_attr {
    void *domain;
    const char *name;
};
struct mw_fi_ep_attr {
    int type;
};
struct mw_fi_info {
    struct mw_fi_info *next;
    uint64_t caps, mode;
    uint32_t addr_format;
    size_t src_addrlen, dest_addrlen;
    void *src_addr, *dest_addr;
    void *handle;
    void *tx_attr, *rx_attr;
    const struct mw_fi_ep_attr *ep_attr;
    const struct mw_fi_domain_attr *domain_attr;
    const struct mw_fi_fabric_attr *fabric_attr;
    const struct mw_fid_nic *nic; /* since FABRIC_1.2 */
};

/* The objects and their tables. */
struct mw_fid_fabric {
    struct mw_fid fid;
    const struct mw_fi_ops_fabric *ops;
};
struct mw_fi_ops_fabric {
    size_t size;
    int (*domain)(struct mw_fid_fabric *fabric, struct mw_fi_info *info, void **domain,
                  void *context);
    int (*passive_ep)(struct mw_fid_fabric *fabric, struct mw_fi_info *info, void **pep,
                      void *context);
    int (*eq_open)(struct mw_fid_fabric *fabric, void *attr, void **eq, void *context);
    int (*wait_open)(struct mw_fid_fabric *fabric, void *attr, void **waitset);
    int (*trywait)(struct mw_fid_fabric *fabric, void **fids,
                   int count); /* not in the first ones */
    int (*domain2)(struct mw_fid_fabric *fabric, struct mw_fi_info *info, void **domain,
                   uint64_t flags, void *context); /* later than 1.14 */
};
struct mw_fid_domain {
    struct mw_fid fid;
    const struct mw_fi_ops_domain *ops;
};
struct mw_fi_av_attr {
    int type;
    int rx_ctx_bits;
};
struct mw_fi_ops_domain {
    size_t size;
    int (*av_open)(struct mw_fid_domain *domain, struct mw_fi_av_attr *attr, void **av,
                   void *context);
    int (*cq_open)(struct mw_fid_domain *domain, void *attr, void **cq, void *context);
    int (*endpoint)(struct mw_fid_domain *domain, struct mw_fi_info *info, void **ep,
                    void *context);
    int (*scalable_ep)(struct mw_fid_domain *domain, struct mw_fi_info *info, void **sep,
                       void *context);
    int (*cntr_open)(struct mw_fid_domain *domain, void *attr, void **cntr, void *context);
    int (*poll_open)(struct mw_fid_domain *domain, void *attr, void **pollset);
    int (*stx_ctx)(struct mw_fid_domain *domain, void *attr, void **stx, void *context);
    int (*srx_ctx)(struct mw_fid_domain *domain, void *attr, void **rx_ep, void *context);
    int (*query_atomic)(struct mw_fid_domain *domain, int datatype, int op, void *attr,
                        uint64_t flags); /* since 1.5 */
    int (*query_collective)(struct mw_fid_domain *domain, int coll, void *attr,
                            uint64_t flags); /* since 1.9 */
    int (*endpoint2)(struct mw_fid_domain *domain, struct mw_fi_info *info, void **ep,
                     uint64_t flags, void *context); /* later than 1.14 */
};
struct mw_fid_av {
    struct mw_fid fid;
    const struct mw_fi_ops_av *ops;
};
struct mw_fi_ops_av {
    size_t size;
    int (*insert)(struct mw_fid_av *av, const void *address, size_t count, mw_fi_addr *addr,
                  uint64_t flags, void *context);
    int (*insertsvc)(struct mw_fid_av *av, const char *node, const char *service, mw_fi_addr *addr,
                     uint64_t flags, void *context);
    int (*insertsym)(struct mw_fid_av *av, const char *node, size_t nodes, const char *service,
                     size_t services, mw_fi_addr *addr, uint64_t flags, void *context);
    int (*remove)(struct mw_fid_av *av, mw_fi_addr *addr, size_t count, uint64_t flags);
    int (*lookup)(struct mw_fid_av *av, mw_fi_addr addr, void *address, size_t *length);
    const char *(*straddr)(struct mw_fid_av *av, const void *address, char *buffer, size_t *length);
};

struct mw_fi_ops_ep;
struct mw_fi_ops_cm;
struct mw_fi_ops_msg;
struct mw_fi_ops_rma;
struct mw_fi_ops_tagged;
struct mw_fi_ops_atomic;
struct mw_fid_ep {
    struct mw_fid fid;
    const struct mw_fi_ops_ep *ops;
    const struct mw_fi_ops_cm *cm;
    const struct mw_fi_ops_msg *msg;
    const struct mw_fi_ops_rma *rma;
    const struct mw_fi_ops_tagged *tagged;
    const struct mw_fi_ops_atomic *atomic;
};
struct mw_fi_ops_ep {
    size_t size;
    ssize_t (*cancel)(struct mw_fid *fid, void *context);
    int (*getopt)(struct mw_fid *fid, int level, int name, void *value, size_t *length);
    int (*setopt)(struct mw_fid *fid, int level, int name, const void *value, size_t length);
    int (*tx_ctx)(struct mw_fid_ep *sep, int index, void *attr, struct mw_fid_ep **tx_ep,
                  void *context);
    int (*rx_ctx)(struct mw_fid_ep *sep, int index, void *attr, struct mw_fid_ep **rx_ep,
                  void *context);
};
struct mw_fi_ops_cm {
    size_t size;
    int (*setname)(struct mw_fid *fid, void *address, size_t length);
    int (*getname)(struct mw_fid *fid, void *address, size_t *length);
    int (*getpeer)(struct mw_fid_ep *ep, void *address, size_t *length);
};

struct mw_fi_msg {
    const struct iovec *iov;
    void **desc;
    size_t count;
    mw_fi_addr addr;
};
struct mw_fi_ops_msg {
    size_t size;
    void *recv, *recvv, *recvmsg;
    ssize_t (*send)(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                    mw_fi_addr to, void *context);
    ssize_t (*sendv)(struct mw_fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                     mw_fi_addr to, void *context);
    ssize_t (*sendmsg)(struct mw_fid_ep *ep, const struct mw_fi_msg *msg, uint64_t flags);
    ssize_t (*inject)(struct mw_fid_ep *ep, const void *buffer, size_t length, mw_fi_addr to);
    ssize_t (*senddata)(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                        uint64_t data, mw_fi_addr to, void *context);
    ssize_t (*injectdata)(struct mw_fid_ep *ep, const void *buffer, size_t length, uint64_t data,
                          mw_fi_addr to);
};

/* struct fi_msg_tagged begins like struct fi_msg. */
struct mw_fi_ops_tagged {
    size_t size;
    void *recv, *recvv, *recvmsg;
    ssize_t (*send)(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                    mw_fi_addr to, uint64_t tag, void *context);
    ssize_t (*sendv)(struct mw_fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                     mw_fi_addr to, uint64_t tag, void *context);
    ssize_t (*sendmsg)(struct mw_fid_ep *ep, const struct mw_fi_msg *msg, uint64_t flags);
    ssize_t (*inject)(struct mw_fid_ep *ep, const void *buffer, size_t length, mw_fi_addr to,
                      uint64_t tag);
    ssize_t (*senddata)(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                        uint64_t data, mw_fi_addr to, uint64_t tag, void *context);
    ssize_t (*injectdata)(struct mw_fid_ep *ep, const void *buffer, size_t length, uint64_t data,
                          mw_fi_addr to, uint64_t tag);
};

/* struct fi_msg_rma begins like struct fi_msg. */
struct mw_fi_ops_rma {
    size_t size;
    ssize_t (*read)(struct mw_fid_ep *ep, void *buffer, size_t length, void *desc, mw_fi_addr from,
                    uint64_t address, uint64_t key, void *context);
    ssize_t (*readv)(struct mw_fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                     mw_fi_addr from, uint64_t address, uint64_t key, void *context);
    ssize_t (*readmsg)(struct mw_fid_ep *ep, const struct mw_fi_msg *msg, uint64_t flags);
    ssize_t (*write)(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                     mw_fi_addr to, uint64_t address, uint64_t key, void *context);
    ssize_t (*writev)(struct mw_fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                      mw_fi_addr to, uint64_t address, uint64_t key, void *context);
    ssize_t (*writemsg)(struct mw_fid_ep *ep, const struct mw_fi_msg *msg, uint64_t flags);
    ssize_t (*inject)(struct mw_fid_ep *ep, const void *buffer, size_t length, mw_fi_addr to,
                      uint64_t address, uint64_t key);
    ssize_t (*writedata)(struct mw_fid_ep *ep, const void *buffer, size_t length, void *desc,
                         uint64_t data, mw_fi_addr to, uint64_t address, uint64_t key,
                         void *context);
    ssize_t (*injectdata)(struct mw_fid_ep *ep, const void *buffer, size_t length, uint64_t data,
                          mw_fi_addr to, uint64_t address, uint64_t key);
};

struct mw_fi_ioc {
    void *address;
    size_t count;
};
struct mw_fi_msg_atomic {
    const struct mw_fi_ioc *iov;
    void **desc;
    size_t count;
    mw_fi_addr addr;
    const void *rma_iov;
    size_t rma_count;
    int datatype, op;
};
struct mw_fi_ops_atomic {
    size_t size;
    ssize_t (*write)(struct mw_fid_ep *ep, const void *buffer, size_t count, void *desc,
                     mw_fi_addr to, uint64_t address, uint64_t key, int datatype, int op,
                     void *context);
    ssize_t (*writev)(struct mw_fid_ep *ep, const struct mw_fi_ioc *iov, void **desc, size_t count,
                      mw_fi_addr to, uint64_t address, uint64_t key, int datatype, int op,
                      void *context);
    ssize_t (*writemsg)(struct mw_fid_ep *ep, const struct mw_fi_msg_atomic *msg, uint64_t flags);
    ssize_t (*inject)(struct mw_fid_ep *ep, const void *buffer, size_t count, mw_fi_addr to,
                      uint64_t address, uint64_t key, int datatype, int op);
    ssize_t (*readwrite)(struct mw_fid_ep *ep, const void *buffer, size_t count, void *desc,
                         void *result, void *result_desc, mw_fi_addr to, uint64_t address,
                         uint64_t key, int datatype, int op, void *context);
    ssize_t (*readwritev)(struct mw_fid_ep *ep, const struct mw_fi_ioc *iov, void **desc,
                          size_t count, struct mw_fi_ioc *result, void **result_desc,
                          size_t result_count, mw_fi_addr to, uint64_t address, uint64_t key,
                          int datatype, int op, void *context);
    ssize_t (*readwritemsg)(struct mw_fid_ep *ep, const struct mw_fi_msg_atomic *msg,
                            struct mw_fi_ioc *result, void **result_desc, size_t result_count,
                            uint64_t flags);
    ssize_t (*compwrite)(struct mw_fid_ep *ep, const void *buffer, size_t count, void *desc,
                         const void *compare, void *compare_desc, void *result, void *result_desc,
                         mw_fi_addr to, uint64_t address, uint64_t key, int datatype, int op,
                         void *context);
    ssize_t (*compwritev)(struct mw_fid_ep *ep, const struct mw_fi_ioc *iov, void **desc,
                          size_t count, const struct mw_fi_ioc *compare, void **compare_desc,
                          size_t compare_count, struct mw_fi_ioc *result, void **result_desc,
                          size_t result_count, mw_fi_addr to, uint64_t address, uint64_t key,
                          int datatype, int op, void *context);
    ssize_t (*compwritemsg)(struct mw_fid_ep *ep, const struct mw_fi_msg_atomic *msg,
                            const struct mw_fi_ioc *compare, void **compare_desc,
                            size_t compare_count, struct mw_fi_ioc *result, void **result_desc,
                            size_t result_count, uint64_t flags);
};

/* Log lines: struct fi_provider up to its name, and the logging object of fi_open ("logging", since
 * 1.16). */
struct mw_fi_provider {
    uint32_t version, fi_version;
    void *context[4];
    const char *name;
};
struct mw_fi_ops_log {
    size_t size;
    int (*enabled)(const struct mw_fi_provider *provider, int level, int subsystem, uint64_t flags);
    int (*ready)(const struct mw_fi_provider *provider, int level, int subsystem, uint64_t flags,
                 uint64_t *showtime);
    void (*log)(const struct mw_fi_provider *provider, int level, int subsystem,
                const char *function, int line, const char *text);
};
struct mw_fid_logging {
    struct mw_fid fid;
    struct mw_fi_ops_log *ops;
};

#endif
