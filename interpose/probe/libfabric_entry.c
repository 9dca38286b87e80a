/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points of libfabric that are exported by us, one for each version node, as the layout
 * of structures differs between them: each forwards to the same node's real one. A node that is not
 * here is not intercepted. On the threads that call libfabric, also before MPI_Init and in
 * processes that never call it: there they forward and do nothing else.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "probe/libfabric.h"
#include "probe/real.h"
#include "record/record.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)
#define NODATA (-61) /* what a layer gets for every provider that is not there */

/* Node NULL: whoever asked for no version gets what the loader would have given. */
static void *real_of(const char *name, const char *node, const void *caller)
{
    void *real = NULL;
    if (atomic_load_explicit(&mw_recording.state, memory_order_relaxed) == MW_IDLE)
        real = node ? dlvsym(RTLD_NEXT, name, node) : dlsym(RTLD_NEXT, name);
    if (!real) /* takes the table of loaded objects, which nobody needs who never calls MPI */
        real = mw_real_find(name, node, caller);
    if (!real && node)
        real = mw_real_find(name, NULL, caller);
    return real ? real : mw_real_anywhere(name, node);
}

typedef int (*getinfo_fn)(uint32_t version, const char *node, const char *service, uint64_t flags,
                          const struct mw_fi_info *hints, struct mw_fi_info **info);
struct getinfo {
    uint32_t version;
    const char *node, *service;
    uint64_t flags;
    const struct mw_fi_info *hints;
    struct mw_fi_info **info;
};

static int getinfo_recorded(getinfo_fn real, const struct getinfo *a, int has_nic,
                            const void *caller)
{
    struct mw_fi_identity identity;
    struct mw_fi_attempt attempt = {.call = "fi_getinfo", .identity = &identity};
    mw_fi_identify(&identity, a->hints, caller);
    if (has_nic)
        mw_fi_module_has_nic(identity.caller);
    if (a->hints && a->hints->fabric_attr)
        attempt.asked = a->hints->fabric_attr->prov_name;
    identity.provider[0] = '\0'; /* asked for, not opened */
    if (!identity.inner)
        mw_fi_attempt_begin(&attempt);
    int rc = real(a->version, a->node, a->service, a->flags, a->hints, a->info);
    if (!identity.inner)
        mw_fi_attempt_end(&attempt, rc, rc == 0 ? *a->info : NULL, has_nic);
    else if (rc != NODATA)
        mw_fi_attempt_failed("fi_getinfo", &identity, rc);
    return rc;
}

static int getinfo(const char *name_node, const struct getinfo *a, const void *caller)
{
    getinfo_fn real;
    *(void **)&real = real_of("fi_getinfo", name_node, caller);
    if (!real)
        return -MW_FI_ENOSYS;
    if (!mw_probe_on(&mw_probe_libfabric))
        return real(a->version, a->node, a->service, a->flags, a->hints, a->info);
    void *address = *(void **)&real;
    int error = errno;
    mw_fi_attempts_library(address);
    mw_fi_log_attach(address);
    mw_fi_version(address);
    /* FABRIC_1.2 added the NIC; without a version it is the library's latest. */
    int has_nic = name_node
                      ? strcmp(name_node, "FABRIC_1.0") != 0 && strcmp(name_node, "FABRIC_1.1") != 0
                      : mw_fi_library_symbol(address, "fi_getinfo", "FABRIC_1.2") != NULL;
    errno = error;
    return getinfo_recorded(real, a, has_nic, caller);
}

#define GETINFO(suffix, node_name, symbol)                                                         \
    EXPORT int mw_fi_getinfo##suffix(uint32_t version, const char *node, const char *service,      \
                                     uint64_t flags, const struct mw_fi_info *hints,               \
                                     struct mw_fi_info **info);                                    \
    int mw_fi_getinfo##suffix(uint32_t version, const char *node, const char *service,             \
                              uint64_t flags, const struct mw_fi_info *hints,                      \
                              struct mw_fi_info **info)                                            \
    {                                                                                              \
        struct getinfo all = {version, node, service, flags, hints, info};                         \
        return getinfo(node_name, &all, CALLER);                                                   \
    }                                                                                              \
    __asm__(".symver mw_fi_getinfo" #suffix ",fi_getinfo" symbol);

GETINFO(_1_0, "FABRIC_1.0", "@FABRIC_1.0")
GETINFO(_1_1, "FABRIC_1.1", "@FABRIC_1.1")
GETINFO(_1_2, "FABRIC_1.2", "@FABRIC_1.2")
GETINFO(_1_3, "FABRIC_1.3", "@FABRIC_1.3")
GETINFO(_1_7, "FABRIC_1.7", "@FABRIC_1.7")
GETINFO(_1_8, "FABRIC_1.8", "@FABRIC_1.8")
GETINFO(_1_9, "FABRIC_1.9", "@FABRIC_1.9")
GETINFO(_1_10, "FABRIC_1.10", "@FABRIC_1.10")
GETINFO(_any, NULL, "@@MPIWATCH_FABRIC")

/* fi_fabric and fi_fabric2 differ in what they are given. */
typedef int (*fabric_fn)(struct mw_fi_fabric_attr *attr, void **fabric, void *context);
typedef int (*fabric2_fn)(struct mw_fi_info *info, void **fabric, uint64_t flags, void *context);
struct fabric_call {
    fabric_fn one;
    fabric2_fn two;
    struct mw_fi_fabric_attr *attr;
    struct mw_fi_info *info;
    void **fabric;
    uint64_t flags;
    void *context;
};

static int fabric_real(const struct fabric_call *a)
{
    return a->one ? a->one(a->attr, a->fabric, a->context)
                  : a->two(a->info, a->fabric, a->flags, a->context);
}

static int fabric_call(const struct fabric_call *a, const void *caller)
{
    struct mw_fi_identity identity;
    struct mw_fi_attempt attempt = {.call = a->one ? "fi_fabric" : "fi_fabric2",
                                    .identity = &identity};
    if (!mw_probe_on(&mw_probe_libfabric))
        return fabric_real(a);
    uint64_t since = mw_fi_serial();
    mw_fi_identify(&identity, a->info, caller);
    if (a->attr) {
        mw_fi_copy_text(identity.provider, sizeof identity.provider, a->attr->prov_name);
        mw_fi_copy_text(identity.fabric, sizeof identity.fabric, a->attr->name);
    }
    mw_fi_attempt_begin(&attempt);
    int rc = fabric_real(a);
    if (rc == 0)
        mw_fi_opened_fabric(*a->fabric, &identity, since);
    mw_fi_attempt_end(&attempt, rc, NULL, 0);
    return rc;
}

#define FABRIC(suffix, node_name, symbol)                                                          \
    EXPORT int mw_fi_fabric##suffix(struct mw_fi_fabric_attr *attr, void **fabric, void *context); \
    int mw_fi_fabric##suffix(struct mw_fi_fabric_attr *attr, void **fabric, void *context)         \
    {                                                                                              \
        struct fabric_call all = {.attr = attr, .fabric = fabric, .context = context};             \
        *(void **)&all.one = real_of("fi_fabric", node_name, CALLER);                              \
        return all.one ? fabric_call(&all, CALLER) : -MW_FI_ENOSYS;                                \
    }                                                                                              \
    __asm__(".symver mw_fi_fabric" #suffix ",fi_fabric" symbol);

FABRIC(_1_0, "FABRIC_1.0", "@FABRIC_1.0")
FABRIC(_1_1, "FABRIC_1.1", "@FABRIC_1.1")
FABRIC(_any, NULL, "@@MPIWATCH_FABRIC")

EXPORT int mw_fi_fabric2(struct mw_fi_info *info, void **fabric, uint64_t flags, void *context);
__asm__(".symver mw_fi_fabric2,fi_fabric2@@FABRIC_1.8");

int mw_fi_fabric2(struct mw_fi_info *info, void **fabric, uint64_t flags, void *context)
{
    struct fabric_call all = {.info = info, .fabric = fabric, .flags = flags, .context = context};
    *(void **)&all.two = real_of("fi_fabric2", "FABRIC_1.8", CALLER);
    return all.two ? fabric_call(&all, CALLER) : -MW_FI_ENOSYS;
}

EXPORT int mw_fi_open(uint32_t version, const char *name, void *attr, size_t size, uint64_t flags,
                      struct mw_fid **fid, void *context);
__asm__(".symver mw_fi_open,fi_open@@FABRIC_1.5");

/* Whoever opens the log itself shall get it. */
int mw_fi_open(uint32_t version, const char *name, void *attr, size_t size, uint64_t flags,
               struct mw_fid **fid, void *context)
{
    int (*real)(uint32_t, const char *, void *, size_t, uint64_t, struct mw_fid **, void *);
    *(void **)&real = real_of("fi_open", "FABRIC_1.5", CALLER);
    if (!real)
        return -MW_FI_ENOSYS;
    if (name && strcasecmp(name, "logging") == 0)
        mw_fi_log_yield(*(void **)&real);
    return real(version, name, attr, size, flags, fid, context);
}
