/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVIDIA's GPUs, by the driver's library, which every CUDA runtime stands on, also one that is
 * linked statically into the program. Its functions have no last error, and before cuInit they say
 * so and do nothing. It numbers the devices that CUDA_VISIBLE_DEVICES leaves as the runtime does.
 * Any thread.
 *
 * The driver does not tell host memory that it allocated from what was registered later: both count
 * as pinned.
 */
#include <stdio.h>
#include <string.h>

#include "probe/gpu.h"
#include "probe/gpu_abi.h"

static struct {
    mw_cu_pointer_attributes *pointer_attributes;
    mw_cu_device_count *count;
    mw_cu_device_get *get;
    mw_cu_device_text *name, *pci;
    mw_cu_device_memory *memory;
    mw_cu_device_uuid *uuid; /* these may be missing */
    mw_cu_can_access *can_access;
    mw_cu_p2p_attribute *p2p_attribute;
    mw_cu_ctx_device *ctx_device;
} cuda;

static int attach(const struct mw_module_entry *library)
{
    cuda.pointer_attributes =
        (mw_cu_pointer_attributes *)mw_elf_symbol(library, "cuPointerGetAttributes");
    cuda.count = (mw_cu_device_count *)mw_elf_symbol(library, "cuDeviceGetCount");
    cuda.get = (mw_cu_device_get *)mw_elf_symbol(library, "cuDeviceGet");
    cuda.name = (mw_cu_device_text *)mw_elf_symbol(library, "cuDeviceGetName");
    cuda.pci = (mw_cu_device_text *)mw_elf_symbol(library, "cuDeviceGetPCIBusId");
    cuda.memory = (mw_cu_device_memory *)mw_elf_symbol(library, "cuDeviceTotalMem_v2");
    cuda.uuid = (mw_cu_device_uuid *)mw_elf_symbol(library, "cuDeviceGetUuid_v2");
    if (!cuda.uuid)
        cuda.uuid = (mw_cu_device_uuid *)mw_elf_symbol(library, "cuDeviceGetUuid");
    cuda.can_access = (mw_cu_can_access *)mw_elf_symbol(library, "cuDeviceCanAccessPeer");
    cuda.p2p_attribute = (mw_cu_p2p_attribute *)mw_elf_symbol(library, "cuDeviceGetP2PAttribute");
    cuda.ctx_device = (mw_cu_ctx_device *)mw_elf_symbol(library, "cuCtxGetDevice");
    return cuda.pointer_attributes && cuda.count && cuda.get && cuda.name && cuda.pci &&
           cuda.memory;
}

static int device_count(void)
{
    int count = 0, status = cuda.count(&count);
    if (status == MW_CU_NOT_INITIALIZED)
        return -1;
    return status == MW_CU_OK && count > 0 ? count : 0;
}

static void uuid_text(const unsigned char *uuid, char *out, size_t capacity)
{
    size_t used = (size_t)snprintf(out, capacity, "GPU-");
    for (unsigned i = 0; i < 16 && used < capacity; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%02x",
                                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* The kernel writes lower-case letters, and four digits of the domain. */
static void as_the_kernel(char *pci)
{
    if (strcspn(pci, ":") == 8 && strncmp(pci, "0000", 4) == 0)
        memmove(pci, pci + 4, strlen(pci + 4) + 1);
    for (char *c = pci; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'F' ? *c - 'A' + 'a' : *c);
}

static int device_at(unsigned index, struct mw_gpu_device *device)
{
    unsigned char uuid[16];
    size_t memory = 0;
    int number, current;
    if (cuda.get(&number, (int)index) != MW_CU_OK)
        return 0;
    *device = (struct mw_gpu_device){.index = index};
    if (cuda.name(device->name, sizeof device->name, number) != MW_CU_OK)
        *device->name = '\0';
    if (cuda.pci(device->pci, sizeof device->pci, number) != MW_CU_OK)
        *device->pci = '\0';
    else
        as_the_kernel(device->pci);
    if (cuda.memory(&memory, number) == MW_CU_OK)
        device->memory = memory;
    if (cuda.uuid && cuda.uuid(uuid, number) == MW_CU_OK)
        uuid_text(uuid, device->uuid, sizeof device->uuid);
    device->current = cuda.ctx_device && cuda.ctx_device(&current) == MW_CU_OK && current == number;
    return 1;
}

/* What lies between two devices the driver does not say, only whether it carries atomics: NVLink
 * does. */
static int peer_at(unsigned from, unsigned to, struct mw_gpu_peer *peer)
{
    int a, b, access = 0, atomics = 0;
    if (!cuda.can_access || cuda.get(&a, (int)from) != MW_CU_OK ||
        cuda.get(&b, (int)to) != MW_CU_OK || cuda.can_access(&access, a, b) != MW_CU_OK)
        return 0;
    *peer = (struct mw_gpu_peer){.access = access != 0};
    if (access && cuda.p2p_attribute &&
        cuda.p2p_attribute(&atomics, MW_CU_P2P_NATIVE_ATOMICS, a, b) == MW_CU_OK)
        peer->link = atomics ? "native atomics" : "no native atomics";
    return 1;
}

/* An address that is none of its own has type 0, or, as the manual says, an invalid context. */
static struct mw_gpu_memory memory_of(const void *address)
{
    static const uint32_t attributes[] = {MW_CU_POINTER_MEMORY_TYPE, MW_CU_POINTER_IS_MANAGED,
                                          MW_CU_POINTER_DEVICE};
    struct mw_gpu_memory memory = {.kind = MW_MEMORY_HOST, .device = -1};
    uint32_t wanted[3], type = 0, managed = 0;
    int device = -1;
    void *out[] = {&type, &managed, &device};
    memcpy(wanted, attributes, sizeof wanted);
    int status = cuda.pointer_attributes(3, wanted, out, (uintptr_t)address);
    switch (status) {
    case MW_CU_OK:
        break;
    case MW_CU_NOT_INITIALIZED:
    case MW_CU_DEINITIALIZED:
    case MW_CU_STUB_LIBRARY:
    case MW_CU_NO_DEVICE:
    case MW_CU_INVALID_CONTEXT:
        return memory;
    default:
        memory.kind = MW_MEMORY_UNKNOWN;
        memory.error = status;
        return memory;
    }
    if (type == 0)
        return memory;
    memory.kind = managed                     ? MW_MEMORY_MANAGED
                  : type == MW_CU_MEMORY_HOST ? MW_MEMORY_PINNED
                                              : MW_MEMORY_DEVICE;
    if (memory.kind == MW_MEMORY_DEVICE && device >= 0)
        memory.device = device;
    return memory;
}

static const char *const drivers[] = {"libcuda.so", "libdxcore.so", NULL};

const struct mw_gpu_runtime mw_gpu_cuda = {
    .name = "cuda",
    .object = "libcuda.so",
    .symbol = "cuPointerGetAttributes",
    .drivers = drivers,
    .needed = 2,
    .attach = attach,
    .memory_of = memory_of,
    .device_count = device_count,
    .device_at = device_at,
    .peer_at = peer_at,
};
