/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "fallback": a fabric that drives its NIC itself was tried, failed, and something else was
 * used, or the job ended in MPI_Init because of it. Failures of one provider are one finding, by
 * the first call that failed.
 */
#include "analyzer/findings/fallback.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/speed_groups.h"
#include "analyzer/base/number.h"
#include "analyzer/findings/spaces.h"
#include "analyzer/findings/used.h"
#include "analyzer/findings/words.h"
#include "analyzer/model/labels.h"

#define LOG_LINES      20 /* that are quoted */
#define FAILURES_SHOWN 6
#define ENDS_SHOWN     4

struct fallback {
    const struct mw_finding_input *in;
    const struct mw_failure *lead;
    MW_VECTOR(const struct mw_failure *) failures;
    struct mw_crowd crowd; /* where it failed */
    size_t dead;           /* of these, ended before MPI_Init returned */
    struct mw_used used;
    const struct mw_use *slow, *native;
};

static const char *device_of(const struct mw_failure *failure)
{
    return failure->device[0] ? failure->device : failure->domain[0] ? failure->domain : "the NIC";
}

/* UCX as a whole could not be opened: which of its transports it would have been is not known. What
 * was asked of it are features. */
static int whole_library(const struct mw_failure *failure)
{
    return !strcmp(failure->library, "ucx") &&
           (!failure->provider[0] || !strncmp(failure->call, "ucp_init", 8) ||
            !strncmp(failure->call, "ucp_worker", 10));
}

static char *fabric_words(const struct mw_failure *failure)
{
    return whole_library(failure)
               ? mw_text_copy("UCX")
               : mw_fabric_words(failure->library, failure->provider, failure->domain);
}

static int dies_of_it(const struct mw_finding_input *in, const struct mw_failure *failure)
{
    for (size_t i = 0; i < failure->processes.count; i++)
        if (mw_died_in_init(mw_trace_process(in->model->trace, failure->processes.at[i])))
            return 1;
    return 0;
}

/* A call that had not returned in a process that went on to MPI_Finalize has lost its record. */
static int hangs_really(const struct mw_finding_input *in, const struct mw_failure *failure)
{
    for (size_t i = 0; i < failure->processes.count; i++)
        if (mw_trace_process(in->model->trace, failure->processes.at[i])->end_reason !=
            MW_END_FINALIZE)
            return 1;
    return 0;
}

static int failure_counts(const struct mw_finding_input *in, const struct mw_failure *failure)
{
    if (failure->hangs && !hangs_really(in, failure))
        return 0;
    if (failure->weight == MW_FAILURE_MINOR)
        return failure->native && !failure->silent && !failure->inner && !failure->by_mpi;
    if (failure->weight != MW_FAILURE_MATTERS)
        return 0;
    return failure->native || whole_library(failure) || dies_of_it(in, failure);
}

static int same_cause(const struct mw_failure *a, const struct mw_failure *b)
{
    return !strcmp(a->library, b->library) && !strcmp(a->provider, b->provider) &&
           (a->weight == MW_FAILURE_MINOR) == (b->weight == MW_FAILURE_MINOR);
}

static void collect(struct fallback *found, const unsigned char *counts, size_t first)
{
    const struct mw_transports *transports = found->in->transports;
    found->lead = &transports->failures.at[first];
    mw_crowd_begin(&found->crowd, found->in->model);
    for (size_t i = first; i < transports->failures.count; i++) {
        const struct mw_failure *failure = &transports->failures.at[i];
        if (!counts[i] || !same_cause(found->lead, failure))
            continue;
        *mw_vector_add(&found->failures) = failure;
        mw_crowd_add_all(&found->crowd, failure->processes.at, failure->processes.count);
    }
    for (size_t i = 0; i < found->in->model->process_count; i++)
        found->dead += mw_crowd_has(&found->crowd, (uint32_t)i) &&
                       mw_died_in_init(mw_trace_process(found->in->model->trace, i));
    mw_used_begin(&found->used, found->in, &found->crowd, MW_ANYWHERE);
    found->slow = mw_used_first(&found->used, mw_way_slow);
    found->native = mw_used_first(&found->used, mw_way_native);
}

/* The same provider carried messages of these processes after all. */
static int was_used_after_all(const struct fallback *found)
{
    const struct mw_transports *transports = found->in->transports;
    for (size_t i = 0; i < found->used.uses.count; i++)
        if (mw_use_matters(&found->used.uses.at[i]) &&
            !strcmp(transports->ways.at[found->used.uses.at[i].way].name, found->lead->provider))
            return 1;
    return 0;
}

static int fast_device_idle(const struct fallback *found)
{
    for (size_t i = 0; i < found->in->transports->idle.count; i++) {
        const struct mw_idle *idle = &found->in->transports->idle.at[i];
        if (idle->native && mw_state_up(idle->state) &&
            mw_crowd_common(&found->crowd, idle->processes.at, idle->processes.count))
            return 1;
    }
    return 0;
}

/* Nothing was counted between these processes: what would they use between nodes? */
static int would_be_slow(const struct fallback *found)
{
    size_t first = mw_crowd_first(&found->crowd);
    const char *btls = found->in->transports->choices[first].btls;
    return found->in->model->node_count > 1 && btls && strstr(btls, "tcp") != NULL;
}

static enum mw_severity severity_of(const struct fallback *found)
{
    if (found->lead->weight == MW_FAILURE_MINOR)
        return MW_NOTICE;
    if (found->dead)
        return MW_CRITICAL;
    if (whole_library(found->lead) && !fast_device_idle(found))
        return MW_WARNING;
    if (found->slow || found->used.unknown)
        return MW_CRITICAL;
    return found->used.uses.count ? MW_WARNING : would_be_slow(found) ? MW_CRITICAL : MW_WARNING;
}

static char *title_of(const struct fallback *found)
{
    char *share = mw_crowd_share(&found->crowd), *title;
    char *fabric = fabric_words(found->lead);
    char *failed = mw_failure_words(found->lead);
    if (found->lead->weight == MW_FAILURE_MINOR)
        title = mw_format("%s, not MPI, tried %s on %s: %s", found->lead->opener, fabric, share,
                          failed);
    else if (found->dead && found->lead->hangs)
        title = mw_format("The job did not come out of MPI_Init on %s: %s of %s had not returned",
                          share, found->lead->call, fabric);
    else if (found->dead)
        title = mw_format("The job ended in MPI_Init on %s, after %s failed: %s", share, fabric,
                          failed);
    else
        title = mw_format("Fallback on %s: %s was tried first; %s", share, fabric, failed);
    free(share);
    free(fabric);
    free(failed);
    return title;
}

static void say_failures(const struct fallback *found, struct mw_finding *finding)
{
    for (size_t i = 0; i < found->failures.count && i < FAILURES_SHOWN; i++) {
        const struct mw_failure *failure = found->failures.at[i];
        struct mw_crowd crowd;
        mw_crowd_begin(&crowd, found->in->model);
        mw_crowd_add_all(&crowd, failure->processes.at, failure->processes.count);
        char *names = mw_crowd_names(&crowd), *words = mw_failure_words(failure);
        char *fabric = fabric_words(failure);
        mw_finding_evidence(finding,
                            mw_format("%s on %s: %s%s%s", fabric, names, words,
                                      failure->opener[0] ? ", called by " : "", failure->opener));
        free(names);
        free(words);
        free(fabric);
        mw_crowd_end(&crowd);
    }
    if (found->failures.count > FAILURES_SHOWN)
        mw_finding_evidence(finding, mw_format("%zu more failures of the same provider",
                                               found->failures.count - FAILURES_SHOWN));
}

static int quoted_before(const struct fallback *found, size_t failure, const char *text)
{
    for (size_t f = 0; f < failure; f++)
        for (size_t i = 0; i < found->failures.at[f]->log.count; i++)
            if (!strcmp(found->failures.at[f]->log.at[i]->text, text))
                return 1;
    return 0;
}

static void say_line(const struct fallback *found, const struct mw_failure *failure,
                     const struct mw_log_line *line, struct mw_finding *finding)
{
    char *who = mw_process_words(found->in->model, failure->process);
    char *place = line->function[0] && line->line
                      ? mw_format(" (%s:%" PRIu64 ")", line->function, line->line)
                  : line->function[0] ? mw_format(" (%s)", line->function)
                                      : mw_text_copy("");
    char *times =
        line->count > 1 ? mw_format(", %" PRIu64 " times", line->count) : mw_text_copy("");
    mw_finding_evidence(finding, mw_format("%s logged on %s: \"%s\"%s%s",
                                           line->provider[0] ? line->provider : line->library, who,
                                           line->text, place, times));
    free(who);
    free(place);
    free(times);
}

static void say_log(const struct fallback *found, struct mw_finding *finding)
{
    size_t said = 0, left = 0;
    for (size_t f = 0; f < found->failures.count; f++) {
        const struct mw_failure *failure = found->failures.at[f];
        for (size_t i = 0; i < failure->log.count; i++) {
            if (quoted_before(found, f, failure->log.at[i]->text))
                continue;
            if (said == LOG_LINES) {
                left++;
                continue;
            }
            said++;
            say_line(found, failure, failure->log.at[i], finding);
        }
    }
    if (left)
        mw_finding_evidence(finding, mw_format("%zu more log lines of it", left));
}

static void say_line_rate(const struct fallback *found, struct mw_finding *finding)
{
    const struct mw_failure *lead = found->lead;
    if (!lead->speed)
        return;
    char *rate = mw_line_rate_words(lead->speed);
    mw_finding_evidence(finding, mw_format("the line rate of %s is %s", device_of(lead), rate));
    free(rate);
}

/* The provider's own library, or the one that holds it. */
static void say_library(const struct fallback *found, struct mw_finding *finding)
{
    const struct mw_process *process =
        mw_trace_process(found->in->model->trace, found->lead->process);
    int ucx = !strcmp(found->lead->library, "ucx");
    char *own = mw_format("lib%s-fi.so", found->lead->provider);
    const struct mw_module *best = NULL;
    for (size_t i = 0; i < process->module_count; i++) {
        const char *name = mw_basename(process->modules[i].path);
        if (!strncmp(name, own, strlen(own))) {
            best = &process->modules[i];
            break;
        }
        if (!strncmp(name, ucx ? "libucp.so" : "libfabric.so", 9))
            best = &process->modules[i];
    }
    free(own);
    if (!best)
        return;
    char *id = mw_alloc(2 * best->build_id_size + 1, 1);
    for (size_t i = 0; i < best->build_id_size; i++)
        sprintf(id + 2 * i, "%02x", best->build_id[i]);
    mw_finding_evidence(finding,
                        mw_format("it is in %s (build-id %s)", best->path, id[0] ? id : "none"));
    free(id);
}

/* What MPI chose then, in groups of equal choices. */
static void say_choice(const struct fallback *found, struct mw_finding *finding)
{
    struct mw_crowd done;
    mw_crowd_begin(&done, found->in->model);
    for (uint32_t i = 0; i < found->in->model->process_count; i++) {
        char *words = mw_crowd_has(&found->crowd, i) && !mw_crowd_has(&done, i)
                          ? mw_choice_words(found->in, i)
                          : NULL;
        if (!words)
            continue;
        struct mw_crowd same;
        mw_crowd_begin(&same, found->in->model);
        for (uint32_t e = i; e < found->in->model->process_count; e++) {
            char *other = mw_crowd_has(&found->crowd, e) ? mw_choice_words(found->in, e) : NULL;
            if (other && !strcmp(other, words)) {
                mw_crowd_add(&same, e);
                mw_crowd_add(&done, e);
            }
            free(other);
        }
        char *names = mw_crowd_names(&same);
        mw_finding_evidence(
            finding, mw_format("%s then used %s (%s)", mw_mpi_word(found->in, i), words, names));
        free(names);
        free(words);
        mw_crowd_end(&same);
    }
    mw_crowd_end(&done);
}

static void say_uses(const struct fallback *found, struct mw_finding *finding)
{
    for (size_t i = 0; i < found->used.uses.count; i++) {
        const struct mw_use *use = &found->used.uses.at[i];
        if (!use->messages && !mw_use_matters(use))
            continue;
        mw_finding_evidence(finding, mw_use_words(&found->used, use));
        /* within a node the NIC's line rate is no measure */
        int network = found->in->transports->ways.at[use->way].kind == MW_WAY_NETWORK;
        char *speed = mw_speed_words(&found->used, use, network ? found->lead->speed : 0,
                                     network ? device_of(found->lead) : "");
        if (speed)
            mw_finding_evidence(finding, speed);
    }
    if (found->used.unknown)
        mw_finding_evidence(finding, mw_format("what %" PRIu64 " of their pairs used is not known",
                                               found->used.unknown));
}

static void say_ends(const struct fallback *found, struct mw_finding *finding)
{
    size_t said = 0;
    for (uint32_t i = 0; i < found->in->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(found->in->model->trace, i);
        if (!mw_crowd_has(&found->crowd, i) || !mw_died_in_init(process))
            continue;
        if (said++ < ENDS_SHOWN)
            mw_finding_evidence(finding, mw_init_end_words(found->in->model, i));
    }
    if (said > ENDS_SHOWN)
        mw_finding_evidence(finding, mw_format("%zu more processes did not come out of MPI_Init",
                                               said - ENDS_SHOWN));
}

/* It failed on some only: what the others did. Those that ended in MPI_Init as well may not have
 * come as far as trying. */
static void say_others(const struct fallback *found, struct mw_finding *finding)
{
    struct mw_crowd others, ended;
    mw_crowd_begin(&others, found->in->model);
    mw_crowd_begin(&ended, found->in->model);
    for (uint32_t i = 0; i < found->in->model->process_count; i++)
        if (!mw_crowd_has(&found->crowd, i))
            mw_crowd_add(mw_died_in_init(mw_trace_process(found->in->model->trace, i)) ? &ended
                                                                                       : &others,
                         i);
    if (others.count) {
        char *names = mw_crowd_names(&others);
        char *words = mw_choice_words(found->in, (uint32_t)mw_crowd_first(&others));
        mw_finding_evidence(finding, mw_format("it did not fail on %s%s%s", names,
                                               words ? ", which used " : "", words ? words : ""));
        free(names);
        free(words);
    }
    if (ended.count) {
        char *names = mw_crowd_names(&ended);
        mw_finding_evidence(finding, mw_format("%s ended in MPI_Init, too, without having tried it "
                                               "in vain",
                                               names));
        free(names);
    }
    mw_crowd_end(&others);
    mw_crowd_end(&ended);
}

static char *cost_of(const struct fallback *found)
{
    if (!found->slow || found->lead->weight == MW_FAILURE_MINOR)
        return NULL;
    const struct mw_pair_transport *pair = &found->in->transports->pairs.at[found->slow->pair];
    const struct mw_speed *large =
        mw_speeds_large(found->in->exchange->speeds, pair->src, pair->dst);
    const char *way = found->in->transports->ways.at[found->slow->way].name;
    double whole = (double)found->lead->speed / 8;
    if (large && mw_speed_way(found->in->transports, large) == found->slow->way && whole > 0) {
        int bound;
        double rate = mw_speed_in_flight(large, &bound);
        char *share = mw_number_percent(rate / whole), *both = mw_number_rate_of(rate, whole);
        char *cost = mw_format("large messages reached %s%s of the line rate (%s) over %s",
                               bound ? "at least " : "", share, both, way);
        free(share);
        free(both);
        return cost;
    }
    char *bytes = mw_number_bytes(
        (double)(found->slow->messages ? found->slow->bytes : found->slow->carried));
    char *cost = mw_format("%s went over %s", bytes, way);
    free(bytes);
    return cost;
}

static char *advice_of(const struct fallback *found, const char *asked)
{
    const struct mw_failure *lead = found->lead;
    int openmpi = !strcmp(mw_mpi_word(found->in, lead->process), "Open MPI");
    int ucx = !strcmp(lead->library, "ucx");
    const char *library = ucx ? "UCX" : lead->library, *stop = "";
    const char *what = whole_library(lead) || !lead->provider[0] ? library : lead->provider;
    if (!found->dead && openmpi)
        stop = ucx ? " To make a job stop instead of falling back: mpirun --mca pml ucx."
                   : " To make a job stop instead of falling back: mpirun --mca pml cm --mca mtl "
                     "ofi.";
    char *find = mw_format(
        "Find out why %s %s in %s%s.", lead->call, lead->hangs ? "does not return" : "fails", what,
        lead->log.count ? "; the log lines above are its own" : ", which logged nothing about it");
    char *advice =
        lead->native
            ? mw_format("%s Most often the NIC's kernel driver, its user library and %s were not "
                        "updated together, a device or memory limit is used up by other "
                        "processes, or the scheduler gave the job no access to the NIC.%s",
                        find, library, stop)
        : asked
            ? mw_format("%s Most often %s names what is not there: ucx_info -d shows what is.%s",
                        find, asked, stop)
            : mw_format("%s Most often a setting names what is not there, a limit is used up, or "
                        "containers keep the processes apart.%s",
                        find, stop);
    free(find);
    return advice;
}

/* Processes that cannot see each other's memory or files. */
static void say_namespaces(const struct fallback *found, struct mw_finding *finding)
{
    const struct mw_model *model = found->in->model;
    size_t first = mw_crowd_first(&found->crowd);
    struct mw_spaces *spaces = mw_spaces_read(model);
    for (int s = 0; s < MW_SPACES; s++)
        for (uint32_t i = 0; i < model->process_count; i++) {
            if (!mw_spaces_differ(&spaces[first], &spaces[i], (enum mw_space)s) ||
                model->process_node[i] != model->process_node[first])
                continue;
            char *one = mw_process_words(model, (uint32_t)first), *two = mw_process_words(model, i);
            mw_finding_evidence(finding,
                                mw_format("%s and %s share a node, but are in different %s "
                                          "namespaces",
                                          one, two, mw_space_word((enum mw_space)s)));
            free(one);
            free(two);
            break;
        }
    free(spaces);
}

static void report(const struct fallback *found, struct mw_findings *out)
{
    struct mw_finding *finding =
        mw_finding_add(out, "fallback", severity_of(found), title_of(found));
    say_failures(found, finding);
    say_log(found, finding);
    say_line_rate(found, finding);
    say_library(found, finding);
    say_ends(found, finding);
    if (!found->lead->native)
        say_namespaces(found, finding);
    if (found->lead->weight != MW_FAILURE_MINOR) {
        say_choice(found, finding);
        say_uses(found, finding);
    }
    say_others(found, finding);
    if (!found->dead && !found->slow && found->used.uses.count && !found->used.unknown &&
        found->in->model->node_count == 1)
        finding->cost = mw_text_copy("little in this run, as all ranks share a node; between "
                                     "nodes it would be felt");
    else
        finding->cost = cost_of(found);
    const char *asked = strcmp(found->lead->library, "ucx")
                            ? NULL
                            : mw_fallback_ucx_asked(found->in, found->lead->process, finding);
    finding->advice = advice_of(found, asked);
    mw_crowd_give(&found->crowd, finding);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    size_t count = in->transports->failures.count;
    unsigned char *counts = mw_alloc(count + 1, 1);
    for (size_t i = 0; i < count; i++)
        counts[i] = (unsigned char)failure_counts(in, &in->transports->failures.at[i]);
    for (size_t i = 0; i < count; i++) {
        if (!counts[i])
            continue;
        struct fallback found = {.in = in};
        collect(&found, counts, i);
        if (!was_used_after_all(&found))
            report(&found, out);
        for (size_t e = i; e < count; e++)
            if (same_cause(found.lead, &in->transports->failures.at[e]))
                counts[e] = 0;
        free(found.failures.at);
        mw_crowd_end(&found.crowd);
        mw_used_end(&found.used);
    }
    free(counts);
    mw_fallback_ucx(in, out);
}

const struct mw_rule mw_rule_fallback = {
    "fallback", "a fabric was tried, failed, and something else was used", find};
