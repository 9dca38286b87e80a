/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crash-safe mapping; see shared.h. Space is allocated before it is touched: a full tmpfs must be an
 * error here, not a SIGBUS in somebody's MPI call.
 */
#include "output/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/record.h"

#define OUTBOX ((uint64_t)256 << 10)
#define PAGE 4096u

static struct {
    struct mw_map_header *header;
    char path[MW_PATH_MAX]; /* "" private memory */
    dev_t dev;
    ino_t ino;
    uint64_t size;
    struct mw_lock lock;
} shared;

static uint64_t pages(uint64_t size)
{
    return (size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* posix_fallocate may be interrupted by the program's signals. */
static int allocate(int file, uint64_t from, uint64_t size)
{
    int error;
    if (!mw_file_size_allowed(from + size))
        return 0;
    do {
        error = posix_fallocate(file, (off_t)from, (off_t)size);
    } while (error == EINTR);
    return error == 0;
}

static void *map(int file, uint64_t from, uint64_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)from);
    return memory == MAP_FAILED ? NULL : memory;
}

/* A file of ours and nobody else's, or nothing. */
static void *create_file(const struct mw_config *config, const struct mw_job_facts *job,
                         uint64_t size)
{
    struct stat info;
    int file = -1;
    /* What a program left that replaced itself by exec has our name: take the next. */
    for (int i = 0; i < 4 && (file < 0 && (i == 0 || errno == EEXIST)); i++) {
        snprintf(shared.path, sizeof shared.path, "%s/" MW_MAP_PREFIX "%u-%llu-%llu%s", config->shm,
                 (unsigned)geteuid(), (unsigned long long)job->pid,
                 (unsigned long long)job->start_time, &"---"[3 - i]);
        file = open(shared.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    if (file < 0)
        return NULL;
    void *memory = allocate(file, 0, size) && fstat(file, &info) == 0 ? map(file, 0, size) : NULL;
    close(file);
    if (!memory) {
        unlink(shared.path);
        return NULL;
    }
    shared.dev = info.st_dev;
    shared.ino = info.st_ino;
    return memory;
}

int mw_shared_start(const struct mw_config *config, const struct mw_job_facts *job, uint64_t process,
                    const char *node_file, uint64_t file_process, dev_t folder_dev, ino_t folder_ino)
{
    uint64_t outbox = pages(sizeof(struct mw_map_header));
    shared.size = outbox + OUTBOX;
    struct mw_map_header *header = create_file(config, job, shared.size);
    if (!header) {
        shared.path[0] = '\0';
        header = mw_pages(shared.size);
    }
    if (!header)
        return 0;
    header->layout = MW_MAP_LAYOUT;
    header->header_size = sizeof *header;
    header->process = process;
    header->pid = job->pid;
    header->start_time = job->start_time;
    header->pid_ns = job->pid_ns;
    header->time_ns = job->time_ns;
    header->uid = geteuid();
    header->clock = mw_recorder.clock;
    header->file_process = file_process;
    header->folder_dev = folder_dev;
    header->folder_ino = folder_ino;
    header->outbox_offset = outbox;
    header->outbox_capacity = OUTBOX;
    snprintf(header->boot_id, sizeof header->boot_id, "%s", job->boot_id);
    snprintf(header->node_file, sizeof header->node_file, "%s", node_file);
    atomic_store(&header->size, shared.size);
    header->magic = MW_MAP_MAGIC;
    shared.header = header;
    if (!shared.path[0])
        mw_health("mapping", "no room in /dev/shm: what was not written yet is lost if the process "
                             "is killed");
    return 1;
}

struct mw_map_header *mw_shared_header(void)
{
    return shared.header;
}

const char *mw_shared_path(void)
{
    return shared.path;
}

/* Our file, opened again by name; -1 when it is not there any more. (A pipe of that name must not make us wait.) */
static int open_again(int flags)
{
    struct stat info;
    if (!shared.path[0])
        return -1;
    int file = open(shared.path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file >= 0 &&
        (fstat(file, &info) != 0 || info.st_dev != shared.dev || info.st_ino != shared.ino)) {
        close(file);
        return -1;
    }
    return file;
}

/* More of the file, zeroed, at *at; under the lock. NULL: no file, or no room. */
static void *extend(uint64_t size, uint64_t *at)
{
    int file = open_again(O_RDWR);
    if (file < 0)
        return NULL;
    *at = shared.size;
    void *memory = allocate(file, *at, size) ? map(file, *at, size) : NULL;
    close(file);
    if (!memory)
        return NULL;
    shared.size = *at + size;
    atomic_store(&shared.header->size, shared.size);
    return memory;
}

static struct mw_map_thread *grow(uint32_t index, uint64_t size)
{
    uint64_t at;
    struct mw_map_thread *area = extend(size, &at);
    if (!area)
        return NULL;
    area->ring_offset = at + pages(sizeof *area);
    atomic_store_explicit(&shared.header->thread_offset[index], at, memory_order_release);
    return area;
}

struct mw_map_thread *mw_shared_thread(uint32_t index, uint64_t events, struct mw_raw_event **ring)
{
    uint64_t head = pages(sizeof(struct mw_map_thread));
    uint64_t size = head + pages(events * sizeof **ring);
    mw_lock_take(&shared.lock);
    struct mw_map_thread *area = index < MW_MAP_THREADS ? grow(index, size) : NULL;
    if (!area) {
        area = mw_pages(size);
        if (shared.path[0])
            mw_health("mapping-thread", "no room in /dev/shm for all threads: what those without had not written yet "
                                        "is lost if the process is killed");
    }
    if (area) {
        area->index = index;
        area->capacity = events;
        *ring = (struct mw_raw_event *)((uint8_t *)area + head);
        uint32_t count = atomic_load(&shared.header->thread_count);
        if (index >= count && index < MW_MAP_THREADS)
            atomic_store_explicit(&shared.header->thread_count, index + 1, memory_order_release);
    }
    mw_lock_drop(&shared.lock);
    return area;
}

struct mw_map_group *mw_shared_segment(struct mw_map_thread *area, uint32_t segment)
{
    uint64_t size = pages(mw_map_segment_groups(segment) * sizeof(struct mw_map_group)), at;
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    mw_lock_take(&shared.lock);
    struct mw_map_group *groups = extend(size, &at);
    if (groups) /* where the thread's area is not in the file, nobody looks for it */
        atomic_store_explicit(&area->segment[segment], at, memory_order_release);
    mw_lock_drop(&shared.lock);
    if (!groups) {
        groups = mw_pages(size);
        if (shared.path[0])
            mw_health("mapping-sums", "no room in /dev/shm for sums of calls: what was not written yet is lost if "
                                      "the process is killed");
    }
    pthread_setcancelstate(cancel, NULL);
    return groups;
}

int mw_shared_view(const struct mw_map_header **header, size_t *size)
{
    int file = open_again(O_RDONLY);
    if (file < 0)
        return 0;
    void *memory = mmap(NULL, shared.size, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED)
        return 0;
    *header = memory;
    *size = shared.size;
    return 1;
}

void mw_shared_remove(void)
{
    int file = open_again(O_RDONLY);
    if (file >= 0) {
        unlink(shared.path);
        close(file);
    }
    shared.path[0] = '\0';
}
