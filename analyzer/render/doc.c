/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the sections of the report together (doc.h). */
#include "analyzer/render/doc.h"

#include "analyzer/analysis/exchange.h"
#include "analyzer/render/findings.h"
#include "analyzer/render/json.h"
#include "analyzer/render/placement.h"
#include "analyzer/render/settings.h"
#include "analyzer/render/speeds.h"
#include "analyzer/render/transports.h"

static json_t *doc_transports(const struct mw_doc_input *in)
{
    struct mw_transport_totals *totals =
        mw_transport_totals_create(in->transports, in->exchange->speeds);
    json_t *section = mw_doc_transports(totals, in->top);
    mw_transport_totals_free(totals);
    return section;
}

json_t *mw_doc_report(const struct mw_doc_input *in)
{
    json_t *report = mw_json_document("report");
    json_object_set_new(report, "trace", mw_doc_trace(in->model, in->paths, in->path_count));
    json_object_set_new(report, "job", mw_doc_job(in->model));
    json_object_set_new(report, "processes", mw_doc_processes(in->comms));
    json_object_set_new(report, "nodes", mw_doc_nodes(in->model));
    json_object_set_new(report, "stack", mw_doc_stack(in->model));
    json_object_set_new(report, "findings", mw_doc_findings(in->findings, in->model));
    json_object_set_new(report, "detail", mw_doc_detail(in));
    json_object_set_new(report, "time", mw_doc_time(in));
    json_object_set_new(report, "ranks", mw_doc_ranks(in));
    json_object_set_new(report, "calls", mw_doc_calls(in));
    json_object_set_new(report, "regions", mw_doc_regions(in));
    json_object_set_new(report, "sites", mw_doc_sites(in));
    json_object_set_new(report, "sizes", mw_doc_sizes(in));
    json_object_set_new(report, "messages", mw_doc_messages(in));
    json_object_set_new(report, "communicators", mw_doc_comms(in));
    json_object_set_new(report, "one_sided", mw_doc_one_sided(in));
    json_object_set_new(report, "files", mw_doc_files(in));
    json_object_set_new(report, "transports", doc_transports(in));
    json_object_set_new(report, "placement",
                        mw_doc_placement(in->placements, in->tally, in->top));
    json_object_set_new(report, "clocks", mw_doc_clocks(in->exchange));
    json_object_set_new(report, "speeds", mw_doc_speeds(in->exchange, in->transports, in->top));
    json_object_set_new(report, "waits", mw_doc_waits(in->exchange, in->symbols, in->top));
    json_object_set_new(report, "stuck", mw_doc_stuck(in));
    json_object_set_new(report, "environment", mw_doc_environment(in->model));
    json_object_set_new(report, "settings", mw_doc_settings(in->model, in->settings));
    json_object_set_new(report, "health", mw_doc_health(in->model));
    json_object_set_new(report, "cost", mw_doc_cost(in->model));
    json_object_set_new(report, "damage", mw_doc_damage(in->model->trace, in->tally));
    return report;
}
