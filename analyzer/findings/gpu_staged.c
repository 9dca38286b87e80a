/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "gpu-staged": messages between GPUs of one node were seen on a transport of host memory, so
 * that they were copied to the host and back, though GPUs of a node reach each other. Where their
 * way is only concluded, MPI may have moved GPU memory itself, and nothing is said. Says where the
 * GPU of the other rank is hidden, which keeps GPU libraries from opening its memory.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/number.h"
#include "analyzer/findings/gpus.h"
#include "analyzer/findings/used.h"
#include "analyzer/findings/words.h"
#include "analyzer/model/labels.h"

#define BYTES_MIN   (1u << 20) /* of a pair, out of a GPU's memory */
#define PAIRS_NAMED 4

/* Transports that move memory of GPUs themselves: of UCX, of Open MPI. */
static int moves_gpu_memory(const char *name)
{
    static const char *const direct[] = {"rocm_ipc", "cuda_ipc", "ze_ipc", "smcuda", "gdr_copy"};
    for (size_t i = 0; i < sizeof(direct) / sizeof(direct[0]); i++)
        if (strstr(name, direct[i]))
            return 1;
    return 0;
}

/* Drivers of these ways read and write host memory only. Shared memory of MPI itself and of
 * libfabric may hand on handles of GPU memory instead, and no probe would see that. */
static int host_only(const struct mw_way *way)
{
    return way->kind == MW_WAY_SINGLE_COPY || mw_way_slow(way) ||
           (way->kind == MW_WAY_SHARED && !strcmp(way->layer, "UCX"));
}

/* Messages of a pair of which it was seen that they went through host memory. */
struct staged {
    const struct mw_way
        *way;       /* of the large ones; NULL: it was not seen, or not for enough bytes */
    uint64_t bytes; /* out of a GPU's memory, at least */
};

/* Bytes that were counted on ways of host memory are messages of the pair; what was not counted
 * there may all have come from the GPU, by a way that nobody sees. */
static struct staged staged_of(const struct mw_finding_input *in, const struct mw_gpu_pair *pair)
{
    const struct mw_pair_transport *transport =
        mw_transports_pair(in->transports, pair->pair->src, pair->pair->dst);
    struct staged staged = {NULL, 0};
    uint64_t counted = 0;
    for (size_t r = 0; transport && !transport->unknown && r < transport->routes.count; r++) {
        const struct mw_route *route = &transport->routes.at[r];
        const struct mw_way *way = &in->transports->ways.at[route->way];
        if (moves_gpu_memory(way->name))
            return (struct staged){NULL, 0};
        if (route->certainty != MW_SEEN || !route->messages || !host_only(way))
            continue;
        counted += route->carried < route->bytes ? route->carried : route->bytes;
        staged.way = way;
    }
    uint64_t device = pair->pair->memory.device_bytes;
    uint64_t elsewhere = transport && transport->bytes > counted ? transport->bytes - counted : 0;
    staged.bytes = device > elsewhere ? device - elsewhere : 0;
    if (staged.bytes < BYTES_MIN)
        staged.way = NULL;
    return staged;
}

/* Does a process see the GPU of the other one? */
static int sees(const struct mw_finding_input *in, uint32_t process, const struct mw_near *gpu)
{
    const struct mw_rank_place *place = &in->placements->places[process];
    for (size_t i = 0; i < place->gpus.count; i++)
        if (place->gpus.at[i].device == gpu->device)
            return 1;
    return 0;
}

/* What hides GPUs from a process: its settings, as the job recorded them or the environment says.
 */
static char *hiding_words(const struct mw_process *process)
{
    static const char *const names[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                        "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};
    char *words = process->devices_visible[0] ? mw_text_copy(process->devices_visible) : NULL;
    for (size_t i = 0; !process->devices_visible[0] && i < process->fact_count; i++)
        for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
            if (!strcmp(process->facts[i].section, "env") &&
                !strcmp(process->facts[i].key, names[n]))
                words =
                    mw_list_add(words, ", ", mw_format("%s=%s", names[n], process->facts[i].value));
    return words;
}

static size_t say_hidden(const struct mw_finding_input *in, const struct mw_gpu_pair *pair,
                         struct mw_finding *finding)
{
    if (sees(in, pair->src, pair->to) || sees(in, pair->dst, pair->from))
        return 0;
    const struct mw_process *process = mw_trace_process(in->model->trace, pair->src);
    char *who = mw_process_words(in->model, pair->src), *hiding = hiding_words(process);
    mw_finding_evidence(finding,
                        mw_format("%s does not see the GPU of the other%s%s: its memory cannot be "
                                  "opened",
                                  who, hiding ? "; " : "", hiding ? hiding : ""));
    free(who);
    free(hiding);
    return 1;
}

static void say_rate(const struct mw_finding_input *in, const struct mw_gpu_pair *pair,
                     struct mw_finding *finding)
{
    const struct mw_speed *large =
        mw_speeds_large(in->exchange->speeds, pair->pair->src, pair->pair->dst);
    if (!large)
        return;
    char *reached = mw_reached_words(large, (double)pair->path.bandwidth * 1e6);
    char *src = mw_rank_label(in->model, pair->pair->src);
    char *dst = mw_rank_label(in->model, pair->pair->dst);
    finding->cost = mw_format("large messages of ranks %s -> %s reached %s%s", src, dst, reached,
                              pair->path.bandwidth ? " (the links between their GPUs)" : "");
    free(src);
    free(dst);
    free(reached);
}

/* The value of a variable in a process's environment; NULL: not set, as far as was recorded. */
static const char *variable(const struct mw_process *process, const char *name)
{
    for (size_t i = 0; i < process->fact_count; i++)
        if (!strcmp(process->facts[i].section, "env") && !strcmp(process->facts[i].key, name))
            return process->facts[i].value;
    return NULL;
}

static char *advice_cray(const struct mw_process *process)
{
    const char *support = variable(process, "MPICH_GPU_SUPPORT_ENABLED");
    if (support && !strcmp(support, "1"))
        return mw_text_copy("MPICH_GPU_SUPPORT_ENABLED=1 is set: see that the program is linked "
                            "with the GTL library for its GPUs, and that MPICH_GPU_IPC_ENABLED "
                            "does not forbid IPC.");
    return support ? mw_format("MPICH_GPU_SUPPORT_ENABLED is %s: set it to 1.", support)
                   : mw_text_copy("Set MPICH_GPU_SUPPORT_ENABLED=1.");
}

/* What fits the MPI and the way that it took. */
static char *advice(const struct mw_finding_input *in, const struct mw_way *way, uint32_t process)
{
    static const char ucx[] = "a UCX that has rocm_ipc or cuda_ipc (ucx_info -d lists them)";
    const struct mw_process *first = mw_trace_process(in->model->trace, process);
    const char *tls = variable(first, "UCX_TLS");
    if (!strcmp(way->layer, "UCX"))
        return tls ? mw_format("Use %s; UCX_TLS=%s must not leave them out.", ucx, tls)
                   : mw_format("Use %s.", ucx);
    if (strcasestr(first->library_version, "cray"))
        return advice_cray(first);
    if (first->abi == MW_ABI_OPENMPI)
        return mw_format("Use an Open MPI with %s, and its PML ucx.", ucx);
    if (first->abi == MW_ABI_MPICH)
        return mw_text_copy("Use an MPICH that was configured for these GPUs (--with-hip, "
                            "--with-cuda, --with-ze).");
    return mw_text_copy("Use an MPI that was built for these GPUs.");
}

static void report(const struct mw_finding_input *in, const struct mw_gpu_pairs *pairs,
                   const struct staged *staged, size_t first, struct mw_findings *out)
{
    struct mw_crowd crowd;
    uint64_t bytes = 0;
    size_t count = 0, hidden = 0;
    mw_crowd_begin(&crowd, in->model);
    for (size_t i = first; i < pairs->all.count; i++) {
        if (!staged[i].way)
            continue;
        count++;
        bytes += staged[i].bytes;
        mw_crowd_add(&crowd, pairs->all.at[i].src);
        mw_crowd_add(&crowd, pairs->all.at[i].dst);
    }
    char *amount = mw_number_bytes((double)bytes), *words = mw_way_words(staged[first].way);
    struct mw_finding *finding = mw_finding_add(
        out, "gpu-staged", MW_WARNING,
        mw_format("%s between GPUs of a node went through host memory, by %s, on %zu pair%s",
                  amount, words, count, count == 1 ? "" : "s"));
    for (size_t i = first, named = 0; i < pairs->all.count && named < PAIRS_NAMED; i++) {
        if (!staged[i].way)
            continue;
        mw_finding_evidence(finding, mw_gpu_pair_words(in, &pairs->all.at[i]));
        hidden += say_hidden(in, &pairs->all.at[i], finding);
        named++;
    }
    say_rate(in, &pairs->all.at[first], finding);
    finding->advice =
        hidden ? mw_text_copy("Let every rank see all GPUs of its node and choose its own in the "
                              "program (hipSetDevice, cudaSetDevice) instead of by ROCR_, HIP_ or "
                              "CUDA_VISIBLE_DEVICES.")
               : advice(in, staged[first].way, pairs->all.at[first].src);
    mw_crowd_give(&crowd, finding);
    mw_crowd_end(&crowd);
    free(amount);
    free(words);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct mw_gpu_pairs pairs;
    mw_gpu_pairs_read(&pairs, in, BYTES_MIN);
    struct staged *staged = mw_alloc(pairs.all.count, sizeof(*staged));
    size_t first = pairs.all.count;
    for (size_t i = pairs.all.count; i-- > 0;) {
        staged[i] = staged_of(in, &pairs.all.at[i]);
        first = staged[i].way ? i : first;
    }
    if (first < pairs.all.count)
        report(in, &pairs, staged, first, out);
    free(staged);
    free(pairs.all.at);
}

const struct mw_rule mw_rule_gpu_staged = {
    "gpu-staged", "messages between GPUs of a node were copied through host memory", find};
