/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "single-copy-refused": ranks of one node could copy large messages once, straight from one
 * process's memory to the other's, but the kernel refuses that, or MPI found out beforehand and
 * left it off: they are copied twice then, or UCX sends them through the network. Only between
 * ranks that send messages above the eager size.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/number.h"
#include "analyzer/findings/spaces.h"
#include "analyzer/findings/used.h"
#include "analyzer/findings/words.h"
#include "analyzer/model/labels.h"

#define EAGER_OPENMPI  4096 /* of vader and sm, unless set */
#define EAGER_OTHERS   8192 /* about where others change over */
#define CAP_SYS_PTRACE 19

enum cause { REFUSED, USER_NAMESPACE, PID_NAMESPACE, PTRACE_SCOPE, CAUSES };

struct off { /* single copies that do not happen, of one cause */
    struct mw_crowd crowd;
    struct mw_crowd met;             /* of these, who was refused */
    uint64_t pairs, messages, bytes; /* large ones */
    uint64_t refused, error;         /* calls, errno */
    uint32_t process;                /* that was refused first */
    uint32_t pair;                   /* the one with the most bytes */
    uint64_t pair_bytes;
    uint64_t network; /* bytes of these that went through the network */
    uint32_t way;     /* over this */
};

struct search {
    const struct mw_finding_input *in;
    struct mw_spaces *spaces;  /* by process */
    struct mw_crowd unwilling; /* where a setting switches single copies off */
    struct mw_index by_pid;    /* host and pid */
    MW_VECTOR(uint32_t) pid_process;
    unsigned eager; /* size class from which on messages are large */
    struct off off[CAUSES];
};

static uint64_t pid_key(const struct mw_process *process, uint64_t pid)
{
    uint64_t key = mw_hash_text(mw_mix(pid), process->host);
    return mw_hash_text(key, process->boot_id) ^ mw_mix(process->pid_ns);
}

static void index_processes(struct search *search)
{
    const struct mw_model *model = search->in->model;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(model->trace, i);
        size_t at = mw_index_put(&search->by_pid, pid_key(process, process->pid));
        if (at == search->pid_process.count)
            *mw_vector_add(&search->pid_process) = i;
    }
}

/* What a call refused for good looks like; others (a bad address, a process that is gone) are not.
 */
static int is_refusal(uint64_t error)
{
    return error == EPERM || error == EACCES || error == ENOSYS;
}

/* The refusals that a process met when it wanted the memory of another; NULL none. */
static const struct mw_cma_peer *refusal(const struct mw_process *process, uint64_t pid)
{
    for (size_t i = 0; i < process->cma_count; i++) {
        const struct mw_cma_peer *peer = &process->cma[i];
        if (peer->pid == pid && peer->refused && is_refusal(peer->error) && !peer->read &&
            !peer->written)
            return peer;
    }
    return NULL;
}

/* Levels 2 and 3 forbid it to everybody who may not trace any process. */
static int scope_forbids(const struct mw_spaces *spaces)
{
    int scope = atoi(spaces->ptrace_scope);
    uint64_t may = strtoull(spaces->capabilities, NULL, 16) >> CAP_SYS_PTRACE & 1;
    return scope >= 3 || (scope == 2 && spaces->capabilities[0] && !may);
}

/* Who does not want it: settings that switch single copies off. */
static void find_unwilling(struct search *search)
{
    static const char *const names[] = {"OMPI_MCA_btl_vader_single_copy_mechanism",
                                        "OMPI_MCA_btl_sm_single_copy_mechanism", "OMPI_MCA_smsc"};
    const struct mw_settings *settings = search->in->settings;
    struct mw_exclusion how;
    if (!settings)
        return;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct mw_setting *setting = mw_settings_find(settings, names[i]);
        for (size_t v = 0; setting && v < setting->variant_count; v++) {
            const struct mw_setting_variant *variant = &setting->variants[v];
            if (!strcmp(variant->in_force.value, "none") || variant->in_force.value[0] == '^')
                mw_crowd_add_all(&search->unwilling, variant->processes, variant->process_count);
        }
    }
    if (mw_setting_excludes(settings, "UCX_TLS", "cma", &how) > 0)
        mw_crowd_add_all(&search->unwilling, how.variant->processes, how.variant->process_count);
}

/* The cause for which two processes of a node copy twice; CAUSES: none that is known. */
static enum cause cause_of(const struct search *search, uint32_t src, uint32_t dst,
                           const struct mw_cma_peer **peer, uint32_t *met)
{
    const struct mw_process *one = mw_trace_process(search->in->model->trace, src);
    const struct mw_process *two = mw_trace_process(search->in->model->trace, dst);
    *met = dst;
    *peer = refusal(two, one->pid);
    if (!*peer) {
        *met = src;
        *peer = refusal(one, two->pid);
    }
    if (*peer)
        return REFUSED;
    if (mw_crowd_has(&search->unwilling, src) || mw_crowd_has(&search->unwilling, dst))
        return CAUSES;
    *peer = refusal(one, one->pid); /* MPI and UCX try it out on themselves */
    if (*peer)
        return REFUSED;
    if (mw_spaces_differ(&search->spaces[src], &search->spaces[dst], MW_SPACE_USER))
        return USER_NAMESPACE;
    if (mw_spaces_differ(&search->spaces[src], &search->spaces[dst], MW_SPACE_PID))
        return PID_NAMESPACE;
    return scope_forbids(&search->spaces[src]) || scope_forbids(&search->spaces[dst]) ? PTRACE_SCOPE
                                                                                      : CAUSES;
}

/* How the large messages of a pair went without single copies. */
enum instead { ONCE, TWICE, NETWORK };

/* UCX takes the network for them where shared memory cannot be read at once. */
static enum instead went(const struct mw_finding_input *in, const struct mw_pair_transport *pair,
                         uint32_t *way)
{
    enum instead instead = ONCE;
    for (size_t r = 0; r < pair->routes.count; r++) {
        const struct mw_route *route = &pair->routes.at[r];
        const struct mw_way *one = &in->transports->ways.at[route->way];
        if (one->kind == MW_WAY_SINGLE_COPY && (route->messages || route->carried))
            return ONCE;
        if (one->kind == MW_WAY_NETWORK && !strcmp(one->layer, "UCX")) {
            instead = NETWORK;
            *way = route->way;
        } else if (one->kind == MW_WAY_SHARED && instead == ONCE) {
            instead = TWICE;
        }
    }
    return instead;
}

static void look_at_pair(struct search *search, uint32_t number)
{
    const struct mw_finding_input *in = search->in;
    const struct mw_pair_transport *pair = &in->transports->pairs.at[number];
    int64_t src = mw_model_rank(in->model, pair->src), dst = mw_model_rank(in->model, pair->dst);
    uint64_t messages = 0, bytes = 0;
    size_t count;
    const struct mw_cma_peer *peer;
    uint32_t met, way = 0;
    if (src < 0 || dst < 0 || src == dst || pair->where != MW_WHERE_NODE)
        return;
    enum instead instead = went(in, pair, &way);
    if (instead == ONCE)
        return;
    const struct mw_pair_class *class = mw_tally_classes(in->tally, pair->src, pair->dst, &count);
    for (size_t i = 0; i < count; i++)
        if (class[i].class >= search->eager) {
            messages += class[i].messages;
            bytes += class[i].bytes;
        }
    if (!messages)
        return;
    enum cause cause = cause_of(search, (uint32_t)src, (uint32_t)dst, &peer, &met);
    if (cause == CAUSES || (cause != REFUSED && instead == NETWORK))
        return;
    struct off *off = &search->off[cause];
    if (instead == NETWORK) {
        off->network += bytes;
        off->way = way;
    }
    if (peer)
        mw_crowd_add(&off->met, met);
    if (peer && !off->error) {
        off->error = peer->error;
        off->process = met;
    }
    off->pairs++;
    off->messages += messages;
    off->bytes += bytes;
    if (bytes >= off->pair_bytes) {
        off->pair_bytes = bytes;
        off->pair = number;
    }
    mw_crowd_add(&off->crowd, (uint32_t)src);
    mw_crowd_add(&off->crowd, (uint32_t)dst);
}

/* Calls that were refused to those whom it concerns. */
static uint64_t count_refused(const struct search *search, const struct off *off)
{
    uint64_t refused = 0;
    for (uint32_t i = 0; i < search->in->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(search->in->model->trace, i);
        for (size_t c = 0; mw_crowd_has(&off->crowd, i) && c < process->cma_count; c++) {
            size_t at = mw_index_find(&search->by_pid, pid_key(process, process->cma[c].pid));
            if (at != MW_INDEX_NONE && is_refusal(process->cma[c].error) &&
                mw_crowd_has(&off->crowd, search->pid_process.at[at]))
                refused += process->cma[c].refused;
        }
    }
    return refused;
}

static char *why_words(const struct search *search, enum cause cause)
{
    const struct off *off = &search->off[cause];
    uint32_t number = cause == REFUSED ? off->process : (uint32_t)mw_crowd_first(&off->crowd);
    const char *seccomp = search->spaces[number].seccomp;
    const char *error = off->error == EPERM ? "EPERM" : off->error == EACCES ? "EACCES" : "ENOSYS";
    switch (cause) {
    case REFUSED:
        return seccomp[0] && strcmp(seccomp, "off")
                   ? mw_format("%s; seccomp mode %s", error,
                               !strcmp(seccomp, "filter") ? "2 (filter)" : seccomp)
                   : mw_text_copy(error);
    case USER_NAMESPACE:
        return mw_text_copy("they are in different user namespaces");
    case PID_NAMESPACE:
        return mw_text_copy("they are in different pid namespaces");
    default:
        return mw_format("kernel.yama.ptrace_scope is %s", search->spaces[number].ptrace_scope);
    }
}

static char *title_of(const struct search *search, enum cause cause)
{
    const struct off *off = &search->off[cause];
    char *names = mw_crowd_names(&off->crowd), *why = why_words(search, cause);
    char *bytes = mw_number_bytes((double)off->bytes);
    char *messages = mw_number_count((double)off->messages), *title;
    char *network = off->network ? mw_way_words(&search->in->transports->ways.at[off->way]) : NULL;
    char *how = network ? mw_format("went over %s", network)
                        : mw_format("%s copied twice", off->messages == 1 ? "was" : "were");
    const char *plural = off->messages == 1 ? "" : "s";
    int all = off->met.count == off->crowd.count; /* else only some are kept from it */
    char *whom = all ? mw_text_copy(names) : mw_crowd_names(&off->met);
    if (cause == REFUSED)
        title = mw_format("The kernel refuses process_vm_readv %s %s (%s): %s message%s above the "
                          "eager size, %s, %s",
                          all ? "between" : "to", whom, why, messages, plural, bytes, how);
    else
        title = mw_format("No single copies between %s, as %s: %s message%s above the eager size, "
                          "%s, %s",
                          names, why, messages, plural, bytes, how);
    free(network);
    free(whom);
    free(how);
    free(names);
    free(why);
    free(bytes);
    free(messages);
    return title;
}

static void say_namespaces(const struct search *search, const struct off *off,
                           struct mw_finding *finding)
{
    const struct mw_pair_transport *pair = &search->in->transports->pairs.at[off->pair];
    const struct mw_model *model = search->in->model;
    int64_t first = pair->src < pair->dst ? pair->src : pair->dst;
    int64_t second = pair->src < pair->dst ? pair->dst : pair->src;
    const struct mw_spaces *one = &search->spaces[mw_model_rank(model, first)];
    const struct mw_spaces *two = &search->spaces[mw_model_rank(model, second)];
    char *first_label = mw_rank_label(model, first), *second_label = mw_rank_label(model, second);
    for (int i = 0; i < MW_SPACES; i++)
        if (mw_spaces_differ(one, two, (enum mw_space)i))
            mw_finding_evidence(finding, mw_format("%s namespace: rank %s %s, rank %s %s",
                                                   mw_space_word((enum mw_space)i), first_label,
                                                   one->in[i], second_label, two->in[i]));
    free(first_label);
    free(second_label);
}

static void say_speed(const struct search *search, const struct off *off,
                      struct mw_finding *finding)
{
    struct mw_used used;
    mw_used_begin(&used, search->in, &off->crowd, MW_IN_NODE);
    for (size_t i = 0; i < used.uses.count; i++) {
        const struct mw_use *use = &used.uses.at[i];
        if (!use->messages)
            continue;
        mw_finding_evidence(finding, mw_use_words(&used, use));
        char *speed = mw_speed_words(&used, use, 0, NULL);
        if (speed)
            mw_finding_evidence(finding, speed);
    }
    mw_used_end(&used);
}

static const char *advice_of(enum cause cause)
{
    switch (cause) {
    case REFUSED:
        return "Let the container or sandbox allow process_vm_readv and process_vm_writev (its "
               "seccomp profile, or the capability SYS_PTRACE; for yama, ptrace_scope 0), or load "
               "xpmem or knem and let MPI use it.";
    case PTRACE_SCOPE:
        return "Set kernel.yama.ptrace_scope to 0 or 1 on the nodes, or load xpmem or knem and "
               "let MPI use it.";
    default:
        return "Start all ranks of a node in one container, or let the containers share the "
               "namespaces; or load xpmem or knem and let MPI use it.";
    }
}

static void report(const struct search *search, enum cause cause, struct mw_findings *out)
{
    const struct off *off = &search->off[cause];
    struct mw_finding *finding =
        mw_finding_add(out, "single-copy-refused", MW_WARNING, title_of(search, cause));
    char *from = mw_number_bytes((double)mw_class_from(search->eager));
    mw_finding_evidence(finding,
                        mw_format("counted: messages of %s and more, on %" PRIu64 " pair%s", from,
                                  off->pairs, off->pairs == 1 ? "" : "s"));
    free(from);
    if (cause == REFUSED) {
        char *refused = mw_number_count((double)count_refused(search, off));
        char *who = mw_process_words(search->in->model, off->process);
        mw_finding_evidence(finding, mw_format("%s calls were refused, the first on %s: %s",
                                               refused, who, strerror((int)off->error)));
        free(refused);
        free(who);
    }
    say_namespaces(search, off, finding);
    say_speed(search, off, finding);
    char *bytes = mw_number_bytes((double)off->bytes);
    finding->cost = off->network
                        ? mw_format("%s through the network stack instead of one copy", bytes)
                        : mw_format("%s copied once more than needed", bytes);
    finding->advice = mw_text_copy(advice_of(cause));
    mw_crowd_give(&off->crowd, finding);
    free(bytes);
}

/* From which class on messages are large: the first whose every message is. */
static unsigned eager_class(const struct mw_finding_input *in)
{
    static const char *const names[] = {"OMPI_MCA_btl_vader_eager_limit",
                                        "OMPI_MCA_btl_sm_eager_limit"};
    int openmpi = in->model->process_count && !strcmp(mw_mpi_word(in, 0), "Open MPI");
    uint64_t limit = openmpi ? EAGER_OPENMPI : EAGER_OTHERS;
    for (size_t i = 0; openmpi && in->settings && i < 2; i++) {
        const struct mw_setting *setting = mw_settings_find(in->settings, names[i]);
        if (setting && setting->variant_count)
            limit = strtoull(setting->variants[0].in_force.value, NULL, 10);
    }
    unsigned class = mw_size_class(limit);
    return limit & (limit - 1) ? class + 1 : class;
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct search search = {.in = in, .eager = eager_class(in)};
    for (int c = 0; c < CAUSES; c++) {
        mw_crowd_begin(&search.off[c].crowd, in->model);
        mw_crowd_begin(&search.off[c].met, in->model);
    }
    mw_crowd_begin(&search.unwilling, in->model);
    search.spaces = mw_spaces_read(in->model);
    find_unwilling(&search);
    index_processes(&search);
    for (uint32_t i = 0; i < in->transports->pairs.count; i++)
        look_at_pair(&search, i);
    for (int c = 0; c < CAUSES; c++) {
        if (search.off[c].messages)
            report(&search, (enum cause)c, out);
        mw_crowd_end(&search.off[c].crowd);
        mw_crowd_end(&search.off[c].met);
    }
    free(search.spaces);
    mw_crowd_end(&search.unwilling);
    mw_index_free(&search.by_pid);
    free(search.pid_process.at);
}

const struct mw_rule mw_rule_single_copy_refused = {
    "single-copy-refused", "large messages within a node are copied twice", find};
