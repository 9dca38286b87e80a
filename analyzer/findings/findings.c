/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the rules and puts what they found in order (finding.h). */
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/finding.h"

/* What explains others comes first. */
const struct mw_rule *const mw_rules[] = {
    &mw_rule_fallback,
    &mw_rule_software_provider,
    &mw_rule_excluded,
    &mw_rule_idle_fabric,
    &mw_rule_single_copy_refused,
    &mw_rule_network_inside_node,
    &mw_rule_transports_disagree,
    &mw_rule_shared_cpu,
    &mw_rule_far_from_nic,
    &mw_rule_uneven_nics,
    &mw_rule_gpu_staged,
    &mw_rule_gpu_links,
    &mw_rule_migrated,
    &mw_rule_slow_link,
    &mw_rule_slit_flat,
    &mw_rule_late_rank,
    &mw_rule_slow_pair,
    &mw_rule_asymmetric_pair,
    &mw_rule_slower_inside,
    &mw_rule_size_cliff,
    &mw_rule_dead_setting,
    NULL,
};

static size_t rule_order(const char *id)
{
    size_t order = 0;
    while (mw_rules[order] && strcmp(mw_rules[order]->id, id))
        order++;
    return order;
}

static int finding_compare(const void *left, const void *right)
{
    const struct mw_finding *a = left, *b = right;
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    size_t first = rule_order(a->id), second = rule_order(b->id);
    if (first != second)
        return first < second ? -1 : 1;
    uint32_t one = a->processes.count ? a->processes.at[0] : 0;
    uint32_t two = b->processes.count ? b->processes.at[0] : 0;
    return one != two ? (one < two ? -1 : 1) : strcmp(a->title, b->title);
}

struct mw_findings *mw_findings_create(const struct mw_finding_input *in)
{
    struct mw_findings *findings = mw_alloc(1, sizeof(*findings));
    for (size_t i = 0; mw_rules[i]; i++)
        mw_rules[i]->find(in, findings);
    if (findings->all.count)
        qsort(findings->all.at, findings->all.count, sizeof(findings->all.at[0]), finding_compare);
    return findings;
}

void mw_findings_free(struct mw_findings *findings)
{
    if (!findings)
        return;
    for (size_t i = 0; i < findings->all.count; i++) {
        struct mw_finding *finding = &findings->all.at[i];
        for (size_t e = 0; e < finding->evidence.count; e++)
            free(finding->evidence.at[e]);
        free(finding->evidence.at);
        free(finding->processes.at);
        free(finding->title);
        free(finding->cost);
        free(finding->advice);
    }
    free(findings->all.at);
    free(findings);
}

const struct mw_finding *mw_findings_of(const struct mw_findings *findings, const char *id)
{
    for (size_t i = 0; i < findings->all.count; i++)
        if (!strcmp(findings->all.at[i].id, id))
            return &findings->all.at[i];
    return NULL;
}

struct mw_finding *mw_finding_add(struct mw_findings *out, const char *id,
                                  enum mw_severity severity, char *title)
{
    struct mw_finding *finding = mw_vector_add(&out->all);
    *finding = (struct mw_finding){.id = id, .severity = severity, .title = title};
    return finding;
}

void mw_finding_evidence(struct mw_finding *finding, char *text)
{
    *mw_vector_add(&finding->evidence) = text;
}

const char *mw_severity_word(enum mw_severity severity)
{
    static const char *const words[] = {"notice", "warning", "critical"};
    return words[severity];
}
