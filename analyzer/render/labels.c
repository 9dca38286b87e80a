/* SPDX-License-Identifier: BSD-3-Clause */
/* Names for things of a job as JSON (labels.h). Main thread only. */
#include "analyzer/render/labels.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/model/sites.h"
#include "analyzer/render/json.h"

json_t *mw_rank_json(const struct mw_model *model, int64_t place)
{
    if (model->world_count < 2)
        return mw_json_number(place < 0 ? -1 : place, -1);
    return place < 0 ? json_null() : mw_json_take(mw_rank_label(model, place));
}

char *mw_rank_text(const json_t *object, const char *key)
{
    const json_t *rank = json_object_get(object, key);
    if (json_is_integer(rank))
        return mw_format("%" JSON_INTEGER_FORMAT, json_integer_value(rank));
    return mw_text_copy(json_is_string(rank) ? json_string_value(rank) : "?");
}

struct mw_rank_id mw_rank_id_of(const json_t *object, const char *key)
{
    struct mw_rank_id id = {0, -1};
    char *text = mw_rank_text(object, key);
    mw_rank_label_read(text, &id);
    free(text);
    return id;
}

json_t *mw_rank_set_json(struct mw_rank_set *set)
{
    return mw_json_take(mw_rank_set_take(set));
}

json_t *mw_processes_json(const struct mw_model *model, const uint32_t *processes, size_t count)
{
    struct mw_rank_set ranks = {0};
    for (size_t i = 0; i < count; i++)
        mw_rank_set_add_process(&ranks, model, processes[i]);
    return mw_rank_set_json(&ranks);
}

json_t *mw_frame_json(struct mw_symbols *symbols, const struct mw_process *process,
                      const struct mw_frame *frame)
{
    struct mw_symbol symbol = mw_symbols_frame(symbols, process, frame);
    const struct mw_module *module = mw_process_module(process, frame->module);
    return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "module",
                     mw_json_text(symbol.module), "offset", mw_json_count(symbol.offset), "role",
                     module ? mw_role_word(module->role) : "unknown", "function",
                     mw_json_text(symbol.function), "inlined_into",
                     mw_json_text(symbol.inlined_into), "file", mw_json_text(symbol.file), "line",
                     symbol.file ? json_integer(symbol.line) : json_null(), "reason",
                     mw_json_text(symbol.reason));
}

json_t *mw_caller_json(struct mw_symbols *symbols, const struct mw_process *process, uint64_t id)
{
    const struct mw_site *site = id ? mw_process_site(process, id) : NULL;
    if (!site || !site->frame_count)
        return json_null();
    return mw_frame_json(symbols, process, &site->frames[mw_site_caller(process, site)]);
}

char *mw_frame_text(const json_t *frame)
{
    const char *module = mw_json_string(frame, "module");
    const char *function = mw_json_string(frame, "function"), *file = mw_json_string(frame, "file");
    const char *into = mw_json_string(frame, "inlined_into");
    if (!json_is_object(frame))
        return mw_text_copy("not recorded");
    if (!function[0])
        return mw_format("%s+0x%" PRIx64, module, (uint64_t)mw_json_count_of(frame, "offset"));
    const char *in = into[0] ? " in " : "";
    if (!file[0])
        return mw_format("%s!%s%s%s", module, function, in, into);
    return mw_format("%s!%s%s%s %s:%.0f", module, function, in, into, mw_basename(file),
                     mw_json_count_of(frame, "line"));
}
