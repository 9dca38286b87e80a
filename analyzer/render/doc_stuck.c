/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sat in which call at the end, and what never came together (doc.h). */
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"

static const struct mw_process *process_of(const struct mw_doc_input *in, size_t number)
{
    return mw_trace_process(in->model->trace, number);
}

/* A rank, or what stands for it, and the same in words; null where the call has none. */
static void object_set_peer(const struct mw_doc_input *in, json_t *entry, int64_t peer)
{
    json_t *words = json_null();
    if (peer == MW_PEER_ANY)
        words = json_string("any rank");
    else if (peer != MW_PEER_NONE)
        words = mw_json_take(mw_peer_label(in->model, peer));
    json_object_set_new(entry, "peer",
                        peer >= 0 ? mw_rank_json(in->model, peer)
                                  : mw_json_number(peer, MW_PEER_NONE));
    json_object_set_new(entry, "peer_words", words);
}

static json_t *doc_open_call(const struct mw_doc_input *in, const struct mw_stuck_call *stuck)
{
    const struct mw_process *process = process_of(in, stuck->process);
    const struct mw_open_call *call = stuck->call;
    json_t *entry =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "rank",
                  mw_rank_json(in->model, mw_model_place(in->model, stuck->process)), "host",
                  mw_json_text(process->host), "pid", mw_json_count(process->pid), "thread",
                  mw_json_count(call->thread), "function", mw_json_text(call->name), "nested",
                  stuck->nested, "communicator",
                  call->comm < 0 ? json_null()
                                 : mw_json_take(mw_comm_label(in->comms, stuck->comm, call->comm)),
                  "instance", mw_json_number(call->instance, -1));
    object_set_peer(in, entry, mw_comms_peer(in->comms, stuck->process, call->comm, call->peer));
    json_object_set_new(entry, "tag",
                        call->peer == MW_PEER_NONE ? json_null() : json_integer(call->tag));
    json_object_set_new(entry, "since", mw_json_time(stuck->since_s));
    json_object_set_new(entry, "held_s", mw_json_real(stuck->held_s));
    json_object_set_new(entry, "alive", json_boolean(process->open_alive));
    json_object_set_new(entry, "caller", mw_caller_json(in->symbols, process, call->site));
    return entry;
}

static json_t *inside_json(const struct mw_doc_input *in, const struct mw_stuck_instance *instance)
{
    json_t *inside = json_array();
    for (size_t f = 0; f < instance->inside.count; f++) {
        const struct mw_stuck_function *function = &instance->inside.at[f];
        struct mw_rank_set ranks = {0};
        for (size_t i = 0; i < function->processes.count; i++)
            mw_rank_set_add_process(&ranks, in->model, function->processes.at[i]);
        json_array_append_new(inside,
                              json_pack("{s:o, s:I, s:o}", "function", mw_json_text(function->name),
                                        "count", (json_int_t)function->processes.count, "ranks",
                                        mw_rank_set_json(&ranks)));
    }
    return inside;
}

/* What a process that never came was doing instead. */
static char *behind_state(const struct mw_doc_input *in, uint32_t number)
{
    const struct mw_process *process = process_of(in, number);
    const struct mw_stuck_call *call = mw_stuck_find(in->stuck, number);
    if (call && call->call->instance >= 0) {
        char *label = mw_comm_label(in->comms, call->comm, call->call->comm);
        char *state = mw_format("in %s on %s, instance %lld", call->call->name, label,
                                (long long)call->call->instance);
        free(label);
        return state;
    }
    if (call)
        return mw_format("in %s", call->call->name);
    if (process->end_reason == MW_END_FINALIZE)
        return mw_text_copy("ended by MPI_Finalize");
    if (process->end_reason == MW_END_EXIT)
        return mw_text_copy("ended without MPI_Finalize");
    if (process->end_reason == MW_END_ABORT)
        return mw_text_copy("called MPI_Abort");
    if (process->end_reason)
        return mw_text_copy("outside MPI");
    return mw_text_copy("not known: its end was not recorded");
}

struct behind_group {
    char *state;
    uint64_t next;
    size_t count;
    struct mw_rank_set ranks;
};

static json_t *behind_json(const struct mw_doc_input *in, const struct mw_stuck_instance *instance)
{
    struct mw_index index = {0};
    MW_VECTOR(struct behind_group) groups = {0};
    json_t *behind = json_array();
    for (size_t i = 0; i < instance->behind.count; i++) {
        const struct mw_stuck_member *member = &instance->behind.at[i];
        char *state = behind_state(in, member->process);
        size_t at = mw_index_put(&index, mw_hash_text(member->next, state));
        if (at == groups.count) {
            struct behind_group *added = mw_vector_add(&groups);
            added->state = state;
            added->next = member->next;
        } else {
            free(state);
        }
        groups.at[at].count++;
        mw_rank_set_add_process(&groups.at[at].ranks, in->model, member->process);
    }
    for (size_t i = 0; i < groups.count; i++) {
        json_t *reached = groups.at[i].next ? mw_json_count(groups.at[i].next - 1) : json_null();
        json_array_append_new(
            behind, json_pack("{s:o, s:I, s:o, s:o}", "state", mw_json_take(groups.at[i].state),
                              "count", (json_int_t)groups.at[i].count, "ranks",
                              mw_rank_set_json(&groups.at[i].ranks), "last_instance", reached));
    }
    free(groups.at);
    mw_index_free(&index);
    return behind;
}

static json_t *doc_instance(const struct mw_doc_input *in, const struct mw_stuck_instance *instance)
{
    const struct mw_joined_comm *comm = &in->comms->joined.at[instance->comm];
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "communicator",
        mw_json_take(mw_comm_label(in->comms, (int64_t)instance->comm, -1)), "instance",
        mw_json_count(instance->instance), "size", mw_json_count(comm->size + comm->remote_size),
        "inside", inside_json(in, instance), "never_reached", behind_json(in, instance),
        "inside_count", (json_int_t)instance->inside_count, "passed", (json_int_t)instance->passed,
        "not_recorded", mw_json_count(instance->unrecorded));
}

static json_t *doc_outside(const struct mw_doc_input *in, uint32_t number)
{
    const struct mw_process *process = process_of(in, number);
    const struct mw_process_total *total = &in->tally->processes[number];
    json_t *last = json_null();
    if (total->last_end)
        last = json_pack("{s:o, s:o, s:o}", "function", mw_json_text(total->last_name), "ended",
                         mw_json_time(mw_process_time_ns(process, total->last_end, 0) / 1e9),
                         "caller", mw_caller_json(in->symbols, process, total->last_site));
    return json_pack("{s:o, s:o, s:o, s:b, s:o}", "rank",
                     mw_rank_json(in->model, mw_model_place(in->model, number)), "host",
                     mw_json_text(process->host), "pid", mw_json_count(process->pid), "alive",
                     process->end_reason == MW_END_SNAPSHOT, "last_call", last);
}

json_t *mw_doc_stuck(const struct mw_doc_input *in)
{
    json_t *calls = json_array(), *instances = json_array(), *outside = json_array();
    for (size_t i = 0; i < in->stuck->calls.count; i++)
        json_array_append_new(calls, doc_open_call(in, &in->stuck->calls.at[i]));
    for (size_t i = 0; i < in->stuck->instances.count; i++)
        json_array_append_new(instances, doc_instance(in, &in->stuck->instances.at[i]));
    for (size_t i = 0; i < in->stuck->idle.count; i++)
        json_array_append_new(outside, doc_outside(in, in->stuck->idle.at[i]));
    return json_pack("{s:o, s:o, s:o}", "calls", calls, "collectives", instances, "outside_mpi",
                     outside);
}
