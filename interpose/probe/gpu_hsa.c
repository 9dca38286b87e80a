/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AMD's GPUs, by the HSA runtime below HIP. HIP itself is never called: each of its calls
 * initialises it, and sets the last error of the thread. HSA has no such state: before hsa_init its
 * functions say so and do nothing. Devices have the numbers that HIP gives them. Any thread.
 *
 * HSA does not know managed memory that HIP keeps by the kernel's heterogeneous memory management:
 * it counts as host memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/gpu.h"
#include "probe/gpu_abi.h"
#include "record/record.h"

#define GPUS 64u

static struct {
    mw_hsa_pointer_info *pointer_info;
    mw_hsa_iterate_agents *iterate_agents;
    mw_hsa_agent_get_info *agent_get_info;
    mw_hsa_iterate_pools *iterate_pools;
    mw_hsa_pool_get_info *pool_get_info;
    mw_hsa_pair_get_info *pair_get_info;
} hsa;

struct gpu {
    mw_hsa_agent agent;
    mw_hsa_pool pool; /* of its own memory */
    uint64_t memory;
    int index; /* HIP's; -1: HIP_VISIBLE_DEVICES leaves it out */
};
struct gpus {
    unsigned count, visible;
    struct gpu gpu[GPUS];
};
static struct gpus known;
static _Atomic int are_known;
static struct mw_lock lock;

static int attach(const struct mw_module_entry *library)
{
    hsa.pointer_info = (mw_hsa_pointer_info *)mw_elf_symbol(library, "hsa_amd_pointer_info");
    hsa.iterate_agents = (mw_hsa_iterate_agents *)mw_elf_symbol(library, "hsa_iterate_agents");
    hsa.agent_get_info = (mw_hsa_agent_get_info *)mw_elf_symbol(library, "hsa_agent_get_info");
    hsa.iterate_pools =
        (mw_hsa_iterate_pools *)mw_elf_symbol(library, "hsa_amd_agent_iterate_memory_pools");
    hsa.pool_get_info =
        (mw_hsa_pool_get_info *)mw_elf_symbol(library, "hsa_amd_memory_pool_get_info");
    hsa.pair_get_info =
        (mw_hsa_pair_get_info *)mw_elf_symbol(library, "hsa_amd_agent_memory_pool_get_info");
    return hsa.pointer_info && hsa.iterate_agents && hsa.agent_get_info && hsa.iterate_pools &&
           hsa.pool_get_info && hsa.pair_get_info;
}

/* --- which devices there are --- */

static uint32_t pool_visit(mw_hsa_pool pool, void *data)
{
    struct gpu *gpu = data;
    uint32_t segment = UINT32_MAX;
    size_t size = 0;
    if (hsa.pool_get_info(pool, MW_HSA_POOL_SEGMENT, &segment) == MW_HSA_OK &&
        segment == MW_HSA_SEGMENT_GLOBAL &&
        hsa.pool_get_info(pool, MW_HSA_POOL_SIZE, &size) == MW_HSA_OK && size > gpu->memory) {
        gpu->pool = pool;
        gpu->memory = size;
    }
    return MW_HSA_OK;
}

static uint32_t agent_visit(mw_hsa_agent agent, void *data)
{
    struct gpus *gpus = data;
    uint32_t type = MW_HSA_DEVICE_CPU;
    if (hsa.agent_get_info(agent, MW_HSA_AGENT_DEVICE, &type) != MW_HSA_OK ||
        type != MW_HSA_DEVICE_GPU)
        return MW_HSA_OK;
    if (gpus->count == GPUS)
        return MW_HSA_BREAK;
    struct gpu *gpu = &gpus->gpu[gpus->count++];
    *gpu = (struct gpu){.agent = agent, .index = -1};
    hsa.iterate_pools(agent, pool_visit, gpu);
    return MW_HSA_OK;
}

/* The device that an item of HIP_VISIBLE_DEVICES names, by its place or its id; NULL none. */
static struct gpu *named(struct gpus *gpus, const char *item, size_t length)
{
    char uuid[MW_HSA_UUID_SIZE + 1] = "";
    char *end;
    unsigned long place = strtoul(item, &end, 10);
    if (end != item && end == item + length)
        return place < gpus->count ? &gpus->gpu[place] : NULL;
    for (unsigned i = 0; i < gpus->count; i++)
        if (hsa.agent_get_info(gpus->gpu[i].agent, MW_HSA_AGENT_UUID, uuid) == MW_HSA_OK &&
            strlen(uuid) == length && strncmp(uuid, item, length) == 0)
            return &gpus->gpu[i];
    return NULL;
}

/* ROCR_VISIBLE_DEVICES has been applied by HSA. HIP's list ends at the first item that is none. */
static void number_visible(struct gpus *gpus)
{
    const char *list = getenv("HIP_VISIBLE_DEVICES");
    if (!list || !*list)
        list = getenv("CUDA_VISIBLE_DEVICES"); /* HIP looks at this, too */
    if (!list || !*list) {
        for (; gpus->visible < gpus->count; gpus->visible++)
            gpus->gpu[gpus->visible].index = (int)gpus->visible;
        return;
    }
    while (*list) {
        size_t length = strcspn(list, ",");
        struct gpu *gpu = named(gpus, list, length);
        if (!gpu || gpu->index >= 0)
            return;
        gpu->index = (int)gpus->visible++;
        list += length + (list[length] == ',');
    }
}

/* 0: HSA is not initialised. It is asked without a lock: it may call back, and may wait. */
static int learn(void)
{
    struct gpus found = {0};
    if (atomic_load_explicit(&are_known, memory_order_acquire))
        return 1;
    if (hsa.iterate_agents(agent_visit, &found) == MW_HSA_NOT_INITIALIZED)
        return 0;
    number_visible(&found);
    mw_lock_take(&lock);
    if (!atomic_load(&are_known)) {
        known = found;
        atomic_store_explicit(&are_known, 1, memory_order_release);
    }
    mw_lock_drop(&lock);
    return 1;
}

static int device_count(void)
{
    return learn() ? (int)known.visible : -1;
}

static const struct gpu *gpu_at(unsigned index)
{
    for (unsigned i = 0; learn() && i < known.count; i++)
        if (known.gpu[i].index == (int)index)
            return &known.gpu[i];
    return NULL;
}

static void text_of(const struct gpu *gpu, uint32_t what, char *out, size_t capacity)
{
    char text[MW_HSA_NAME_SIZE + 1] = "";
    if (hsa.agent_get_info(gpu->agent, what, text) == MW_HSA_OK)
        snprintf(out, capacity, "%s", text);
}

static int device_at(unsigned index, struct mw_gpu_device *device)
{
    const struct gpu *gpu = gpu_at(index);
    uint32_t place = 0, domain = 0;
    if (!gpu)
        return 0;
    *device = (struct mw_gpu_device){.index = index, .memory = gpu->memory};
    text_of(gpu, MW_HSA_AGENT_PRODUCT, device->name, sizeof device->name);
    if (!*device->name)
        text_of(gpu, MW_HSA_AGENT_NAME, device->name, sizeof device->name);
    text_of(gpu, MW_HSA_AGENT_UUID, device->uuid, sizeof device->uuid);
    if (hsa.agent_get_info(gpu->agent, MW_HSA_AGENT_BDFID, &place) == MW_HSA_OK) {
        hsa.agent_get_info(gpu->agent, MW_HSA_AGENT_DOMAIN, &domain);
        snprintf(device->pci, sizeof device->pci, "%04x:%02x:%02x.%x", domain, place >> 8 & 0xff,
                 place >> 3 & 0x1f, place & 7);
    }
    return 1;
}

static const char *link_name(uint32_t type)
{
    static const char *const names[] = {
        [MW_HSA_LINK_HYPERTRANSPORT] = "hypertransport",
        [MW_HSA_LINK_QPI] = "qpi",
        [MW_HSA_LINK_PCIE] = "pcie",
        [MW_HSA_LINK_INFINIBAND] = "infiniband",
        [MW_HSA_LINK_XGMI] = "xgmi",
    };
    return type < sizeof names / sizeof *names ? names[type] : NULL;
}

#define HOPS 8u

static int peer_at(unsigned from, unsigned to, struct mw_gpu_peer *peer)
{
    const struct gpu *a = gpu_at(from), *b = gpu_at(to);
    struct mw_hsa_link links[HOPS];
    uint32_t access = 0, hops = 0;
    if (!a || !b || !b->memory ||
        hsa.pair_get_info(a->agent, b->pool, MW_HSA_PAIR_ACCESS, &access) != MW_HSA_OK)
        return 0;
    *peer = (struct mw_gpu_peer){.access = access != 0};
    if (hsa.pair_get_info(a->agent, b->pool, MW_HSA_PAIR_HOPS, &hops) != MW_HSA_OK)
        return 1;
    peer->hops = hops;
    if (hops >= 1 && hops <= HOPS &&
        hsa.pair_get_info(a->agent, b->pool, MW_HSA_PAIR_LINKS, links) == MW_HSA_OK)
        peer->link = link_name(links[0].type);
    return 1;
}

/* --- memory --- */

static const struct gpu *gpu_of(mw_hsa_agent agent)
{
    for (unsigned i = 0; learn() && i < known.count; i++)
        if (known.gpu[i].agent.handle == agent.handle)
            return &known.gpu[i];
    return NULL;
}

/* Memory of an agent's: of a GPU, or of a CPU, which is pinned. */
static struct mw_gpu_memory memory_at(mw_hsa_agent owner)
{
    struct mw_gpu_memory memory = {.kind = MW_MEMORY_DEVICE, .device = -1};
    uint32_t type = MW_HSA_DEVICE_CPU, status;
    const struct gpu *gpu = gpu_of(owner);
    if (gpu) {
        memory.device = gpu->index;
    } else if ((status = hsa.agent_get_info(owner, MW_HSA_AGENT_DEVICE, &type)) != MW_HSA_OK) {
        memory.kind = MW_MEMORY_UNKNOWN;
        memory.error = (int)status;
    } else if (type == MW_HSA_DEVICE_CPU) {
        memory.kind = MW_MEMORY_PINNED;
    }
    return memory;
}

static struct mw_gpu_memory memory_of(const void *address)
{
    struct mw_hsa_pointer info = {.size = sizeof info};
    struct mw_gpu_memory memory = {.kind = MW_MEMORY_HOST, .device = -1};
    uint32_t status = hsa.pointer_info(address, &info, NULL, NULL, NULL);
    if (status == MW_HSA_NOT_INITIALIZED)
        return memory;
    if (status != MW_HSA_OK) {
        memory.kind = MW_MEMORY_UNKNOWN;
        memory.error = (int)status;
        return memory;
    }
    if (info.type == MW_HSA_POINTER_UNKNOWN || info.type == MW_HSA_POINTER_RESERVED)
        return memory;
    if (info.type == MW_HSA_POINTER_LOCKED) {
        memory.kind = MW_MEMORY_REGISTERED;
        return memory;
    }
    return memory_at(info.owner);
}

static const char *const drivers[] = {"libhsakmt.so", "libhsa-runtime64.so", "libdrm.so", NULL};

const struct mw_gpu_runtime mw_gpu_hsa = {
    .name = "hip",
    .object = "libhsa-runtime64.so",
    .symbol = "hsa_amd_pointer_info",
    .drivers = drivers,
    .needed = 2,
    .attach = attach,
    .memory_of = memory_of,
    .device_count = device_count,
    .device_at = device_at,
    .peer_at = peer_at,
};
