/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings as JSON (settings.h). */
#include "analyzer/analysis/settings.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"
#include "analyzer/render/settings.h"

#define VARIANTS_LISTED 8 /* of one setting, those of most processes first */

static json_t *place_json(const struct mw_setting_place *place)
{
    return json_pack("{s:o, s:o, s:s}", "value", mw_json_text(place->value), "source",
                     mw_json_text(place->source), "origin", mw_setting_origin_word(place->origin));
}

static json_t *strangers_json(const struct mw_setting_variant *variant)
{
    json_t *list = json_array();
    for (size_t i = 0; i < variant->stranger_count; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:o}", "word", mw_json_text(variant->strangers[i].word),
                            "suggestion", mw_json_text(variant->strangers[i].suggestion), "reason",
                            mw_json_text(variant->strangers[i].reason)));
    return list;
}

static json_t *variant_json(const struct mw_model *model, const struct mw_setting_variant *variant)
{
    json_t *object = place_json(&variant->in_force), *overridden = json_array();
    struct mw_rank_set ranks = {0};
    for (size_t i = 0; i < variant->process_count; i++)
        mw_rank_set_add_process(&ranks, model, variant->processes[i]);
    for (size_t i = 0; i < variant->overridden_count; i++)
        json_array_append_new(overridden, place_json(&variant->overridden[i]));
    json_object_set_new(object, "processes", mw_json_count(variant->process_count));
    json_object_set_new(object, "ranks", mw_rank_set_json(&ranks));
    json_object_set_new(object, "overridden", overridden);
    json_object_set_new(object, "strangers", strangers_json(variant));
    return object;
}

static json_t *setting_json(const struct mw_model *model, const struct mw_setting *setting)
{
    json_t *variants = json_array();
    for (size_t i = 0; i < setting->variant_count && i < VARIANTS_LISTED; i++)
        json_array_append_new(variants, variant_json(model, &setting->variants[i]));
    return json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o}", "name",
                     mw_json_text(setting->name), "family", mw_setting_family_word(setting->family),
                     "verdict", mw_setting_verdict_word(setting->verdict), "reason",
                     mw_json_text(setting->reason), "suggestion", mw_json_text(setting->suggestion),
                     "component", mw_json_text(setting->component), "library",
                     mw_json_text(setting->library), "everywhere", setting->everywhere,
                     "by_launcher", setting->by_launcher, "distinct",
                     mw_json_count(setting->variant_count), "variants", variants);
}

json_t *mw_doc_settings(const struct mw_model *model, const struct mw_settings *settings)
{
    json_t *list = json_array();
    for (size_t i = 0; settings && i < mw_settings_count(settings); i++)
        json_array_append_new(list, setting_json(model, mw_settings_at(settings, i)));
    return list;
}
