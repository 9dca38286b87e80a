/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What could be had and was not used: offers of libfabric, resources of UCX, devices of the node
 * (docs/metrics.md, "What lay idle"). Main thread, after the failures.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/analysis/transports_build.h"

static int same(const char *a, const char *b)
{
    return !strcmp(a, b);
}

/* A device's name up to what stands for a port of it or a kind of domain: "mlx5_0" of "mlx5_0:1",
 * "mlx5_0-xrc". */
static uint64_t device_key(const char *device)
{
    return mw_hash_bytes(2, device, strcspn(device, ":-@"));
}

static const char *offer_device(const struct mw_offer *offer)
{
    return *offer->device ? offer->device : offer->domain;
}

/* Different offers of a process that are looked at; each is compared with all that was used. */
#define OFFERS_MOST 1024

static size_t attempts_of(const struct mw_process *process)
{
    return mw_at_most(process->attempt_count, MW_ATTEMPTS_MOST);
}

/* A process, as far as its offers are compared with what it used. */
struct user {
    const struct mw_process *process;
    struct mw_index failed; /* endpoints that came to nothing, by endpoint_key */
};

static uint64_t endpoint_key(const char *library, uint64_t id)
{
    return mw_hash_text(mw_mix(id), library);
}

/* A call about the endpoint failed. */
static void user_read(struct user *user, const struct mw_process *process)
{
    *user = (struct user){.process = process};
    for (size_t i = 0; i < process->attempt_count; i++) {
        const struct mw_attempt *attempt = &process->attempts[i];
        if (!attempt->end || attempt->result < 0)
            mw_index_put(&user->failed, endpoint_key(attempt->library, attempt->endpoint));
    }
}

static int endpoint_failed(const struct user *user, const struct mw_endpoint *endpoint)
{
    uint64_t key = endpoint_key(endpoint->library, endpoint->id);
    return mw_index_find(&user->failed, key) != MW_INDEX_NONE;
}

/* --- offers ----------------------------------------------------------------------------------- */

static int libfabric_uses(const struct user *user, const struct mw_offer *offer)
{
    const struct mw_process *process = user->process;
    for (size_t i = 0; i < process->endpoint_count; i++) {
        const struct mw_endpoint *endpoint = &process->endpoints[i];
        const char *device = *endpoint->device ? endpoint->device : endpoint->domain;
        if (same(endpoint->library, "libfabric") &&
            mw_provider_same(endpoint->provider, offer->provider) &&
            (!*device || same(device, offer_device(offer)) ||
             same(endpoint->domain, offer->domain)) &&
            !endpoint_failed(user, endpoint))
            return 1;
    }
    return 0;
}

/* Of a NIC any transport that drives it uses it, of others the very one. */
static int ucx_uses(const struct mw_process *process, const struct mw_offer *offer)
{
    int native = mw_fabric_native("ucx", offer->provider);
    for (size_t i = 0; i < process->endpoint_count; i++) {
        const struct mw_endpoint *endpoint = &process->endpoints[i];
        for (size_t p = 0; same(endpoint->library, "ucx") && p < endpoint->peer_count; p++)
            for (size_t l = 0; l < endpoint->peers[p].lane_count; l++) {
                const struct mw_lane *lane = &endpoint->peers[p].lanes[l];
                if (same(lane->device, offer_device(offer)) &&
                    (same(lane->transport, offer->provider) ||
                     (native && mw_fabric_native("ucx", lane->transport))))
                    return 1;
            }
    }
    return 0;
}

static int knows_lanes(const struct mw_process *process)
{
    for (size_t i = 0; i < process->endpoint_count; i++)
        for (size_t p = 0; p < process->endpoints[i].peer_count; p++)
            if (process->endpoints[i].peers[p].lane_count)
                return 1;
    return 0;
}

static int was_tried(const struct mw_process *process, const char *library,
                     const struct mw_offer *offer)
{
    for (size_t i = 0; i < attempts_of(process); i++) {
        const struct mw_attempt *attempt = &process->attempts[i];
        int bad = attempt->end ? attempt->result < 0 : process->end_reason != MW_END_FINALIZE;
        if (bad && !attempt->inner && same(attempt->library, library) && *attempt->provider &&
            mw_provider_same(attempt->provider, offer->provider) &&
            (!*attempt->domain || same(attempt->domain, offer->domain)))
            return 1;
    }
    return 0;
}

static struct mw_idle *idle_group(struct mw_building *building, struct mw_index *groups,
                                  const struct mw_idle *idle)
{
    struct mw_transports *out = building->out;
    uint64_t key = mw_mix(idle->speed ^ (uint64_t)idle->tried << 60);
    key = mw_hash_text(mw_hash_text(key, idle->library), idle->provider);
    key = mw_hash_text(mw_hash_text(key, idle->device), idle->driver);
    size_t at = mw_index_put(groups, mw_hash_text(key, idle->state));
    if (at == out->idle.count)
        *mw_vector_add(&out->idle) = *idle;
    return &out->idle.at[at];
}

static void idle_add_process(struct mw_idle *idle, uint32_t process)
{
    if (!idle->processes.count || idle->processes.at[idle->processes.count - 1] != process)
        *mw_vector_add(&idle->processes) = process;
}

static void idle_offer(struct mw_building *building, struct mw_index *groups, uint32_t number,
                       const struct user *user, const char *library, const struct mw_offer *offer)
{
    const struct mw_process *process = user->process;
    int ucx = same(library, "ucx");
    if (ucx ? ucx_uses(process, offer) : libfabric_uses(user, offer))
        return;
    struct mw_idle idle = {.library = library,
                           .provider = offer->provider,
                           .device = offer_device(offer),
                           .driver = offer->driver,
                           .state = offer->state,
                           .speed = offer->speed,
                           .native = mw_fabric_native(library, offer->provider),
                           .tried = was_tried(process, library, offer)};
    if (!idle.speed)
        idle.speed = mw_port_rate(building, number, idle.device);
    idle_add_process(idle_group(building, groups, &idle), number);
}

static void idle_offers(struct mw_building *building, struct mw_index *groups, uint32_t number)
{
    const struct mw_process *process = mw_trace_process(building->model->trace, number);
    struct mw_index seen = {0};
    struct user user;
    int lanes = knows_lanes(process);
    user_read(&user, process);
    for (size_t a = 0; a < attempts_of(process); a++) {
        const struct mw_attempt *attempt = &process->attempts[a];
        /* who asked does not matter: what was offered is there */
        if (attempt->inner || (same(attempt->library, "ucx") && !lanes))
            continue;
        for (size_t o = 0; o < attempt->offer_count; o++) {
            const struct mw_offer *offer = &attempt->offers[o];
            size_t known = seen.count;
            uint64_t key = mw_hash_text(mw_hash_text(1, attempt->library), offer->provider);
            key = mw_hash_text(key, offer_device(offer));
            if (known == OFFERS_MOST)
                building->out->left_out += mw_index_find(&seen, key) == MW_INDEX_NONE;
            else if (mw_index_put(&seen, key) == known)
                idle_offer(building, groups, number, &user, attempt->library, offer);
        }
    }
    mw_index_free(&user.failed);
    mw_index_free(&seen);
}

/* --- devices of the node ---------------------------------------------------------------------- */

struct node_use {
    /* line rate of the fastest network device that was used, bit/s; and of those, the fastest that
     * was driven natively: TCP over a fast fabric's interface leaves the fabric idle */
    uint64_t best, native;
    struct mw_index devices; /* by name, and by device_key */
    MW_VECTOR(uint32_t) processes;
};

static void use_rate(struct node_use *use, uint64_t rate, int native)
{
    if (rate > use->best)
        use->best = rate;
    if (native && rate > use->native)
        use->native = rate;
}

static void use_device(const struct mw_building *building, struct node_use *use, uint32_t process,
                       const char *device, int native)
{
    if (!*device || same(device, "memory") || same(device, "lo"))
        return;
    size_t known = use->devices.count;
    if (mw_index_put(&use->devices, mw_hash_text(1, device)) < known)
        return;
    mw_index_put(&use->devices, device_key(device));
    use_rate(use, mw_port_rate(building, process, device), native);
}

static void uses_of_process(const struct mw_building *building, struct node_use *use,
                            uint32_t number)
{
    const struct mw_process *process = mw_trace_process(building->model->trace, number);
    struct user user;
    user_read(&user, process);
    for (size_t e = 0; e < process->endpoint_count; e++) {
        const struct mw_endpoint *endpoint = &process->endpoints[e];
        int native = mw_fabric_native(endpoint->library, endpoint->provider);
        if (endpoint_failed(&user, endpoint))
            continue;
        use_device(building, use, number, endpoint->device, native);
        use_device(building, use, number, endpoint->domain, native);
        use_rate(use, endpoint->speed, native);
        for (size_t p = 0; p < endpoint->peer_count; p++)
            for (size_t l = 0; l < endpoint->peers[p].lane_count; l++) {
                const struct mw_lane *lane = &endpoint->peers[p].lanes[l];
                use_device(building, use, number, lane->device,
                           mw_fabric_native("ucx", lane->transport));
            }
    }
    mw_index_free(&user.failed);
}

static struct node_use *read_uses(const struct mw_building *building)
{
    const struct mw_endpoints *endpoints = building->endpoints;
    struct node_use *uses = mw_alloc(endpoints->node_count, sizeof(*uses));
    for (uint32_t i = 0; i < building->model->process_count; i++) {
        struct node_use *use = &uses[endpoints->owners[i].node];
        uses_of_process(building, use, i);
        if (endpoints->owners[i].rank >= 0)
            *mw_vector_add(&use->processes) = i;
    }
    for (size_t f = 0; f < endpoints->flows.count; f++) {
        const struct mw_flow *flow = &endpoints->flows.at[f];
        if (flow->kind == MW_FLOW_SOCKETS && flow->bytes)
            use_device(building, &uses[endpoints->owners[flow->process].node], flow->process,
                       flow->interface, 0);
    }
    return uses;
}

/* "up", "ACTIVE", "4: ACTIVE", "ACTIVE_DEFER"; not "inactive". */
static int is_up(const char *state)
{
    const char *active = strcasestr(state, "active");
    return !strcasecmp(state, "up") ||
           (active && (active == state || !isalpha((unsigned char)active[-1])));
}

static void idle_device(struct mw_building *building, struct mw_index *groups,
                        const struct node_use *use, const char *kind, const char *name,
                        const char *state, uint64_t rate)
{
    int native = mw_fabric_native("", kind);
    if (!is_up(state) || same(name, "lo"))
        return;
    if (mw_index_find(&use->devices, device_key(name)) != MW_INDEX_NONE)
        return;
    if (!native && (!rate || !use->best || rate <= use->best))
        return;
    if (native && use->native && rate && rate <= use->native)
        return;
    struct mw_idle idle = {.library = "",
                           .provider = kind,
                           .device = name,
                           .driver = "",
                           .state = state,
                           .speed = rate,
                           .native = native};
    struct mw_idle *group = idle_group(building, groups, &idle);
    for (size_t i = 0; i < use->processes.count; i++)
        idle_add_process(group, use->processes.at[i]);
}

/* "200 Gb/sec (4X HDR)" */
static uint64_t rate_of_text(const char *text)
{
    char *end;
    double gigabits = strtod(text, &end);
    return !strncmp(end, " Gb/sec", 7) && gigabits > 0 && gigabits < 1e6
               ? (uint64_t)(gigabits * 1e9)
               : 0;
}

/* Where nobody read the node's ports: facts "mlx5_0.port1.state" of the environment. */
static void idle_facts(struct mw_building *building, struct mw_index *groups,
                       const struct node_use *use, const struct mw_process *process)
{
    for (size_t f = 0; f < process->fact_count; f++) {
        const struct mw_fact *fact = &process->facts[f];
        const char *port = same(fact->section, "infiniband") ? strstr(fact->key, ".port") : NULL;
        const char *dot = port ? strchr(port + 1, '.') : NULL;
        if (!dot || !same(dot, ".state"))
            continue;
        char *rate_name = mw_format("%.*s.rate", (int)(dot - fact->key), fact->key);
        char *name = mw_format("%.*s", (int)(port - fact->key), fact->key);
        idle_device(building, groups, use, "infiniband", mw_text_keep(building->out->texts, name),
                    fact->value, rate_of_text(mw_process_fact(process, "infiniband", rate_name)));
        free(rate_name);
        free(name);
    }
}

static void idle_devices(struct mw_building *building, struct mw_index *groups)
{
    struct mw_endpoints *endpoints = building->endpoints;
    struct node_use *uses = read_uses(building);
    unsigned char *told = mw_alloc(endpoints->node_count, 1);
    for (uint32_t i = 0; i < building->model->process_count; i++) {
        const struct mw_process *process = mw_trace_process(building->model->trace, i);
        uint32_t node = endpoints->owners[i].node;
        if (!process->ports_count)
            continue;
        const struct mw_ports *last = &process->ports[process->ports_count - 1];
        told[node] = 1;
        for (size_t p = 0; p < last->port_count; p++)
            idle_device(building, groups, &uses[node], last->ports[p].kind, last->ports[p].name,
                        last->ports[p].state, last->ports[p].rate);
    }
    for (uint32_t i = 0; i < building->model->process_count; i++) {
        uint32_t node = endpoints->owners[i].node;
        if (!told[node])
            idle_facts(building, groups, &uses[node], mw_trace_process(building->model->trace, i));
        told[node] = 1;
    }
    for (uint32_t n = 0; n < endpoints->node_count; n++) {
        mw_index_free(&uses[n].devices);
        free(uses[n].processes.at);
    }
    free(uses);
    free(told);
}

/* --- all -------------------------------------------------------------------------------------- */

static int idle_compare(const void *left, const void *right)
{
    const struct mw_idle *a = left, *b = right;
    if (a->native != b->native)
        return a->native ? -1 : 1;
    if (a->tried != b->tried)
        return a->tried ? 1 : -1;
    if (a->speed != b->speed)
        return a->speed > b->speed ? -1 : 1;
    int order = strcmp(a->library, b->library);
    if (!order)
        order = strcmp(a->provider, b->provider);
    if (!order)
        order = strcmp(a->device, b->device);
    return order ? order : strcmp(a->state, b->state);
}

static int number_compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

void mw_idle_read(struct mw_building *building)
{
    struct mw_transports *out = building->out;
    struct mw_index groups = {0};
    if (building->any_records) {
        for (uint32_t i = 0; i < building->model->process_count; i++)
            idle_offers(building, &groups, i);
        idle_devices(building, &groups);
    }
    mw_index_free(&groups);
    for (size_t i = 0; i < out->idle.count; i++)
        if (out->idle.at[i].processes.count)
            qsort(out->idle.at[i].processes.at, out->idle.at[i].processes.count, sizeof(uint32_t),
                  number_compare);
    if (out->idle.count)
        qsort(out->idle.at, out->idle.count, sizeof(out->idle.at[0]), idle_compare);
}
