/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our own declarations of HSA's and CUDA's interfaces against their headers, where these are
 * installed: numbers, offsets and sizes, when this is compiled.
 */
#include <stdio.h>

#include "probe/gpu_abi.h"

#define SAME_NUMBER(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours)
#define SAME_SIZE(ours, theirs)   _Static_assert(sizeof(ours) == sizeof(theirs), #ours)
#define SAME_PLACE(our_type, ours, their_type, theirs)                                             \
    _Static_assert(offsetof(our_type, ours) == offsetof(their_type, theirs), #our_type " " #ours); \
    _Static_assert(sizeof(((our_type *)0)->ours) == sizeof(((their_type *)0)->theirs),             \
                   "size of " #our_type " " #ours)

#if __has_include(<hsa/hsa_ext_amd.h>)
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#define HAVE_HSA "HSA "

/* a function of theirs with parameters that differ from ours in name only: by size and place */
SAME_SIZE(uint32_t, hsa_status_t);
SAME_SIZE(uint32_t, hsa_device_type_t);
SAME_SIZE(uint32_t, hsa_agent_info_t);
SAME_SIZE(uint32_t, hsa_amd_memory_pool_info_t);
SAME_SIZE(uint32_t, hsa_amd_agent_memory_pool_info_t);
SAME_SIZE(uint32_t, hsa_amd_segment_t);
SAME_SIZE(uint32_t, hsa_amd_memory_pool_access_t);
SAME_SIZE(mw_hsa_agent, hsa_agent_t);
SAME_SIZE(mw_hsa_pool, hsa_amd_memory_pool_t);
#define SAME_CALL(returns, theirs, ...)                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(theirs), returns(__VA_ARGS__)), #theirs)
SAME_CALL(hsa_status_t, hsa_amd_pointer_info, const void *, hsa_amd_pointer_info_t *,
          void *(*)(size_t), uint32_t *, hsa_agent_t **);
SAME_CALL(hsa_status_t, hsa_iterate_agents, hsa_status_t (*)(hsa_agent_t, void *), void *);
SAME_CALL(hsa_status_t, hsa_agent_get_info, hsa_agent_t, hsa_agent_info_t, void *);
SAME_CALL(hsa_status_t, hsa_amd_agent_iterate_memory_pools, hsa_agent_t,
          hsa_status_t (*)(hsa_amd_memory_pool_t, void *), void *);
SAME_CALL(hsa_status_t, hsa_amd_memory_pool_get_info, hsa_amd_memory_pool_t,
          hsa_amd_memory_pool_info_t, void *);
SAME_CALL(hsa_status_t, hsa_amd_agent_memory_pool_get_info, hsa_agent_t, hsa_amd_memory_pool_t,
          hsa_amd_agent_memory_pool_info_t, void *);

SAME_NUMBER(MW_HSA_OK, HSA_STATUS_SUCCESS);
SAME_NUMBER(MW_HSA_BREAK, HSA_STATUS_INFO_BREAK);
SAME_NUMBER(MW_HSA_NOT_INITIALIZED, HSA_STATUS_ERROR_NOT_INITIALIZED);
SAME_NUMBER(MW_HSA_DEVICE_CPU, HSA_DEVICE_TYPE_CPU);
SAME_NUMBER(MW_HSA_DEVICE_GPU, HSA_DEVICE_TYPE_GPU);
SAME_NUMBER(MW_HSA_AGENT_NAME, HSA_AGENT_INFO_NAME);
SAME_NUMBER(MW_HSA_AGENT_DEVICE, HSA_AGENT_INFO_DEVICE);
SAME_NUMBER(MW_HSA_AGENT_BDFID, HSA_AMD_AGENT_INFO_BDFID);
SAME_NUMBER(MW_HSA_AGENT_PRODUCT, HSA_AMD_AGENT_INFO_PRODUCT_NAME);
SAME_NUMBER(MW_HSA_AGENT_DOMAIN, HSA_AMD_AGENT_INFO_DOMAIN);
SAME_NUMBER(MW_HSA_AGENT_UUID, HSA_AMD_AGENT_INFO_UUID);
SAME_NUMBER(MW_HSA_POOL_SEGMENT, HSA_AMD_MEMORY_POOL_INFO_SEGMENT);
SAME_NUMBER(MW_HSA_POOL_SIZE, HSA_AMD_MEMORY_POOL_INFO_SIZE);
SAME_NUMBER(MW_HSA_SEGMENT_GLOBAL, HSA_AMD_SEGMENT_GLOBAL);
SAME_NUMBER(MW_HSA_PAIR_ACCESS, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS);
SAME_NUMBER(MW_HSA_PAIR_HOPS, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS);
SAME_NUMBER(MW_HSA_PAIR_LINKS, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO);
SAME_NUMBER(0, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
SAME_NUMBER(MW_HSA_LINK_HYPERTRANSPORT, HSA_AMD_LINK_INFO_TYPE_HYPERTRANSPORT);
SAME_NUMBER(MW_HSA_LINK_QPI, HSA_AMD_LINK_INFO_TYPE_QPI);
SAME_NUMBER(MW_HSA_LINK_PCIE, HSA_AMD_LINK_INFO_TYPE_PCIE);
SAME_NUMBER(MW_HSA_LINK_INFINIBAND, HSA_AMD_LINK_INFO_TYPE_INFINBAND);
SAME_NUMBER(MW_HSA_LINK_XGMI, HSA_AMD_LINK_INFO_TYPE_XGMI);
SAME_NUMBER(MW_HSA_POINTER_UNKNOWN, HSA_EXT_POINTER_TYPE_UNKNOWN);
SAME_NUMBER(MW_HSA_POINTER_HSA, HSA_EXT_POINTER_TYPE_HSA);
SAME_NUMBER(MW_HSA_POINTER_LOCKED, HSA_EXT_POINTER_TYPE_LOCKED);
SAME_NUMBER(MW_HSA_POINTER_GRAPHICS, HSA_EXT_POINTER_TYPE_GRAPHICS);
SAME_NUMBER(MW_HSA_POINTER_IPC, HSA_EXT_POINTER_TYPE_IPC);

typedef hsa_amd_memory_pool_link_info_t their_link;
SAME_SIZE(struct mw_hsa_link, their_link);
SAME_PLACE(struct mw_hsa_link, min_bandwidth, their_link, min_bandwidth);
SAME_PLACE(struct mw_hsa_link, max_bandwidth, their_link, max_bandwidth);
SAME_PLACE(struct mw_hsa_link, type, their_link, link_type);
SAME_PLACE(struct mw_hsa_link, numa_distance, their_link, numa_distance);

typedef hsa_amd_pointer_info_t their_pointer; /* later ones are longer, and told our size */
_Static_assert(sizeof(struct mw_hsa_pointer) <= sizeof(their_pointer), "pointer");
SAME_PLACE(struct mw_hsa_pointer, size, their_pointer, size);
SAME_PLACE(struct mw_hsa_pointer, type, their_pointer, type);
SAME_PLACE(struct mw_hsa_pointer, agent_base, their_pointer, agentBaseAddress);
SAME_PLACE(struct mw_hsa_pointer, host_base, their_pointer, hostBaseAddress);
SAME_PLACE(struct mw_hsa_pointer, bytes, their_pointer, sizeInBytes);
SAME_PLACE(struct mw_hsa_pointer, user_data, their_pointer, userData);
SAME_PLACE(struct mw_hsa_pointer, owner, their_pointer, agentOwner);
SAME_PLACE(struct mw_hsa_pointer, global_flags, their_pointer, global_flags);
#else
#define HAVE_HSA ""
#endif

#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAVE_CUDA "CUDA "

_Static_assert(sizeof(int) == sizeof(CUresult), "result");
_Static_assert(sizeof(uint32_t) == sizeof(CUpointer_attribute), "attribute");
_Static_assert(sizeof(uint32_t) == sizeof(CUdevice_P2PAttribute), "attribute of a pair");
_Static_assert(sizeof(CUuuid) == 16, "id");
#define SAME_CUDA(theirs, ...)                                                                     \
    _Static_assert(__builtin_types_compatible_p(__typeof__(theirs), CUresult(__VA_ARGS__)), #theirs)
SAME_CUDA(cuPointerGetAttributes, unsigned, CUpointer_attribute *, void **, unsigned long long);
SAME_CUDA(cuDeviceGetCount, int *);
SAME_CUDA(cuDeviceGet, int *, int);
SAME_CUDA(cuDeviceGetName, char *, int, int);
SAME_CUDA(cuDeviceGetPCIBusId, char *, int, int);
SAME_CUDA(cuDeviceTotalMem_v2, size_t *, int);
SAME_CUDA(cuDeviceGetUuid_v2, CUuuid *, int);
SAME_CUDA(cuDeviceCanAccessPeer, int *, int, int);
SAME_CUDA(cuDeviceGetP2PAttribute, int *, CUdevice_P2PAttribute, int, int);
SAME_CUDA(cuCtxGetDevice, int *);

SAME_NUMBER(MW_CU_OK, CUDA_SUCCESS);
SAME_NUMBER(MW_CU_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
SAME_NUMBER(MW_CU_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED);
SAME_NUMBER(MW_CU_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
SAME_NUMBER(MW_CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME_NUMBER(MW_CU_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT);
SAME_NUMBER(MW_CU_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME_NUMBER(MW_CU_POINTER_IS_MANAGED, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME_NUMBER(MW_CU_POINTER_DEVICE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME_NUMBER(MW_CU_MEMORY_HOST, CU_MEMORYTYPE_HOST);
SAME_NUMBER(MW_CU_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE);
SAME_NUMBER(MW_CU_P2P_ACCESS, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED);
SAME_NUMBER(MW_CU_P2P_NATIVE_ATOMICS, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED);
#else
#define HAVE_CUDA ""
#endif

int main(void)
{
    puts("compared with the headers of: " HAVE_HSA HAVE_CUDA);
    return *(HAVE_HSA HAVE_CUDA) ? 0 : 77; /* nothing to compare with: skipped */
}
