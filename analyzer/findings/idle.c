/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast devices that could have been used (idle.h). */
#include "analyzer/findings/idle.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/words.h"

const char *mw_idle_name(const struct mw_idle *idle)
{
    return idle->device[0] ? idle->device : idle->provider;
}

/* What a library offers tells more about a device than that the node has it. */
static void fast_add(struct mw_fast *fast, const struct mw_idle *idle)
{
    for (size_t i = 0; i < fast->devices.count; i++) {
        const struct mw_idle *known = fast->devices.at[i];
        if (strcmp(mw_idle_name(known), mw_idle_name(idle)))
            continue;
        if (!known->library[0] && idle->library[0])
            fast->devices.at[i] = idle;
        return;
    }
    *mw_vector_add(&fast->devices) = idle;
}

void mw_fast_begin(struct mw_fast *fast, const struct mw_finding_input *in,
                   const struct mw_crowd *crowd)
{
    *fast = (struct mw_fast){0};
    for (size_t i = 0; i < in->transports->idle.count; i++) {
        const struct mw_idle *idle = &in->transports->idle.at[i];
        if (idle->native && !idle->tried && mw_state_up(idle->state) &&
            mw_crowd_common(crowd, idle->processes.at, idle->processes.count))
            fast_add(fast, idle);
    }
}

void mw_fast_end(struct mw_fast *fast)
{
    free(fast->devices.at);
    *fast = (struct mw_fast){0};
}

int mw_idle_is_rdma(const struct mw_idle *idle)
{
    enum { STEM = 3 }; /* devices are named like their drivers, as far as that: mlx5_0, hns_0 */
    static const char *const drivers[] = {"mlx", "bnxt_re", "irdma", "qedr", "hns_roce", "erdma"};
    static const char *const providers[] = {"verbs", "rc_", "ud_", "dc_", "infiniband", "gga_"};
    if (!strcmp(idle->library, "ucx"))
        return 1;
    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
        if (strstr(idle->driver, drivers[i]) || !strncmp(idle->device, drivers[i], STEM))
            return 1;
    for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++)
        if (!strncmp(idle->provider, providers[i], strlen(providers[i])))
            return 1;
    return 0;
}

char *mw_idle_words(const struct mw_idle *idle)
{
    char *about = idle->library[0] ? mw_fabric_words(idle->library, idle->provider, "") : NULL;
    if (!about && idle->provider[0])
        about = mw_text_copy(idle->provider);
    if (idle->driver[0])
        about = mw_list_add(about, ", ", mw_format("driver %s", idle->driver));
    if (idle->speed)
        about = mw_list_add(about, ", ", mw_line_rate_words(idle->speed));
    if (idle->state[0])
        about = mw_list_add(about, ", ", mw_text_copy(idle->state));
    char *words =
        about ? mw_format("%s (%s)", mw_idle_name(idle), about) : mw_text_copy(mw_idle_name(idle));
    free(about);
    return words;
}

static int pair_uses(const struct mw_finding_input *in, const struct mw_pair_transport *pair,
                     int (*test)(const struct mw_way *way))
{
    for (size_t r = 0; r < pair->routes.count; r++)
        if (test(&in->transports->ways.at[pair->routes.at[r].way]))
            return 1;
    return 0;
}

void mw_crowd_of_ways(struct mw_crowd *crowd, const struct mw_finding_input *in, unsigned wheres,
                      int (*test)(const struct mw_way *way))
{
    for (size_t i = 0; i < in->transports->pairs.count; i++) {
        const struct mw_pair_transport *pair = &in->transports->pairs.at[i];
        if (pair->src == pair->dst || !(wheres & 1u << pair->where) || !pair_uses(in, pair, test))
            continue;
        mw_crowd_add_rank(crowd, pair->src);
        mw_crowd_add_rank(crowd, pair->dst);
    }
}
