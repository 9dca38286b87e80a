/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process did with fabric libraries: steps of opening one, endpoints with their peers, and
 * what the libraries logged. Runs while a trace is opened, on one thread. Lists are checked before
 * they come here; rows of the same key are joined by rows.c.
 */
#include "trace/reader/reader.h"

#define OFFER(id, kind) MW_MEMBER(OFFER, mw_offer, id, kind)
static const struct mw_member offer_table[] = {
    OFFER(provider, TEXT), OFFER(domain, TEXT), OFFER(fabric, TEXT), OFFER(device, TEXT),
    OFFER(speed, NUMBER),  OFFER(state, TEXT),  OFFER(driver, TEXT),
};
static const struct mw_members offer_members = MW_MEMBERS(offer_table, mw_offer);

#define ATTEMPT(id, kind) MW_MEMBER(ATTEMPT, mw_attempt, id, kind)
static const struct mw_member attempt_table[] = {
    ATTEMPT(id, NUMBER),     ATTEMPT(library, TEXT),    ATTEMPT(call, TEXT),
    ATTEMPT(result, SIGNED), ATTEMPT(words, TEXT),      ATTEMPT(domain, TEXT),
    ATTEMPT(provider, TEXT), ATTEMPT(fabric, TEXT),     ATTEMPT(caller, NUMBER),
    ATTEMPT(start, NUMBER),  ATTEMPT(end, NUMBER),      ATTEMPT(inner, FLAG),
    ATTEMPT(device, TEXT),   ATTEMPT(speed, NUMBER),    ATTEMPT(driver, TEXT),
    ATTEMPT(asked, TEXT),    ATTEMPT(endpoint, NUMBER),
};
static const struct mw_members attempt_members = MW_MEMBERS(attempt_table, mw_attempt);

#define LANE(id) MW_MEMBER(LANE, mw_lane, id, TEXT)
static const struct mw_member lane_table[] = {LANE(use), LANE(transport), LANE(device)};
static const struct mw_members lane_members = MW_MEMBERS(lane_table, mw_lane);

#define PEER(id) MW_MEMBER(PEER, mw_peer, id, NUMBER)
static const struct mw_member peer_table[] = {
    {MW_F_PEER_address, MW_MEMBER_BYTES, offsetof(struct mw_peer, address),
     offsetof(struct mw_peer, address_size)},
    PEER(sends),
    PEER(sent),
    PEER(puts),
    PEER(put),
    PEER(gets),
    PEER(got),
    PEER(unsized),
};
static const struct mw_members peer_members = MW_MEMBERS(peer_table, mw_peer);

#define ENDPOINT(id, kind) MW_MEMBER(ENDPOINT, mw_endpoint, id, kind)
static const struct mw_member endpoint_table[] = {
    {MW_F_ENDPOINT_address, MW_MEMBER_BYTES, offsetof(struct mw_endpoint, address),
     offsetof(struct mw_endpoint, address_size)},
    ENDPOINT(id, NUMBER),
    ENDPOINT(library, TEXT),
    ENDPOINT(provider, TEXT),
    ENDPOINT(domain, TEXT),
    ENDPOINT(caller, NUMBER),
    ENDPOINT(format, NUMBER),
    ENDPOINT(device, TEXT),
    ENDPOINT(speed, NUMBER),
    ENDPOINT(inner, FLAG),
    ENDPOINT(time, NUMBER),
    ENDPOINT(unlisted, NUMBER),
};
const struct mw_members mw_endpoint_members = MW_MEMBERS(endpoint_table, mw_endpoint);

#define LOG(id, kind) MW_MEMBER(LOG, mw_log_line, id, kind)
static const struct mw_member log_table[] = {
    LOG(id, NUMBER),     LOG(library, TEXT),  LOG(level, TEXT),  LOG(subsystem, TEXT),
    LOG(provider, TEXT), LOG(function, TEXT), LOG(line, NUMBER), LOG(text, TEXT),
    LOG(count, NUMBER),  LOG(time, NUMBER),
};
static const struct mw_members log_members = MW_MEMBERS(log_table, mw_log_line);

/* mw_members_array finds equal arrays by their bytes. */
_Static_assert(sizeof(struct mw_offer) == 6 * sizeof(char *) + sizeof(uint64_t) &&
                   sizeof(struct mw_lane) == 3 * sizeof(char *),
               "without padding");

enum mw_status mw_load_attempt(struct mw_load *load)
{
    struct mw_attempt attempt;
    const void *offers;
    size_t count;
    enum mw_status status =
        mw_members_read(load->trace, load->reader, &attempt_members, &attempt, NULL);
    if (status == MW_OK)
        status = mw_members_array(load->trace, load->reader, MW_F_ATTEMPT_offer, &offer_members,
                                  &offers, &count);
    if (status != MW_OK)
        return status;
    attempt.offers = offers;
    attempt.offer_count = count;
    struct mw_attempt *added = mw_rows_add(load->entry, MW_TABLE_ATTEMPTS, &status);
    if (added)
        *added = attempt;
    return status;
}

static enum mw_status peer_read(struct mw_load *load, struct mw_reader list, struct mw_peer *peer)
{
    const void *lanes;
    size_t count;
    enum mw_status status = mw_members_read(load->trace, list, &peer_members, peer, NULL);
    if (status == MW_OK)
        status = mw_members_array(load->trace, list, MW_F_PEER_lane, &lane_members, &lanes, &count);
    if (status == MW_OK) {
        peer->lanes = lanes;
        peer->lane_count = count;
    }
    return status;
}

enum mw_status mw_load_endpoint(struct mw_load *load)
{
    struct mw_endpoint_row row = {0};
    struct mw_field field;
    enum mw_status status =
        mw_members_read(load->trace, load->reader, &mw_endpoint_members, &row.endpoint, &row.given);
    if (status != MW_OK)
        return status;
    struct mw_endpoint_row *added = mw_rows_add(load->entry, MW_TABLE_ENDPOINTS, &status);
    if (added)
        *added = row;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        struct mw_peer peer;
        if (field.id != MW_F_ENDPOINT_peer || !field.is_bytes)
            continue;
        status = peer_read(load, mw_field_reader(&field), &peer);
        struct mw_peer_row *slot =
            status == MW_OK ? mw_rows_add(load->entry, MW_TABLE_PEERS, &status) : NULL;
        if (slot)
            *slot = (struct mw_peer_row){row.endpoint.id, peer};
    }
    return status;
}

enum mw_status mw_load_log(struct mw_load *load)
{
    struct mw_log_line line;
    enum mw_status status = mw_members_read(load->trace, load->reader, &log_members, &line, NULL);
    if (status != MW_OK)
        return status;
    if (line.id == 0) {
        load->entry->process.log_lost = line.count;
        return MW_OK;
    }
    struct mw_log_line *added = mw_rows_add(load->entry, MW_TABLE_LOG, &status);
    if (added)
        *added = line;
    return status;
}
