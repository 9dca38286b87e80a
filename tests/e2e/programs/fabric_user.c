/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses libfabric itself, beside MPI. "own": an endpoint of its own sends to itself
 * in every way there is, and prints what the trace must say. "threads": the same from four threads
 * at once. "import": takes libfabric's log before MPI starts; "late": after that. The same source
 * is a library that does "own" (-DPLUGIN), and a program without libfabric that loads and unloads a
 * library
 * (-DHOST), three times.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef HOST
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        int rc_ = (int)(call);                                                                     \
        if (rc_ != 0) {                                                                            \
            fprintf(stderr, "%s: %d (%s)\n", #call, rc_, fi_strerror(-rc_));                       \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)
/* Again until the provider takes it: what it refuses is not to be counted. */
#define POST(call)                                                                                 \
    do {                                                                                           \
        ssize_t rc_ = (call);                                                                      \
        if (rc_ != -FI_EAGAIN) {                                                                   \
            MUST(rc_);                                                                             \
            break;                                                                                 \
        }                                                                                          \
        progress();                                                                                \
    } while (1)

static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_av *av;
static struct fid_mr *mr;
static fi_addr_t self;
static uint64_t remote;
static char buffer[4096];
static char inbox[1 << 16];

static void progress(void)
{
    struct fi_cq_tagged_entry entry[8];
    struct fi_cq_err_entry error;
    if (fi_cq_read(cq, entry, 8) == -FI_EAVAIL)
        fi_cq_readerr(cq, &error, 0);
}

static fi_addr_t insert_self(void)
{
    char name[256];
    size_t size = sizeof name;
    fi_addr_t address = FI_ADDR_UNSPEC;
    MUST(fi_getname(&ep->fid, name, &size));
    MUST(fi_av_insert(av, name, 1, &address, 0, NULL) == 1 ? 0 : -1);
    return address;
}

static void open_all(void)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
    hints->addr_format = FI_SOCKADDR_IN;
    MUST(fi_getinfo(FI_VERSION(1, 11), "127.0.0.1", NULL, FI_SOURCE, hints, &info));
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .size = 65536};
    struct fi_av_attr av_attr = {.type = FI_AV_MAP};
    MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
    MUST(fi_domain(fabric, info, &domain, NULL));
    MUST(fi_cq_open(domain, &cq_attr, &cq, NULL));
    MUST(fi_av_open(domain, &av_attr, &av, NULL));
    MUST(fi_endpoint(domain, info, &ep, NULL));
    MUST(fi_ep_bind(ep, &av->fid, 0));
    MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    MUST(fi_enable(ep));
    MUST(fi_mr_reg(domain, inbox, sizeof inbox, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 77, 0, &mr,
                   NULL));
    remote = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)inbox : 0;
    self = insert_self();
    fi_freeinfo(info);
    fi_freeinfo(hints);
}

static void close_all(void)
{
    for (int i = 0; i < 2000; i++)
        progress();
    MUST(fi_close(&ep->fid));
    MUST(fi_close(&mr->fid));
    MUST(fi_close(&av->fid));
    MUST(fi_close(&cq->fid));
    MUST(fi_close(&domain->fid));
    MUST(fi_close(&fabric->fid));
}

static void receive(int count)
{
    for (int i = 0; i < count; i++) {
        MUST(fi_recv(ep, inbox, 4096, fi_mr_desc(mr), FI_ADDR_UNSPEC, NULL));
        MUST(fi_trecv(ep, inbox, 4096, fi_mr_desc(mr), FI_ADDR_UNSPEC, 0, ~0ull, NULL));
    }
}

/* 6 messages of each kind: 100 + 2 × 50 + 60 + 10 + 70 + 11 bytes. */
static void send_messages(fi_addr_t to)
{
    struct iovec two[2] = {{buffer, 50}, {buffer + 100, 50}}, one = {buffer, 60};
    struct fi_msg msg = {.msg_iov = &one, .iov_count = 1, .addr = to};
    struct fi_msg_tagged tagged = {.msg_iov = &one, .iov_count = 1, .addr = to, .tag = 3};
    POST(fi_send(ep, buffer, 100, NULL, to, NULL));
    POST(fi_sendv(ep, two, NULL, 2, to, NULL));
    POST(fi_sendmsg(ep, &msg, 0));
    POST(fi_inject(ep, buffer, 10, to));
    POST(fi_senddata(ep, buffer, 70, NULL, 9, to, NULL));
    POST(fi_injectdata(ep, buffer, 11, 9, to));
    POST(fi_tsend(ep, buffer, 100, NULL, to, 3, NULL));
    POST(fi_tsendv(ep, two, NULL, 2, to, 3, NULL));
    POST(fi_tsendmsg(ep, &tagged, 0));
    POST(fi_tinject(ep, buffer, 10, to, 3));
    POST(fi_tsenddata(ep, buffer, 70, NULL, 9, to, 3, NULL));
    POST(fi_tinjectdata(ep, buffer, 11, 9, to, 3));
}

/* 3 puts of 100 + 100 + 8 bytes and 2 gets of 100 + 60; 2 atomic puts of 4 × 8 bytes, one of which
 * gets as much, and one that only gets. */
static void move_memory(fi_addr_t to)
{
    struct iovec two[2] = {{buffer, 50}, {buffer + 100, 50}}, one = {buffer, 60};
    struct fi_rma_iov there = {remote, 60, fi_mr_key(mr)};
    struct fi_msg_rma msg = {
        .msg_iov = &one, .iov_count = 1, .addr = to, .rma_iov = &there, .rma_iov_count = 1};
    uint64_t key = fi_mr_key(mr);
    static int64_t four[4], result[4];
    POST(fi_write(ep, buffer, 100, NULL, to, remote, key, NULL));
    POST(fi_writev(ep, two, NULL, 2, to, remote, key, NULL));
    POST(fi_inject_write(ep, buffer, 8, to, remote, key));
    POST(fi_read(ep, buffer + 512, 100, NULL, to, remote, key, NULL));
    POST(fi_readmsg(ep, &msg, 0));
    POST(fi_atomic(ep, four, 4, NULL, to, remote, key, FI_INT64, FI_SUM, NULL));
    POST(fi_fetch_atomic(ep, four, 4, NULL, result, NULL, to, remote, key, FI_INT64, FI_SUM, NULL));
    POST(fi_fetch_atomic(ep, four, 4, NULL, result, NULL, to, remote, key, FI_INT64, FI_ATOMIC_READ,
                         NULL));
}

/* What one endpoint sent, as a line; the same address inserted twice is one peer. */
static void use(int memory)
{
    open_all();
    receive(20);
    send_messages(self);
    fi_addr_t before = self;
    MUST(fi_av_remove(av, &self, 1, 0));
    self = insert_self();
    send_messages(self);
    if (memory)
        move_memory(self);
    close_all();
    printf("sends 24 sent 1404%s again %d\n", memory ? " puts 5 put 272 gets 4 got 224" : "",
           before == self);
}

#ifdef PLUGIN
void plugin_use(void);
void plugin_use(void)
{
    use(0);
}
#else
#define THREADS 4
#define INJECTS 5000

static void *inject_many(void *unused)
{
    (void)unused;
    for (int i = 0; i < INJECTS; i++)
        POST(fi_inject(ep, buffer, 16, self));
    return NULL;
}

static void *drain(void *stop)
{
    while (!*(volatile int *)stop) {
        progress();
        fi_recv(ep, inbox, 4096, fi_mr_desc(mr), FI_ADDR_UNSPEC, NULL);
    }
    return NULL;
}

static void use_threads(void)
{
    pthread_t thread[THREADS], drainer;
    volatile int stop = 0;
    open_all();
    pthread_create(&drainer, NULL, drain, (void *)&stop);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, inject_many, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    stop = 1;
    pthread_join(drainer, NULL);
    close_all();
    printf("sends %d sent %d\n", THREADS * INJECTS, THREADS * INJECTS * 16);
}

static int lines;

static int log_enabled(const struct fi_provider *provider, enum fi_log_level level,
                       enum fi_log_subsys subsystem, uint64_t flags)
{
    (void)provider, (void)subsystem, (void)flags;
    return level == FI_LOG_WARN;
}

static void log_line(const struct fi_provider *provider, enum fi_log_level level,
                     enum fi_log_subsys subsystem, const char *function, int line, const char *text)
{
    (void)level, (void)subsystem, (void)function, (void)line;
    lines++;
    if (strcmp(provider->name, "cxi") == 0)
        printf("taken: %s", text);
}

static int take_log(void)
{
    static struct fi_ops_log ops = {.size = sizeof ops, .enabled = log_enabled, .log = log_line};
    static struct fid_logging object = {.ops = &ops};
    return fi_import_log(FI_VERSION(1, 13), 0, &object);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "own";
    int provided;
    if (strcmp(mode, "import") == 0)
        printf("import %d\n", take_log());
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(mode, "late") == 0)
        printf("import %d\n", take_log());
    if (strcmp(mode, "own") == 0)
        use(1);
    if (strcmp(mode, "threads") == 0)
        use_threads();
    if (strcmp(mode, "late") == 0) { /* what is logged now is the importer's */
        struct fi_info *info = NULL, *hints = fi_allocinfo();
        hints->fabric_attr->prov_name = strdup("cxi");
        printf("getinfo %d\n", fi_getinfo(FI_VERSION(1, 11), NULL, NULL, 0, hints, &info));
    }
    MPI_Finalize();
    if (strcmp(mode, "import") == 0)
        printf("lines %d\n", lines > 0);
    return 0;
}
#endif
#else
static void use_plugin(const char *path)
{
    for (int i = 0; i < 3; i++) {
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void (*work)(void) = NULL;
        if (handle)
            *(void **)&work = dlsym(handle, "plugin_use");
        if (!work) {
            fprintf(stderr, "%s\n", dlerror());
            exit(2);
        }
        work();
        dlclose(handle);
    }
    printf("unloaded %d\n", dlopen("libfabric.so.1", RTLD_NOLOAD | RTLD_LAZY) == NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 1)
        use_plugin(argv[1]);
    MPI_Finalize();
    return 0;
}
#endif
