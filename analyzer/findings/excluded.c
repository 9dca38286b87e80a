/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "excluded": a setting keeps out what would drive a fast device of the node: components of
 * Open MPI, providers of libfabric, transports and devices of UCX. Says which setting, where it
 * stands, and that it is no setting of the user's where it stands in a file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/base/number.h"
#include "analyzer/findings/idle.h"
#include "analyzer/findings/providers.h"
#include "analyzer/findings/words.h"
#include "analyzer/model/labels.h"

#define MUCH (1u << 20) /* bytes through sockets that make it critical */

enum drives { NEITHER = 0, RDMA = 1, OTHERS = 2, BOTH = 3 };

/* What can be kept out, which devices it would drive, and for which of them it is the way: only
 * that it is kept out makes a finding. */
static const struct component {
    const char *framework, *name, *label;
    enum drives drives, decides;
} components[] = {
    {"pml", "ucx", "UCX", RDMA, RDMA},          {"mtl", "ofi", "OFI", BOTH, OTHERS},
    {"pml", "cm", "MTLs", OTHERS, OTHERS},      {"mtl", "psm2", "PSM2", OTHERS, NEITHER},
    {"btl", "uct", "UCX's UCT", RDMA, NEITHER}, {"btl", "openib", "openib", RDMA, NEITHER},
    {"btl", "ofi", "OFI's BTL", BOTH, NEITHER},
};

struct excluded {
    struct mw_exclusion how;
    char *what; /* "UCX (pml ucx)" */
};

struct state {
    const struct mw_finding_input *in;
    struct mw_crowd crowd; /* that went through sockets, or everybody */
    struct mw_fast fast;
    struct mw_used used;
    const struct mw_use *slow;
    MW_VECTOR(struct excluded) list;
    int decisive; /* one of them would drive a device that is there */
};

static unsigned devices_there(const struct mw_fast *fast)
{
    unsigned there = 0;
    for (size_t i = 0; i < fast->devices.count; i++)
        there |= mw_idle_is_rdma(fast->devices.at[i]) ? RDMA : OTHERS;
    return there;
}

/* Is it in force on somebody whom this is about? */
static int concerns(const struct state *state, const struct mw_exclusion *how)
{
    return mw_crowd_common(&state->crowd, how->variant->processes, how->variant->process_count) !=
           0;
}

static void take(struct state *state, const struct mw_exclusion *how, char *what, int decisive)
{
    *mw_vector_add(&state->list) = (struct excluded){*how, what};
    state->decisive |= decisive;
}

static void look_at_components(struct state *state)
{
    size_t first = mw_crowd_first(&state->crowd);
    unsigned there = devices_there(&state->fast);
    if (strcmp(mw_mpi_word(state->in, (uint32_t)first), "Open MPI"))
        return;
    for (size_t i = 0; i < sizeof(components) / sizeof(components[0]); i++) {
        const struct component *component = &components[i];
        struct mw_exclusion how;
        if ((component->drives & there) &&
            mw_setting_excludes(state->in->settings, component->framework, component->name, &how) >
                0 &&
            concerns(state, &how) && ((component->decides & there) || how.by_name))
            take(state, &how,
                 mw_format("%s (%s %s)", component->label, component->framework, component->name),
                 (component->decides & there) != 0);
    }
}

/* Several devices are kept out by one setting. */
static int is_taken(const struct state *state, const struct mw_setting *setting)
{
    for (size_t i = 0; i < state->list.count; i++)
        if (state->list.at[i].how.setting == setting)
            return 1;
    return 0;
}

/* A library's own list, where it keeps a device of that library out. */
static void look_at_list(struct state *state, const char *variable, const char *name,
                         const char *what)
{
    struct mw_exclusion how;
    if (!name[0] || mw_setting_excludes(state->in->settings, variable, name, &how) <= 0 ||
        !concerns(state, &how) || is_taken(state, how.setting))
        return;
    take(state, &how, mw_format("%s %s", what, name), 1);
}

static int has_library(const struct state *state, const char *beginning)
{
    const struct mw_process *process =
        mw_trace_process(state->in->model->trace, mw_crowd_first(&state->crowd));
    for (size_t i = 0; i < process->module_count; i++)
        if (!strncmp(mw_basename(process->modules[i].path), beginning, strlen(beginning)))
            return 1;
    return 0;
}

/* UCX names its devices with the port. */
static char *ucx_device(const struct mw_idle *idle)
{
    return strchr(idle->device, ':') || !idle->device[0] ? mw_text_copy(idle->device)
                                                         : mw_format("%s:1", idle->device);
}

static void look_at_ucx(struct state *state, const struct mw_idle *idle)
{
    /* kept out only when every transport for such a device is */
    static const char *const transports[] = {"rc_verbs", "rc_mlx5", "dc_mlx5", "ud_verbs",
                                             "ud_mlx5"};
    struct mw_exclusion how;
    size_t out = 0;
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++)
        out += mw_setting_excludes(state->in->settings, "UCX_TLS", transports[i], &how) > 0;
    if (out == sizeof(transports) / sizeof(transports[0]))
        look_at_list(state, "UCX_TLS", "rc_verbs", "UCX's RDMA transports, such as");
    char *device = ucx_device(idle);
    look_at_list(state, "UCX_NET_DEVICES", device, "UCX's device");
    free(device);
}

static int names_provider(const char *list, const char *provider)
{
    while (*list) {
        size_t length = strcspn(list, ",");
        if (length == strlen(provider) && !strncasecmp(list, provider, length))
            return 1;
        list += length + (list[length] == ',');
    }
    return 0;
}

/* Lists of providers that an MPI library keeps itself. Open MPI's list of those to use wins over
 * the one of those not to use. */
static void look_at_providers(struct state *state, const struct mw_idle *idle)
{
    for (const struct mw_provider_list *list = mw_provider_lists; list->name; list++) {
        const struct mw_setting *setting = mw_settings_find(state->in->settings, list->name);
        const struct mw_setting_variant *on =
            setting ? mw_setting_on(setting, (uint32_t)mw_crowd_first(&state->crowd)) : NULL;
        if (!on || !on->in_force.value[0])
            continue;
        struct mw_exclusion how = {setting, on, !list->use};
        if (names_provider(on->in_force.value, idle->provider) != list->use &&
            !is_taken(state, setting))
            take(state, &how, mw_format("libfabric's provider %s", idle->provider), 1);
        return;
    }
}

static void look_at_libraries(struct state *state)
{
    int ucx = has_library(state, "libucp."), ofi = has_library(state, "libfabric.");
    for (size_t i = 0; i < state->fast.devices.count; i++) {
        const struct mw_idle *idle = state->fast.devices.at[i];
        if (ucx && mw_idle_is_rdma(idle))
            look_at_ucx(state, idle);
        if (ofi && strcmp(idle->library, "ucx"))
            look_at_list(state, "FI_PROVIDER", idle->provider, "libfabric's provider");
        if (ofi && !strcmp(idle->library, "libfabric"))
            look_at_providers(state, idle);
    }
}

/* "/etc/x.conf" of "/etc/x.conf:75"; NULL where it is no file. */
static char *file_of(const struct mw_setting_place *place)
{
    const char *colon = strrchr(place->source, ':');
    if ((place->origin != MW_ORIGIN_FILE && place->origin != MW_ORIGIN_OVERRIDE) || !colon)
        return NULL;
    return mw_format("%.*s", (int)(colon - place->source), place->source);
}

/* The one file that all of them stand in, and the first and last line; NULL where there is none. */
static char *common_file(const struct state *state, long *first, long *last)
{
    char *file = NULL;
    *first = *last = 0;
    for (size_t i = 0; i < state->list.count; i++) {
        const struct mw_setting_place *place = &state->list.at[i].how.variant->in_force;
        char *here = file_of(place);
        if (!here || (file && strcmp(here, file))) {
            free(here);
            free(file);
            return NULL;
        }
        long line = strtol(strrchr(place->source, ':') + 1, NULL, 10);
        *first = !*first || line < *first ? line : *first;
        *last = line > *last ? line : *last;
        free(file);
        file = here;
    }
    return file;
}

/* "by the environment", where all of them are set there. */
static const char *common_origin(const struct state *state)
{
    const char *words = mw_place_words(&state->list.at[0].how.variant->in_force);
    for (size_t i = 1; i < state->list.count; i++)
        if (strcmp(mw_place_words(&state->list.at[i].how.variant->in_force), words))
            return "by settings";
    return words;
}

static char *title_of(const struct state *state)
{
    char *what = NULL, *share = mw_crowd_share(&state->crowd), *title, *where;
    long first, last;
    for (size_t i = 0; i < state->list.count; i++) {
        int end = i && i + 1 == state->list.count;
        what = mw_list_add(what, end ? " and " : ", ", mw_text_copy(state->list.at[i].what));
    }
    char *file = common_file(state, &first, &last);
    if (file && last > first)
        where = mw_format("by %s, lines %ld-%ld, not by your environment", file, first, last);
    else if (file)
        where = mw_format("by %s, line %ld, not by your environment", file, first);
    else
        where = mw_text_copy(common_origin(state));
    title = mw_format("%s %s excluded %s, though %s is there (%s)", what,
                      state->list.count == 1 ? "is" : "are", where,
                      mw_idle_name(state->fast.devices.at[0]), share);
    free(what);
    free(share);
    free(file);
    free(where);
    return title;
}

static enum mw_severity severity_of(const struct state *state)
{
    if (!state->slow)
        return MW_NOTICE;
    uint64_t bytes = state->slow->messages ? state->slow->bytes : state->slow->carried;
    return bytes >= MUCH ? MW_CRITICAL : MW_WARNING;
}

static void say_settings(const struct state *state, struct mw_finding *finding)
{
    for (size_t i = 0; i < state->list.count; i++) {
        const struct mw_exclusion *how = &state->list.at[i].how;
        char *words = mw_setting_words(how->setting, how->variant);
        mw_finding_evidence(
            finding, mw_format("%s: %s %s", state->list.at[i].what,
                               how->by_name ? "excluded by name," : "not in the list,", words));
        free(words);
    }
}

static void report(const struct state *state, struct mw_findings *out)
{
    struct mw_finding *finding =
        mw_finding_add(out, "excluded", severity_of(state), title_of(state));
    say_settings(state, finding);
    for (size_t i = 0; i < state->fast.devices.count; i++) {
        char *words = mw_idle_words(state->fast.devices.at[i]);
        mw_finding_evidence(finding, mw_format("there, and not used: %s", words));
        free(words);
    }
    if (state->slow) {
        const struct mw_idle *idle = state->fast.devices.at[0];
        mw_finding_evidence(finding, mw_use_words(&state->used, state->slow));
        char *speed = mw_speed_words(&state->used, state->slow, idle->speed, mw_idle_name(idle));
        if (speed)
            mw_finding_evidence(finding, speed);
        char *bytes = mw_number_bytes(
            (double)(state->slow->messages ? state->slow->bytes : state->slow->carried));
        finding->cost = mw_format("%s went through sockets", bytes);
        free(bytes);
    }
    const struct mw_setting *setting = state->list.at[0].how.setting;
    finding->advice = mw_format(
        "Set %s yourself (the environment and mpirun's command line win over the files that are "
        "read by default), or have the setting changed where it stands.",
        setting->name);
    mw_crowd_give(&state->crowd, finding);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct state state = {.in = in};
    if (!in->settings || !in->model->process_count)
        return;
    mw_crowd_begin(&state.crowd, in->model);
    mw_crowd_of_ways(&state.crowd, in, MW_ANYWHERE, mw_way_slow);
    int slow = state.crowd.count != 0;
    if (!slow)
        mw_crowd_add_everybody(&state.crowd);
    mw_fast_begin(&state.fast, in, &state.crowd);
    mw_used_begin(&state.used, in, &state.crowd, MW_ANYWHERE);
    state.slow = mw_used_first(&state.used, mw_way_slow);
    if (state.fast.devices.count && (state.slow || !mw_used_first(&state.used, mw_way_native)) &&
        !mw_findings_concern(out, "fallback", &state.crowd) &&
        !mw_findings_concern(out, "software-provider", &state.crowd)) {
        look_at_components(&state);
        look_at_libraries(&state);
        if (state.decisive)
            report(&state, out);
    }
    for (size_t i = 0; i < state.list.count; i++)
        free(state.list.at[i].what);
    free(state.list.at);
    mw_used_end(&state.used);
    mw_fast_end(&state.fast);
    mw_crowd_end(&state.crowd);
}

const struct mw_rule mw_rule_excluded = {
    "excluded", "a setting keeps out what would drive a fast device", find};
