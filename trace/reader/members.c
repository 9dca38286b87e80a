/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of fields that are nothing but the members of a structure, read by a table of these
 * members. Runs while a trace is opened, on one thread. Lists are checked before they come here.
 */
#include "trace/reader/reader.h"

#include <stdlib.h>
#include <string.h>

static const struct mw_member *member_find(const struct mw_members *members, unsigned field)
{
    for (size_t i = 0; i < members->count; i++)
        if (members->members[i].field == field)
            return &members->members[i];
    return NULL;
}

/* Packed numbers as an array, of which there is one copy: masks and distances repeat. */
static enum mw_status numbers_read(struct mw_trace *trace, const struct mw_field *field,
                                   const void **array, size_t *count)
{
    struct mw_reader list = mw_field_reader(field);
    size_t all = mw_packed_count(list), size = all * sizeof(uint64_t);
    *array = NULL;
    *count = all;
    if (all == 0)
        return MW_OK;
    enum mw_status status = mw_account_charge(&trace->account, size);
    if (status != MW_OK)
        return status;
    uint64_t *scratch = malloc(size);
    for (size_t i = 0; scratch && i < all; i++)
        mw_read_varint(&list, &scratch[i]);
    trace->account.used -= size;
    status = scratch ? mw_pool_bytes(&trace->pool, scratch, size, array) : MW_ERR_MEMORY;
    free(scratch);
    return status;
}

static enum mw_status member_read(struct mw_trace *trace, const struct mw_member *member,
                                  const struct mw_field *field, uint8_t *structure)
{
    void *at = structure + member->offset;
    size_t *count = (size_t *)(structure + member->size);
    enum mw_status status;
    switch (member->kind) {
    case MW_MEMBER_NUMBER:
        *(uint64_t *)at = mw_field_number(field);
        break;
    case MW_MEMBER_SIGNED:
        *(int64_t *)at = mw_field_signed(field);
        break;
    case MW_MEMBER_FLAG:
        *(int *)at = mw_field_number(field) != 0;
        break;
    case MW_MEMBER_WHEN:
        *(enum mw_when *)at = (enum mw_when)mw_field_small(field, 0);
        break;
    case MW_MEMBER_LESS_ONE:
        *(int64_t *)at = mw_field_less_one(field);
        break;
    case MW_MEMBER_TEXT:
        return mw_field_text(trace, field, at);
    case MW_MEMBER_BYTES:
        return mw_field_bytes(trace, field, at, count);
    case MW_MEMBER_NUMBERS:
    case MW_MEMBER_RUNS:
        status = numbers_read(trace, field, at, count);
        if (member->kind == MW_MEMBER_RUNS)
            *count /= sizeof(struct mw_cpu_run) / sizeof(uint64_t);
        return status;
    }
    return MW_OK;
}

static void members_empty(const struct mw_members *members, uint8_t *structure)
{
    memset(structure, 0, members->structure);
    for (size_t i = 0; i < members->count; i++) {
        const struct mw_member *member = &members->members[i];
        if (member->kind == MW_MEMBER_TEXT)
            *(const char **)(structure + member->offset) = "";
        else if (member->kind == MW_MEMBER_BYTES)
            *(const uint8_t **)(structure + member->offset) = (const uint8_t *)"";
        else if (member->kind == MW_MEMBER_LESS_ONE)
            *(int64_t *)(structure + member->offset) = -1;
    }
}

enum mw_status mw_members_read(struct mw_trace *trace, struct mw_reader list,
                               const struct mw_members *members, void *structure, uint32_t *given)
{
    struct mw_field field;
    enum mw_status status = MW_OK;
    members_empty(members, structure);
    while (status == MW_OK && mw_field_next(&list, &field) == MW_OK) {
        const struct mw_member *member = member_find(members, field.id);
        if (given && field.id < 32)
            *given |= UINT32_C(1) << field.id;
        if (member)
            status = member_read(trace, member, &field, structure);
    }
    return status;
}

static void member_copy(const struct mw_member *member, uint8_t *to, const uint8_t *from)
{
    static const size_t sizes[] = {
        [MW_MEMBER_NUMBER] = sizeof(uint64_t),
        [MW_MEMBER_SIGNED] = sizeof(int64_t),
        [MW_MEMBER_FLAG] = sizeof(int),
        [MW_MEMBER_WHEN] = sizeof(enum mw_when),
        [MW_MEMBER_TEXT] = sizeof(const char *),
        [MW_MEMBER_BYTES] = sizeof(const uint8_t *),
        [MW_MEMBER_LESS_ONE] = sizeof(int64_t),
        [MW_MEMBER_NUMBERS] = sizeof(const uint64_t *),
        [MW_MEMBER_RUNS] = sizeof(const struct mw_cpu_run *),
    };
    memcpy(to + member->offset, from + member->offset, sizes[member->kind]);
    if (member->size)
        memcpy(to + member->size, from + member->size, sizeof(size_t));
}

void mw_members_fill(const struct mw_members *members, void *structure, uint32_t given,
                     const void *from)
{
    for (size_t i = 0; i < members->count; i++)
        if (!(given & UINT32_C(1) << members->members[i].field))
            member_copy(&members->members[i], structure, from);
}

static size_t records_count(struct mw_reader list, unsigned id)
{
    struct mw_field field;
    size_t count = 0;
    while (mw_field_next(&list, &field) == MW_OK)
        count += field.id == id && field.is_bytes;
    return count;
}

static enum mw_status records_read(struct mw_trace *trace, struct mw_reader list, unsigned id,
                                   const struct mw_members *members, uint8_t *next)
{
    struct mw_field field;
    enum mw_status status = MW_OK;
    while (status == MW_OK && mw_field_next(&list, &field) == MW_OK) {
        if (field.id != id || !field.is_bytes)
            continue;
        status = mw_members_read(trace, mw_field_reader(&field), members, next, NULL);
        next += members->structure;
    }
    return status;
}

/* Texts are the same pointers where they are the same texts, and the structures have no padding:
 * equal arrays are equal bytes. A process names the same lanes for each of its peers. */
enum mw_status mw_members_array(struct mw_trace *trace, struct mw_reader list, unsigned field,
                                const struct mw_members *members, const void **array, size_t *count)
{
    *array = NULL;
    *count = records_count(list, field);
    size_t size = *count * members->structure;
    if (*count == 0)
        return MW_OK;
    enum mw_status status = mw_account_charge(&trace->account, size);
    if (status != MW_OK)
        return status;
    uint8_t *scratch = malloc(size);
    status = scratch ? records_read(trace, list, field, members, scratch) : MW_ERR_MEMORY;
    trace->account.used -= size;
    if (status == MW_OK)
        status = mw_pool_bytes(&trace->pool, scratch, size, array);
    free(scratch);
    return status;
}
