/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stub of libcuda.so.1, the driver's library: what mpiwatch asks of it and what cudart.c calls.
 * stub.h says what it can be told; CUDA_VISIBLE_DEVICES works (places only). Compiled against the
 * real header where CUDA is installed.
 */
#if __has_include(<cuda.h>)
#include <cuda.h>
#else
#include <stddef.h>
#include <stdint.h>
#define CUDAAPI
typedef enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
} CUresult;
typedef enum {
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
} CUpointer_attribute;
typedef enum {
    CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2,
    CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3,
} CUdevice_P2PAttribute;
enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct {
    char bytes[16];
} CUuuid;
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuDeviceGetUuid  cuDeviceGetUuid_v2
#endif
#include <stdio.h>

#include "stub.h"

#define EXPORT __attribute__((visibility("default")))

static int initialised, visible[STUB_GPUS_MOST], visible_count;
static __thread int current = -1;

static void choose_visible(void)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    for (; !list && visible_count < stub_devices(); visible_count++)
        visible[visible_count] = visible_count;
    while (list && *list) {
        char *end;
        long place = strtol(list, &end, 10);
        if (end == list || place < 0 || place >= stub_devices() || visible_count == STUB_GPUS_MOST)
            return;
        visible[visible_count++] = (int)place;
        list = end + (*end == ',');
    }
}

EXPORT CUresult CUDAAPI cuInit(unsigned flags)
{
    (void)flags;
    if (stub_fails("init"))
        return CUDA_ERROR_NO_DEVICE;
    if (!initialised) {
        stub_start();
        choose_visible();
        initialised = 1;
    }
    return CUDA_SUCCESS;
}

#define CHECK(device)                                                                              \
    do {                                                                                           \
        if (!initialised)                                                                          \
            return CUDA_ERROR_NOT_INITIALIZED;                                                     \
        if (device < 0 || device >= visible_count)                                                 \
            return CUDA_ERROR_INVALID_DEVICE;                                                      \
    } while (0)

EXPORT CUresult CUDAAPI cuDeviceGetCount(int *count)
{
    if (!initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    *count = visible_count;
    return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal)
{
    CHECK(ordinal);
    *device = ordinal;
    return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGetName(char *name, int length, CUdevice device)
{
    CHECK(device);
    snprintf(name, (size_t)length, "Stub H100");
    return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGetPCIBusId(char *text, int length, CUdevice device)
{
    CHECK(device);
    snprintf(text, (size_t)length, "0000:%02X:00.0", stub_bus(visible[device]));
    return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    CHECK(device);
    *bytes = (size_t)80 << 30;
    return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    CHECK(device);
    memset(uuid, 0, sizeof *uuid);
    uuid->bytes[15] = (char)(0x20 + visible[device]);
    return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    CHECK(device);
    CHECK(peer);
    *can = stub_links(visible[device], visible[peer]) > 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute what,
                                                CUdevice device, CUdevice peer)
{
    CHECK(device);
    CHECK(peer);
    int links = stub_links(visible[device], visible[peer]);
    *value = what == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED ? links > 1 : links > 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
    if (!initialised || current < 0)
        return initialised ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_NOT_INITIALIZED;
    *device = current;
    return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuPointerGetAttributes(unsigned count, CUpointer_attribute *what,
                                               void **out, CUdeviceptr address)
{
    if (!initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (stub_fails("pointer"))
        return CUDA_ERROR_INVALID_VALUE;
    struct stub_region region = stub_find((const void *)(uintptr_t)address, 0);
    for (unsigned i = 0; i < count; i++)
        if (what[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
            *(unsigned *)out[i] = region.kind == STUB_FREE ? 0
                                  : region.kind == STUB_DEVICE || region.kind == STUB_MANAGED
                                      ? CU_MEMORYTYPE_DEVICE
                                      : CU_MEMORYTYPE_HOST;
        else if (what[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED)
            *(unsigned *)out[i] = region.kind == STUB_MANAGED;
        else if (what[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)out[i] = region.kind == STUB_FREE ? -2 : region.device;
        else
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* --- for cudart.c, in the place of contexts and allocations --- */

EXPORT int stub_cuda_choose(int device)
{
    CHECK(device);
    current = device;
    return CUDA_SUCCESS;
}

EXPORT int stub_cuda_allocate(void **out, int kind, size_t size)
{
    if (!initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    *out = stub_allocate((enum stub_kind)kind, size, current < 0 ? 0 : current);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT int stub_cuda_register(void *start, size_t size)
{
    return stub_add(STUB_REGISTERED, start, size, 0) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT int stub_cuda_free(void *address)
{
    return stub_free(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
