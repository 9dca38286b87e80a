/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expectations on speed: "bandwidth(inter-node, >=1MiB) >= 20GB/s". Each pair and size class that
 * is meant and was measured must keep to it. docs/metrics.md defines the figures.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/transport_totals.h"
#include "analyzer/base/number.h"
#include "analyzer/findings/expectation_parts.h"
#include "analyzer/model/distance.h"
#include "analyzer/model/labels.h"

#define SHOWN          3
#define MEASURED_LEAST 0.5 /* of the messages that are meant: else too little is known */

static const char *const metrics[] = {
    [MW_SPEED_BANDWIDTH] = "bandwidth",
    [MW_SPEED_THROUGHPUT] = "throughput",
    [MW_SPEED_LATENCY] = "latency",
};

/* --- reading ---------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    double factor;
};
static const struct unit rates[] = {
    {"B/s", 1},        {"kB/s", 1e3},   {"KB/s", 1e3},      {"MB/s", 1e6},     {"GB/s", 1e9},
    {"TB/s", 1e12},    {"KiB/s", 1024}, {"MiB/s", 1048576}, {"GiB/s", 0x1p30}, {"TiB/s", 0x1p40},
    {"bit/s", 0.125},  {"kbit/s", 125}, {"Kbit/s", 125},    {"Mbit/s", 125e3}, {"Gbit/s", 125e6},
    {"Tbit/s", 125e9}, {NULL, 0},
};
static const struct unit times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6},
                                    {"ms", 1e-3}, {"s", 1},     {NULL, 0}};
static const struct unit sizes[] = {{"B", 1},    {"kB", 1e3},   {"KB", 1e3},      {"MB", 1e6},
                                    {"GB", 1e9}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 0x1p30},
                                    {"", 1},     {NULL, 0}};

/* The text without blanks; free() it. */
static char *squeezed(const char *text)
{
    char *copy = mw_text_copy(text), *to = copy;
    for (const char *from = text; *from; from++)
        if (*from != ' ')
            *to++ = *from;
    *to = '\0';
    return copy;
}

/* A number with one of these units behind it, up to `end`; NaN where it is none. */
static double quantity(const char *text, size_t length, const struct unit *units)
{
    char *copy = mw_format("%.*s", (int)length, text), *end;
    double value = strtod(copy, &end), found = NAN;
    for (; end != copy && units->name; units++)
        if (!strcmp(end, units->name) && value >= 0 && value < 1e18)
            found = value * units->factor;
    free(copy);
    return found;
}

/* ">=", "<=", ">", "<"; what comes behind, or NULL. */
static const char *read_relation(const char *text, int *more, int *equal)
{
    if (*text != '<' && *text != '>')
        return NULL;
    *more = *text++ == '>';
    *equal = *text == '=';
    return text + *equal;
}

static int read_size(struct mw_expectation *expectation, const char *text, size_t length)
{
    int more, equal;
    const char *number = read_relation(text, &more, &equal);
    double size = quantity(number, length - (size_t)(number - text), sizes);
    if (!(size >= 0) || (!more && !equal && size < 1))
        return -1;
    if (more)
        expectation->size_from = (uint64_t)size + !equal;
    else
        expectation->size_to = (uint64_t)size - !equal;
    return 0;
}

/* "same-node" for "same node". */
static int is_distance(const char *word, size_t length)
{
    for (int i = 0; i < MW_DISTANCES; i++) {
        const char *known = mw_distance_word((enum mw_distance)i);
        size_t at = 0;
        while (at < length && known[at] &&
               (word[at] == known[at] || (word[at] == '-' && known[at] == ' ')))
            at++;
        if (at == length && !known[at])
            return i;
    }
    return -1;
}

static int read_condition(struct mw_expectation *expectation, const char *text, size_t length)
{
    const char *name = mw_behind(text, "transport=");
    int distance = is_distance(text, length);
    if (length == 10 && mw_behind(text, "intra-node")) {
        expectation->where = MW_WHERE_NODE;
    } else if (length == 10 && mw_behind(text, "inter-node")) {
        expectation->where = MW_WHERE_NETWORK;
    } else if (*text == '<' || *text == '>') {
        return read_size(expectation, text, length);
    } else if (name && length > (size_t)(name - text)) {
        *mw_vector_add(&expectation->names) =
            mw_format("%.*s", (int)(length - (size_t)(name - text)), name);
    } else if (distance >= 0) {
        expectation->distance = distance;
    } else {
        return -1;
    }
    return 0;
}

static char *read_conditions(struct mw_expectation *expectation, const char *text, const char *end)
{
    while (text < end) {
        size_t length = strcspn(text, ",)");
        if (!length || read_condition(expectation, text, length))
            return mw_format("\"%s\": \"%.*s\" is no condition; known: intra-node, inter-node, "
                             "sizes as >=1MiB, transport=NAME",
                             expectation->text, (int)length, text);
        text += length + 1;
    }
    return NULL;
}

static char *read_limit(struct mw_expectation *expectation, const char *text)
{
    int latency = expectation->metric == MW_SPEED_LATENCY;
    const char *number = read_relation(text, &expectation->at_least, &expectation->or_equal);
    expectation->limit = number ? quantity(number, strlen(number), latency ? times : rates) : NAN;
    if (expectation->limit >= 0)
        return NULL;
    return mw_format("\"%s\": %s is wanted behind it", expectation->text,
                     latency ? "a time as <= 2us" : "a rate as >= 20GB/s");
}

int mw_expectation_speed_parse(const char *text, struct mw_expectation *expectation, char **error)
{
    const char *rest = NULL;
    char *copy = squeezed(text);
    for (int i = 0; i < MW_SPEED_METRICS && !rest; i++) {
        rest = mw_behind(copy, metrics[i]);
        expectation->metric = (enum mw_speed_metric)i;
    }
    if (!rest || (*rest != '(' && *rest != '<' && *rest != '>')) {
        free(copy);
        return 1;
    }
    expectation->kind = MW_EXPECT_SPEED;
    expectation->size_to = UINT64_MAX;
    expectation->distance = -1;
    const char *end = *rest == '(' ? strchr(rest, ')') : rest;
    *error = NULL;
    if (!end)
        *error = mw_format("\"%s\": \")\" is missing", text);
    else if (*rest == '(')
        *error = read_conditions(expectation, rest + 1, end);
    if (!*error)
        *error = read_limit(expectation, end + (*end == ')'));
    free(copy);
    return *error ? -1 : 0;
}

/* --- judging ---------------------------------------------------------------------------------- */

static double value_of(const struct mw_speed *speed, enum mw_speed_metric metric, uint64_t *samples)
{
    switch (metric) {
    case MW_SPEED_BANDWIDTH:
        *samples = speed->certain;
        return speed->usual;
    case MW_SPEED_THROUGHPUT:
        *samples = speed->messages;
        return mw_rate_value(&speed->throughput);
    default:
        *samples = speed->latencies;
        return (double)speed->latency_median * 1e-9;
    }
}

/* A size class belongs to the sizes that its smallest belongs to. */
static int is_meant(const struct mw_expectation *expectation, const struct mw_finding_input *in,
                    const struct mw_speed *speed)
{
    uint64_t from = mw_class_from(speed->class);
    const struct mw_pair_transport *pair =
        mw_transports_pair(in->transports, speed->src, speed->dst);
    const struct mw_route *route = pair ? mw_pair_route(pair, speed->class) : NULL;
    if (speed->src == speed->dst || from < expectation->size_from || from > expectation->size_to)
        return 0;
    if (expectation->where != MW_WHERE_UNKNOWN && (!pair || pair->where != expectation->where))
        return 0;
    if (expectation->distance >= 0 &&
        (int)mw_distance_of(in->model, speed->src, speed->dst) != expectation->distance)
        return 0;
    return !expectation->names.count ||
           (route && mw_expectation_names(expectation, &in->transports->ways.at[route->way]));
}

static int keeps(const struct mw_expectation *expectation, double value)
{
    if (value == expectation->limit)
        return expectation->or_equal;
    return expectation->at_least ? value > expectation->limit : value < expectation->limit;
}

/* "found 2.30 GB/s from 0 -> 1, 1.00 MiB to 2.00 MiB" */
static char *found_words(const struct mw_expectation *expectation,
                         const struct mw_finding_input *in, const struct mw_speed *speed,
                         double value)
{
    char *label = mw_pair_label(in->model, speed->src, speed->dst);
    char *from = mw_number_bytes((double)mw_class_from(speed->class));
    char *number =
        expectation->metric == MW_SPEED_LATENCY ? mw_number_seconds(value) : mw_number_rate(value);
    char *words = mw_format("found %s on %s from %s", number, label, from);
    free(label);
    free(from);
    free(number);
    return words;
}

struct mw_judgement mw_expectation_speed_judge(const struct mw_expectation *expectation,
                                               const struct mw_finding_input *in)
{
    struct mw_judgement judgement = {.verdict = MW_HOLDS};
    uint64_t meant = 0, measured = 0, broken = 0;
    for (size_t i = 0; i < in->exchange->speeds->all.count; i++) {
        const struct mw_speed *speed = &in->exchange->speeds->all.at[i];
        uint64_t samples;
        if (!is_meant(expectation, in, speed))
            continue;
        double value = value_of(speed, expectation->metric, &samples);
        meant += speed->messages;
        if (samples < MW_SPEED_MIN_CERTAIN || !(value > 0))
            continue;
        measured += speed->messages;
        if (!keeps(expectation, value) && broken++ < SHOWN)
            *mw_vector_add(&judgement.reasons) = found_words(expectation, in, speed, value);
    }
    if (broken) {
        judgement.verdict = MW_FAILS;
        if (broken > SHOWN)
            *mw_vector_add(&judgement.reasons) =
                mw_format("and %" PRIu64 " more pairs and sizes", broken - SHOWN);
    } else if (!measured || (double)measured < MEASURED_LEAST * (double)meant) {
        judgement.verdict = MW_CANNOT_TELL;
        *mw_vector_add(&judgement.reasons) =
            meant ? mw_format("of %" PRIu64 " such messages only %" PRIu64
                              " are of pairs and sizes with enough samples",
                              meant, measured)
                  : mw_text_copy("there were no such messages");
    }
    return judgement;
}
