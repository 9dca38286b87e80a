/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is not known of a pair, and why: messages whose way nobody saw, bytes that no message
 * accounts for (transports_pair.h). Main thread.
 */
#include <string.h>

#include "analyzer/analysis/transports_pair.h"

static const char *probe_of(const struct mw_pair_work *work, enum mw_stack stack)
{
    const char *netmod = work->building->out->choices[work->src].netmod;
    if (stack == MW_STACK_CM)
        return "libfabric";
    if (stack == MW_STACK_UCX)
        return "ucx";
    if (stack == MW_STACK_CH4)
        return !strcmp(netmod, "ofi") ? "libfabric" : "ucx";
    return "sockets";
}

static const char *why_probe(struct mw_pair_work *work, const char *probe)
{
    struct mw_kept_texts *texts = work->building->out->texts;
    const char *why, *how = mw_probe_how(mw_work_process(work, work->src), probe, &why);
    if (!strcmp(how, "off"))
        return mw_text_keep_format(texts, "the probe %s was off (%s)", probe,
                                   *why ? why : "MPIWATCH_PROBES");
    if (!strcmp(how, "absent"))
        return mw_text_keep_format(texts, "the probe %s saw no library of that kind in the sender",
                                   probe);
    if (!strcmp(how, "partly") || !strcmp(how, "not covered"))
        return mw_text_keep_format(texts, "the probe %s did not see all%s%s", probe,
                                   *why ? ": " : "", why);
    return NULL;
}

static const char *why_addresses(const struct mw_pair_work *work, const char *probe)
{
    const struct mw_endpoint_owner *owner = mw_work_owner(work, work->src);
    const struct mw_process *process = mw_work_process(work, work->src);
    if (owner->ambiguous)
        return "several processes answer to the address that the sender used";
    for (size_t i = 0; i < process->endpoint_count; i++)
        if (process->endpoints[i].unlisted)
            return "the sender's list of peers was full";
    if (owner->nameless)
        return "the sender's counts name a peer whose address is not known";
    if (owner->unjoined)
        return "nobody who was recorded answers to the address that the sender used";
    if (!strcmp(probe, "sockets") && !owner->looks)
        return "the sender's connections were not looked at";
    if (!strcmp(probe, "sockets") && owner->unseen)
        return "not all of the sender's connections were looked at";
    if (!process->end_reason || process->end_reason >= MW_END_COLLECTED)
        return "the sender's last counts were not written before it died or was looked at";
    return NULL;
}

const char *mw_pair_why(struct mw_pair_work *work)
{
    struct mw_building *building = work->building;
    if (!building->any_records)
        return "the trace has no transport records";
    if (work->src < 0)
        return "the sender was not recorded";
    if (work->dst < 0)
        return "the receiver was not recorded";
    if (!mw_work_owner(work, work->src)->recorded)
        return "the sender's trace has no transport records";
    enum mw_stack stack = building->stacks[work->src];
    const char *probe = probe_of(work, stack), *why = why_probe(work, probe);
    if (!why && stack == MW_STACK_UNKNOWN)
        why = why_probe(work, mw_work_process(work, work->src)->abi == MW_ABI_OPENMPI ? "openmpi"
                                                                                      : "mpich");
    if (!why && stack == MW_STACK_OTHER)
        why = mw_text_keep_format(building->out->texts, "what PML %s does is not known here",
                                  building->out->choices[work->src].pml);
    if (!why)
        why = why_addresses(work, probe);
    if (!why && stack == MW_STACK_UNKNOWN)
        why = "which part of MPI moves its messages is not known";
    return why ? why : "nothing was counted between the two";
}

void mw_pair_remainder(struct mw_pair_work *work, int fabric_carries)
{
    struct mw_pair_transport *pair = work->pair;
    const struct mw_process *process = mw_work_process(work, work->src);
    pair->carried = work->fabric ? work->fabric_bytes : work->socket_bytes + work->cma_bytes;
    if (work->fabric && !fabric_carries)
        pair->carried = work->fabric_bytes + work->cma_bytes;
    pair->carried += work->other_bytes;
    pair->remainder = (int64_t)(pair->carried - pair->bytes);
    pair->remainder_is = "";
    if (!pair->remainder)
        return;
    if (pair->remainder > 0) {
        uint64_t control = mw_control_most(pair->bytes, pair->messages);
        pair->remainder_is = work->other_bytes ? "one-sided operations and control"
                             : (uint64_t)pair->remainder <= control ? "headers and control"
                             : work->building->collectives
                                 ? "collectives, one-sided operations and control"
                                 : "one-sided operations, control and the program's own";
        return;
    }
    if (work->fabric_unsized) {
        pair->remainder_is = "operations whose bytes are not known";
        return;
    }
    for (size_t i = 0; !pair->unknown && i < pair->routes.count; i++) {
        const struct mw_route *route = &pair->routes.at[i];
        const struct mw_way *way = &work->building->out->ways.at[route->way];
        if (route->messages && !route->carried && way->kind != MW_WAY_NETWORK) {
            pair->remainder_is =
                way->kind == MW_WAY_SELF ? "within the rank" : "shared memory (concluded)";
            return;
        }
    }
    if (process && (!process->end_reason || process->end_reason >= MW_END_COLLECTED))
        pair->remainder_is = "after the last count";
    else
        pair->remainder_is = "not counted";
}

/* Whether a process's counts of the kernel's copies are all there is. NULL: they are. */
static const char *copies_unknown_of(struct mw_pair_work *work, int64_t number)
{
    const struct mw_process *process = mw_work_process(work, number);
    const char *how = mw_probe_how(process, "cma", NULL);
    struct mw_kept_texts *texts = work->building->out->texts;
    if (*how && strcmp(how, "on") != 0)
        return mw_text_keep_format(
            texts, "whether the kernel copied messages of 4 KiB and more: the probe cma was %s",
            how);
    if (!process->end_reason || process->end_reason >= MW_END_COLLECTED)
        return "whether the kernel copied messages of 4 KiB and more: the last counts were not "
               "written";
    for (size_t i = 0; i < process->choice_count; i++) {
        const struct mw_choice *choice = &process->choices[i];
        if (!strcmp(choice->what, "device") && !strcmp(choice->how, "open") &&
            (!strcmp(choice->name, "/dev/xpmem") || !strcmp(choice->name, "/dev/knem")))
            return mw_text_keep_format(
                texts, "whether %s copied messages of 4 KiB and more is not counted",
                choice->name + 5);
    }
    return NULL;
}

const char *mw_pair_copies_unknown(struct mw_pair_work *work)
{
    const char *why = copies_unknown_of(work, work->src);
    return why ? why : copies_unknown_of(work, work->dst);
}
