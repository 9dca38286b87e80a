/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is used of the binary interfaces of AMD's HSA runtime (libhsa-runtime64.so.1) and NVIDIA's
 * driver library (libcuda.so.1), which are never linked: tests/unit/interpose/test_gpu_abi.c
 * compares it with their headers. Both promise not to change it within these sonames. No code.
 */
#ifndef MW_PROBE_GPU_ABI_H
#define MW_PROBE_GPU_ABI_H

#include <stddef.h>
#include <stdint.h>

/* --- HSA --- */

typedef struct {
    uint64_t handle;
} mw_hsa_agent;
typedef struct {
    uint64_t handle;
} mw_hsa_pool;

enum {
    MW_HSA_OK = 0,
    MW_HSA_BREAK = 1, /* what a callback returns to end the iteration */
    MW_HSA_NOT_INITIALIZED = 0x100b,
};

enum { MW_HSA_DEVICE_CPU = 0, MW_HSA_DEVICE_GPU = 1 };

enum {                        /* hsa_agent_info_t and hsa_amd_agent_info_t */
       MW_HSA_AGENT_NAME = 0, /* char[64] */
       MW_HSA_AGENT_DEVICE = 17,
       MW_HSA_AGENT_BDFID = 0xa006,   /* uint32_t: bus, device (5 bits), function (3 bits) */
       MW_HSA_AGENT_PRODUCT = 0xa009, /* char[64] */
       MW_HSA_AGENT_DOMAIN = 0xa00f,  /* uint32_t */
       MW_HSA_AGENT_UUID = 0xa011,    /* char[21] */
};
#define MW_HSA_NAME_SIZE 64u
#define MW_HSA_UUID_SIZE 21u

enum { MW_HSA_POOL_SEGMENT = 0, MW_HSA_POOL_SIZE = 2 }; /* uint32_t, size_t */
enum { MW_HSA_SEGMENT_GLOBAL = 0 };

enum {                         /* of an agent and a pool */
       MW_HSA_PAIR_ACCESS = 0, /* uint32_t: 0 never, 1 by default, 2 when asked for */
       MW_HSA_PAIR_HOPS = 1,   /* uint32_t */
       MW_HSA_PAIR_LINKS = 2,  /* struct mw_hsa_link, one a hop */
};

struct mw_hsa_link {
    uint32_t min_latency, max_latency, min_bandwidth, max_bandwidth;
    _Bool atomic_32bit, atomic_64bit, coherent;
    uint32_t type, numa_distance;
};
enum {
    MW_HSA_LINK_HYPERTRANSPORT = 0,
    MW_HSA_LINK_QPI = 1,
    MW_HSA_LINK_PCIE = 2,
    MW_HSA_LINK_INFINIBAND = 3,
    MW_HSA_LINK_XGMI = 4,
};

enum { /* hsa_amd_pointer_type_t; 5 and 6 since ROCm 5.6 or so */
       MW_HSA_POINTER_UNKNOWN = 0,
       MW_HSA_POINTER_HSA = 1,
       MW_HSA_POINTER_LOCKED = 2,
       MW_HSA_POINTER_GRAPHICS = 3,
       MW_HSA_POINTER_IPC = 4,
       MW_HSA_POINTER_RESERVED = 5, /* addresses without memory */
};

struct mw_hsa_pointer {
    uint32_t size; /* of this structure; later ones have more */
    uint32_t type;
    void *agent_base, *host_base;
    size_t bytes;
    void *user_data;
    mw_hsa_agent owner;
    uint32_t global_flags;
};

typedef uint32_t mw_hsa_pointer_info(const void *, struct mw_hsa_pointer *, void *(*)(size_t),
                                     uint32_t *, mw_hsa_agent **);
typedef uint32_t mw_hsa_iterate_agents(uint32_t (*)(mw_hsa_agent, void *), void *);
typedef uint32_t mw_hsa_agent_get_info(mw_hsa_agent, uint32_t, void *);
typedef uint32_t mw_hsa_iterate_pools(mw_hsa_agent, uint32_t (*)(mw_hsa_pool, void *), void *);
typedef uint32_t mw_hsa_pool_get_info(mw_hsa_pool, uint32_t, void *);
typedef uint32_t mw_hsa_pair_get_info(mw_hsa_agent, mw_hsa_pool, uint32_t, void *);

/* --- CUDA's driver --- */

enum {
    MW_CU_OK = 0,
    MW_CU_NOT_INITIALIZED = 3,
    MW_CU_DEINITIALIZED = 4,
    MW_CU_STUB_LIBRARY = 34,
    MW_CU_NO_DEVICE = 100,
    MW_CU_INVALID_CONTEXT = 201,
};

enum {                                /* CUpointer_attribute */
       MW_CU_POINTER_MEMORY_TYPE = 2, /* unsigned: 1 host, 2 device, 3 array, 4 unified */
       MW_CU_POINTER_IS_MANAGED = 8,  /* unsigned, or a byte of it */
       MW_CU_POINTER_DEVICE = 9,      /* int */
};
enum { MW_CU_MEMORY_HOST = 1, MW_CU_MEMORY_DEVICE = 2 };
enum { MW_CU_P2P_ACCESS = 2, MW_CU_P2P_NATIVE_ATOMICS = 3 }; /* CUdevice_P2PAttribute */

typedef int mw_cu_pointer_attributes(unsigned, uint32_t *, void **, unsigned long long);
typedef int mw_cu_device_count(int *);
typedef int mw_cu_device_get(int *, int);
typedef int mw_cu_device_text(char *, int, int); /* cuDeviceGetName and cuDeviceGetPCIBusId */
typedef int mw_cu_device_memory(size_t *, int);
typedef int mw_cu_device_uuid(unsigned char *, int); /* 16 bytes */
typedef int mw_cu_can_access(int *, int, int);
typedef int mw_cu_p2p_attribute(int *, uint32_t, int, int);
typedef int mw_cu_ctx_device(int *);

#endif
