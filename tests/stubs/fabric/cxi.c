/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider of libfabric for tests that calls itself "cxi" and has a card of 200 Gbit/s. Nothing
 * of a card is there: what it opens is another provider's, with some functions replaced, and it
 * fails on command. libfabric loads it as libcxi-fi.so from $FI_PROVIDER_PATH. It calls libfabric
 * past any preload: a real provider has objects of its own, which nobody else opens.
 *
 *   FAKE_UNDER      the provider below (tcp;ofi_rxm)
 *   FAKE_INTERFACE  the domain below (lo)
 *   FAKE_DOMAINS    how many cards: cxi0, cxi1 ... (1)
 *   FAKE_FAIL       getinfo, fabric, domain, cq, av, endpoint, bind or enable: fails there, in the
 * log, too FAKE_FAIL_RANK  only in this rank (its launcher's word); else in all FAKE_ERROR      the
 * code it fails with, positive; else the one that the real provider has FAKE_HANG       one of the
 * same words: never returns from there (FAKE_FAIL_RANK counts, too) FAKE_FLOOD      so many
 * warnings when an endpoint is opened in each of two places: one has four different texts, the
 * other no two alike FAKE_SHOUT      says something there without asking whether warnings are
 * wanted, as providers do before they abort
 *
 * Open MPI 4.1 crashes in its own clean-up when cq, av or bind fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#define HOST      "node0"
#define CARDS_MAX 8
/* Flags by which layers of libfabric ask for providers to put themselves on. */
#define OFI_LAYERS (1ULL << 58 | 1ULL << 59)

extern struct fi_provider cxi_provider;
#define WARN(subsystem, ...) FI_WARN(&cxi_provider, subsystem, __VA_ARGS__)

/* ---- what the environment asks for ---- */
static int is_my_rank(void)
{
    const char *wanted = getenv("FAKE_FAIL_RANK");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    return !wanted || !rank || atoi(wanted) == atoi(rank);
}

static int named(const char *variable, const char *step)
{
    const char *value = getenv(variable);
    return value && strcmp(value, step) == 0 && is_my_rank();
}

/* 0, or what this step fails with. Never returns where it is to hang. */
static int failure(const char *step, int usual)
{
    const char *error = getenv("FAKE_ERROR");
    while (named("FAKE_HANG", step))
        pause();
    return named("FAKE_FAIL", step) ? -(error ? atoi(error) : usual) : 0;
}

static const char *setting(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);
    return value ? value : otherwise;
}

/* ---- libfabric itself ---- */
static void *libfabric(const char *name)
{
    static void *handle;
    if (!handle)
        handle = dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return handle ? dlsym(handle, name) : NULL;
}

static int lower_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                         const struct fi_info *hints, struct fi_info **info)
{
    int (*real)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *,
                struct fi_info **);
    *(void **)&real = libfabric("fi_getinfo");
    return real ? real(version, node, service, flags, hints, info) : -FI_ENOSYS;
}

static int lower_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    int (*real)(struct fi_fabric_attr *, struct fid_fabric **, void *);
    *(void **)&real = libfabric("fi_fabric");
    return real ? real(attr, fabric, context) : -FI_ENOSYS;
}

/* ---- the card ---- */
static int nic_close(struct fid *fid)
{
    struct fid_nic *nic = (struct fid_nic *)fid;
    free(nic->device_attr->name);
    free(nic->device_attr->driver);
    free(nic->device_attr);
    free(nic->bus_attr);
    free(nic->link_attr->network_type);
    free(nic->link_attr);
    free(nic);
    return 0;
}

static struct fid_nic *nic_create(int number);

static int nic_control(struct fid *fid, int command, void *argument)
{
    struct fid_nic *nic = (struct fid_nic *)fid;
    if (command != FI_DUP)
        return -FI_ENOSYS;
    *(struct fid_nic **)argument = nic_create(atoi(nic->device_attr->name + strlen("cxi")));
    return 0;
}

static struct fi_ops nic_ops = {
    .size = sizeof(struct fi_ops), .close = nic_close, .control = nic_control};

static struct fid_nic *nic_create(int number)
{
    struct fid_nic *nic = calloc(1, sizeof *nic);
    nic->fid.fclass = FI_CLASS_NIC;
    nic->fid.ops = &nic_ops;
    nic->device_attr = calloc(1, sizeof *nic->device_attr);
    nic->bus_attr = calloc(1, sizeof *nic->bus_attr);
    nic->link_attr = calloc(1, sizeof *nic->link_attr);
    if (asprintf(&nic->device_attr->name, "cxi%d", number) < 0)
        abort();
    nic->device_attr->driver = strdup("cxi_ss1");
    nic->bus_attr->bus_type = FI_BUS_PCI;
    nic->bus_attr->attr.pci.bus_id = (uint8_t)(0xc1 + number);
    nic->link_attr->speed = 200000000000ull;
    nic->link_attr->state = FI_LINK_UP;
    nic->link_attr->network_type = strdup("HPC Ethernet");
    return nic;
}

/* ---- infos: ours for the caller, the lower provider's for what is opened ---- */
static struct fi_info *lower_infos[CARDS_MAX];

static char *replace(char *old, const char *text)
{
    free(old);
    return text ? strdup(text) : NULL;
}

/* The lower provider's info for one of ours, with what the caller settled on. */
static struct fi_info *lower_of(const struct fi_info *info)
{
    int number = atoi(info->domain_attr->name + strlen("cxi"));
    struct fi_info *lower = fi_dupinfo(lower_infos[number]);
    lower->caps = info->caps;
    lower->mode = info->mode;
    *lower->tx_attr = *info->tx_attr;
    *lower->rx_attr = *info->rx_attr;
    return lower;
}

static struct fi_info *info_create(const struct fi_info *lower, int number)
{
    struct fi_info *info = fi_dupinfo(lower);
    info->fabric_attr->prov_name = replace(info->fabric_attr->prov_name, NULL);
    info->fabric_attr->name = replace(info->fabric_attr->name, "cxi");
    free(info->domain_attr->name);
    if (asprintf(&info->domain_attr->name, "cxi%d", number) < 0)
        abort();
    if (info->nic)
        fi_close(&info->nic->fid);
    info->nic = nic_create(number);
    return info;
}

static const struct fi_info *pick(const struct fi_info *list)
{
    const char *interface = setting("FAKE_INTERFACE", "lo");
    for (const struct fi_info *info = list; info; info = info->next)
        if (info->addr_format == FI_SOCKADDR_IN && !strcmp(info->domain_attr->name, interface))
            return info;
    return list;
}

static int cxi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                       const struct fi_info *hints, struct fi_info **info)
{
    if (flags & OFI_LAYERS)
        return -FI_ENODATA;
    int rc = failure("getinfo", FI_ENODATA);
    if (rc) {
        WARN(FI_LOG_CORE, "%s: cxil_get_device_list returned: %d\n", HOST, -22);
        return rc;
    }
    struct fi_info *wanted = hints ? fi_dupinfo(hints) : fi_dupinfo(NULL);
    wanted->fabric_attr->prov_name =
        replace(wanted->fabric_attr->prov_name, setting("FAKE_UNDER", "tcp;ofi_rxm"));
    wanted->fabric_attr->name = replace(wanted->fabric_attr->name, NULL);
    wanted->domain_attr->name = replace(wanted->domain_attr->name, NULL);
    struct fi_info *lower = NULL;
    rc = lower_getinfo(version, node, service, flags, wanted, &lower);
    fi_freeinfo(wanted);
    if (rc)
        return rc;
    struct fi_info **tail = info;
    int cards = atoi(setting("FAKE_DOMAINS", "1"));
    for (int i = 0; i < cards && i < CARDS_MAX; i++) {
        if (!lower_infos[i])
            lower_infos[i] = fi_dupinfo(pick(lower));
        *tail = info_create(pick(lower), i);
        tail = &(*tail)->next;
    }
    *tail = NULL;
    fi_freeinfo(lower);
    return 0;
}

/* ---- endpoints ---- */
static struct fi_ops *ep_below;
static struct fi_ops ep_ops;

/* What the real provider logs when a network card has run out of communication profiles. */
static void log_no_profile(void)
{
    WARN(FI_LOG_DOMAIN, "%s: Failed to allocate CP, ret: %d VNI: %u TC: %s TYPE: %s\n", HOST, -22,
         1u, "BEST_EFFORT", "DEFAULT");
    WARN(FI_LOG_DOMAIN, "%s: Remapping original TC from %s to %s\n", HOST, "BEST_EFFORT",
         "BEST_EFFORT");
    WARN(FI_LOG_DOMAIN, "%s: Failed to allocate CP, ret: %d VNI: %u TC: %s TYPE: %s\n", HOST, -22,
         1u, "BEST_EFFORT", "DEFAULT");
    WARN(FI_LOG_DOMAIN, "%s: Failed to allocate CP: %d\n", HOST, -22);
    WARN(FI_LOG_EP_CTRL, "%s: Unable to allocate CMDQ, ret: %d\n", HOST, -22);
    WARN(FI_LOG_EP_CTRL, "%s: Failed to allocate control TXQ, ret: %d\n", HOST, -28);
    WARN(FI_LOG_EP_CTRL, "%s: cxip_ep_ctrl_init returned: %d\n", HOST, -262);
}

static int cxi_ep_control(struct fid *fid, int command, void *argument)
{
    int rc = command == FI_ENABLE ? failure("enable", FI_EDOMAIN) : 0;
    if (rc) {
        log_no_profile();
        return rc;
    }
    return ep_below->control(fid, command, argument);
}

static int cxi_ep_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    int rc = failure("bind", FI_EINVAL);
    if (rc) {
        WARN(FI_LOG_EP_CTRL, "%s: Invalid CQ domain for EP\n", HOST);
        return rc;
    }
    return ep_below->bind(fid, other, flags);
}

static void flood(int lines)
{
    for (int i = 0; i < lines; i++)
        WARN(FI_LOG_EP_DATA, "%s: TXC (0x1a2:%d): retry\n", HOST, i % 4);
    for (int i = 0; i < lines; i++)
        WARN(FI_LOG_CQ, "%s: event %d dropped\n", HOST, i);
}

/* ---- domains and fabrics ---- */
static struct fi_ops_domain *domain_below;
static struct fi_ops_domain domain_ops;
static struct fi_ops_fabric *fabric_below;
static struct fi_ops_fabric fabric_ops;

static int cxi_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                        void *context)
{
    flood(atoi(setting("FAKE_FLOOD", "0")));
    if (getenv("FAKE_SHOUT"))
        fi_log(&cxi_provider, FI_LOG_WARN, FI_LOG_CORE, __func__, __LINE__, "%s: %s\n", HOST,
               getenv("FAKE_SHOUT"));
    int rc = failure("endpoint", FI_ENOSPC);
    if (rc) {
        WARN(FI_LOG_EP_CTRL, "%s: Failed to allocate TX EQ resources, ret: %d\n", HOST, rc);
        return rc;
    }
    struct fi_info *lower = lower_of(info);
    rc = domain_below->endpoint(domain, lower, ep, context);
    fi_freeinfo(lower);
    if (rc)
        return rc;
    if (!ep_below) {
        ep_below = (*ep)->fid.ops;
        ep_ops = *ep_below;
        ep_ops.control = cxi_ep_control;
        ep_ops.bind = cxi_ep_bind;
    }
    (*ep)->fid.ops = &ep_ops;
    return 0;
}

static int cxi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
                       void *context)
{
    int rc = failure("cq", FI_ENOSPC);
    return rc ? rc : domain_below->cq_open(domain, attr, cq, context);
}

static int cxi_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
                       void *context)
{
    int rc = failure("av", FI_ENOMEM);
    return rc ? rc : domain_below->av_open(domain, attr, av, context);
}

static int cxi_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                      void *context)
{
    int rc = failure("domain", FI_EINVAL);
    if (rc) {
        WARN(FI_LOG_DOMAIN, "%s: cxip_domain_enable returned: %d\n", HOST, rc);
        return rc;
    }
    struct fi_info *lower = lower_of(info);
    rc = fabric_below->domain(fabric, lower, domain, context);
    fi_freeinfo(lower);
    if (rc)
        return rc;
    if (!domain_below) {
        domain_below = (*domain)->ops;
        domain_ops = *domain_below;
        domain_ops.endpoint = cxi_endpoint;
        domain_ops.cq_open = cxi_cq_open;
        domain_ops.av_open = cxi_av_open;
    }
    (*domain)->ops = &domain_ops;
    return 0;
}

static int cxi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    (void)attr;
    int rc = failure("fabric", FI_EINVAL);
    if (rc || !lower_infos[0])
        return rc ? rc : -FI_EINVAL;
    rc = lower_fabric(lower_infos[0]->fabric_attr, fabric, context);
    if (rc)
        return rc;
    if (!fabric_below) {
        fabric_below = (*fabric)->ops;
        fabric_ops = *fabric_below;
        fabric_ops.domain = cxi_domain;
    }
    (*fabric)->ops = &fabric_ops;
    return 0;
}

static void cxi_cleanup(void)
{
    for (int i = 0; i < CARDS_MAX; i++)
        fi_freeinfo(lower_infos[i]);
}

struct fi_provider cxi_provider = {
    .version = FI_VERSION(1, 0),
    .fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
    .name = "cxi",
    .getinfo = cxi_getinfo,
    .fabric = cxi_fabric,
    .cleanup = cxi_cleanup,
};

struct fi_provider *fi_prov_ini(void);
__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void)
{
    return &cxi_provider;
}
