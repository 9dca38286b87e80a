/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an fi_info says of the thing it describes. Reads the caller's memory in the layout of the
 * node it was linked against; any thread.
 */
#include <string.h>

#include "probe/libfabric.h"
#include "probe/modules.h"

/* Modules whose infos are known to have a NIC: they called a fi_getinfo of FABRIC_1.2 or later. */
static _Atomic uint8_t has_nic[MW_MODULES_MAX + 1];

void mw_fi_module_has_nic(unsigned module)
{
    if (module && module <= MW_MODULES_MAX)
        atomic_store_explicit(&has_nic[module], 1, memory_order_relaxed);
}

void mw_fi_copy_text(char *target, size_t size, const char *text)
{
    size_t length = text ? strnlen(text, size - 1) : 0;
    if (length)
        memcpy(target, text, length);
    target[length] = '\0';
}

/* libfabric itself, or one of the providers that it loads: their names end so by convention. */
static int is_fabric_module(const struct mw_module_entry *module)
{
    const char *name = strrchr(module->path, '/');
    name = name ? name + 1 : module->path;
    size_t length = strlen(name);
    return strncmp(name, "libfabric.so", 12) == 0 || strncmp(name, "libfabric-", 10) == 0 ||
           (length > 6 && strcmp(name + length - 6, "-fi.so") == 0);
}

void mw_fi_identify_caller(struct mw_fi_identity *identity, const void *caller)
{
    const struct mw_module_entry *module = mw_modules_locate(caller);
    identity->caller = module ? module->id : 0;
    identity->inner = module && is_fabric_module(module);
}

static void take_nic(struct mw_fi_identity *identity, const struct mw_fid_nic *nic)
{
    if (nic->device_attr) {
        mw_fi_copy_text(identity->device, sizeof identity->device, nic->device_attr->name);
        mw_fi_copy_text(identity->driver, sizeof identity->driver, nic->device_attr->driver);
    }
    if (nic->link_attr)
        identity->speed = nic->link_attr->speed;
}

void mw_fi_identify(struct mw_fi_identity *identity, const struct mw_fi_info *info,
                    const void *caller)
{
    memset(identity, 0, sizeof *identity);
    mw_fi_identify_caller(identity, caller);
    if (!info)
        return;
    identity->format = info->addr_format;
    if (info->fabric_attr) {
        mw_fi_copy_text(identity->provider, sizeof identity->provider,
                        info->fabric_attr->prov_name);
        mw_fi_copy_text(identity->fabric, sizeof identity->fabric, info->fabric_attr->name);
    }
    if (info->domain_attr)
        mw_fi_copy_text(identity->domain, sizeof identity->domain, info->domain_attr->name);
    if (atomic_load_explicit(&has_nic[identity->caller], memory_order_relaxed) && info->nic)
        take_nic(identity, info->nic);
}
