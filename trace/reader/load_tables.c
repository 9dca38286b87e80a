/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks that add rows to a process's tables: clock readings, health, modules and call sites. Runs
 * while a trace is opened, on one thread. Lists are checked before they come here.
 */
#include "trace/reader/reader.h"

#include <string.h>

enum mw_status mw_load_clock(struct mw_load *load)
{
    struct mw_clock_reading reading = {0};
    struct mw_field field;
    uint64_t *const numbers[] = {
        [MW_F_CLOCK_time] = &reading.time,    [MW_F_CLOCK_raw] = &reading.raw_ns,
        [MW_F_CLOCK_real] = &reading.real_ns, [MW_F_CLOCK_mono] = &reading.mono_ns,
        [MW_F_CLOCK_width] = &reading.width,
    };
    while (mw_field_next(&load->reader, &field) == MW_OK)
        if (field.id < sizeof numbers / sizeof *numbers && numbers[field.id])
            *numbers[field.id] = mw_field_number(&field);
    enum mw_status status = MW_OK;
    struct mw_clock_reading *added =
        mw_vector_add(&load->trace->account, &load->entry->clocks, sizeof *added, &status);
    if (added)
        *added = reading;
    return status;
}

enum mw_status mw_load_health(struct mw_load *load)
{
    struct mw_health health = {.code = "", .message = ""};
    struct mw_field field;
    enum mw_status status = MW_OK;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_HEALTH_code:
            status = mw_field_text(load->trace, &field, &health.code);
            break;
        case MW_F_HEALTH_message:
            status = mw_field_text(load->trace, &field, &health.message);
            break;
        case MW_F_HEALTH_count:
            health.count = mw_field_number(&field);
            break;
        case MW_F_HEALTH_time:
            health.time = mw_field_number(&field);
            break;
        }
    }
    struct mw_health *added = NULL;
    if (status == MW_OK)
        added = mw_vector_add(&load->trace->account, &load->entry->health, sizeof *added, &status);
    if (added)
        *added = health;
    return status;
}

static enum mw_status module_read(struct mw_load *load, struct mw_reader list,
                                  struct mw_module *module)
{
    struct mw_field field;
    enum mw_status status = MW_OK;
    module->path = "";
    while (status == MW_OK && mw_field_next(&list, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_MODULE_id:
            module->id = mw_field_number(&field);
            break;
        case MW_F_MODULE_path:
            status = mw_field_text(load->trace, &field, &module->path);
            break;
        case MW_F_MODULE_build_id:
            status = mw_field_bytes(load->trace, &field, &module->build_id, &module->build_id_size);
            break;
        case MW_F_MODULE_start:
            module->start = mw_field_number(&field);
            break;
        case MW_F_MODULE_end:
            module->end = mw_field_number(&field);
            break;
        case MW_F_MODULE_role:
            module->role = (enum mw_module_role)mw_field_small(&field, 0);
            break;
        }
    }
    return status;
}

enum mw_status mw_load_modules(struct mw_load *load)
{
    struct mw_field field;
    enum mw_status status = MW_OK;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        struct mw_module module = {0};
        if (field.id != MW_F_MODULES_module || !field.is_bytes)
            continue;
        status = module_read(load, mw_field_reader(&field), &module);
        if (status != MW_OK)
            break;
        struct mw_module *added =
            mw_vector_add(&load->trace->account, &load->entry->modules, sizeof *added, &status);
        if (added)
            *added = module;
    }
    return status;
}

static enum mw_status frames_read(struct mw_load *load, struct mw_reader list, struct mw_site *site)
{
    size_t count = mw_packed_count(list) / 2;
    void *memory;
    enum mw_status status =
        mw_pool_take(&load->trace->pool, count * sizeof(struct mw_frame) + 1, &memory);
    if (status != MW_OK)
        return status;
    struct mw_frame *frames = memory;
    for (size_t i = 0; i < count; i++) {
        mw_read_varint(&list, &frames[i].module);
        mw_read_varint(&list, &frames[i].offset);
    }
    site->frames = frames;
    site->frame_count = count;
    return MW_OK;
}

enum mw_status mw_load_sites(struct mw_load *load)
{
    struct mw_field field, inner;
    enum mw_status status = MW_OK;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        struct mw_site site = {0};
        if (field.id != MW_F_SITES_site || !field.is_bytes)
            continue;
        struct mw_reader list = mw_field_reader(&field);
        while (status == MW_OK && mw_field_next(&list, &inner) == MW_OK) {
            if (inner.id == MW_F_SITE_id)
                site.id = mw_field_number(&inner);
            else if (inner.id == MW_F_SITE_frames)
                status = frames_read(load, mw_field_reader(&inner), &site);
            else if (inner.id == MW_F_SITE_truncated)
                site.truncated = mw_field_number(&inner) != 0;
        }
        struct mw_site *added = NULL;
        if (status == MW_OK)
            added =
                mw_vector_add(&load->trace->account, &load->entry->sites, sizeof *added, &status);
        if (added)
            *added = site;
    }
    return status;
}

int mw_id_order(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

_Static_assert(offsetof(struct mw_module, id) == 0 && offsetof(struct mw_site, id) == 0 &&
                   offsetof(struct mw_comm, id) == 0 && offsetof(struct mw_thread, index) == 0 &&
                   offsetof(struct mw_count, function) == 0 &&
                   offsetof(struct mw_thread_counts, thread) == 0 &&
                   offsetof(struct mw_comm_chunk, comm) == 0,
               "mw_id_order reads the first member");

static int clock_order(const void *a, const void *b)
{
    const struct mw_clock_reading *x = a, *y = b;
    const uint64_t numbers[][2] = {{x->time, y->time},
                                   {x->raw_ns, y->raw_ns},
                                   {x->real_ns, y->real_ns},
                                   {x->mono_ns, y->mono_ns},
                                   {x->width, y->width}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i][0] != numbers[i][1])
            return numbers[i][0] < numbers[i][1] ? -1 : 1;
    return 0;
}

static int health_code_order(const void *a, const void *b)
{
    return strcmp(((const struct mw_health *)a)->code, ((const struct mw_health *)b)->code);
}

static int health_order(const void *a, const void *b)
{
    const struct mw_health *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return strcmp(x->code, y->code);
}

/* A crash may make a writer's chunks appear twice: what is the same in all counts once. */
enum mw_status mw_tables_finish(struct mw_process_entry *entry)
{
    const struct {
        struct mw_vector *rows;
        size_t row;
        int (*order)(const void *, const void *);
    } tables[] = {
        {&entry->clocks, sizeof(struct mw_clock_reading), clock_order},
        {&entry->health, sizeof(struct mw_health), health_code_order},
        {&entry->health, sizeof(struct mw_health), health_order},
        {&entry->modules, sizeof(struct mw_module), mw_id_order},
        {&entry->sites, sizeof(struct mw_site), mw_id_order},
        {&entry->threads, sizeof(struct mw_thread), mw_id_order},
    };
    enum mw_status status = MW_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == MW_OK; i++)
        status = mw_vector_settle(tables[i].rows, tables[i].row, tables[i].order, NULL);
    return status;
}
