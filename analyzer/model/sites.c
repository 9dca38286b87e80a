/* SPDX-License-Identifier: BSD-3-Clause */
/* Identity of call sites across processes (sites.h). Pure functions over the metadata; any thread.
 */
#include "analyzer/model/sites.h"

static uint64_t module_key(const struct mw_module *module)
{
    if (!module)
        return 1;
    if (module->build_id_size)
        return mw_hash_bytes(2, module->build_id, module->build_id_size);
    return mw_hash_text(3, module->path);
}

uint64_t mw_site_key(const struct mw_process *process, uint64_t id)
{
    const struct mw_site *site = id ? mw_process_site(process, id) : NULL;
    if (!site || !site->frame_count)
        return 0;
    uint64_t key = site->truncated ? 5 : 4;
    for (size_t i = 0; i < site->frame_count; i++) {
        const struct mw_frame *frame = &site->frames[i];
        key = mw_mix(key ^ module_key(mw_process_module(process, frame->module)));
        key = mw_mix(key ^ frame->offset);
    }
    return key ? key : 1;
}

size_t mw_site_caller(const struct mw_process *process, const struct mw_site *site)
{
    for (size_t i = 0; i < site->frame_count; i++) {
        const struct mw_module *module = mw_process_module(process, site->frames[i].module);
        if (!module || module->role == MW_MODULE_PROGRAM)
            return i;
    }
    return 0;
}
