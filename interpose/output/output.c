/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a chunk into the node file; see output.h. The descriptor of the file has a high number and is
 * checked before each use: programs close descriptors that they do not know.
 */
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "output/folder.h"
#include "output/message.h"
#include "output/shared.h"
#include "record/record.h"
#include "trace/chunk.h"
#include "trace/compress.h"
#include "trace/fields.h"
#include "trace/residue.h"

#define DESCRIPTORS_FEW 64

static struct {
    struct mw_lock lock;
    int file;
    int own; /* no other process writes to it */
    dev_t dev;
    ino_t ino;
    char path[MW_PATH_MAX]; /* of the node file */
    uint64_t process;
    unsigned shift;
    _Atomic int failed; /* no place for what comes */
    _Atomic int moved;  /* path is the second place */
    _Atomic int told;   /* of either, once */
    char trouble[MW_PATH_MAX + 128]; /* the first place and why it was left */
    const struct mw_config *config;
    const struct mw_job_facts *job;
    _Atomic uint64_t bytes, chunks;
} output = {.file = -1};

uint64_t mw_output_process(void)
{
    return output.process;
}

int mw_output_ready(void)
{
    return mw_shared_header() != NULL;
}

unsigned mw_output_shift(void)
{
    return output.shift;
}

int mw_output_file(void)
{
    return output.file;
}

int mw_output_file_is_own(void)
{
    return output.own;
}

uint64_t mw_output_bytes(void)
{
    return atomic_load(&output.bytes);
}

uint64_t mw_output_waiting(void)
{
    const struct mw_map_header *map = mw_shared_header();
    return map ? atomic_load_explicit(&map->outbox_used, memory_order_relaxed) : 0;
}

uint64_t mw_output_chunks(void)
{
    return atomic_load(&output.chunks);
}

static uint64_t descriptors_allowed(void)
{
    struct rlimit limit = {.rlim_cur = 256};
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

/* A number far above those that programs count on, close-on-exec. Never a standard stream, which the program
 * may have closed. */
static int high_descriptor(int file)
{
    uint64_t allowed = descriptors_allowed();
    int wanted = allowed > 1024 ? 1000 : allowed > 19 ? (int)allowed - 16 : 3;
    int high = wanted > file ? fcntl(file, F_DUPFD_CLOEXEC, wanted) : -1;
    if (high < 0 && wanted > 3 && file < 3)
        high = fcntl(file, F_DUPFD_CLOEXEC, 3);
    if (high < 0 && file >= 3)
        return file;
    close(file);
    return high;
}

static int still_ours(struct stat *info)
{
    return output.file >= 0 && fstat(output.file, info) == 0 && info->st_dev == output.dev &&
           info->st_ino == output.ino;
}

static void close_file(void)
{
    struct stat info;
    if (still_ours(&info))
        close(output.file);
    output.file = -1;
}

/* The program may have closed our descriptor and may be using its number: leave that alone. */
static int reopen(struct stat *info)
{
    output.file = open(output.path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (output.file < 0)
        return 0;
    output.file = high_descriptor(output.file);
    if (still_ours(info))
        return 1;
    if (output.file >= 0) /* another file of that name */
        close(output.file);
    output.file = -1;
    return 0;
}

/* The lock is held over system calls that end a thread which is being cancelled. */
static int output_lock(void)
{
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    mw_lock_take(&output.lock);
    return cancel;
}

static void output_unlock(int cancel)
{
    mw_lock_drop(&output.lock);
    pthread_setcancelstate(cancel, NULL);
}

/* Where descriptors are few the program needs ours more than we do: but for one that it could not have, since the limit
 * was lowered. */
static void spare_descriptor(void)
{
    uint64_t allowed = descriptors_allowed();
    if (allowed <= DESCRIPTORS_FEW && (uint64_t)output.file < allowed)
        close_file();
}

static int move_elsewhere(void);

/* One write: other processes append to the same file. 0: not all of it got there (errno says why). */
static int write_two(const void *head, size_t head_size, const void *data, size_t size)
{
    struct iovec parts[2] = {{(void *)head, head_size}, {(void *)data, size}};
    struct stat info;
    ssize_t wrote;
    if (!(still_ours(&info) || reopen(&info)))
        return 0;
    if (!mw_file_size_allowed((uint64_t)info.st_size + head_size + size)) {
        errno = EFBIG;
        return 0;
    }
    errno = ENOSPC; /* what a short write means */
    do {
        wrote = writev(output.file, parts, 2);
    } while (wrote < 0 && errno == EINTR);
    if (wrote > 0)
        atomic_fetch_add_explicit(&output.bytes, (uint64_t)wrote, memory_order_relaxed);
    return wrote == (ssize_t)(head_size + size);
}

/* Appends whole chunks; where the first place has no room for them, in a second one. (A part of a chunk is damage
 * that readers skip.) Under the lock. */
static void append_two(const void *head, size_t head_size, const void *data, size_t size)
{
    if (head_size + size == 0 || output.failed)
        return;
    if (!write_two(head, head_size, data, size) &&
        !(move_elsewhere() && write_two(head, head_size, data, size)))
        output.failed = 1;
    spare_descriptor();
}

static void append(const void *data, size_t size)
{
    append_two(NULL, 0, data, size);
}

static void flush_locked(void)
{
    struct mw_map_header *map = mw_shared_header();
    uint64_t used = atomic_load_explicit(&map->outbox_used, memory_order_relaxed);
    append((const uint8_t *)map + map->outbox_offset, used);
    if (!output.failed) /* else it stays in the mapping, for whoever collects it when there is room */
        atomic_store_explicit(&map->outbox_used, 0, memory_order_release);
}

/* Says once what went wrong with writing. Without the lock. */
static void tell_trouble(void)
{
    if (!(output.failed || output.moved) || atomic_exchange(&output.told, 1))
        return;
    if (output.failed) {
        mw_health("output-failed", "the trace could not be written to the end: events are missing");
        mw_message_once("cannot write to", output.trouble, "events are missing from the trace");
    } else {
        mw_health("output-moved", "the trace's place ran full: what came later is in a second folder");
        char rest[MW_PATH_MAX + 32];
        snprintf(rest, sizeof rest, "the rest is in %s", output.path);
        mw_message_once("cannot write to", output.trouble, rest);
    }
}

void mw_output_flush(void)
{
    if (!mw_shared_header())
        return;
    int cancel = output_lock();
    flush_locked();
    output_unlock(cancel);
    tell_trouble();
}

void mw_output_raw(const uint8_t *chunks, size_t size)
{
    int cancel = output_lock();
    append(chunks, size);
    output_unlock(cancel);
}

void mw_output_events(const uint8_t *chunk, size_t size)
{
    int cancel = output_lock();
    flush_locked(); /* what the events refer to comes first */
    append(chunk, size);
    output_unlock(cancel);
    atomic_fetch_add_explicit(&output.chunks, 1, memory_order_relaxed);
    tell_trouble();
}

/* A payload as it is stored, behind a header: into the outbox, or past it where it does not fit. */
static void put(unsigned type, unsigned flags, const void *payload, size_t size, size_t raw_size)
{
    struct mw_map_header *map = mw_shared_header();
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    if (!map || size > MW_CHUNK_MAX_STORED)
        return;
    mw_chunk_frame(header, type, flags, output.process, payload, (uint32_t)size,
                   (uint32_t)raw_size);
    atomic_fetch_add_explicit(&output.chunks, 1, memory_order_relaxed);
    int cancel = output_lock();
    uint64_t used = atomic_load_explicit(&map->outbox_used, memory_order_relaxed);
    if (map->outbox_capacity - used < sizeof header + size) {
        flush_locked();
        used = atomic_load_explicit(&map->outbox_used, memory_order_relaxed);
    }
    if (map->outbox_capacity - used < sizeof header + size) {
        append_two(header, sizeof header, payload, size);
    } else {
        uint8_t *to = (uint8_t *)map + map->outbox_offset + used;
        memcpy(to, header, sizeof header);
        memcpy(to + sizeof header, payload, size);
        atomic_store_explicit(&map->outbox_used, used + sizeof header + size, memory_order_release);
    }
    output_unlock(cancel);
}

void mw_output_chunk(unsigned type, const void *payload, size_t size)
{
    put(type, 0, payload, size, size);
}

void mw_output_packed(unsigned type, const void *payload, size_t size)
{
    size_t work = mw_compress_memory(size);
    uint8_t *memory = mmap(NULL, work + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0);
    size_t packed = 0;
    if (memory != MAP_FAILED)
        packed = mw_compress(memory, work, payload, size, memory + work, size);
    if (packed)
        put(type, MW_CHUNK_FLAG_ZSTD, memory + work, packed, size);
    else
        put(type, 0, payload, size, size);
    if (memory != MAP_FAILED)
        munmap(memory, work + size);
}

static uint64_t process_key(const struct mw_job_facts *job)
{
    /* The time of day tells a program from the one that replaced it by exec: pid and start are the same. */
    char text[512];
    int length = snprintf(text, sizeof text, "%s/%s/%llu/%llu/%llu/%llu", job->host, job->boot_id,
                          (unsigned long long)job->pid_ns, (unsigned long long)job->pid,
                          (unsigned long long)job->start_time,
                          (unsigned long long)mw_clock_ns(CLOCK_REALTIME));
    uint64_t key = mw_hash64(text, (size_t)length);
    return key ? key : 1;
}

static size_t file_chunk(const struct mw_job_facts *job, uint8_t *out, size_t size)
{
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, out + MW_CHUNK_HEADER_SIZE, size - MW_CHUNK_HEADER_SIZE);
    mw_put_text(&buffer, MW_F_FILE_writer, "mpiwatch " MW_VERSION);
    mw_put_text(&buffer, MW_F_FILE_host, job->host);
    mw_put_text(&buffer, MW_F_FILE_boot_id, job->boot_id);
    mw_put_u64(&buffer, MW_F_FILE_pid_ns, job->pid_ns);
    mw_put_u64(&buffer, MW_F_FILE_mnt_ns, job->mnt_ns);
    mw_put_u64(&buffer, MW_F_FILE_user_ns, job->user_ns);
    mw_put_u64(&buffer, MW_F_FILE_daemon, job->daemon);
    mw_chunk_frame(out, MW_CHUNK_FILE, 0, output.process, buffer.data, (uint32_t)buffer.size,
                   (uint32_t)buffer.size);
    return MW_CHUNK_HEADER_SIZE + buffer.size;
}

/* Whether a node file that exists was begun in our namespaces: appends through different mounts of a
 * network file system do not respect each other. */
static int same_view(int file, const struct mw_job_facts *job)
{
    uint8_t bytes[4096];
    struct mw_chunk_header header;
    struct mw_field field;
    uint64_t mnt = 0, user = 0;
    ssize_t size = pread(file, bytes, sizeof bytes, 0);
    if (size < (ssize_t)MW_CHUNK_HEADER_SIZE)
        return size == 0; /* made this instant by a neighbour who has not written yet: same node */
    if (mw_chunk_parse(bytes, &header) != MW_OK || header.type != MW_CHUNK_FILE ||
        header.length > (size_t)size - MW_CHUNK_HEADER_SIZE)
        return 0;
    struct mw_reader reader = {bytes + MW_CHUNK_HEADER_SIZE,
                               bytes + MW_CHUNK_HEADER_SIZE + header.length};
    while (mw_field_next(&reader, &field) == MW_OK) {
        if (field.id == MW_F_FILE_mnt_ns)
            mnt = field.value;
        if (field.id == MW_F_FILE_user_ns)
            user = field.value;
    }
    return mnt == job->mnt_ns && user == job->user_ns;
}

static int open_in(int folder, const char *name)
{
    return openat(folder, name, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                  0600);
}

/* The node's file, or one of our own where sharing it cannot be trusted. */
static int open_file(const struct mw_config *config, const struct mw_job_facts *job,
                     const struct mw_folder *folder)
{
    char host[208], name[256];
    struct stat info;
    mw_folder_host_name(job, host, sizeof host);
    snprintf(name, sizeof name, "%s.mpiw", host);
    int file = config->file_per_process ? -1 : open_in(folder->fd, name);
    if (file >= 0 && !same_view(file, job)) {
        close(file);
        file = -1;
    }
    output.own = file < 0;
    if (file < 0) {
        snprintf(name, sizeof name, "%s-%llu.mpiw", host, (unsigned long long)job->pid);
        file = open_in(folder->fd, name);
    }
    if (file < 0 || fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    output.dev = info.st_dev;
    output.ino = info.st_ino;
    output.file = high_descriptor(file);
    snprintf(output.path, sizeof output.path, "%.*s/%s", (int)(sizeof output.path - 260),
             folder->path, name);
    return 1;
}

/* Each process writes a FILE chunk first: whichever comes first begins the file with it. Under the lock. */
static int begin_file(uint64_t *first)
{
    uint8_t chunk[1024];
    struct mw_chunk_header header = {0};
    size_t size = file_chunk(output.job, chunk, sizeof chunk);
    if (!write_two(NULL, 0, chunk, size))
        return 0;
    if (pread(output.file, chunk, MW_CHUNK_HEADER_SIZE, 0) == MW_CHUNK_HEADER_SIZE)
        mw_chunk_parse(chunk, &header);
    *first = header.process;
    return 1;
}

/* The node's file in this folder, begun. Under the lock. */
static int enter(const struct mw_folder *folder, struct stat *info, uint64_t *first)
{
    int ready = open_file(output.config, output.job, folder) && begin_file(first) &&
                fstat(folder->fd, info) == 0;
    close(folder->fd);
    return ready;
}

/* The place of the trace has no room: what comes goes to $TMPDIR, once. Under the lock, in the middle of a call: some
 * system calls. */
static int move_elsewhere(void)
{
    struct mw_map_header *map = mw_shared_header();
    struct mw_folder folder;
    struct stat info = {0};
    uint64_t first = 0;
    char reason[128];
    if (!map || output.trouble[0])
        return 0;
    snprintf(output.trouble, sizeof output.trouble, "%s: %s", output.path,
             strerror_r(errno, reason, sizeof reason));
    close_file();
    if (!mw_folder_elsewhere(output.config, output.job, &folder) || !enter(&folder, &info, &first))
        return 0;
    snprintf(map->node_file, sizeof map->node_file, "%s", output.path);
    map->file_process = first;
    map->folder_dev = info.st_dev;
    map->folder_ino = info.st_ino;
    output.moved = 1;
    return 1;
}

int mw_output_start(const struct mw_config *config, const struct mw_job_facts *job)
{
    struct mw_folder folder;
    struct stat info = {0};
    uint64_t first = 0;
    output.config = config;
    output.job = job;
    output.process = process_key(job);
    if (!mw_folder_open(config, job, &folder)) {
        mw_message_once("no trace:", folder.why, "");
        return 0;
    }
    if (folder.why[0])
        mw_message_once("cannot write", folder.why, folder.path);
    else if (folder.numbered)
        mw_message_once("the name of the trace is taken, this one is", folder.path, "");
    int cancel = output_lock();
    int ready = enter(&folder, &info, &first);
    output_unlock(cancel);
    if (!ready) {
        mw_message_once("no trace: cannot write in", folder.path, "");
        return 0;
    }
    return mw_shared_start(config, job, output.process, output.path, first, info.st_dev,
                           info.st_ino);
}

static enum mw_status write_left(void *context, const uint8_t *chunk, size_t size)
{
    struct mw_chunk_header header;
    if (mw_chunk_parse(chunk, &header) == MW_OK &&
        (header.type == MW_CHUNK_EVENTS || header.type == MW_CHUNK_OPEN))
        mw_output_raw(chunk, size);
    return MW_OK;
}

int mw_output_flush_others(void)
{
    struct mw_residue own = {.alive = 1};
    mw_output_flush();
    return mw_shared_view(&own.header, &own.size) &&
           mw_residue_chunks(&own, write_left, NULL) == MW_OK;
}

void mw_output_set_shift(unsigned shift)
{
    output.shift = shift;
    if (mw_shared_header())
        mw_shared_header()->shift = shift;
}

void mw_output_set_state(unsigned state)
{
    if (mw_shared_header())
        atomic_store_explicit(&mw_shared_header()->state, state, memory_order_release);
}

struct mw_map_thread *mw_output_thread_area(uint32_t index, uint64_t events,
                                            struct mw_raw_event **ring)
{
    return mw_shared_thread(index, events, ring);
}

struct mw_map_group *mw_output_segment(struct mw_map_thread *area, uint32_t segment)
{
    return mw_shared_segment(area, segment);
}

int mw_output_thread_mapped(uint32_t index)
{
    return index < MW_MAP_THREADS && mw_shared_path()[0] &&
           atomic_load(&mw_shared_header()->thread_offset[index]) != 0;
}

void mw_output_end(void)
{
    mw_output_flush();
    if (!output.failed) /* else what is left can be collected when there is room */
        mw_shared_remove();
    int cancel = output_lock();
    close_file();
    output_unlock(cancel);
}
