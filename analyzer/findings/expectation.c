/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads expectations (expectation.h); expectation_judge.c judges them. */
#include "analyzer/findings/expectation_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const mw_expectation_grammar[] = {
    "transport=NAME[,NAME...]     each pair that sent messages used only these",
    "transport!=NAME[,NAME...]    no pair used any of these",
    "transport[intra-node]=...    the same within a node; also [inter-node]",
    "no-finding                   no finding at all",
    "no-finding>=SEVERITY         none that severe: notice, warning, critical",
    "no-finding=ID                none of that rule",
    "finding=ID                   at least one of that rule",
    "ranks=N                      so many ranks were recorded",
    "ended=HOW                    every rank ended so: MPI_Finalize, exit, abort",
    "bandwidth(COND,...)>=RATE    each pair and size reached it; RATE as 20GB/s",
    "throughput(COND,...)>=RATE   the same of what the program got",
    "latency(COND,...)<=TIME      the same of the median latency; TIME as 2us",
    "COND:                        intra-node, inter-node, >=1MiB, transport=NAME",
    NULL,
};

const char *mw_behind(const char *text, const char *beginning)
{
    size_t length = strlen(beginning);
    return strncmp(text, beginning, length) ? NULL : text + length;
}

static int complain(char **error, char *text)
{
    *error = text;
    return -1;
}

static int parse_names(struct mw_expectation *expectation, const char *list, char **error)
{
    while (*list) {
        size_t length = strcspn(list, ",");
        if (!length)
            break;
        *mw_vector_add(&expectation->names) = mw_format("%.*s", (int)length, list);
        list += length + (list[length] == ',' && list[length + 1]);
    }
    if (*list || !expectation->names.count)
        return complain(error, mw_format("\"%s\": a name is missing", expectation->text));
    return 0;
}

static int parse_transport(struct mw_expectation *expectation, const char *rest, char **error)
{
    const char *inside = mw_behind(rest, "[intra-node]"),
               *between = mw_behind(rest, "[inter-node]");
    expectation->where = inside ? MW_WHERE_NODE : between ? MW_WHERE_NETWORK : MW_WHERE_UNKNOWN;
    rest = inside ? inside : between ? between : rest;
    const char *names = mw_behind(rest, "=");
    expectation->kind = names ? MW_EXPECT_TRANSPORT : MW_EXPECT_NOT_TRANSPORT;
    if (!names)
        names = mw_behind(rest, "!=");
    if (!names)
        return complain(error,
                        mw_format("\"%s\" is no expectation that is known", expectation->text));
    return parse_names(expectation, names, error);
}

static int parse_rule(struct mw_expectation *expectation, const char *id, char **error)
{
    char *known = mw_text_copy("");
    for (size_t i = 0; mw_rules[i]; i++) {
        if (!strcmp(mw_rules[i]->id, id)) {
            free(known);
            *mw_vector_add(&expectation->names) = mw_text_copy(id);
            return 0;
        }
        char *longer = mw_format("%s%s%s", known, i ? ", " : "", mw_rules[i]->id);
        free(known);
        known = longer;
    }
    char *text =
        mw_format("\"%s\": there is no finding \"%s\"; known: %s", expectation->text, id, known);
    free(known);
    return complain(error, text);
}

static int parse_no_finding(struct mw_expectation *expectation, const char *rest, char **error)
{
    const char *id = mw_behind(rest, "="), *least = mw_behind(rest, ">=");
    expectation->kind = MW_EXPECT_NO_FINDING;
    expectation->severity = MW_NOTICE;
    if (id)
        return parse_rule(expectation, id, error);
    if (!least)
        return *rest ? complain(error, mw_format("\"%s\" is no expectation that is known",
                                                 expectation->text))
                     : 0;
    for (int i = MW_NOTICE; i <= MW_CRITICAL; i++)
        if (!strcmp(least, mw_severity_word((enum mw_severity)i))) {
            expectation->severity = (enum mw_severity)i;
            return 0;
        }
    return complain(error, mw_format("\"%s\": there is no severity \"%s\"; known: notice, warning, "
                                     "critical",
                                     expectation->text, least));
}

static int parse_ranks(struct mw_expectation *expectation, const char *number, char **error)
{
    char *end;
    errno = 0;
    expectation->ranks = strtoll(number, &end, 10);
    expectation->kind = MW_EXPECT_RANKS;
    if (end == number || *end || errno || expectation->ranks < 0)
        return complain(error, mw_format("\"%s\": \"%s\" is no number", expectation->text, number));
    return 0;
}

static int parse_ended(struct mw_expectation *expectation, const char *how, char **error)
{
    static const char *const known[] = {"MPI_Finalize", "exit", "abort"};
    expectation->kind = MW_EXPECT_ENDED;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (!strcmp(how, known[i])) {
            *mw_vector_add(&expectation->names) = mw_text_copy(how);
            return 0;
        }
    return complain(error, mw_format("\"%s\": no process ends by \"%s\"; known: MPI_Finalize, "
                                     "exit, abort",
                                     expectation->text, how));
}

int mw_expectation_parse(const char *text, struct mw_expectation *expectation, char **error)
{
    const char *rest;
    *expectation = (struct mw_expectation){.text = text};
    if ((rest = mw_behind(text, "transport")))
        return parse_transport(expectation, rest, error);
    if ((rest = mw_behind(text, "no-finding")))
        return parse_no_finding(expectation, rest, error);
    if ((rest = mw_behind(text, "finding="))) {
        expectation->kind = MW_EXPECT_FINDING;
        return parse_rule(expectation, rest, error);
    }
    if ((rest = mw_behind(text, "ranks=")))
        return parse_ranks(expectation, rest, error);
    if ((rest = mw_behind(text, "ended=")))
        return parse_ended(expectation, rest, error);
    int speed = mw_expectation_speed_parse(text, expectation, error);
    return speed <= 0 ? speed
                      : complain(error, mw_format("\"%s\" is no expectation that is known", text));
}

void mw_expectation_free(struct mw_expectation *expectation)
{
    for (size_t i = 0; i < expectation->names.count; i++)
        free(expectation->names.at[i]);
    free(expectation->names.at);
    *expectation = (struct mw_expectation){0};
}
