/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report for people: settings of MPI and the fabric (settings.h). Those that somebody made a
 * mistake in come first, then those of files, then the rest; what the launcher sets in each job is
 * left out.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/render/doc.h"
#include "analyzer/render/json.h"
#include "analyzer/render/settings.h"
#include "analyzer/render/text.h"

#define SETTINGS_SHOWN 24

static int verdict_is(const json_t *setting, const char *word)
{
    return strcmp(mw_json_string(setting, "verdict"), word) == 0;
}

static const json_t *first_variant(const json_t *setting)
{
    return json_array_get(json_object_get(setting, "variants"), 0);
}

static int has_strangers(const json_t *setting)
{
    const json_t *variants = json_object_get(setting, "variants");
    for (size_t i = 0; i < json_array_size(variants); i++)
        if (json_array_size(json_object_get(json_array_get(variants, i), "strangers")))
            return 1;
    return 0;
}

/* Order of appearance: 0 first; -1 not shown. */
static int place_of(const json_t *setting)
{
    if (json_is_true(json_object_get(setting, "by_launcher")))
        return -1;
    if (verdict_is(setting, "unknown") || verdict_is(setting, "idle") || has_strangers(setting))
        return 0;
    return strcmp(mw_json_string(first_variant(setting), "origin"), "environment") ? 1 : 2;
}

/* "value   (source)" */
static char *place_text(const json_t *place)
{
    const char *source = mw_json_string(place, "source");
    int perhaps = !strcmp(mw_json_string(place, "origin"), "perhaps");
    int told = !strcmp(mw_json_string(place, "origin"), "command_line");
    const char *note = perhaps ? ", perhaps not read" : told ? ", not passed on to the ranks" : "";
    return mw_format("%s%s%s%s%s", mw_json_string(place, "value"), source[0] ? "   (" : "", source,
                     source[0] ? note : "", source[0] ? ")" : "");
}

static void variant_notes(const json_t *variant, FILE *out)
{
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(variant, "overridden"), index, entry) {
        char *text = place_text(entry);
        mw_text_paragraph(out, MW_STYLE_DIM, "    overridden: %s", text);
        free(text);
    }
    json_array_foreach(json_object_get(variant, "strangers"), index, entry) {
        const char *suggestion = mw_json_string(entry, "suggestion");
        mw_text_paragraph(out, MW_STYLE_BAD, "    %s%s%s%s", mw_json_string(entry, "reason"),
                          suggestion[0] ? ": did you mean " : "", suggestion,
                          suggestion[0] ? "?" : "");
    }
}

static void verdict_print(const json_t *setting, FILE *out)
{
    const char *suggestion = mw_json_string(setting, "suggestion");
    int bad = verdict_is(setting, "unknown") || verdict_is(setting, "idle");
    if (!bad && !verdict_is(setting, "not_loaded"))
        return;
    mw_text_paragraph(out, bad ? MW_STYLE_BAD : MW_STYLE_PLAIN, "    %s%s%s%s",
                      mw_json_string(setting, "reason"), suggestion[0] ? ": did you mean " : "",
                      suggestion, suggestion[0] ? "?" : "");
}

static void setting_print(const json_t *setting, FILE *out)
{
    const json_t *variants = json_object_get(setting, "variants");
    const char *name = mw_json_string(setting, "name");
    size_t index;
    json_t *variant;
    if (json_is_true(json_object_get(setting, "everywhere"))) {
        char *text = place_text(first_variant(setting));
        mw_text_paragraph(out, MW_STYLE_PLAIN, "%s=%s", name, text);
        free(text);
        variant_notes(first_variant(setting), out);
        verdict_print(setting, out);
        return;
    }
    mw_text_paragraph(out, MW_STYLE_PLAIN, "%s is not the same on all ranks:", name);
    json_array_foreach(variants, index, variant) {
        const char *all = mw_json_string(variant, "ranks");
        char *ranks = mw_text_fit_list(all, 24), *text = place_text(variant);
        mw_text_paragraph(out, MW_STYLE_PLAIN, "    %s   (%s%s)", text, mw_rank_word(all), ranks);
        free(text);
        free(ranks);
        variant_notes(variant, out);
    }
    verdict_print(setting, out);
}

void mw_text_settings(const json_t *report, FILE *out)
{
    const json_t *settings = json_object_get(report, "settings");
    size_t index, total = 0, hidden = 0;
    json_t *setting;
    mw_text_heading(out, "Settings of MPI and the fabric");
    for (int place = 0; place <= 2; place++)
        json_array_foreach(settings, index, setting) {
            if (place_of(setting) == place && ++total <= SETTINGS_SHOWN)
                setting_print(setting, out);
            hidden += !place && place_of(setting) < 0;
        }
    if (!total)
        mw_text_paragraph(out, MW_STYLE_PLAIN, "none is set%s",
                          hidden ? " but what the launcher sets in each job" : "");
    mw_text_more(out, (double)total, SETTINGS_SHOWN, "settings");
}
