/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for people: the MPI_COMM_WORLDs of a trace that has several (doc.h). */
#include <stdlib.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/labels.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/text.h"

#define WORLDS_SHOWN 8

static char *with_connections(char *text, const json_t *world)
{
    size_t index;
    json_t *other;
    json_array_foreach(json_object_get(world, "connected_to"), index, other) {
        char *longer = mw_format("%s%s%" JSON_INTEGER_FORMAT, text,
                                 index ? ", " : ", connected to world ", json_integer_value(other));
        free(text);
        text = longer;
    }
    if (mw_json_count_of(world, "connections_not_recorded") > 0) {
        char *longer = mw_format("%s, connected to others that are not known", text);
        free(text);
        text = longer;
    }
    return text;
}

/* "spawned by world 1", "spawned by a world that was not recorded", "". */
static char *origin_text(const json_t *world)
{
    if (!json_is_true(json_object_get(world, "spawned")))
        return with_connections(mw_text_copy(""), world);
    if (mw_json_is_null(world, "spawned_by"))
        return with_connections(mw_text_copy(", spawned by a world that is not known"), world);
    return with_connections(
        mw_format(", spawned by world %.0f", mw_json_count_of(world, "spawned_by")), world);
}

void mw_text_worlds(const json_t *processes, FILE *out)
{
    const json_t *worlds = json_object_get(processes, "worlds");
    size_t index;
    json_t *world;
    char *only = json_array_size(worlds) == 1 ? origin_text(json_array_get(worlds, 0)) : NULL;
    if (only && only[0])
        mw_text_entry(out, "world", "%s", only + 2);
    free(only);
    if (json_array_size(worlds) < 2)
        return;
    mw_text_entry(out, "worlds", "%zu: ranks are written WORLD:RANK", json_array_size(worlds));
    json_array_foreach(worlds, index, world) {
        if (index == WORLDS_SHOWN)
            break;
        char *origin = origin_text(world);
        mw_text_entry(out, "", "world %zu: %.0f of %.0f ranks, %s%s", index + 1,
                      mw_json_count_of(world, "recorded"), mw_json_count_of(world, "ranks"),
                      mw_basename(mw_json_string(world, "program")), origin);
        free(origin);
    }
    if (json_array_size(worlds) > WORLDS_SHOWN)
        mw_text_entry(out, "", "... %zu more worlds (--format json has all)",
                      json_array_size(worlds) - WORLDS_SHOWN);
}
