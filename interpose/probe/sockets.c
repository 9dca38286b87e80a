/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP connections with what went through them, as the kernel counts it: snapshots over all
 * descriptors at the end of MPI_Init, now and then, and at the end. No call of libc is wrapped
 * and nothing is done per message; the descriptors are asked (getsockname, getpeername,
 * getsockopt, SIOCOUTQ), never changed. Runs in steps of probes.c, on the thread that calls MPI,
 * with static buffers. What is opened and closed between two looks is not seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "output/output.h"
#include "probe/fdwalk.h"
#include "probe/interfaces.h"
#include "probe/probe.h"
#include "record/record.h"
#include "trace/fields.h"

#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

#define LOOK_MOST   65536u /* numbers of descriptors at one look */
#define FLUSH_KNOWN 24u    /* connections looked at again in one flush, about 1.5 µs each */
#define FLUSH_WALK  256u   /* and numbers of descriptors that it walks on, about 0.1 µs each */
#define KNOWN_MAX   1024u
#define RECORD_ROOM 160u /* more than a connection takes in a chunk */

struct endpoint {
    uint8_t bytes[18]; /* address, then port, most significant byte first */
    size_t size;       /* of the address: 4 or 16; 0 no address of the internet */
    uint32_t scope;
};

struct connection {
    int fd;
    uint64_t cookie, waiting;
    struct endpoint local, remote;
    struct tcp_info info;
};

/* Connections to be looked at again, and where the walk goes on. */
static struct known {
    int fd;
    uint64_t cookie;
} known[KNOWN_MAX];
static unsigned known_count, known_next;
static int walk_from;
static int refused; /* a sandbox does not let us ask: there may be more than was seen */

/* The result; notes when the kernel answers as if there were no such call, or none for us. */
static long asked(long result)
{
    if (result < 0 && (errno == ENOSYS || errno == EPERM || errno == EACCES))
        refused = 1;
    return result;
}

static long ask(int fd, int level, int option, void *out, uint32_t *size)
{
    return asked(syscall(SYS_getsockopt, fd, level, option, out, size));
}

static void endpoint_set(struct endpoint *end, const void *address, size_t size, uint16_t port)
{
    end->size = size;
    memcpy(end->bytes, address, size);
    memcpy(end->bytes + size, &port, sizeof port);
}

/* One side of a socket; 0 when it has none, or is of another family. */
static int endpoint_read(int fd, long call, struct endpoint *end)
{
    union {
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_storage any;
    } name;
    uint32_t size = sizeof name;
    end->size = end->scope = 0;
    if (asked(syscall(call, fd, &name, &size)) != 0)
        return 0;
    if (name.any.ss_family == AF_INET && size >= sizeof name.in) {
        endpoint_set(end, &name.in.sin_addr, 4, name.in.sin_port);
    } else if (name.any.ss_family == AF_INET6 &&
               size >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
        const uint8_t *address = name.in6.sin6_addr.s6_addr;
        int mapped = IN6_IS_ADDR_V4MAPPED(&name.in6.sin6_addr);
        endpoint_set(end, address + (mapped ? 12 : 0), mapped ? 4 : 16, name.in6.sin6_port);
        end->scope = mapped ? 0 : name.in6.sin6_scope_id;
    }
    return end->size != 0;
}

static void counters_read(int fd, struct connection *c)
{
    uint32_t size = sizeof c->cookie;
    int queued = 0;
    if (ask(fd, SOL_SOCKET, SO_COOKIE, &c->cookie, &size) != 0)
        c->cookie = 0; /* before Linux 4.12 */
    if (syscall(SYS_ioctl, fd, SIOCOUTQ, &queued) == 0 && queued > 0)
        c->waiting = (uint64_t)queued;
}

/* Whether the descriptor is a TCP connection, and all about it. An older kernel knows less of
 * tcp_info: the rest stays 0. */
static int connection_read(int fd, struct connection *c)
{
    uint32_t size = sizeof c->info;
    memset(c, 0, sizeof *c);
    c->fd = fd;
    if (!endpoint_read(fd, SYS_getsockname, &c->local) ||
        ask(fd, IPPROTO_TCP, TCP_INFO, &c->info, &size) != 0 ||
        !endpoint_read(fd, SYS_getpeername, &c->remote))
        return 0;
    counters_read(fd, c);
    return 1;
}

/* --- the chunk --- */

static uint8_t memory[16384];
static struct mw_buffer buffer;
static enum mw_when look_when;
static uint64_t look_time;
static unsigned look_rows;

static void chunk_begin(void)
{
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_put_u64(&buffer, MW_F_SOCKETS_when, look_when);
    mw_put_u64(&buffer, MW_F_SOCKETS_time, look_time);
}

static void look_begin(enum mw_when when)
{
    look_when = when;
    look_time = mw_now();
    look_rows = 0;
    mw_interfaces_may_refresh();
    chunk_begin();
}

static void look_end(uint64_t unseen)
{
    if (look_when == MW_WHEN_DURING && !look_rows)
        return;
    mw_put_u64(&buffer, MW_F_SOCKETS_unseen, unseen);
    mw_output_chunk(MW_CHUNK_SOCKETS, buffer.data, buffer.size);
}

static void connection_put(const struct connection *c)
{
    if (buffer.capacity - buffer.size < RECORD_ROOM) {
        mw_output_chunk(MW_CHUNK_SOCKETS, buffer.data, buffer.size);
        chunk_begin();
    }
    uint32_t min_rtt = c->info.tcpi_min_rtt;
    size_t mark = mw_put_begin(&buffer, MW_F_SOCKETS_connection);
    mw_put_bytes(&buffer, MW_F_CONNECTION_local, c->local.bytes, c->local.size + 2);
    mw_put_bytes(&buffer, MW_F_CONNECTION_remote, c->remote.bytes, c->remote.size + 2);
    mw_put_u64(&buffer, MW_F_CONNECTION_sent, c->info.tcpi_bytes_acked);
    mw_put_u64(&buffer, MW_F_CONNECTION_received, c->info.tcpi_bytes_received);
    mw_put_u64(&buffer, MW_F_CONNECTION_rtt, c->info.tcpi_rtt);
    mw_put_u64(&buffer, MW_F_CONNECTION_retransmits, c->info.tcpi_total_retrans);
    mw_put_text(&buffer, MW_F_CONNECTION_interface,
                mw_interface_of(c->local.bytes, c->local.size, c->local.scope));
    mw_put_u64(&buffer, MW_F_CONNECTION_cookie, c->cookie);
    mw_put_u64(&buffer, MW_F_CONNECTION_state, c->info.tcpi_state);
    mw_put_u64(&buffer, MW_F_CONNECTION_fd, (uint64_t)c->fd);
    mw_put_u64(&buffer, MW_F_CONNECTION_waiting, c->waiting);
    mw_put_u64(&buffer, MW_F_CONNECTION_min_rtt, min_rtt == UINT32_MAX ? 0 : min_rtt);
    mw_put_end(&buffer, mark);
    look_rows++;
}

/* --- the looks --- */

static int is_known(const struct connection *c)
{
    for (unsigned i = 0; i < known_count; i++)
        if (known[i].fd == c->fd && known[i].cookie == c->cookie)
            return 1;
    return 0;
}

static void remember(const struct connection *c)
{
    if (known_count < KNOWN_MAX && !is_known(c))
        known[known_count++] = (struct known){c->fd, c->cookie};
}

/* Everything, within the time; what is left over is walked first in the next flush. */
static void look_at_all(enum mw_when when)
{
    struct mw_fdwalk walk;
    struct connection c;
    unsigned looked = 0;
    uint64_t unseen = 0;
    int fd, saved = errno;
    if (mw_fdwalk_open(&walk, 0) != 0) {
        mw_choice("probe", "sockets", "not covered", "/proc cannot be read");
        return;
    }
    look_begin(when);
    known_count = walk_from = 0;
    while ((fd = mw_fdwalk_next(&walk)) >= 0) {
        if (looked == LOOK_MOST || mw_probe_late()) {
            unseen =
                (uint64_t)(syscall(SYS_fcntl, fd, F_GETFD) >= 0) + mw_fdwalk_rest(&walk, LOOK_MOST);
            walk_from = fd;
            break;
        }
        looked++;
        if (connection_read(fd, &c)) {
            connection_put(&c);
            remember(&c);
        }
    }
    mw_fdwalk_close(&walk);
    look_end(unseen);
    if (refused)
        mw_choice("probe", "sockets", look_rows ? "partly" : "not covered",
                  "the system does not let this process ask about its sockets");
    errno = saved;
}

/* Some of the known ones, in turn; those that have gone are forgotten. */
static void look_again(void)
{
    struct connection c;
    for (unsigned i = 0; i < FLUSH_KNOWN && i < known_count && !mw_probe_late(); i++) {
        unsigned at = known_next < known_count ? known_next : 0;
        if (connection_read(known[at].fd, &c) && c.cookie == known[at].cookie) {
            connection_put(&c);
            known_next = at + 1;
        } else {
            known[at] = known[--known_count];
            known_next = at;
        }
    }
}

/* A bit of the walk: connections that have come since, round and round. */
static void look_further(void)
{
    struct mw_fdwalk walk;
    struct connection c;
    int fd = -1;
    if (mw_fdwalk_open(&walk, walk_from) != 0)
        return;
    for (unsigned i = 0; i < FLUSH_WALK && !mw_probe_late(); i++) {
        fd = mw_fdwalk_next(&walk);
        if (fd < 0)
            break;
        walk_from = fd + 1;
        if (connection_read(fd, &c) && !is_known(&c)) {
            connection_put(&c);
            remember(&c);
        }
    }
    if (fd < 0)
        walk_from = 0;
    mw_fdwalk_close(&walk);
}

static void ready(void)
{
    look_at_all(MW_WHEN_INIT);
}

static void flush(void)
{
    int saved = errno;
    look_begin(MW_WHEN_DURING);
    look_again();
    look_further();
    look_end(0);
    errno = saved;
}

static void finish(enum mw_end_reason reason)
{
    look_at_all(MW_WHEN_END);
}

const struct mw_probe mw_probe_sockets = {
    .name = "sockets", .limit_us = 20000, .ready = ready, .flush = flush, .finish = finish};
