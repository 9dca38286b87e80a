/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings as JSON (findings.h). */
#include "analyzer/render/findings.h"
#include "analyzer/render/json.h"
#include "analyzer/render/labels.h"

static json_t *finding_json(const struct mw_finding *finding, const struct mw_model *model)
{
    json_t *evidence = json_array();
    struct mw_rank_set ranks = {0};
    for (size_t i = 0; i < finding->evidence.count; i++)
        json_array_append_new(evidence, mw_json_text(finding->evidence.at[i]));
    for (size_t i = 0; i < finding->processes.count; i++)
        mw_rank_set_add_process(&ranks, model, finding->processes.at[i]);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "id", finding->id, "severity",
                     mw_severity_word(finding->severity), "title", mw_json_text(finding->title),
                     "evidence", evidence, "cost", mw_json_text(finding->cost), "advice",
                     mw_json_text(finding->advice), "ranks", mw_rank_set_json(&ranks), "processes",
                     (json_int_t)finding->processes.count, "link",
                     mw_json_take(mw_format("docs/findings.md#%s", finding->id)));
}

json_t *mw_doc_findings(const struct mw_findings *findings, const struct mw_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; findings && i < findings->all.count; i++)
        json_array_append_new(list, finding_json(&findings->all.at[i], model));
    return list;
}
