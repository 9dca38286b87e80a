/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes of other processes' memory (process_vm_readv and process_vm_writev: cross
 * memory attach), counted by process: how large messages go within a node. Both are wrapped, in
 * every process that we are preloaded to and at any time; any thread. Outside a recording they
 * hand the call on. A program that makes the system call by syscall(2) is not seen.
 *
 * Callers refer to the version of glibc that brought these functions, so ours carry it too
 * (cma-*.map).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "output/output.h"
#include "probe/probe.h"
#include "record/record.h"
#include "trace/fields.h"

#if defined __x86_64__
#define VERSION "GLIBC_2.15"
#else
#define VERSION "GLIBC_2.17"
#endif
#define EXPORT __attribute__((visibility("default")))

#define PEERS     1024u /* a power of two */
#define PROBES    16u   /* places in which a peer may stand */
#define PEER_ROOM 96u   /* more than one takes in a chunk */

enum { READ, WRITE };

typedef ssize_t vm_fn(pid_t, const struct iovec *, unsigned long, const struct iovec *,
                      unsigned long, unsigned long);

struct peer {
    _Alignas(64) _Atomic int32_t pid; /* 0: free */
    _Atomic int32_t error;
    _Atomic uint64_t calls[2], bytes[2], refused, error_time;
    uint64_t told; /* calls that the trace knows of */
};
static struct peer peers[PEERS];
static struct peer others; /* found no room, or are no process: pid 0 in the trace */

/* --- the real ones --- */

static ssize_t system_read(pid_t pid, const struct iovec *local, unsigned long locals,
                           const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
    return syscall(SYS_process_vm_readv, pid, local, locals, remote, remotes, flags);
}

static ssize_t system_write(pid_t pid, const struct iovec *local, unsigned long locals,
                            const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
    return syscall(SYS_process_vm_writev, pid, local, locals, remote, remotes, flags);
}

/* Another tool's or libc's: what would have been bound without us. Once; no table of modules is
 * built for it, since this may be a process that never starts MPI. */
static vm_fn *find_real(int way)
{
    static const char *const names[] = {"process_vm_readv", "process_vm_writev"};
    int saved = errno;
    vm_fn *found = (vm_fn *)dlvsym(RTLD_NEXT, names[way], VERSION);
    if (!found)
        found = (vm_fn *)dlsym(RTLD_NEXT, names[way]);
    errno = saved;
    if (!found)
        found = way == READ ? system_read : system_write;
    return found;
}

static vm_fn *real(int way)
{
    static _Atomic(vm_fn *) known[2];
    vm_fn *found = atomic_load_explicit(&known[way], memory_order_relaxed);
    if (__builtin_expect(!found, 0)) {
        found = find_real(way);
        atomic_store_explicit(&known[way], found, memory_order_relaxed);
    }
    return found;
}

/* --- counting --- */

static struct peer *peer_of(int32_t pid)
{
    uint32_t at = (uint32_t)pid * 2654435761u >> 16;
    if (pid <= 0)
        return &others;
    for (unsigned i = 0; i < PROBES; i++) {
        struct peer *peer = &peers[(at + i) % PEERS];
        int32_t holder = atomic_load_explicit(&peer->pid, memory_order_relaxed);
        if (holder == pid)
            return peer;
        if (!holder && (atomic_compare_exchange_strong(&peer->pid, &holder, pid) || holder == pid))
            return peer;
    }
    return &others;
}

static uint64_t calls_of(struct peer *peer)
{
    return atomic_load_explicit(&peer->calls[READ], memory_order_relaxed) +
           atomic_load_explicit(&peer->calls[WRITE], memory_order_relaxed) +
           atomic_load_explicit(&peer->refused, memory_order_relaxed);
}

static void peer_put(struct mw_buffer *buffer, struct peer *peer)
{
    size_t mark = mw_put_begin(buffer, MW_F_CMA_peer);
    mw_put_u64(buffer, MW_F_CMAPEER_pid, (uint64_t)atomic_load(&peer->pid));
    mw_put_u64(buffer, MW_F_CMAPEER_reads, atomic_load(&peer->calls[READ]));
    mw_put_u64(buffer, MW_F_CMAPEER_read, atomic_load(&peer->bytes[READ]));
    mw_put_u64(buffer, MW_F_CMAPEER_writes, atomic_load(&peer->calls[WRITE]));
    mw_put_u64(buffer, MW_F_CMAPEER_written, atomic_load(&peer->bytes[WRITE]));
    mw_put_u64(buffer, MW_F_CMAPEER_refused, atomic_load(&peer->refused));
    mw_put_u64(buffer, MW_F_CMAPEER_error, (uint64_t)atomic_load(&peer->error));
    mw_put_u64(buffer, MW_F_CMAPEER_error_time, atomic_load(&peer->error_time));
    mw_put_end(buffer, mark);
}

static void chunk_end(struct mw_buffer *buffer)
{
    mw_put_u64(buffer, MW_F_CMA_time, mw_now());
    mw_output_chunk(MW_CHUNK_CMA, buffer->data, buffer->size);
    buffer->size = 0;
}

/* The kernel's policy, as opposed to a wrong address or a process that is gone: UCX tries
 * addresses. */
static int forbids(int error)
{
    return error == EPERM || error == EACCES || error == ENOSYS;
}

/* The first refusal by a process reaches the trace at once, and so does the first that says
 * "forbidden". */
static __attribute__((noinline)) void refused(struct peer *peer, int error)
{
    uint8_t memory[256];
    struct mw_buffer buffer;
    int32_t before = 0;
    atomic_fetch_add_explicit(&peer->refused, 1, memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&peer->error, &before, error) &&
        (!forbids(error) || forbids(before) ||
         !atomic_compare_exchange_strong(&peer->error, &before, error)))
        return;
    atomic_store(&peer->error_time, mw_now());
    mw_buffer_init(&buffer, memory, sizeof memory);
    peer_put(&buffer, peer);
    chunk_end(&buffer);
    errno = error; /* what the caller must find */
}

static inline ssize_t counted(int way, pid_t pid, ssize_t moved)
{
    struct peer *peer = peer_of(pid);
    if (__builtin_expect(moved < 0, 0)) {
        refused(peer, errno);
        return moved;
    }
    atomic_fetch_add_explicit(&peer->calls[way], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&peer->bytes[way], (uint64_t)moved, memory_order_relaxed);
    return moved;
}

EXPORT ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
                                const struct iovec *remote, unsigned long remotes,
                                unsigned long flags)
{
    ssize_t moved = real(READ)(pid, local, locals, remote, remotes, flags);
    return mw_probe_on(&mw_probe_cma) ? counted(READ, pid, moved) : moved;
}

EXPORT ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long locals,
                                 const struct iovec *remote, unsigned long remotes,
                                 unsigned long flags)
{
    ssize_t moved = real(WRITE)(pid, local, locals, remote, remotes, flags);
    return mw_probe_on(&mw_probe_cma) ? counted(WRITE, pid, moved) : moved;
}

/* --- the steps --- */

static void put_if_changed(struct mw_buffer *buffer, struct peer *peer)
{
    uint64_t calls = calls_of(peer);
    if (calls == peer->told)
        return;
    peer->told = calls;
    peer_put(buffer, peer);
    if (buffer->capacity - buffer->size < PEER_ROOM)
        chunk_end(buffer);
}

/* Those that have changed since the last time. */
static void write_changes(void)
{
    static uint8_t memory[8192]; /* one step at a time */
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    for (unsigned i = 0; i < PEERS; i++)
        if (atomic_load_explicit(&peers[i].pid, memory_order_relaxed))
            put_if_changed(&buffer, &peers[i]);
    put_if_changed(&buffer, &others);
    if (buffer.size)
        chunk_end(&buffer);
}

static void finish(enum mw_end_reason reason)
{
    write_changes();
}

const struct mw_probe mw_probe_cma = {
    .name = "cma", .limit_us = 1000, .flush = write_changes, .finish = finish};
