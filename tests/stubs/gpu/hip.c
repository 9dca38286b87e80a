/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stub of libamdhip64.so over the stub of HSA (hsa.c): what the tests call of it. As in the real
 * one, any call initialises it, and sets the last error of its thread. HIP_VISIBLE_DEVICES works
 * (places only). Compiled against the real header where it is installed.
 */
#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#else
#include <stddef.h>
typedef enum {
    hipSuccess = 0,
    hipErrorInvalidValue = 1,
    hipErrorOutOfMemory = 2,
    hipErrorNotInitialized = 3,
    hipErrorNoDevice = 100,
    hipErrorInvalidDevice = 101,
} hipError_t;
#endif
#include <stdlib.h>
#include <string.h>

#include "stub.h"

#define EXPORT __attribute__((visibility("default")))

int hsa_init(void);
int stub_hsa_visible(void);
void *stub_hsa_allocate(int kind, size_t size, int device);
int stub_hsa_register(void *start, size_t size);
int stub_hsa_free(void *address);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ready, place[STUB_GPUS_MOST], places;
static __thread int current;
static __thread hipError_t last_error;

static void initialise(void)
{
    const char *list = getenv("HIP_VISIBLE_DEVICES");
    if (hsa_init() != 0)
        return;
    ready = 1;
    for (; !list && places < stub_hsa_visible(); places++)
        place[places] = places;
    while (list && *list) {
        char *end;
        long wanted = strtol(list, &end, 10);
        if (end == list || wanted < 0 || wanted >= stub_hsa_visible() || places == STUB_GPUS_MOST)
            return;
        place[places++] = (int)wanted;
        list = end + (*end == ',');
    }
}

static hipError_t begin(void)
{
    pthread_once(&once, initialise);
    return !ready ? hipErrorNotInitialized : places ? hipSuccess : hipErrorNoDevice;
}

static hipError_t end(hipError_t error)
{
    return last_error = error;
}

static hipError_t allocate(void **out, enum stub_kind kind, size_t size)
{
    hipError_t error = begin();
    if (error != hipSuccess)
        return end(error);
    *out = stub_hsa_allocate(kind, size, place[current]);
    return end(*out ? hipSuccess : hipErrorOutOfMemory);
}

EXPORT hipError_t hipInit(unsigned flags)
{
    (void)flags;
    return end(begin());
}

EXPORT hipError_t hipGetDeviceCount(int *count)
{
    hipError_t error = begin();
    *count = places;
    return end(error);
}

EXPORT hipError_t hipSetDevice(int device)
{
    hipError_t error = begin();
    if (error == hipSuccess && (device < 0 || device >= places))
        error = hipErrorInvalidDevice;
    if (error == hipSuccess)
        current = device;
    return end(error);
}

EXPORT hipError_t hipMalloc(void **out, size_t size)
{
    return allocate(out, STUB_DEVICE, size);
}

EXPORT hipError_t hipHostMalloc(void **out, size_t size, unsigned flags)
{
    (void)flags;
    return allocate(out, STUB_PINNED, size);
}

EXPORT hipError_t hipMallocManaged(void **out, size_t size, unsigned flags)
{
    (void)flags;
    return allocate(out, STUB_MANAGED, size);
}

EXPORT hipError_t hipFree(void *address)
{
    return end(begin() == hipSuccess && stub_hsa_free(address) ? hipSuccess : hipErrorInvalidValue);
}

EXPORT hipError_t hipHostFree(void *address)
{
    return hipFree(address);
}

EXPORT hipError_t hipHostRegister(void *start, size_t size, unsigned flags)
{
    (void)flags;
    return end(begin() == hipSuccess && stub_hsa_register(start, size) ? hipSuccess
                                                                       : hipErrorInvalidValue);
}

EXPORT hipError_t hipHostUnregister(void *start)
{
    return hipFree(start);
}

EXPORT hipError_t hipGetLastError(void)
{
    hipError_t error = last_error;
    last_error = hipSuccess;
    return error;
}

EXPORT hipError_t hipPeekAtLastError(void)
{
    return last_error;
}
