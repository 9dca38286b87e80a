/* SPDX-License-Identifier: BSD-3-Clause */
/* What hsa.c needs of HSA's headers where these are not installed. */
#ifndef MW_STUB_HSA_TYPES_H
#define MW_STUB_HSA_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    HSA_STATUS_SUCCESS = 0,
    HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001,
    HSA_STATUS_ERROR_INVALID_AGENT = 0x1004,
    HSA_STATUS_ERROR_OUT_OF_RESOURCES = 0x1008,
    HSA_STATUS_ERROR_NOT_INITIALIZED = 0x100b,
} hsa_status_t;
typedef struct {
    uint64_t handle;
} hsa_agent_t;
typedef struct {
    uint64_t handle;
} hsa_amd_memory_pool_t;
typedef enum { HSA_DEVICE_TYPE_CPU = 0, HSA_DEVICE_TYPE_GPU = 1 } hsa_device_type_t;
typedef enum { HSA_AGENT_INFO_NAME = 0, HSA_AGENT_INFO_DEVICE = 17 } hsa_agent_info_t;
enum {
    HSA_AMD_AGENT_INFO_BDFID = 0xa006,
    HSA_AMD_AGENT_INFO_PRODUCT_NAME = 0xa009,
    HSA_AMD_AGENT_INFO_DOMAIN = 0xa00f,
    HSA_AMD_AGENT_INFO_UUID = 0xa011,
};
typedef enum { HSA_AMD_SEGMENT_GLOBAL = 0 } hsa_amd_segment_t;
typedef enum {
    HSA_AMD_MEMORY_POOL_INFO_SEGMENT = 0,
    HSA_AMD_MEMORY_POOL_INFO_SIZE = 2,
} hsa_amd_memory_pool_info_t;
typedef enum {
    HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS = 0,
    HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS = 1,
    HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO = 2,
} hsa_amd_agent_memory_pool_info_t;
typedef enum {
    HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED = 0,
    HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT = 2,
} hsa_amd_memory_pool_access_t;
typedef enum {
    HSA_AMD_LINK_INFO_TYPE_PCIE = 2,
    HSA_AMD_LINK_INFO_TYPE_XGMI = 4,
} hsa_amd_link_info_type_t;
typedef struct {
    uint32_t min_latency, max_latency, min_bandwidth, max_bandwidth;
    bool atomic_support_32bit, atomic_support_64bit, coherent_support;
    hsa_amd_link_info_type_t link_type;
    uint32_t numa_distance;
} hsa_amd_memory_pool_link_info_t;
typedef enum {
    HSA_EXT_POINTER_TYPE_UNKNOWN = 0,
    HSA_EXT_POINTER_TYPE_HSA = 1,
    HSA_EXT_POINTER_TYPE_LOCKED = 2,
} hsa_amd_pointer_type_t;
typedef struct {
    uint32_t size;
    hsa_amd_pointer_type_t type;
    void *agentBaseAddress, *hostBaseAddress;
    size_t sizeInBytes;
    void *userData;
    hsa_agent_t agentOwner;
    uint32_t global_flags;
} hsa_amd_pointer_info_t;

#endif
