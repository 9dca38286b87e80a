/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stub of the CUDA runtime as most programs have it: linked statically (a test program includes
 * this file), so that nobody can stand between it and the program; the driver's library it loads
 * itself, with the first call.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

enum { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorInitializationError = 3 };

static __thread int cuda_last_error;
static void *cuda_driver;

static void *cuda_function(const char *name)
{
    if (!cuda_driver) {
        cuda_driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        int (*init)(unsigned) =
            cuda_driver ? (int (*)(unsigned))dlsym(cuda_driver, "cuInit") : NULL;
        if (!init || init(0) != 0)
            return NULL;
    }
    return dlsym(cuda_driver, name);
}

static int cuda_end(int error)
{
    return cuda_last_error = error;
}

static int cudaSetDevice(int device)
{
    int (*choose)(int) = (int (*)(int))cuda_function("stub_cuda_choose");
    return cuda_end(choose ? choose(device) : cudaErrorInitializationError);
}

static int cuda_allocate(void **out, int kind, size_t size)
{
    int (*allocate)(void **, int, size_t) =
        (int (*)(void **, int, size_t))cuda_function("stub_cuda_allocate");
    return cuda_end(allocate ? allocate(out, kind, size) : cudaErrorInitializationError);
}

static int cudaMalloc(void **out, size_t size)
{
    return cuda_allocate(out, 3, size);
}

static int cudaHostAlloc(void **out, size_t size, unsigned flags)
{
    (void)flags;
    return cuda_allocate(out, 1, size);
}

static int cudaMallocManaged(void **out, size_t size, unsigned flags)
{
    (void)flags;
    return cuda_allocate(out, 2, size);
}

static int cudaFree(void *address)
{
    int (*release)(void *) = (int (*)(void *))cuda_function("stub_cuda_free");
    return cuda_end(release ? release(address) : cudaErrorInitializationError);
}

static int cudaFreeHost(void *address)
{
    return cudaFree(address);
}

static int cudaHostRegister(void *start, size_t size, unsigned flags)
{
    int (*pin)(void *, size_t) = (int (*)(void *, size_t))cuda_function("stub_cuda_register");
    (void)flags;
    return cuda_end(pin ? pin(start, size) : cudaErrorInitializationError);
}

static int cudaHostUnregister(void *start)
{
    return cudaFree(start);
}

static int cudaGetLastError(void)
{
    int error = cuda_last_error;
    cuda_last_error = cudaSuccess;
    return error;
}

static int cudaPeekAtLastError(void)
{
    return cuda_last_error;
}
