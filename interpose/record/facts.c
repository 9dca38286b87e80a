/* SPDX-License-Identifier: BSD-3-Clause */
/* The chunks about the process itself; see facts.h. In the initialising and finalising calls. */
#include "record/facts.h"

#include <string.h>
#include <unistd.h>

#include "output/output.h"
#include "probe/env_store.h"
#include "probe/redact.h"
#include "record/ask.h"
#include "record/callsite.h"
#include "trace/fields.h"
#include "trace/names.h"

/* The command line of this process, each argument redacted. */
static void put_arguments(struct mw_buffer *buffer)
{
    char line[8192], clean[4096];
    long length = mw_read_file("/proc/self/cmdline", line, sizeof line);
    const char *previous = "";
    for (long at = 0; at < length; at += (long)strlen(line + at) + 1) {
        mw_redact_argument(previous, line + at, clean, sizeof clean);
        mw_put_text(buffer, MW_F_PROCESS_argument, clean);
        previous = line + at;
    }
}

void mw_facts_process(const struct mw_job_facts *job, uint64_t began)
{
    static uint8_t memory[16384];
    char cwd[MW_PATH_MAX];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_text(&buffer, MW_F_PROCESS_host, job->host);
    mw_put_u64(&buffer, MW_F_PROCESS_pid, job->pid);
    mw_put_u64(&buffer, MW_F_PROCESS_start_time, job->start_time);
    mw_put_u64(&buffer, MW_F_PROCESS_ppid, job->ppid);
    mw_put_text(&buffer, MW_F_PROCESS_exe, job->exe);
    put_arguments(&buffer);
    mw_put_text(&buffer, MW_F_PROCESS_cwd, getcwd(cwd, sizeof cwd) ? cwd : "");
    mw_put_u64(&buffer, MW_F_PROCESS_clock, mw_recorder.clock);
    mw_put_u64(&buffer, MW_F_PROCESS_abi, mw_recorder.abi->kind);
    mw_put_text(&buffer, MW_F_PROCESS_mpi_library, mw_recorder.lib->object->path);
    mw_put_u64(&buffer, MW_F_PROCESS_rank_hint, (uint64_t)(job->rank + 1));
    mw_put_u64(&buffer, MW_F_PROCESS_size_hint, job->size > 0 ? (uint64_t)job->size : 0);
    mw_put_u64(&buffer, MW_F_PROCESS_began, began);
    mw_put_text(&buffer, MW_F_PROCESS_boot_id, job->boot_id);
    mw_put_u64(&buffer, MW_F_PROCESS_pid_ns, job->pid_ns);
    mw_put_u64(&buffer, MW_F_PROCESS_world, job->world);
    mw_put_u64(&buffer, MW_F_PROCESS_name, job->name);
    mw_put_u64(&buffer, MW_F_PROCESS_spawner, job->spawner);
    mw_output_chunk(MW_CHUNK_PROCESS, buffer.data, buffer.size);
    if (buffer.overflow)
        mw_health("command-line", "the command line is longer than what is kept of it");
}

void mw_facts_clock(void)
{
    uint8_t memory[64];
    struct mw_buffer buffer;
    struct mw_clock_sample sample = mw_clock_sample_take(mw_recorder.clock);
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_clock_sample_put(&buffer, &sample);
    mw_output_chunk(MW_CHUNK_CLOCK, buffer.data, buffer.size);
}

void mw_facts_rank(uint64_t init_end)
{
    uint8_t memory[1024];
    struct mw_buffer buffer;
    int version = 0, subversion = 0, level = 0, length = 0;
    char name[4096] = ""; /* MPI_MAX_PROCESSOR_NAME is 128 to 256 */
    mw_handle world = mw_recorder.abi->comm_world;
    if (!MW_ASK(MW_FN_Comm_rank, (mw_handle, int *), world, &mw_recorder.rank) ||
        !MW_ASK(MW_FN_Comm_size, (mw_handle, int *), world, &mw_recorder.size)) {
        mw_health("rank", "MPI did not tell this process its rank");
        return;
    }
    (void)MW_ASK(MW_FN_Get_version, (int *, int *), &version, &subversion);
    (void)MW_ASK(MW_FN_Query_thread, (int *), &level);
    (void)MW_ASK(MW_FN_Get_processor_name, (char *, int *), name, &length);
    if (mw_recorder.abi->kind == MW_ABI_STANDARD) /* its levels are 0, 1024, 2048, 4096 */
        level = level >= 4096 ? 3 : level >= 2048 ? 2 : level >= 1024 ? 1 : 0;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_RANK_rank, (uint64_t)mw_recorder.rank);
    mw_put_u64(&buffer, MW_F_RANK_size, (uint64_t)mw_recorder.size);
    mw_put_text(&buffer, MW_F_RANK_library_version, mw_recorder.lib->version);
    mw_put_u64(&buffer, MW_F_RANK_standard, (uint64_t)(version * 10 + subversion));
    mw_put_u64(&buffer, MW_F_RANK_thread_level, (uint64_t)level);
    mw_put_u64(&buffer, MW_F_RANK_init_end, init_end);
    mw_put_text(&buffer, MW_F_RANK_processor_name, name);
    mw_output_chunk(MW_CHUNK_RANK, buffer.data, buffer.size);
}

/* What sessions provide of threads is a matter of each. MPI_Get_processor_name is not for them. */
void mw_facts_session_rank(uint64_t init_end, int rank, int size)
{
    uint8_t memory[1024];
    struct mw_buffer buffer;
    int version = 0, subversion = 0;
    mw_recorder.rank = rank;
    mw_recorder.size = size;
    (void)MW_ASK(MW_FN_Get_version, (int *, int *), &version, &subversion);
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_RANK_rank, (uint64_t)(int64_t)rank); /* -1 is over what a rank can be: unknown */
    mw_put_u64(&buffer, MW_F_RANK_size, (uint64_t)(int64_t)size);
    mw_put_text(&buffer, MW_F_RANK_library_version, mw_recorder.lib->version);
    mw_put_u64(&buffer, MW_F_RANK_standard, (uint64_t)(version * 10 + subversion));
    mw_put_u64(&buffer, MW_F_RANK_thread_level, UINT64_MAX);
    mw_put_u64(&buffer, MW_F_RANK_init_end, init_end);
    mw_output_chunk(MW_CHUNK_RANK, buffer.data, buffer.size);
}

static void emit(const uint8_t *chunk, size_t size, void *context)
{
    mw_output_raw(chunk, size);
}

void mw_facts_environment(int last)
{
    static int done;
    if (done)
        return;
    mw_output_flush(); /* what stands in the file before us is ours */
    enum mw_status status =
        mw_env_store(mw_output_file(), mw_output_process(), !last, emit, NULL);
    done = status != MW_ERR_NOT_FOUND;
    if (status != MW_OK && done)
        mw_health("environment", "no memory to collect the environment");
}

static void counts_of(const struct mw_thread_state *thread)
{
    static uint8_t memory[65536];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_COUNTS_thread, thread->index);
    for (unsigned function = 0; function < MW_FN_COUNT_; function++) {
        if (!thread->area->counts[function])
            continue;
        size_t mark = mw_put_begin(&buffer, MW_F_COUNTS_function);
        mw_put_u64(&buffer, MW_F_COUNT_id, function);
        mw_put_text(&buffer, MW_F_COUNT_name, mw_function_name(function));
        mw_put_u64(&buffer, MW_F_COUNT_calls, thread->area->counts[function]);
        mw_put_end(&buffer, mark);
    }
    mw_output_chunk(MW_CHUNK_COUNTS, buffer.data, buffer.size);
}

void mw_facts_counts(void)
{
    for (const struct mw_thread_state *t = mw_threads_first(); t; t = t->link)
        counts_of(t);
}

/* What one reading of the clock takes, in picoseconds: the best of some short batches, for the processor may be
 * taken away in any of them. */
static uint64_t stamp_cost(void)
{
    enum { BATCHES = 8, READS = 32 };
    uint64_t best = UINT64_MAX;
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t start = mw_now(), last = start;
        for (int i = 0; i < READS; i++)
            last = mw_now();
        if (last - start < best)
            best = last - start;
    }
    return mw_ticks_to_ns(best * 1000) / READS;
}

void mw_facts_cost(uint64_t finalize_ns)
{
    uint8_t memory[256];
    struct mw_buffer buffer;
    uint64_t encode = 0, written = 0, longest = 0, events = 0;
    for (const struct mw_thread_state *t = mw_threads_first(); t; t = t->link) {
        encode += t->encode_ticks;
        written += t->write_ticks;
        events += t->next;
        if (t->longest_ticks > longest)
            longest = t->longest_ticks;
    }
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_COST_init, mw_recorder.init_ns);
    mw_put_u64(&buffer, MW_F_COST_encode, mw_ticks_to_ns(encode));
    mw_put_u64(&buffer, MW_F_COST_write, mw_ticks_to_ns(written));
    mw_put_u64(&buffer, MW_F_COST_bytes, mw_output_bytes());
    mw_put_u64(&buffer, MW_F_COST_chunks, mw_output_chunks());
    mw_put_u64(&buffer, MW_F_COST_events, events);
    mw_put_u64(&buffer, MW_F_COST_longest, mw_ticks_to_ns(longest));
    mw_put_u64(&buffer, MW_F_COST_finalize, finalize_ns);
    mw_put_u64(&buffer, MW_F_COST_memory, mw_pages_total());
    mw_put_u64(&buffer, MW_F_COST_stamp, stamp_cost());
    mw_output_chunk(MW_CHUNK_COST, buffer.data, buffer.size);
}

void mw_facts_end(enum mw_end_reason reason, uint64_t time, int code, uint64_t finalize_end)
{
    uint8_t memory[64];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_END_reason, reason);
    mw_put_u64(&buffer, MW_F_END_time, time);
    mw_put_i64(&buffer, MW_F_END_code, code);
    mw_put_u64(&buffer, MW_F_END_finalize_end, finalize_end);
    mw_output_chunk(MW_CHUNK_END, buffer.data, buffer.size);
}

static void put_module(struct mw_buffer *buffer, const struct mw_module_entry *module)
{
    size_t mark = mw_put_begin(buffer, MW_F_MODULES_module);
    mw_put_u64(buffer, MW_F_MODULE_id, module->id);
    mw_put_text(buffer, MW_F_MODULE_path, module->path);
    if (module->build_id_size)
        mw_put_bytes(buffer, MW_F_MODULE_build_id, module->build_id, module->build_id_size);
    mw_put_u64(buffer, MW_F_MODULE_start, module->start);
    mw_put_u64(buffer, MW_F_MODULE_end, module->end);
    mw_put_u64(buffer, MW_F_MODULE_role, module->role);
    mw_put_end(buffer, mark);
}

#define MODULE_ROOM 1536u /* one with the longest path that is kept */

void mw_facts_modules(unsigned first, unsigned count, void *context)
{
    uint8_t memory[16384];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    for (unsigned i = first; i < first + count; i++) {
        put_module(&buffer, mw_modules_at(i));
        if (buffer.capacity - buffer.size < MODULE_ROOM || i + 1 == first + count) {
            mw_output_packed(MW_CHUNK_MODULES, buffer.data, buffer.size);
            mw_buffer_init(&buffer, memory, sizeof memory);
        }
    }
}

void mw_facts_site(const struct mw_site *site, void *context)
{
    uint8_t memory[1024];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    size_t outer = mw_put_begin(&buffer, MW_F_SITES_site);
    mw_put_u64(&buffer, MW_F_SITE_id, site->id);
    size_t inner = mw_put_begin(&buffer, MW_F_SITE_frames);
    for (unsigned i = 0; i < site->count; i++) {
        mw_buffer_varint(&buffer, site->frames[i].module);
        mw_buffer_varint(&buffer, site->frames[i].offset);
    }
    mw_put_end(&buffer, inner);
    mw_put_u64(&buffer, MW_F_SITE_truncated, site->truncated);
    mw_put_end(&buffer, outer);
    mw_output_chunk(MW_CHUNK_SITES, buffer.data, buffer.size);
}
