/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the passes and hands messages and collectives to those who measure them (exchange.h). */
#include "analyzer/analysis/exchange.h"

#include <stdlib.h>

#include "analyzer/model/clock_build.h"

struct meters {
    struct mw_transfer_meter *speeds, *accesses;
    struct mw_coll_speeds *collectives;
    struct mw_wait_meter *waits;
};

static void meter_message(void *context, const struct mw_message *message)
{
    struct meters *meters = context;
    mw_transfer_meter_message(meters->speeds, message);
    mw_wait_meter_message(meters->waits, message);
}

static void meter_access(void *context, const struct mw_message *access)
{
    struct meters *meters = context;
    mw_transfer_meter_access(meters->accesses, access);
}

static void meter_collective(void *context, const struct mw_instance *instance)
{
    struct meters *meters = context;
    mw_coll_speeds_add(meters->collectives, instance);
    mw_wait_meter_collective(meters->waits, instance);
}

struct mw_exchange *mw_exchange_create(const struct mw_model *model, const struct mw_comms *comms,
                                       const struct mw_placements *placements,
                                       void (*progress)(uint64_t events))
{
    struct mw_exchange *exchange = mw_alloc(1, sizeof(*exchange));
    exchange->model = model;
    exchange->comms = comms;
    exchange->clock = mw_clock_build(model, comms, progress);
    struct meters meters = {.speeds = mw_transfer_meter_create(model, exchange->clock, placements),
                            .accesses = mw_transfer_meter_create(model, exchange->clock, NULL),
                            .collectives = mw_coll_speeds_create(),
                            .waits = mw_wait_meter_create(model, exchange->clock)};
    struct mw_matching_sink sink = {.context = &meters,
                                    .message = meter_message,
                                    .collective = meter_collective,
                                    .access = meter_access};
    mw_matching_run(model, comms, exchange->clock, &sink, &exchange->counts, progress);
    exchange->speeds = mw_transfer_meter_finish(meters.speeds);
    exchange->accesses = mw_transfer_meter_finish(meters.accesses);
    exchange->collectives = meters.collectives;
    mw_coll_speeds_finish(exchange->collectives);
    exchange->waits = mw_wait_meter_finish(meters.waits);
    return exchange;
}

void mw_exchange_free(struct mw_exchange *exchange)
{
    if (!exchange)
        return;
    mw_waits_free(exchange->waits);
    mw_coll_speeds_free(exchange->collectives);
    mw_speeds_free(exchange->speeds);
    mw_speeds_free(exchange->accesses);
    mw_clock_free(exchange->clock);
    free(exchange);
}
