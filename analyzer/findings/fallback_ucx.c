/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of rule "fallback" in which no call fails: UCX was asked by name for a transport or a
 * device that drives a NIC, says that it is not available, and goes on with what is left.
 */
#include "analyzer/findings/fallback.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/base/number.h"
#include "analyzer/findings/used.h"
#include "analyzer/findings/words.h"

struct missing { /* equal lines of several processes */
    const struct mw_log_line *line;
    char *names; /* of what is not there */
    uint32_t process;
    struct mw_crowd crowd;
};

struct search {
    const struct mw_finding_input *in;
    struct mw_index index; /* by text */
    MW_VECTOR(struct missing) list;
};

/* "rc", "ib", "mlx5_0:1" and their like; "tcp", "eth0" are not. */
static int drives_nic(const char *name, int device)
{
    static const char *const aliases[] = {"ib", "ib/rdmacm", "rdmacm"};
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (!strcmp(name, aliases[i]))
            return 1;
    return device ? strchr(name, ':') != NULL : mw_fabric_native("ucx", name);
}

/* The names in quotes of "transport 'rc' is not available, please use ..."; NULL where the line is
 * something else, or none of them drives a NIC. */
static char *missing_names(const struct mw_log_line *line)
{
    const char *end = strstr(line->text, " not available");
    int device = strstr(line->text, "device") != NULL;
    char *names = NULL;
    int native = 0;
    if (strcmp(line->library, "ucx") || !end || strncasecmp(line->level, "warn", 4) ||
        (strncmp(line->text, "transport", 9) && strncmp(line->text, "network device", 14)))
        return NULL;
    device = device && strstr(line->text, "device") < end;
    for (const char *at = strchr(line->text, '\''); at && at < end; at = strchr(at, '\'')) {
        size_t length = strcspn(++at, "'");
        char *name = mw_format("%.*s", (int)length, at);
        native |= drives_nic(name, device);
        names = mw_list_add(names, ", ", name);
        at += length + (at[length] == '\'');
    }
    if (native)
        return names;
    free(names);
    return NULL;
}

static void look_at(struct search *search, uint32_t number)
{
    const struct mw_process *process = mw_trace_process(search->in->model->trace, number);
    for (size_t i = 0; i < process->log_count; i++) {
        char *names = missing_names(&process->log[i]);
        if (!names)
            continue;
        size_t at = mw_index_put(&search->index, mw_hash_text(1, process->log[i].text));
        if (at == search->list.count) {
            struct missing *added = mw_vector_add(&search->list);
            added->line = &process->log[i];
            added->process = number;
            added->names = names;
            mw_crowd_begin(&added->crowd, search->in->model);
        } else {
            free(names);
        }
        mw_crowd_add(&search->list.at[at].crowd, number);
    }
}

const char *mw_fallback_ucx_asked(const struct mw_finding_input *in, uint32_t process,
                                  struct mw_finding *finding)
{
    static const char *const names[] = {"UCX_TLS", "UCX_NET_DEVICES", "UCX_SHM_DEVICES",
                                        "OMPI_MCA_opal_common_ucx_tls"};
    const char *first = NULL;
    for (size_t i = 0; in->settings && i < sizeof(names) / sizeof(names[0]); i++) {
        const struct mw_setting *setting = mw_settings_find(in->settings, names[i]);
        const struct mw_setting_variant *on = setting ? mw_setting_on(setting, process) : NULL;
        if (!on)
            continue;
        char *words = mw_setting_words(setting, on);
        mw_finding_evidence(finding,
                            mw_format("asked for %s: %s", mw_place_words(&on->in_force), words));
        free(words);
        first = first ? first : setting->name;
    }
    return first;
}

static void report(const struct mw_finding_input *in, const struct missing *missing,
                   struct mw_findings *out)
{
    struct mw_used used;
    mw_used_begin(&used, in, &missing->crowd, MW_ANYWHERE);
    const struct mw_use *slow = mw_used_first(&used, mw_way_slow);
    if (mw_used_first(&used, mw_way_native)) {
        mw_used_end(&used);
        return;
    }
    char *share = mw_crowd_share(&missing->crowd);
    char *who = mw_process_words(in->model, missing->process);
    struct mw_finding *finding = mw_finding_add(
        out, "fallback", slow ? MW_CRITICAL : MW_NOTICE,
        mw_format("Fallback on %s: UCX was asked for %s, which is not available, and went on "
                  "without",
                  share, missing->names));
    mw_finding_evidence(finding, mw_format("ucx logged on %s: \"%s\"", who, missing->line->text));
    mw_fallback_ucx_asked(in, missing->process, finding);
    for (size_t i = 0; i < used.uses.count; i++) {
        const struct mw_use *use = &used.uses.at[i];
        if (!use->messages && !mw_use_matters(use))
            continue;
        mw_finding_evidence(finding, mw_use_words(&used, use));
        char *speed = mw_speed_words(&used, use, 0, NULL);
        if (speed)
            mw_finding_evidence(finding, speed);
    }
    if (slow) {
        char *bytes = mw_number_bytes((double)(slow->messages ? slow->bytes : slow->carried));
        finding->cost =
            mw_format("%s went over %s", bytes, in->transports->ways.at[slow->way].name);
        free(bytes);
    }
    finding->advice = mw_text_copy(
        "Check with ucx_info -d on the node whether UCX sees the device: its driver and user "
        "library have to be there and to belong together, and the job needs access to it. If the "
        "nodes have no such device, take it out of the list.");
    mw_crowd_give(&missing->crowd, finding);
    free(share);
    free(who);
    mw_used_end(&used);
}

void mw_fallback_ucx(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct search search = {.in = in};
    for (uint32_t i = 0; i < in->model->process_count; i++)
        look_at(&search, i);
    for (size_t i = 0; i < search.list.count; i++) {
        if (!mw_findings_concern(out, "fallback", &search.list.at[i].crowd))
            report(in, &search.list.at[i], out);
        free(search.list.at[i].names);
        mw_crowd_end(&search.list.at[i].crowd);
    }
    free(search.list.at);
    mw_index_free(&search.index);
}
