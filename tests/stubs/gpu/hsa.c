/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stub of libhsa-runtime64.so.1: devices, links and pointers, for the part of HSA that mpiwatch
 * asks, and for the stub of HIP (hip.c). stub.h says what it can be told; ROCR_VISIBLE_DEVICES
 * works (places only). Compiled against the real headers where they are installed.
 */
#if __has_include(<hsa/hsa_ext_amd.h>)
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#else
#include "hsa_types.h"
#endif
#include <stdio.h>

#include "stub.h"

#define EXPORT __attribute__((visibility("default")))

/* Handles: of the CPU, and of device n; pools have those of their agents. */
#define CPU    1u
#define GPU(n) (100u + (unsigned)(n))

static int initialised; /* so many times */
static int visible[STUB_GPUS_MOST], visible_count;

static void choose_visible(void)
{
    const char *list = getenv("ROCR_VISIBLE_DEVICES");
    visible_count = 0;
    if (!list) {
        for (; visible_count < stub_devices(); visible_count++)
            visible[visible_count] = visible_count;
        return;
    }
    while (*list) {
        char *end;
        long place = strtol(list, &end, 10);
        if (end == list || place < 0 || place >= stub_devices() || visible_count == STUB_GPUS_MOST)
            return;
        visible[visible_count++] = (int)place;
        list = end + (*end == ',');
    }
}

EXPORT hsa_status_t hsa_init(void)
{
    if (stub_fails("init"))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (initialised++ == 0) {
        stub_start();
        choose_visible();
    }
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_shut_down(void)
{
    if (!initialised)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    initialised--;
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void *), void *data)
{
    if (!initialised)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    hsa_status_t status = callback((hsa_agent_t){CPU}, data);
    for (int i = 0; i < visible_count && status == HSA_STATUS_SUCCESS; i++)
        status = callback((hsa_agent_t){GPU(visible[i])}, data);
    return status;
}

EXPORT hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t what, void *value)
{
    int device = (int)agent.handle - (int)GPU(0), is_gpu = agent.handle != CPU;
    if (!initialised)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (is_gpu && (device < 0 || device >= STUB_GPUS_MOST))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    switch ((unsigned)what) {
    case HSA_AGENT_INFO_NAME:
        snprintf(value, 64, "%s", is_gpu ? "gfx90a" : "a processor");
        return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_DEVICE:
        *(hsa_device_type_t *)value = is_gpu ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU;
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_BDFID:
        *(uint32_t *)value = is_gpu ? stub_bus(device) << 8 : 0;
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_DOMAIN:
        *(uint32_t *)value = 0;
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
        snprintf(value, 64, "%s", is_gpu ? "Stub Instinct" : "a processor");
        return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_INFO_UUID:
        snprintf(value, 21, "GPU-%016x", (unsigned)agent.handle);
        return HSA_STATUS_SUCCESS;
    default:
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
}

EXPORT hsa_status_t hsa_amd_agent_iterate_memory_pools(
    hsa_agent_t agent, hsa_status_t (*callback)(hsa_amd_memory_pool_t, void *), void *data)
{
    if (!initialised)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    return callback((hsa_amd_memory_pool_t){agent.handle}, data);
}

EXPORT hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool,
                                                 hsa_amd_memory_pool_info_t what, void *value)
{
    if (!initialised)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    (void)pool;
    if (what == HSA_AMD_MEMORY_POOL_INFO_SEGMENT)
        *(hsa_amd_segment_t *)value = HSA_AMD_SEGMENT_GLOBAL;
    else if (what == HSA_AMD_MEMORY_POOL_INFO_SIZE)
        *(size_t *)value = (size_t)64 << 30;
    else
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent,
                                                       hsa_amd_memory_pool_t pool,
                                                       hsa_amd_agent_memory_pool_info_t what,
                                                       void *value)
{
    if (!initialised)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    int links = stub_links((int)agent.handle - (int)GPU(0), (int)pool.handle - (int)GPU(0));
    hsa_amd_memory_pool_link_info_t link = {.link_type = links ? HSA_AMD_LINK_INFO_TYPE_XGMI
                                                               : HSA_AMD_LINK_INFO_TYPE_PCIE,
                                            .min_bandwidth = (uint32_t)links * 50000,
                                            .max_bandwidth = (uint32_t)links * 50000};
    if (what == HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS)
        *(hsa_amd_memory_pool_access_t *)value =
            links ? HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT
                  : HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
    else if (what == HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS)
        *(uint32_t *)value = links ? 1 : 2;
    else if (what == HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO)
        for (int hop = 0; hop < (links ? 1 : 2); hop++)
            ((hsa_amd_memory_pool_link_info_t *)value)[hop] = link;
    else
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_amd_pointer_info(const void *address, hsa_amd_pointer_info_t *info,
                                         void *(*alloc)(size_t), uint32_t *count,
                                         hsa_agent_t **accessible)
{
    (void)alloc, (void)count, (void)accessible;
    if (!initialised)
        return HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (stub_fails("pointer") || info->size < 40)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    struct stub_region region = stub_find(address, 0);
    info->type = region.kind == STUB_FREE || region.kind == STUB_MANAGED
                     ? HSA_EXT_POINTER_TYPE_UNKNOWN
                 : region.kind == STUB_REGISTERED ? HSA_EXT_POINTER_TYPE_LOCKED
                                                  : HSA_EXT_POINTER_TYPE_HSA;
    info->agentBaseAddress = info->hostBaseAddress = region.start;
    info->sizeInBytes = region.size;
    info->agentOwner.handle = region.kind == STUB_DEVICE ? GPU(visible[region.device]) : CPU;
    return HSA_STATUS_SUCCESS;
}

/* --- for hip.c, in the place of what HIP uses of HSA --- */

EXPORT int stub_hsa_visible(void)
{
    return visible_count;
}

EXPORT void *stub_hsa_allocate(int kind, size_t size, int device)
{
    return stub_allocate((enum stub_kind)kind, size, device);
}

EXPORT int stub_hsa_register(void *start, size_t size)
{
    return stub_add(STUB_REGISTERED, start, size, -1);
}

EXPORT int stub_hsa_free(void *address)
{
    return stub_free(address);
}
