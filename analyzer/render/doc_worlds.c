/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI_COMM_WORLDs of a trace, and how each came to be (doc.h). */
#include <stdlib.h>

#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"

/* What the communicators that reach out of a world tell of it. */
struct origin {
    int spawned;
    uint32_t by;         /* world + 1 that spawned it; 0 not recorded */
    struct mw_index met; /* worlds by MPI_Comm_connect, accept or join */
    json_t *linked;      /* the same, each once */
    size_t strangers;    /* communicators with such whose other side is not recorded */
};

static void origin_note(struct origin *origin, const struct mw_comms *comms, uint32_t world,
                        const struct mw_comm *comm, const struct mw_joined_comm *joined)
{
    int spawned = comm->how == MW_COMM_PARENT;
    if (!spawned && comm->how != MW_COMM_CONNECT && comm->how != MW_COMM_ACCEPT &&
        comm->how != MW_COMM_JOIN)
        return;
    origin->spawned |= spawned;
    origin->strangers += !spawned && joined->side_count < 2;
    for (size_t i = joined->side; i < joined->side + joined->side_count; i++) {
        uint32_t other = comms->sides[i].world;
        if (other == world)
            continue;
        size_t known = origin->met.count;
        if (spawned) /* several may have done it together: the first of them */
            origin->by = origin->by ? origin->by : other + 1;
        else if (mw_index_put(&origin->met, other) == known)
            json_array_append_new(origin->linked, json_integer(other + 1));
    }
}

/* By the communicators of one of its processes: those that made or found a world are made by all of
 * it. */
static struct origin origin_of(const struct mw_comms *comms, uint32_t world)
{
    const struct mw_model *model = comms->model;
    uint32_t number = model->worlds[world].sample;
    const struct mw_process *process = mw_trace_process(model->trace, number);
    struct origin origin = {.linked = json_array()};
    for (size_t c = 0; c < process->comm_count; c++)
        origin_note(&origin, comms, world, &process->comms[c],
                    &comms->joined.at[comms->by_process[number][c]]);
    mw_index_free(&origin.met);
    return origin;
}

json_t *mw_doc_worlds(const struct mw_comms *comms)
{
    const struct mw_model *model = comms->model;
    json_t *worlds = json_array();
    size_t *recorded = mw_alloc(model->world_count, sizeof(*recorded));
    for (size_t i = 0; i < model->rank_count; i++)
        recorded[model->process_world[model->ranks[i].process]]++;
    for (uint32_t i = 0; i < model->world_count; i++) {
        const struct mw_world *world = &model->worlds[i];
        struct origin origin = origin_of(comms, i);
        json_array_append_new(
            worlds,
            json_pack("{s:I, s:o, s:I, s:o, s:o, s:b, s:o, s:o, s:o}", "world", (json_int_t)i + 1,
                      "ranks", mw_json_number(world->size, 0), "recorded", (json_int_t)recorded[i],
                      "program", mw_json_known(mw_trace_process(model->trace, world->sample)->exe),
                      "began", mw_json_time(world->began), "spawned", origin.spawned, "spawned_by",
                      mw_json_number(origin.by, 0), "connected_to", origin.linked,
                      "connections_not_recorded", mw_json_count(origin.strangers)));
    }
    free(recorded);
    return worlds;
}
