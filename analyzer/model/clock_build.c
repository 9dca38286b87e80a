/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns messages and collectives into bounds of clocks (clock_build.h). */
#include "analyzer/model/clock_build.h"

#include "analyzer/model/collective.h"
#include "analyzer/model/matching.h"

static void bound_message(void *context, const struct mw_message *message)
{
    struct mw_clock *clock = context;
    if (message->recv.flags & (MW_HALF_UNKNOWN | MW_HALF_FAILED))
        return;
    mw_clock_bound(clock, message->send.process, message->send.start, message->recv.process,
                   message->recv.done);
    if (message->send.flags & MW_HALF_SYNC && !(message->send.flags & MW_HALF_UNKNOWN))
        mw_clock_bound(clock, message->recv.process, message->recv.start, message->send.process,
                       message->send.done);
}

static int member_counts(const struct mw_collective *collective, const struct mw_member *member)
{
    return member->blocking && !member->failed &&
           (member->bytes || collective->kind == MW_COLLECTIVE_BARRIER);
}

/* The last to come and the first to leave, of each node against the node of the first member: all
 * pairs of nodes would be too many, and the others follow from these. */
static void bound_collective(void *context, const struct mw_instance *instance)
{
    struct mw_clock *clock = context;
    const struct mw_collective *collective = mw_collective_of(instance->name);
    if (!instance->whole || instance->mixed || !collective->even)
        return;
    const struct mw_member *hub = &instance->members[0], *last = hub, *first = hub;
    for (size_t i = 0; i < instance->count; i++) { /* the hub is the same in all instances */
        if (!member_counts(collective, &instance->members[i]))
            return;
        if (instance->members[i].process < hub->process)
            hub = &instance->members[i];
    }
    size_t domain = mw_clock_domain_of(clock, hub->process);
    last = first = hub;
    for (size_t i = 0; i < instance->count; i++) {
        const struct mw_member *member = &instance->members[i];
        if (mw_clock_domain_of(clock, member->process) != domain)
            continue;
        last = member->start > last->start ? member : last;
        first = member->end < first->end ? member : first;
    }
    for (size_t i = 0; i < instance->count; i++) {
        const struct mw_member *member = &instance->members[i];
        mw_clock_bound(clock, last->process, last->start, member->process, member->end);
        mw_clock_bound(clock, member->process, member->start, first->process, first->end);
    }
}

int mw_clock_needs_events(const struct mw_clock *clock)
{
    size_t timed = 0;
    for (size_t i = 0; i < mw_clock_domain_count(clock); i++)
        timed += mw_clock_domain(clock, i)->timed != 0;
    return timed > 1;
}

struct mw_clock *mw_clock_build(const struct mw_model *model, const struct mw_comms *comms,
                                void (*progress)(uint64_t events))
{
    struct mw_clock *clock = mw_clock_create(model);
    struct mw_matching_sink sink = {
        .context = clock, .message = bound_message, .collective = bound_collective};
    struct mw_matching_counts counts;
    if (mw_clock_needs_events(clock)) {
        mw_matching_run(model, comms, clock, &sink, &counts, progress);
        mw_clock_fit(clock);
    }
    return clock;
}
