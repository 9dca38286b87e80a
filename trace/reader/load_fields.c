/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of fields: checked as a whole before anything of them is used, so that a malformed payload
 * is used not at all rather than in half; and the values of single fields. Pure but for the pool.
 */
#include "trace/reader/reader.h"

#include <limits.h>

uint64_t mw_field_number(const struct mw_field *field)
{
    return field->is_bytes ? 0 : field->value;
}

int64_t mw_field_signed(const struct mw_field *field)
{
    return field->is_bytes ? 0 : mw_unzigzag(field->value);
}

int mw_field_small(const struct mw_field *field, int otherwise)
{
    uint64_t value = mw_field_number(field);
    return value <= INT_MAX ? (int)value : otherwise;
}

int64_t mw_field_less_one(const struct mw_field *field)
{
    uint64_t value = mw_field_number(field);
    return value <= INT64_MAX ? (int64_t)value - 1 : -1;
}

enum mw_status mw_field_text(struct mw_trace *trace, const struct mw_field *field,
                             const char **text)
{
    if (!field->is_bytes) {
        *text = "";
        return MW_OK;
    }
    return mw_pool_text(&trace->pool, field->data, field->size, text);
}

enum mw_status mw_field_bytes(struct mw_trace *trace, const struct mw_field *field,
                              const uint8_t **data, size_t *size)
{
    const void *kept;
    enum mw_status status = mw_pool_bytes(&trace->pool, field->data, field->size, &kept);
    if (status == MW_OK) {
        *data = kept;
        *size = field->size;
    }
    return status;
}

enum mw_status mw_field_text_add(struct mw_trace *trace, const struct mw_field *field,
                                 struct mw_vector *texts)
{
    const char *text;
    enum mw_status status = mw_field_text(trace, field, &text);
    if (status != MW_OK)
        return status;
    const char **slot = mw_vector_add(&trace->account, texts, sizeof *slot, &status);
    if (slot)
        *slot = text;
    return status;
}

struct mw_reader mw_field_reader(const struct mw_field *field)
{
    static const uint8_t nothing[1];
    const uint8_t *data = field->is_bytes && field->data ? field->data : nothing;
    return (struct mw_reader){data, data + (field->is_bytes ? field->size : 0)};
}

size_t mw_packed_count(struct mw_reader list)
{
    size_t count = 0;
    uint64_t value;
    while (mw_read_varint(&list, &value) == MW_OK)
        count++;
    return count;
}

/* Where a list has records and packed numbers inside. `group`: how many numbers belong together. */
struct nested {
    unsigned field;
    unsigned group; /* 0: a record */
    const struct nested *inner;
};

static const struct nested site_frames[] = {{MW_F_SITE_frames, 2, NULL}, {0}};
static const struct nested in_modules[] = {{MW_F_MODULES_module, 0, NULL}, {0}};
static const struct nested in_sites[] = {{MW_F_SITES_site, 0, site_frames}, {0}};
static const struct nested in_comm[] = {
    {MW_F_COMM_members, 3, NULL}, {MW_F_COMM_remote_members, 3, NULL}, {MW_F_COMM_places, 3, NULL}, {0}};
static const struct nested in_counts[] = {{MW_F_COUNTS_function, 0, NULL}, {0}};
static const struct nested in_open[] = {{MW_F_OPEN_call, 0, NULL}, {0}};
static const struct nested in_environment[] = {{MW_F_ENVIRONMENT_fact, 0, NULL}, {0}};
static const struct nested in_attempt[] = {{MW_F_ATTEMPT_offer, 0, NULL}, {0}};
static const struct nested in_peer[] = {{MW_F_PEER_lane, 0, NULL}, {0}};
static const struct nested in_endpoint[] = {{MW_F_ENDPOINT_peer, 0, in_peer}, {0}};
static const struct nested in_sockets[] = {{MW_F_SOCKETS_connection, 0, NULL}, {0}};
static const struct nested in_ports[] = {{MW_F_PORTS_port, 0, NULL}, {0}};
static const struct nested in_cma[] = {{MW_F_CMA_peer, 0, NULL}, {0}};
static const struct nested in_flow[] = {{MW_F_FLOW_peers, 3, NULL}, {0}};
static const struct nested in_choice[] = {{MW_F_CHOICE_item, 0, NULL}, {0}};
static const struct nested in_slit[] = {
    {MW_F_SLIT_distance, 1, NULL}, {MW_F_SLIT_cpus, 2, NULL}, {0}};
static const struct nested in_pci[] = {{MW_F_PCI_cpus, 2, NULL}, {0}};
static const struct nested in_topology[] = {{MW_F_TOPOLOGY_slit, 0, in_slit},
                                            {MW_F_TOPOLOGY_pci, 0, in_pci},
                                            {MW_F_TOPOLOGY_gpu, 0, NULL},
                                            {MW_F_TOPOLOGY_link, 0, NULL},
                                            {0}};
static const struct nested in_placed_thread[] = {{MW_F_PLACEDTHREAD_cpus, 2, NULL}, {0}};
static const struct nested in_foreign[] = {{MW_F_FOREIGN_cpus, 2, NULL}, {0}};
static const struct nested in_placement[] = {{MW_F_PLACEMENT_cpus, 2, NULL},
                                             {MW_F_PLACEMENT_process_cpus, 2, NULL},
                                             {MW_F_PLACEMENT_parent_cpus, 2, NULL},
                                             {MW_F_PLACEMENT_cgroup_cpus, 2, NULL},
                                             {MW_F_PLACEMENT_mems, 2, NULL},
                                             {MW_F_PLACEMENT_thread, 0, in_placed_thread},
                                             {MW_F_PLACEMENT_foreign, 0, in_foreign},
                                             {0}};
static const struct nested in_gpu_device[] = {{MW_F_GPUDEVICE_peer, 0, NULL}, {0}};
static const struct nested in_device[] = {{MW_F_DEVICE_device, 0, in_gpu_device}, {0}};
static const struct nested in_buffer[] = {{MW_F_BUFFER_space, 0, NULL}, {0}};
static const struct nested in_aggregate[] = {{MW_F_AGGREGATE_row, 0, NULL}, {0}};

static const struct nested *nested_of(unsigned type)
{
    static const struct nested *const tables[] = {
        [MW_CHUNK_MODULES] = in_modules, [MW_CHUNK_SITES] = in_sites,
        [MW_CHUNK_COMM] = in_comm,       [MW_CHUNK_COUNTS] = in_counts,
        [MW_CHUNK_OPEN] = in_open,       [MW_CHUNK_ENVIRONMENT] = in_environment,
        [MW_CHUNK_ATTEMPT] = in_attempt, [MW_CHUNK_ENDPOINT] = in_endpoint,
        [MW_CHUNK_SOCKETS] = in_sockets, [MW_CHUNK_PORTS] = in_ports,
        [MW_CHUNK_CMA] = in_cma,         [MW_CHUNK_CHOICE] = in_choice,
        [MW_CHUNK_FLOW] = in_flow,       [MW_CHUNK_TOPOLOGY] = in_topology,
        [MW_CHUNK_PLACEMENT] = in_placement, [MW_CHUNK_DEVICE] = in_device,
        [MW_CHUNK_BUFFER] = in_buffer,
        [MW_CHUNK_AGGREGATE] = in_aggregate,
    };
    return type < sizeof tables / sizeof *tables ? tables[type] : NULL;
}

static enum mw_status packed_check(struct mw_reader reader, unsigned group)
{
    uint64_t count = 0, value;
    while (reader.next < reader.end) {
        if (mw_read_varint(&reader, &value) != MW_OK)
            return MW_ERR_CORRUPT;
        count++;
    }
    return count % group ? MW_ERR_CORRUPT : MW_OK;
}

/* At most three deep: the tables above say how deep, not the payload. */
static enum mw_status list_check(struct mw_reader reader, const struct nested *nested)
{
    struct mw_field field;
    enum mw_status status;
    while ((status = mw_field_next(&reader, &field)) == MW_OK) {
        for (const struct nested *n = nested; field.is_bytes && n && n->field; n++) {
            if (n->field != field.id)
                continue;
            status = n->group ? packed_check(mw_field_reader(&field), n->group)
                              : list_check(mw_field_reader(&field), n->inner);
            if (status != MW_OK)
                return status;
        }
    }
    return status == MW_END ? MW_OK : status;
}

enum mw_status mw_fields_check(unsigned type, const uint8_t *payload, size_t length)
{
    return list_check((struct mw_reader){payload, payload + length}, nested_of(type));
}
