/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crash-safe mapping as a recorder would leave it, made by hand in a folder of the test's own,
 * and a child process that it belongs to. For cmocka tests only.
 */
#ifndef MW_TEST_MAPPING_FIXTURE_H
#define MW_TEST_MAPPING_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"
#include "trace/clock.h"
#include "trace/mapping.h"
#include "trace/residue.h"

enum {
    OUTBOX_OFFSET = 32768,
    OUTBOX_CAPACITY = 8192,
    AREA_OFFSET = 40960, /* of thread i: + i * AREA_SIZE */
    RING = 1024,
    RING_IN_AREA = 16384,
    AREA_SIZE = RING_IN_AREA + RING * 64,
    FIXTURE_THREADS = 2,
    SUMS_OFFSET = AREA_OFFSET + FIXTURE_THREADS * AREA_SIZE, /* room for a segment of sums */
    FIXTURE_SIZE = SUMS_OFFSET + (int)(MW_MAP_SEGMENT * sizeof(struct mw_map_group)),
};
_Static_assert(sizeof(struct mw_map_header) <= OUTBOX_OFFSET, "room for the header");
_Static_assert(sizeof(struct mw_map_thread) <= RING_IN_AREA, "room for a thread");

#define FIXTURE_KEY 4711u /* what chunk_check expects */

struct fixture {
    char folder[256]; /* of mappings */
    char trace[300];  /* NAME.mpiw */
    char node_file[400];
    char path[600]; /* of the mapping */
    pid_t child;    /* whose mapping it is; 0: dead and reaped */
    uint8_t *map;   /* shared, writable */
    struct mw_map_header *header;
};

static inline struct mw_map_thread *fixture_thread(const struct fixture *fixture, int index)
{
    return (struct mw_map_thread *)(fixture->map + AREA_OFFSET + index * AREA_SIZE);
}

static inline struct mw_raw_event *fixture_ring(const struct fixture *fixture, int index)
{
    return (struct mw_raw_event *)(fixture->map + AREA_OFFSET + index * AREA_SIZE + RING_IN_AREA);
}

/* An event that tells its number by its content. */
static inline struct mw_raw_event fixture_event(uint64_t number)
{
    return (struct mw_raw_event){.start = 1000 + number * 100,
                                 .end = 1050 + number * 100,
                                 .bytes = number % 7 * 8,
                                 .flags = MW_EVENT_COUNTED,
                                 .ordinal = (uint32_t)number,
                                 .comm = 1,
                                 .peer = (int32_t)(number % 5),
                                 .tag = (int32_t)(number % 3),
                                 .site = 9,
                                 .function = 1,
                                 .kind = MW_EVENT_SEND};
}

static inline void fixture_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Field 22 of /proc/PID/stat. */
static inline uint64_t fixture_start_time(pid_t pid)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    char *at = strrchr(line, ')') + 1;
    for (int field = 3; field < 22; field++)
        at = strchr(at + 1, ' ');
    return strtoull(at, NULL, 10);
}

static inline void fixture_header(struct fixture *fixture, pid_t pid)
{
    struct mw_map_header *header = fixture->header;
    struct stat st;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    assert_non_null(file);
    assert_int_equal(fread(header->boot_id, 1, 36, file), 36);
    fclose(file);
    header->layout = MW_MAP_LAYOUT;
    header->header_size = sizeof *header;
    header->size = FIXTURE_SIZE;
    header->process = FIXTURE_KEY;
    header->pid = (uint64_t)pid;
    header->start_time = fixture_start_time(pid);
    header->uid = geteuid();
    header->clock = MW_CLOCK_MONOTONIC;
    header->shift = 2;
    header->state = MW_MAP_RECORDING;
    assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
    header->pid_ns = st.st_ino;
    header->time_ns = stat("/proc/self/ns/time", &st) == 0 ? (uint32_t)st.st_ino : 0;
    assert_int_equal(stat(fixture->trace, &st), 0);
    header->folder_dev = st.st_dev;
    header->folder_ino = st.st_ino;
    strcpy(header->node_file, fixture->node_file);
    header->outbox_offset = OUTBOX_OFFSET;
    header->outbox_capacity = OUTBOX_CAPACITY;
    header->thread_count = FIXTURE_THREADS;
    for (int i = 0; i < FIXTURE_THREADS; i++)
        header->thread_offset[i] = (uint64_t)(AREA_OFFSET + i * AREA_SIZE);
    header->magic = MW_MAP_MAGIC;
}

static inline void fixture_outbox(struct fixture *fixture)
{
    uint8_t *outbox = fixture->map + OUTBOX_OFFSET;
    memcpy(outbox + MW_CHUNK_HEADER_SIZE, "\x0a\x02hi", 4);
    mw_chunk_frame(outbox, MW_CHUNK_HEALTH, 0, FIXTURE_KEY, outbox + MW_CHUNK_HEADER_SIZE, 4, 4);
    outbox += MW_CHUNK_HEADER_SIZE + 4;
    mw_chunk_frame(outbox, 999, 0, FIXTURE_KEY, outbox, 0, 0);
    fixture->header->outbox_used = 2 * MW_CHUNK_HEADER_SIZE + 4;
}

/* Thread 0: a ring that has gone round, a call within a call. Thread 1: all in the file, counts
 * only. */
static inline void fixture_threads(struct fixture *fixture)
{
    for (int i = 0; i < FIXTURE_THREADS; i++) {
        struct mw_map_thread *thread = fixture_thread(fixture, i);
        thread->index = (uint32_t)i;
        thread->capacity = RING;
        thread->ring_offset = (uint64_t)(AREA_OFFSET + i * AREA_SIZE + RING_IN_AREA);
        thread->committed = i == 0 ? 5000 : 3;
        thread->flushed = i == 0 ? 4100 : 3;
        thread->counts[1] = 5000;
        thread->counts[2] = (uint64_t)i * 7;
        uint64_t committed = thread->committed;
        for (uint64_t n = committed > RING ? committed - RING : 0; n < committed; n++)
            fixture_ring(fixture, i)[n & (RING - 1)] = fixture_event(n);
    }
    struct mw_map_thread *thread = fixture_thread(fixture, 0);
    thread->open_depth = 2;
    thread->open[0] = (struct mw_map_open){
        .start = 600000, .function = 1, .comm = 1, .peer = 3, .tag = -1, .site = 8};
    thread->open[1] =
        (struct mw_map_open){.start = 600001, .function = 2, .peer = -2, .instance = 12};
}

static inline void fixture_map(struct fixture *fixture)
{
    int fd = open(fixture->path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, FIXTURE_SIZE), 0);
    fixture->map = mmap(NULL, FIXTURE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(fixture->map != MAP_FAILED);
    fixture->header = (struct mw_map_header *)fixture->map;
    close(fd);
}

/* A child that runs `work` (or nothing) until it is killed; it goes when the test goes. */
static inline void fixture_fork(struct fixture *fixture, void (*work)(struct fixture *fixture))
{
    fixture->child = fork();
    assert_true(fixture->child >= 0);
    if (fixture->child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (work)
            work(fixture);
        for (;;)
            pause();
    }
}

static inline void fixture_kill(struct fixture *fixture)
{
    if (fixture->child > 0) {
        kill(fixture->child, SIGKILL);
        waitpid(fixture->child, NULL, 0);
    }
    fixture->child = 0;
}

static inline void fixture_make(struct fixture *fixture, void (*work)(struct fixture *fixture))
{
    const char *folder = getenv("TMPDIR");
    memset(fixture, 0, sizeof *fixture);
    snprintf(fixture->folder, sizeof fixture->folder, "%s/mapping-XXXXXX",
             folder ? folder : P_tmpdir);
    assert_non_null(mkdtemp(fixture->folder));
    snprintf(fixture->trace, sizeof fixture->trace, "%s/job.mpiw", fixture->folder);
    assert_int_equal(mkdir(fixture->trace, 0700), 0);
    snprintf(fixture->node_file, sizeof fixture->node_file, "%s/node.mpiw", fixture->trace);
    uint8_t first[MW_CHUNK_HEADER_SIZE];
    mw_chunk_frame(first, MW_CHUNK_FILE, 0, 0, first, 0, 0);
    fixture_write(fixture->node_file, first, sizeof first);
    snprintf(fixture->path, sizeof fixture->path, "%s/" MW_MAP_PREFIX "%u-1-1", fixture->folder,
             (unsigned)geteuid());
    fixture_map(fixture);
    fixture_fork(fixture, work);
    fixture_header(fixture, fixture->child);
    fixture_outbox(fixture);
    fixture_threads(fixture);
}

static inline void fixture_remove(struct fixture *fixture)
{
    char command[700];
    fixture_kill(fixture);
    munmap(fixture->map, FIXTURE_SIZE);
    snprintf(command, sizeof command, "rm -rf '%s'", fixture->folder);
    assert_int_equal(system(command), 0);
}

/* A sink that keeps all chunks. */
struct taken {
    size_t count, refuse_at; /* refuse_at: index of a chunk that is not taken, + 1 */
    struct {
        unsigned type;
        uint8_t *data;
        size_t size;
    } chunk[64];
};

static inline enum mw_status taken_sink(void *context, const uint8_t *data, size_t size)
{
    struct taken *taken = context;
    struct mw_chunk_header header;
    assert_int_equal(mw_chunk_parse(data, &header), MW_OK);
    assert_int_equal(size, MW_CHUNK_HEADER_SIZE + header.length);
    assert_int_equal(header.check, mw_checksum(data + MW_CHUNK_HEADER_SIZE, header.length));
    assert_int_equal(header.process, FIXTURE_KEY);
    assert_true(taken->count < 64);
    if (taken->refuse_at == taken->count + 1)
        return MW_ERR_FULL;
    taken->chunk[taken->count].type = header.type;
    taken->chunk[taken->count].size = size;
    taken->chunk[taken->count].data = malloc(size);
    memcpy(taken->chunk[taken->count++].data, data, size);
    return MW_OK;
}

static inline void taken_free(struct taken *taken)
{
    for (size_t i = 0; i < taken->count; i++)
        free(taken->chunk[i].data);
    memset(taken, 0, sizeof *taken);
}

/* The first chunk of a type, or NULL. Its payload is at + MW_CHUNK_HEADER_SIZE. */
static inline struct mw_reader taken_find(const struct taken *taken, unsigned type)
{
    for (size_t i = 0; i < taken->count; i++)
        if (taken->chunk[i].type == type)
            return (struct mw_reader){taken->chunk[i].data + MW_CHUNK_HEADER_SIZE,
                                      taken->chunk[i].data + taken->chunk[i].size};
    return (struct mw_reader){NULL, NULL};
}

/* Opens the mapping and takes its chunks. */
static inline enum mw_status fixture_take(const struct fixture *fixture, struct taken *taken)
{
    struct mw_residue residue;
    enum mw_status status = mw_residue_open(fixture->path, &residue);
    if (status == MW_OK) {
        status = mw_residue_chunks(&residue, taken_sink, taken);
        mw_residue_close(&residue);
    }
    return status;
}

/* The last field with that id; 0 where there is none. */
static inline uint64_t field_value(struct mw_reader list, unsigned id)
{
    struct mw_field field;
    uint64_t value = 0;
    while (mw_field_next(&list, &field) == MW_OK)
        if (field.id == id)
            value = field.value;
    return value;
}

#endif
