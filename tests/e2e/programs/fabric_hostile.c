/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries that use libfabric or UCX and that a program loads and unloads as it likes. A library
 * (-DPLUGIN) sends a message to itself and ends its functions in calls of the fabric library, so
 * that these seem to come from its caller. The program takes letters, one step each:
 *
 *   I, F    MPI_Init, MPI_Finalize
 *   o, d    loads the first library of the arguments: RTLD_LOCAL; with RTLD_DEEPBIND
 *   O       loads the second one
 *   c, C    unloads the first, the second
 *   u, U    lets the first, the second one send its message
 *   t       eight threads load the first, use it and unload it, at once
 *   f       a child of fork uses the first
 *   x       exit(3) in this thread, while another one sends
 *   a       MPI_Abort in a callback that the library calls between its messages
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int use_fn(void (*callback)(void));

#ifdef PLUGIN
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        long rc_ = (long)(call);                                                                   \
        if (rc_ != 0)                                                                              \
            return printf("%s: %ld\n", #call, rc_), 1;                                             \
    } while (0)

/* Not inlined, and a jump to libfabric. */
int __attribute__((noipa)) tail_getinfo(struct fi_info *hints, struct fi_info **info);
int __attribute__((noipa)) tail_getinfo(struct fi_info *hints, struct fi_info **info)
{
    return fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, info);
}

struct all {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
};

static int wait_for(struct fid_cq *cq, unsigned wanted)
{
    for (unsigned long tries = 0; wanted; tries++) {
        struct fi_cq_tagged_entry entry;
        long got = fi_cq_read(cq, &entry, 1);
        if (got == 1)
            wanted--;
        else if (got != -FI_EAGAIN)
            return printf("fi_cq_read: %ld\n", got), 1;
    }
    return 0;
}

static int talk(struct all *all, void (*callback)(void))
{
    char name[512], from[64] = "hello", to[64] = "";
    size_t size = sizeof name;
    fi_addr_t self;
    MUST(fi_getname(&all->ep->fid, name, &size));
    MUST(fi_av_insert(all->av, name, 1, &self, 0, NULL) - 1);
    for (int i = 0; i < 3; i++) {
        long rc;
        MUST(fi_trecv(all->ep, to, sizeof to, NULL, FI_ADDR_UNSPEC, 1, 0, NULL));
        while ((rc = fi_tsend(all->ep, from, sizeof from, NULL, self, 1, NULL)) == -FI_EAGAIN)
            fi_cq_read(all->cq, name, 0);
        MUST(rc);
        if (wait_for(all->cq, 2))
            return 1;
        if (callback)
            callback();
    }
    MUST(strcmp(from, to));
    return 0;
}

static int open_all(struct all *all)
{
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .size = 64};
    MUST(fi_fabric(all->info->fabric_attr, &all->fabric, NULL));
    MUST(fi_domain(all->fabric, all->info, &all->domain, NULL));
    MUST(fi_av_open(all->domain, &av, &all->av, NULL));
    MUST(fi_cq_open(all->domain, &cq, &all->cq, NULL));
    MUST(fi_endpoint(all->domain, all->info, &all->ep, NULL));
    MUST(fi_ep_bind(all->ep, &all->av->fid, 0));
    MUST(fi_ep_bind(all->ep, &all->cq->fid, FI_TRANSMIT | FI_RECV));
    MUST(fi_enable(all->ep));
    return 0;
}

use_fn use;
int use(void (*callback)(void))
{
    struct all all = {0};
    struct fi_info *hints = fi_allocinfo();
    hints->caps = FI_TAGGED;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
    MUST(tail_getinfo(hints, &all.info));
    fi_freeinfo(hints);
    if (open_all(&all) || talk(&all, callback))
        return 1;
    MUST(fi_close(&all.ep->fid));
    MUST(fi_close(&all.cq->fid));
    MUST(fi_close(&all.av->fid));
    MUST(fi_close(&all.domain->fid));
    MUST(fi_close(&all.fabric->fid));
    fi_freeinfo(all.info);
    return 0;
}

/* A call of libfabric that seems to be the program's. */
int seems_yours(void **info);
int seems_yours(void **info)
{
    return fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, NULL, (struct fi_info **)info);
}
#else
#ifndef NO_MPI
#include <mpi.h>
static void begin(void)
{
    int level;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
}
static void end(void)
{
    MPI_Finalize();
}
static void abort_it(void)
{
    MPI_Abort(MPI_COMM_WORLD, 5);
}
#else
#define begin()  (void)0
#define end()    (void)0
#define abort_it abort
#endif

static const char *library[2];
static void *handle[2];

static void *load(int which, int flags)
{
    void *loaded = dlopen(library[which], RTLD_NOW | RTLD_LOCAL | flags);
    if (!loaded)
        exit((fprintf(stderr, "%s\n", dlerror()), 9));
    return loaded;
}

static int use_it(void *loaded, void (*callback)(void))
{
    use_fn *use = (use_fn *)dlsym(loaded, "use");
    int (*seems_yours)(void **) = (int (*)(void **))dlsym(loaded, "seems_yours");
    void (*give_back)(void *) = (void (*)(void *))dlsym(loaded, "fi_freeinfo");
    void *info = NULL;
    if (seems_yours) {
        int rc = seems_yours(&info);
        if (rc)
            printf("fi_getinfo seems ours and returns %d\n", rc);
        else if (give_back)
            give_back(info);
    }
    return use(callback);
}

static void *thread(void *unused)
{
    for (int i = 0; i < 3; i++) {
        void *loaded = load(0, 0);
        if (use_it(loaded, NULL))
            printf("a thread failed\n");
        dlclose(loaded);
    }
    return unused;
}

static void threads(void)
{
    pthread_t id[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&id[i], NULL, thread, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(id[i], NULL);
}

static void *sends_on(void *unused)
{
    for (;;)
        if (use_it(handle[0], NULL))
            printf("a thread failed\n");
    return unused;
}

static void exit_meanwhile(void)
{
    pthread_t id;
    pthread_create(&id, NULL, sends_on, NULL);
    usleep(200000);
    fflush(stdout);
    exit(3);
}

static void child(void)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        status = use_it(handle[0], NULL);
        fflush(stdout);
        _exit(status);
    }
    waitpid(pid, &status, 0);
    printf("child %d\n", status);
}

static void step(char what)
{
    switch (what) {
    case 'I':
        begin();
        break;
    case 'F':
        end();
        break;
    case 'o':
        handle[0] = load(0, 0);
        break;
    case 'd':
        handle[0] = load(0, RTLD_DEEPBIND);
        break;
    case 'O':
        handle[1] = load(1, 0);
        break;
    case 'c':
        dlclose(handle[0]);
        break;
    case 'C':
        dlclose(handle[1]);
        break;
    case 'u':
        printf("use %d\n", use_it(handle[0], NULL));
        break;
    case 'U':
        printf("use second %d\n", use_it(handle[1], NULL));
        break;
    case 't':
        threads();
        break;
    case 'f':
        child();
        break;
    case 'x':
        exit_meanwhile();
        break;
    case 'a':
        use_it(handle[0], abort_it);
        break;
    default:
        exit(8);
    }
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 2 && i + 2 < argc; i++)
        library[i] = argv[i + 2];
    for (const char *what = argc > 1 ? argv[1] : ""; *what; what++)
        step(*what);
    printf("done, errno is an int: %d\n", errno >= 0);
    return 0;
}
#endif
