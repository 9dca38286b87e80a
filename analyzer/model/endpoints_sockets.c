/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins TCP connections by their two ends (endpoints.h). A process may hold one socket under
 * several numbers (the cookie tells); two processes may hold one socket, as children do, and then
 * whose bytes they are is not known. What a connection had carried by the end of MPI_Init is taken
 * off.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/endpoints_join.h"

struct link {                /* one socket of a process */
    uint32_t process, next;  /* next: another with the same ends; UINT32_MAX none */
    uint64_t sent, received; /* since MPI_Init */
    uint64_t mirror;         /* key of the other end */
    uint64_t cookie;
    const char *interface;
};

struct socket {
    const struct mw_connection *base, *last;
};

struct links {
    struct mw_index ends;      /* key of (local, remote) → number */
    MW_VECTOR(uint32_t) first; /* link by that number */
    MW_VECTOR(struct link) all;
};

static int is_loopback(const uint8_t *address, size_t size)
{
    static const uint8_t six[16] = {[15] = 1};
    return size == 4 ? address[0] == 127 : !memcmp(address, six, 16);
}

static int is_zero(const uint8_t *address, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (address[i])
            return 0;
    return 1;
}

/* Of the two ends as one side sees them; 0: no ends that could be found again. */
static uint64_t ends_key(const struct mw_endpoint_owner *owner, const uint8_t *local,
                         const uint8_t *remote, size_t size)
{
    uint64_t scope = 0;
    if ((size != 6 && size != 18) || is_zero(local, size - 2) || is_zero(remote, size - 2))
        return 0;
    if (is_loopback(local, size - 2) || is_loopback(remote, size - 2))
        scope = owner->net ? owner->net : owner->node + 1;
    return mw_hash_bytes(mw_hash_bytes(scope, local, size), remote, size) | 1;
}

static uint64_t since(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0;
}

/* The sockets of one process: each as it was seen last, less what it had when it was seen at the
 * end of MPI_Init. */
static void process_links(struct mw_endpoints *endpoints, uint32_t number, struct links *links)
{
    const struct mw_process *process = mw_trace_process(endpoints->model->trace, number);
    struct mw_endpoint_owner *owner = &endpoints->owners[number];
    struct mw_index sockets = {0};
    MW_VECTOR(struct socket) seen = {0};
    for (size_t s = 0; s < process->sockets_count; s++) {
        const struct mw_sockets *look = &process->sockets[s];
        owner->looks++;
        owner->last_look |= look->when == MW_WHEN_END;
        owner->unseen |= look->unseen > 0;
        for (size_t c = 0; c < look->connection_count; c++) {
            const struct mw_connection *at = &look->connections[c];
            uint64_t key = mw_hash_bytes(at->cookie, at->local, at->local_size);
            key = mw_hash_bytes(key, at->remote, at->remote_size);
            size_t n = mw_index_put(&sockets, key);
            if (n == seen.count)
                mw_vector_add(&seen)->base = look->when == MW_WHEN_INIT ? at : NULL;
            seen.at[n].last = at;
        }
    }
    for (size_t i = 0; i < seen.count; i++) {
        const struct mw_connection *last = seen.at[i].last, *base = seen.at[i].base;
        if (last->local_size != last->remote_size)
            continue;
        uint64_t key = ends_key(owner, last->local, last->remote, last->local_size);
        if (!key)
            continue;
        size_t n = mw_index_put(&links->ends, key);
        if (n == links->first.count)
            *mw_vector_add(&links->first) = UINT32_MAX;
        *mw_vector_add(&links->all) =
            (struct link){number,
                          links->first.at[n],
                          since(last->sent, base ? base->sent : 0),
                          since(last->received, base ? base->received : 0),
                          ends_key(owner, last->remote, last->local, last->local_size),
                          last->cookie,
                          last->interface};
        links->first.at[n] = (uint32_t)(links->all.count - 1);
    }
    mw_index_free(&sockets);
    free(seen.at);
}

/* The one process that holds sockets with these ends, MW_NOBODY or MW_SEVERAL; *link is one of
 * them, *alone says that it is the only one. */
static uint32_t holder(const struct links *links, uint64_t key, const struct link **link,
                       int *alone)
{
    size_t n = mw_index_find(&links->ends, key);
    if (n == MW_INDEX_NONE)
        return MW_NOBODY;
    *link = &links->all.at[links->first.at[n]];
    *alone = (*link)->next == UINT32_MAX;
    for (uint32_t at = (*link)->next; at != UINT32_MAX; at = links->all.at[at].next)
        if (links->all.at[at].process != (*link)->process)
            return MW_SEVERAL;
    return (*link)->process;
}

static void join_link(struct mw_endpoints *endpoints, const struct links *links,
                      const struct link *link, uint64_t own_key)
{
    const struct link *other = NULL, *self = NULL;
    int other_alone = 0, self_alone = 0;
    struct mw_endpoint_owner *owner = &endpoints->owners[link->process];
    if (owner->rank < 0)
        return;
    uint32_t process = holder(links, link->mirror, &other, &other_alone);
    if (process == MW_NOBODY)
        return; /* the launcher's, or the program's own */
    if (process == MW_SEVERAL || holder(links, own_key, &self, &self_alone) == MW_SEVERAL) {
        owner->ambiguous++;
        return;
    }
    if (endpoints->owners[process].rank < 0 || process == link->process)
        return; /* libraries open connections to themselves */
    uint64_t bytes = link->sent;
    if (other_alone && self_alone && other->received > bytes)
        bytes = other->received;
    struct mw_flow *flow = mw_flow_add(endpoints, MW_FLOW_SOCKETS, link->process, owner->rank,
                                       endpoints->owners[process].rank);
    flow->operations = 1;
    flow->bytes = bytes;
    flow->interface = link->interface;
}

void mw_join_sockets(struct mw_endpoints *endpoints)
{
    struct links links = {0};
    for (uint32_t i = 0; i < endpoints->model->process_count; i++)
        process_links(endpoints, i, &links);
    for (size_t n = 0; n < links.first.count; n++)
        for (uint32_t at = links.first.at[n]; at != UINT32_MAX; at = links.all.at[at].next)
            join_link(endpoints, &links, &links.all.at[at], links.ends.keys[n]);
    mw_index_free(&links.ends);
    free(links.first.at);
    free(links.all.at);
}
