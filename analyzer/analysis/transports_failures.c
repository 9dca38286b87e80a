/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attempts to open a fabric that failed or never returned, equal ones of several processes
 * together, with the lines that the provider logged on the way (docs/metrics.md, "What was tried
 * and failed"). Main thread.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/analysis/transports_build.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define NO_DATA     (-61) /* what fi_getinfo says where nothing fits the question */

static int same(const char *a, const char *b)
{
    return !strcmp(a, b);
}

static size_t attempts_of(const struct mw_process *process)
{
    return mw_at_most(process->attempt_count, MW_ATTEMPTS_MOST);
}

static size_t lines_of(const struct mw_process *process)
{
    return mw_at_most(process->log_count, MW_LINES_MOST);
}

static int in_init(const struct mw_process *process)
{
    return !process->has_rank || !process->init_end;
}

static int attempt_hangs(const struct mw_process *process, const struct mw_attempt *attempt)
{
    return !attempt->end && process->end_reason != MW_END_FINALIZE;
}

static int attempt_failed(const struct mw_attempt *attempt)
{
    return attempt->end && attempt->result < 0;
}

static int attempt_succeeded(const struct mw_attempt *attempt)
{
    return attempt->end && attempt->result >= 0;
}

/* Whether the same call succeeded later, for the same provider. */
static int recovered(const struct mw_process *process, size_t at)
{
    const struct mw_attempt *failed = &process->attempts[at];
    for (size_t i = at + 1; i < attempts_of(process); i++) {
        const struct mw_attempt *later = &process->attempts[i];
        if (attempt_succeeded(later) && !later->inner && same(later->call, failed->call) &&
            same(later->library, failed->library) &&
            mw_provider_same(later->provider, failed->provider))
            return 1;
    }
    for (size_t e = 0; e < process->endpoint_count; e++) {
        const struct mw_endpoint *endpoint = &process->endpoints[e];
        if (endpoint->inner || !*failed->provider || !same(endpoint->library, failed->library) ||
            !mw_provider_same(endpoint->provider, failed->provider))
            continue;
        for (size_t p = 0; p < endpoint->peer_count; p++)
            if (endpoint->peers[p].sends | endpoint->peers[p].puts | endpoint->peers[p].gets)
                return 1;
    }
    return 0;
}

static enum mw_failure_weight weight_of(const struct mw_process *process, size_t at)
{
    const struct mw_attempt *attempt = &process->attempts[at];
    int question = same(attempt->call, "fi_getinfo") && attempt->result == NO_DATA;
    if (attempt->inner)
        return MW_FAILURE_LAYER;
    if (attempt_hangs(process, attempt))
        return MW_FAILURE_MATTERS;
    if (recovered(process, at))
        return question ? MW_FAILURE_NOTHING : MW_FAILURE_RECOVERED;
    if (question && !in_init(process))
        return MW_FAILURE_NOTHING;
    return mw_caller_is_mpi(process, attempt->caller) ? MW_FAILURE_MATTERS : MW_FAILURE_MINOR;
}

/* --- log lines -------------------------------------------------------------------------------- */

static int line_is_of(const struct mw_log_line *line, const char *library, const char *provider)
{
    if (!same(line->library, library))
        return 0;
    return !*provider || !*line->provider || mw_provider_has(provider, line->provider);
}

static void take_lines(struct mw_failure *failure, const struct mw_process *process, uint64_t from,
                       uint64_t to)
{
    for (size_t i = 0; i < lines_of(process); i++) {
        const struct mw_log_line *line = &process->log[i];
        if (line->time >= from && line->time <= to &&
            line_is_of(line, failure->library, failure->provider))
            *mw_vector_add(&failure->log) = line;
    }
}

static int line_compare(const void *left, const void *right)
{
    const struct mw_log_line *a = *(const struct mw_log_line *const *)left;
    const struct mw_log_line *b = *(const struct mw_log_line *const *)right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* From the provider's last success (else from the beginning) to the failure. Lines are kept once a
 * process, with the time of the first: where nothing new was logged, what had been logged before
 * stands for it. */
static void attach_log(struct mw_failure *failure, const struct mw_process *process)
{
    const struct mw_attempt *attempt = &process->attempts[failure->attempt];
    uint64_t from = failure->silent ? attempt->start : 0,
             to = attempt->end ? attempt->end : UINT64_MAX;
    for (size_t i = 0; i < failure->attempt && !failure->silent; i++) {
        const struct mw_attempt *before = &process->attempts[i];
        if (attempt_succeeded(before) && !before->inner &&
            same(before->library, attempt->library) && !same(before->call, "fi_getinfo") &&
            same(before->provider, attempt->provider) && before->end > from && before->end <= to)
            from = before->end;
    }
    take_lines(failure, process, from, to);
    if (!failure->log.count && from)
        take_lines(failure, process, 0, to);
    if (failure->log.count)
        qsort(failure->log.at, failure->log.count, sizeof(failure->log.at[0]), line_compare);
}

/* --- groups ----------------------------------------------------------------------------------- */

/* What the library had offered for the same provider and domain: the NIC, where the attempt does
 * not say it. */
static const struct mw_offer *offer_of(const struct mw_process *process,
                                       const struct mw_attempt *attempt)
{
    for (size_t i = 0; i < attempts_of(process); i++)
        for (size_t o = 0; o < process->attempts[i].offer_count; o++) {
            const struct mw_offer *offer = &process->attempts[i].offers[o];
            if (*attempt->provider && same(offer->provider, attempt->provider) &&
                (!*attempt->domain || same(offer->domain, attempt->domain)))
                return offer;
        }
    return NULL;
}

static uint64_t failure_key(const struct mw_failure *failure)
{
    uint64_t key = mw_mix((uint64_t)failure->result ^ (uint64_t)failure->weight << 40 ^
                          (uint64_t)failure->inner << 50 ^ (uint64_t)failure->hangs << 51 ^
                          (uint64_t)failure->silent << 52);
    const char *const texts[] = {failure->library,  failure->call,   failure->words,
                                 failure->provider, failure->domain, failure->device,
                                 failure->opener};
    for (size_t i = 0; i < COUNT(texts); i++)
        key = mw_hash_text(key, texts[i]);
    return key;
}

static void add_failure(struct mw_building *building, struct mw_index *groups,
                        struct mw_failure *failure, uint32_t process)
{
    struct mw_transports *out = building->out;
    size_t at = mw_index_put(groups, failure_key(failure));
    if (at == out->failures.count)
        *mw_vector_add(&out->failures) = *failure;
    struct mw_failure *group = &out->failures.at[at];
    if (!group->processes.count || group->processes.at[group->processes.count - 1] != process)
        *mw_vector_add(&group->processes) = process;
}

static struct mw_failure describe(const struct mw_process *process, uint32_t number, size_t at)
{
    const struct mw_attempt *attempt = &process->attempts[at];
    struct mw_failure failure = {.library = attempt->library,
                                 .call = attempt->call,
                                 .words = attempt->words,
                                 .provider = attempt->provider,
                                 .domain = attempt->domain,
                                 .device = attempt->device,
                                 .opener = mw_module_base(process, attempt->caller),
                                 .result = attempt->result,
                                 .speed = attempt->speed,
                                 .inner = attempt->inner,
                                 .hangs = !attempt->end,
                                 .by_mpi = mw_caller_is_mpi(process, attempt->caller),
                                 .process = number,
                                 .attempt = at};
    const struct mw_offer *offer = offer_of(process, attempt);
    if (!*failure.provider)
        failure.provider = attempt->asked;
    if (offer && !*failure.device)
        failure.device = offer->device;
    if (offer && !failure.speed)
        failure.speed = offer->speed;
    failure.native = mw_fabric_native(failure.library, failure.provider) ||
                     (same(failure.library, "libfabric") && failure.speed &&
                      !mw_fabric_software(failure.library, failure.provider));
    return failure;
}

/* --- providers that drop out of fi_getinfo -----------------------------------------------------
 */

static int is_utility(const char *provider)
{
    return !*provider || !strncmp(provider, "ofi_", 4) || same(provider, "core") ||
           same(provider, "util") || same(provider, "hook");
}

static int is_warning(const struct mw_log_line *line)
{
    return !strncasecmp(line->level, "warn", 4) || !strncasecmp(line->level, "err", 3);
}

/* Whether a provider was offered or opened in this process after all. */
static int came_forward(const struct mw_process *process, const char *provider)
{
    for (size_t i = 0; i < attempts_of(process); i++) {
        const struct mw_attempt *attempt = &process->attempts[i];
        if (mw_provider_has(attempt->provider, provider))
            return 1;
        for (size_t o = 0; o < attempt->offer_count; o++)
            if (mw_provider_has(attempt->offers[o].provider, provider))
                return 1;
    }
    for (size_t e = 0; e < process->endpoint_count; e++)
        if (mw_provider_has(process->endpoints[e].provider, provider))
            return 1;
    return 0;
}

/* Whether somebody asked for the provider by name. */
static int asked_for(const struct mw_process *process, const struct mw_attempt *attempt,
                     const char *provider)
{
    static const char *const ends[] = {"FI_PROVIDER", "ofi_provider_include", "OFI_USE_PROVIDER",
                                       "I_MPI_OFI_PROVIDER"};
    if (mw_provider_has(attempt->asked, provider))
        return 1;
    for (size_t f = 0; f < process->fact_count; f++) {
        const struct mw_fact *fact = &process->facts[f];
        size_t length = strlen(fact->key);
        if (!same(fact->section, "env") && !same(fact->section, "parameter"))
            continue;
        for (size_t i = 0; i < COUNT(ends); i++) {
            size_t end = strlen(ends[i]);
            if (length >= end && same(fact->key + length - end, ends[i]) && *fact->value != '^' &&
                mw_provider_has(fact->value, provider))
                return 1;
        }
    }
    return 0;
}

/* What shows that a provider has a device here. Not the provider's library: many stacks load all
 * that there are. Not /dev/infiniband for providers of one vendor's devices: others have it as
 * well. */
static const struct {
    const char *provider, *device; /* beginning of a path; "" none */
    const char *kind, *port;       /* of PORTS, and the beginning of a name there; "" any */
} device_marks[] = {
    {"cxi", "/dev/cxi", "cxi", ""},
    {"verbs", "/dev/infiniband", "infiniband", ""},
    {"efa", "", "infiniband", "efa"},
    {"usnic", "", "infiniband", "usnic"},
    {"psm2", "/dev/hfi1", "infiniband", "hfi1"},
    {"opx", "/dev/hfi1", "infiniband", "hfi1"},
    {"psm2", "", "hfi1", ""},
    {"opx", "", "hfi1", ""},
};

static int begins(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static int ports_show(const struct mw_process *process, const char *kind, const char *port)
{
    for (size_t i = 0; i < process->ports_count; i++)
        for (size_t p = 0; p < process->ports[i].port_count; p++)
            if (same(process->ports[i].ports[p].kind, kind) &&
                begins(process->ports[i].ports[p].name, port))
                return 1;
    for (size_t f = 0; f < process->fact_count; f++)
        if (same(process->facts[f].section, kind) && begins(process->facts[f].key, port))
            return 1;
    return 0;
}

/* Whether something shows that the provider has a device on the node of a process. */
static int is_there(const struct mw_building *building, uint32_t number, const char *provider)
{
    const struct mw_process *process = mw_trace_process(building->model->trace, number);
    uint32_t reader = building->port_readers[building->endpoints->owners[number].node];
    for (size_t i = 0; i < COUNT(device_marks); i++) {
        if (!same(device_marks[i].provider, provider))
            continue;
        for (size_t c = 0; *device_marks[i].device && c < process->choice_count; c++)
            if (same(process->choices[c].what, "device") &&
                begins(process->choices[c].name, device_marks[i].device))
                return 1;
        if (ports_show(process, device_marks[i].kind, device_marks[i].port) ||
            (reader != UINT32_MAX && ports_show(mw_trace_process(building->model->trace, reader),
                                                device_marks[i].kind, device_marks[i].port)))
            return 1;
    }
    return 0;
}

static void silent_failure(struct mw_building *building, struct mw_index *groups, uint32_t number,
                           size_t at, const char *provider)
{
    const struct mw_process *process = mw_trace_process(building->model->trace, number);
    const struct mw_attempt *attempt = &process->attempts[at];
    struct mw_failure failure = describe(process, number, at);
    int native = mw_fabric_native("libfabric", provider);
    failure.provider = provider;
    failure.domain = failure.device = "";
    failure.speed = 0;
    failure.silent = 1;
    failure.hangs = 0;
    failure.native = native;
    int matters = asked_for(process, attempt, provider) ||
                  (native && is_there(building, number, provider)) || in_init(process);
    failure.weight = matters && failure.by_mpi ? MW_FAILURE_MATTERS : MW_FAILURE_MINOR;
    add_failure(building, groups, &failure, number);
}

static void silent_failures(struct mw_building *building, struct mw_index *groups, uint32_t number)
{
    const struct mw_process *process = mw_trace_process(building->model->trace, number);
    struct mw_index told = {0};
    for (size_t l = 0; l < lines_of(process); l++) {
        const struct mw_log_line *line = &process->log[l];
        if (!same(line->library, "libfabric") || !is_warning(line) || is_utility(line->provider))
            continue;
        for (size_t a = 0; a < attempts_of(process); a++) {
            const struct mw_attempt *attempt = &process->attempts[a];
            if (attempt->inner || !same(attempt->call, "fi_getinfo") || !attempt->end ||
                line->time < attempt->start || line->time > attempt->end)
                continue;
            size_t known = told.count;
            if (mw_index_put(&told, mw_hash_text(1, line->provider)) == known &&
                !came_forward(process, line->provider))
                silent_failure(building, groups, number, a, line->provider);
            break;
        }
    }
    mw_index_free(&told);
}

/* --- all -------------------------------------------------------------------------------------- */

static int failure_compare(const void *left, const void *right)
{
    const struct mw_failure *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? -1 : 1;
    if (a->native != b->native)
        return a->native ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->attempt != b->attempt)
        return a->attempt < b->attempt ? -1 : 1;
    return strcmp(a->provider, b->provider);
}

/* Where a process failed for good and never came out of MPI_Init, the job ended there: calls in
 * which others sat at that moment are no hangs of their own. */
static int job_ended_in_init(const struct mw_building *building)
{
    for (uint32_t i = 0; i < building->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(building->model->trace, i);
        for (size_t a = 0; in_init(process) && a < attempts_of(process); a++)
            if (attempt_failed(&process->attempts[a]) &&
                weight_of(process, a) == MW_FAILURE_MATTERS)
                return 1;
    }
    return 0;
}

void mw_failures_read(struct mw_building *building)
{
    struct mw_transports *out = building->out;
    struct mw_index groups = {0};
    int ended = job_ended_in_init(building);
    for (uint32_t i = 0; i < building->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(building->model->trace, i);
        out->left_out +=
            process->attempt_count - attempts_of(process) + process->log_count - lines_of(process);
        silent_failures(building, &groups, i);
        for (size_t a = 0; a < attempts_of(process); a++) {
            if (!attempt_failed(&process->attempts[a]) &&
                !attempt_hangs(process, &process->attempts[a]))
                continue;
            struct mw_failure failure = describe(process, i, a);
            failure.weight = weight_of(process, a);
            if (failure.hangs && ended && failure.weight == MW_FAILURE_MATTERS)
                failure.weight = MW_FAILURE_MINOR;
            add_failure(building, &groups, &failure, i);
        }
    }
    mw_index_free(&groups);
    for (size_t i = 0; i < out->failures.count; i++)
        attach_log(&out->failures.at[i],
                   mw_trace_process(building->model->trace, out->failures.at[i].process));
    if (out->failures.count)
        qsort(out->failures.at, out->failures.count, sizeof(out->failures.at[0]), failure_compare);
}
