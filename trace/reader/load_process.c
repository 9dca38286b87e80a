/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks that say what a file, a job and a process are, and how the process ended. Runs while a
 * trace is opened, on one thread. A later chunk of one of these types replaces the earlier one as a
 * whole.
 */
#include "trace/reader/reader.h"

enum mw_status mw_load_file(struct mw_load *load)
{
    struct mw_file *file = &mw_trace_source(load->trace, load->place.source)->file;
    struct mw_field field;
    enum mw_status status = MW_OK;
    file->writer = file->host = file->boot_id = "";
    file->pid_ns = file->mnt_ns = file->user_ns = 0;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_FILE_writer:
            status = mw_field_text(load->trace, &field, &file->writer);
            break;
        case MW_F_FILE_host:
            status = mw_field_text(load->trace, &field, &file->host);
            break;
        case MW_F_FILE_boot_id:
            status = mw_field_text(load->trace, &field, &file->boot_id);
            break;
        case MW_F_FILE_pid_ns:
            file->pid_ns = mw_field_number(&field);
            break;
        case MW_F_FILE_mnt_ns:
            file->mnt_ns = mw_field_number(&field);
            break;
        case MW_F_FILE_user_ns:
            file->user_ns = mw_field_number(&field);
            break;
        }
    }
    return status;
}

/* An array of texts moves from a growing vector into the pool, where it may be replaced without a
 * free. */
static enum mw_status texts_keep(struct mw_trace *trace, struct mw_vector *texts,
                                 const char *const **kept, size_t *count)
{
    void *memory;
    enum mw_status status =
        mw_pool_take(&trace->pool, texts->count * sizeof(const char *) + 1, &memory);
    if (status == MW_OK) {
        const char **copy = memory;
        for (size_t i = 0; i < texts->count; i++)
            copy[i] = ((const char **)texts->items)[i];
        *kept = copy;
        *count = texts->count;
    }
    mw_vector_free(texts);
    return status;
}

enum mw_status mw_load_job(struct mw_load *load)
{
    struct mw_job *job = &load->entry->job;
    struct mw_vector command = {0};
    struct mw_field field;
    enum mw_status status = MW_OK;
    load->entry->has_job = 1;
    *job = (struct mw_job){"", "", "", "", NULL, 0};
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_JOB_key:
            status = mw_field_text(load->trace, &field, &job->key);
            break;
        case MW_F_JOB_launcher:
            status = mw_field_text(load->trace, &field, &job->launcher);
            break;
        case MW_F_JOB_job_id:
            status = mw_field_text(load->trace, &field, &job->job_id);
            break;
        case MW_F_JOB_program:
            status = mw_field_text(load->trace, &field, &job->program);
            break;
        case MW_F_JOB_command:
            if (field.is_bytes)
                status = mw_field_text_add(load->trace, &field, &command);
            break;
        }
    }
    enum mw_status kept = texts_keep(load->trace, &command, &job->command, &job->command_count);
    return status != MW_OK ? status : kept;
}

static enum mw_status process_text(struct mw_load *load, const struct mw_field *field)
{
    struct mw_process *process = &load->entry->process;
    const char **text;
    switch (field->id) {
    case MW_F_PROCESS_host:
        text = &process->host;
        break;
    case MW_F_PROCESS_exe:
        text = &process->exe;
        break;
    case MW_F_PROCESS_cwd:
        text = &process->cwd;
        break;
    case MW_F_PROCESS_mpi_library:
        text = &process->mpi_library;
        break;
    case MW_F_PROCESS_boot_id:
        text = &process->boot_id;
        break;
    default:
        return MW_OK;
    }
    return mw_field_text(load->trace, field, text);
}

static void process_number(struct mw_process *process, const struct mw_field *field)
{
    switch (field->id) {
    case MW_F_PROCESS_pid:
        process->pid = mw_field_number(field);
        break;
    case MW_F_PROCESS_start_time:
        process->start_time = mw_field_number(field);
        break;
    case MW_F_PROCESS_ppid:
        process->ppid = mw_field_number(field);
        break;
    case MW_F_PROCESS_clock:
        process->clock = (enum mw_clock_kind)mw_field_small(field, 0);
        break;
    case MW_F_PROCESS_abi:
        process->abi = (enum mw_abi_kind)mw_field_small(field, 0);
        break;
    case MW_F_PROCESS_rank_hint:
        process->rank_hint = mw_field_less_one(field);
        break;
    case MW_F_PROCESS_size_hint: /* here 0 is "unknown", without an offset */
        process->size_hint = mw_field_number(field) ? mw_field_small(field, -1) : -1;
        break;
    case MW_F_PROCESS_began:
        process->began = mw_field_number(field);
        break;
    case MW_F_PROCESS_pid_ns:
        process->pid_ns = mw_field_number(field);
        break;
    case MW_F_PROCESS_thread_level:
        process->thread_level_asked = mw_field_small(field, 0) - 1;
        break;
    case MW_F_PROCESS_world:
        process->world = mw_field_number(field);
        break;
    case MW_F_PROCESS_name:
        process->name = mw_field_number(field);
        break;
    case MW_F_PROCESS_spawner:
        process->spawner = mw_field_number(field);
        break;
    }
}

enum mw_status mw_load_process(struct mw_load *load)
{
    struct mw_process *process = &load->entry->process;
    struct mw_vector arguments = {0};
    struct mw_field field;
    enum mw_status status = MW_OK;
    load->entry->has_process = 1;
    process->host = process->exe = process->cwd = process->boot_id = process->mpi_library = "";
    process->pid = process->start_time = process->ppid = process->began = process->pid_ns =
        process->world = process->name = process->spawner = 0;
    process->clock = 0;
    process->abi = 0;
    process->rank_hint = process->size_hint = -1;
    process->thread_level_asked = -1;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        process_number(process, &field);
        status = process_text(load, &field);
        if (field.id == MW_F_PROCESS_argument && field.is_bytes && status == MW_OK)
            status = mw_field_text_add(load->trace, &field, &arguments);
    }
    enum mw_status kept =
        texts_keep(load->trace, &arguments, &process->arguments, &process->argument_count);
    return status != MW_OK ? status : kept;
}

enum mw_status mw_load_rank(struct mw_load *load)
{
    struct mw_process *process = &load->entry->process;
    struct mw_field field;
    enum mw_status status = MW_OK;
    process->has_rank = 1;
    process->library_version = process->processor_name = "";
    process->rank = process->size = 0;
    process->standard = process->thread_level = 0;
    process->init_end = 0;
    process->appnum = -1;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_RANK_rank:
            process->rank = mw_field_small(&field, -1);
            break;
        case MW_F_RANK_size:
            process->size = mw_field_small(&field, -1);
            break;
        case MW_F_RANK_library_version:
            status = mw_field_text(load->trace, &field, &process->library_version);
            break;
        case MW_F_RANK_standard:
            process->standard = mw_field_small(&field, 0);
            break;
        case MW_F_RANK_thread_level:
            process->thread_level = mw_field_small(&field, -1);
            break;
        case MW_F_RANK_init_end:
            process->init_end = mw_field_number(&field);
            break;
        case MW_F_RANK_processor_name:
            status = mw_field_text(load->trace, &field, &process->processor_name);
            break;
        case MW_F_RANK_appnum:
            process->appnum = mw_field_less_one(&field);
            break;
        }
    }
    return status;
}

/* What somebody else says of a process (collected, snapshot) gives way to what it said itself. */
static int end_weight(int reason)
{
    return reason == MW_END_SNAPSHOT ? 1 : reason == MW_END_COLLECTED ? 2 : 3;
}

enum mw_status mw_load_end(struct mw_load *load)
{
    struct mw_process *process = &load->entry->process;
    struct mw_field field;
    int reason = 0;
    uint64_t time = 0, finalize_end = 0;
    int64_t code = 0;
    while (mw_field_next(&load->reader, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_END_reason:
            reason = mw_field_small(&field, 0);
            break;
        case MW_F_END_time:
            time = mw_field_number(&field);
            break;
        case MW_F_END_code:
            code = mw_field_signed(&field);
            break;
        case MW_F_END_finalize_end:
            finalize_end = mw_field_number(&field);
            break;
        }
    }
    if (process->end_reason && end_weight(reason) < end_weight(process->end_reason))
        return MW_OK;
    process->end_reason = reason;
    process->end_time = time;
    process->end_code = code;
    process->finalize_end = finalize_end;
    return MW_OK;
}

enum mw_status mw_load_cost(struct mw_load *load)
{
    struct mw_cost cost = {0};
    struct mw_field field;
    uint64_t *const numbers[] = {
        [MW_F_COST_init] = &cost.init_ns,       [MW_F_COST_encode] = &cost.encode_ns,
        [MW_F_COST_write] = &cost.write_ns,     [MW_F_COST_bytes] = &cost.bytes,
        [MW_F_COST_chunks] = &cost.chunks,      [MW_F_COST_events] = &cost.events,
        [MW_F_COST_longest] = &cost.longest_ns, [MW_F_COST_finalize] = &cost.finalize_ns,
        [MW_F_COST_memory] = &cost.memory,      [MW_F_COST_stamp] = &cost.stamp_ps,
    };
    while (mw_field_next(&load->reader, &field) == MW_OK)
        if (field.id < sizeof numbers / sizeof *numbers && numbers[field.id])
            *numbers[field.id] = mw_field_number(&field);
    load->entry->process.cost = cost;
    return MW_OK;
}

enum mw_status mw_load_thread(struct mw_load *load)
{
    struct mw_thread thread = {.name = ""};
    struct mw_field field;
    enum mw_status status = MW_OK;
    while (status == MW_OK && mw_field_next(&load->reader, &field) == MW_OK) {
        switch (field.id) {
        case MW_F_THREAD_index:
            thread.index = mw_field_number(&field);
            break;
        case MW_F_THREAD_tid:
            thread.tid = mw_field_number(&field);
            break;
        case MW_F_THREAD_name:
            status = mw_field_text(load->trace, &field, &thread.name);
            break;
        case MW_F_THREAD_main:
            thread.main = mw_field_number(&field) != 0;
            break;
        }
    }
    struct mw_thread *added = NULL;
    if (status == MW_OK)
        added = mw_vector_add(&load->trace->account, &load->entry->threads, sizeof *added, &status);
    if (added)
        *added = thread;
    return status;
}
