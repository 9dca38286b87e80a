/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings for people (findings.h): the worst first, each with what it rests on. */
#include <string.h>

#include "analyzer/render/findings.h"
#include "analyzer/render/json.h"
#include "analyzer/render/text.h"

static void text_finding(const json_t *finding, FILE *out)
{
    const char *severity = mw_json_string(finding, "severity");
    int notice = !strcmp(severity, "notice");
    const char *word = notice ? "NOTICE" : !strcmp(severity, "critical") ? "CRITICAL" : "WARNING";
    size_t index;
    json_t *fact;
    mw_text_paragraph(out, notice ? MW_STYLE_PLAIN : MW_STYLE_BAD, "%s %s: %s", word,
                      mw_json_string(finding, "id"), mw_json_string(finding, "title"));
    json_array_foreach(json_object_get(finding, "evidence"), index, fact)
        mw_text_item(out, json_string_value(fact));
    if (!mw_json_is_null(finding, "cost"))
        mw_text_paragraph(out, MW_STYLE_PLAIN, "  cost: %s", mw_json_string(finding, "cost"));
    if (!mw_json_is_null(finding, "advice"))
        mw_text_paragraph(out, MW_STYLE_PLAIN, "  to do: %s", mw_json_string(finding, "advice"));
}

void mw_text_findings(const json_t *document, FILE *out)
{
    const json_t *findings = json_object_get(document, "findings");
    size_t index;
    json_t *finding;
    if (!json_array_size(findings))
        return;
    mw_text_heading(out, "Findings");
    json_array_foreach(findings, index, finding) {
        if (index)
            fputc('\n', out);
        text_finding(finding, out);
    }
}
