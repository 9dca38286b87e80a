/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs that send from GPU to GPU (gpus.h). */
#include "analyzer/findings/gpus.h"

#include <stdlib.h>

#include "analyzer/findings/crowd.h"

/* Did messages of this process come from or go to a GPU's memory at all? */
static int uses_memory(const struct mw_process *process)
{
    for (size_t i = 0; i < process->space_count; i++)
        if (process->spaces[i].kind == MW_MEMORY_DEVICE && process->spaces[i].calls)
            return 1;
    return 0;
}

void mw_gpu_pairs_read(struct mw_gpu_pairs *pairs, const struct mw_finding_input *in,
                       uint64_t bytes)
{
    *pairs = (struct mw_gpu_pairs){0};
    for (size_t i = 0; i < in->tally->pairs.count; i++) {
        const struct mw_pair *pair = &in->tally->pairs.at[i];
        int64_t src = mw_model_rank(in->model, pair->src),
                dst = mw_model_rank(in->model, pair->dst);
        if (pair->memory.device_bytes < bytes || src < 0 || dst < 0 || src == dst ||
            in->model->process_node[src] != in->model->process_node[dst] ||
            !uses_memory(mw_trace_process(in->model->trace, (size_t)dst)))
            continue;
        const struct mw_near *from = mw_place_gpu(in->placements, (uint32_t)src);
        const struct mw_near *to = mw_place_gpu(in->placements, (uint32_t)dst);
        if (!from || !to || from->device < 0 || to->device < 0 || from->device == to->device)
            continue;
        *mw_vector_add(&pairs->all) =
            (struct mw_gpu_pair){pair,
                                 (uint32_t)src,
                                 (uint32_t)dst,
                                 from,
                                 to,
                                 mw_path_between(mw_place_hardware(in->placements, (uint32_t)src),
                                                 from->device, to->device)};
    }
}

char *mw_gpu_pair_words(const struct mw_finding_input *in, const struct mw_gpu_pair *pair)
{
    const struct mw_hardware *hardware = mw_place_hardware(in->placements, pair->src);
    char *src = mw_process_words(in->model, pair->src),
         *dst = mw_process_words(in->model, pair->dst);
    char *from = mw_pci_text(hardware->devices.at[pair->from->device].address);
    char *to = mw_pci_text(hardware->devices.at[pair->to->device].address);
    char *path = mw_path_title(&pair->path);
    char *words = pair->path.kind == MW_PATH_UNKNOWN
                      ? mw_format("%s (%s) -> %s (%s)", src, from, dst, to)
                      : mw_format("%s (%s) -> %s (%s), joined by %s", src, from, dst, to, path);
    free(src);
    free(dst);
    free(from);
    free(to);
    free(path);
    return words;
}
