/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the node's network ports before and after: interfaces from /proc/self/net/dev
 * (those of our own network namespace, whichever sysfs shows), InfiniBand, Omni-Path, RoCE and
 * EFA from /sys/class/infiniband, Slingshot from /sys/class/cxi. Written by the first process of
 * the node, and by those that live in another network namespace than it. Steps of probes.c, on
 * the thread that calls MPI, with static buffers. Hardware addresses are left out on purpose.
 */
#include "probe/ports.h"

#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "output/output.h"
#include "probe/env_store.h"
#include "probe/probe.h"
#include "probe/sysfile.h"
#include "record/record.h"
#include "trace/fields.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define PORTS_MOST  256u
#define PORT_ROOM   512u /* more than one takes in a chunk */
#define FACTS_ROOM  (1u << 20)

struct port {
    const char *name, *kind;
    uint64_t number, received, sent, rate, errors;
    char state[64], address[64];
};

static struct {
    const char *root;
    struct mw_buffer buffer;
    uint8_t memory[16384];
    enum mw_when when;
    uint64_t time;
    unsigned ports;
    int late;
    char text[32768]; /* a file being taken apart */
    char folder[512], path[640];
} run;

static void chunk_begin(void)
{
    mw_buffer_init(&run.buffer, run.memory, sizeof run.memory);
    mw_put_u64(&run.buffer, MW_F_PORTS_when, run.when);
    mw_put_u64(&run.buffer, MW_F_PORTS_time, run.time);
}

static void chunk_end(void)
{
    mw_output_chunk(MW_CHUNK_PORTS, run.buffer.data, run.buffer.size);
}

static void port_put(const struct port *port)
{
    if (run.buffer.capacity - run.buffer.size < PORT_ROOM) {
        chunk_end();
        chunk_begin();
    }
    size_t mark = mw_put_begin(&run.buffer, MW_F_PORTS_port);
    mw_put_text(&run.buffer, MW_F_PORT_name, port->name);
    mw_put_text(&run.buffer, MW_F_PORT_kind, port->kind);
    mw_put_u64(&run.buffer, MW_F_PORT_number, port->number);
    mw_put_u64(&run.buffer, MW_F_PORT_received, port->received);
    mw_put_u64(&run.buffer, MW_F_PORT_sent, port->sent);
    mw_put_u64(&run.buffer, MW_F_PORT_rate, port->rate);
    mw_put_text(&run.buffer, MW_F_PORT_state, port->state);
    mw_put_u64(&run.buffer, MW_F_PORT_errors, port->errors);
    mw_put_text(&run.buffer, MW_F_PORT_address, port->address);
    mw_put_end(&run.buffer, mark);
    run.ports++;
}

/* 1 when no more can be read: too long, or too many. */
static int enough(void)
{
    if (run.ports >= PORTS_MOST || mw_probe_late())
        run.late = 1;
    return run.late;
}

/* --- small files --- */

static const char *below(const char *folder, const char *name)
{
    return mw_join(run.path, sizeof run.path, folder, "/", name, NULL);
}

static int line(const char *folder, const char *name, char *out, size_t capacity)
{
    return mw_sys_line(below(folder, name), out, capacity) > 0;
}

static uint64_t sum(const char *folder, const char *const *names, size_t count)
{
    uint64_t total = 0, value;
    for (size_t i = 0; i < count; i++)
        if (mw_sys_number(folder, names[i], 10, &value))
            total += value;
    return total;
}

/* "2.5 Gb/sec (1X SDR)", "200 Gb/sec (4X HDR)" and "BS_200G": bits per second. */
static uint64_t rate_of(const char *text)
{
    const char *at = text + strcspn(text, "0123456789"), *end;
    uint64_t rate = mw_number(at, 10, &end) * UINT64_C(1000000000);
    if (end == at)
        return 0;
    if (*end == '.') {
        uint64_t unit = 100000000;
        for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
            rate += (uint64_t)(*end - '0') * unit;
    }
    while (*end == ' ')
        end++;
    return *end == 'G' ? rate : *end == 'M' ? rate / 1000 : *end == 'T' ? rate * 1000 : 0;
}

/* --- interfaces of the network namespace --- */

/* Whether sysfs speaks of our interface of that name: it shows those of the namespace in which it
 * was mounted. Told by the hardware address, which the kernel gives us for ours. */
static int sysfs_is_ours(const char *folder, const char *name)
{
    struct ifreq ask;
    char text[64];
    if (run.root[0])
        return 1;
    memset(&ask, 0, sizeof ask);
    if (strlen(name) >= sizeof ask.ifr_name || !line(folder, "address", text, sizeof text))
        return 0;
    strcpy(ask.ifr_name, name);
    int fd = (int)syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int got = fd >= 0 && syscall(SYS_ioctl, fd, SIOCGIFHWADDR, &ask) == 0;
    mw_sys_close(fd);
    const char *at = text;
    for (size_t i = 0; got && i < 6; i++) {
        got = mw_number(at, 16, &at) == (uint8_t)ask.ifr_hwaddr.sa_data[i];
        at += *at == ':';
    }
    return got;
}

static void interface_state(struct port *port)
{
    uint64_t speed;
    mw_join(run.folder, sizeof run.folder, run.root, "/sys/class/net/", port->name, NULL);
    if (!sysfs_is_ours(run.folder, port->name))
        return;
    line(run.folder, "operstate", port->state, sizeof port->state);
    /* in Mbit/s; -1 or 4294967295 where nobody knows */
    if (mw_sys_number(run.folder, "speed", 10, &speed) && speed < UINT32_MAX)
        port->rate = speed * 1000000;
}

/* "name: bytes packets errs drop fifo frame compressed multicast | bytes packets errs drop fifo
 * colls carrier compressed" */
static void interface_put(char *text)
{
    uint64_t column[16] = {0};
    char *colon = strrchr(text, ':'); /* an alias has one in its name */
    if (!colon)
        return;
    *colon = '\0';
    const char *at = colon + 1;
    for (size_t i = 0; i < COUNT(column); i++)
        column[i] = mw_number(at, 10, &at);
    struct port port = {.name = text + strspn(text, " "), .kind = "net"};
    port.received = column[0];
    port.sent = column[8];
    port.errors = column[2] + column[3] + column[4] + column[5] + column[10] + column[11] +
                  column[12] + column[13] + column[14];
    interface_state(&port);
    port_put(&port);
}

static void interfaces(void)
{
    mw_join(run.path, sizeof run.path, run.root, "/proc/self/net/dev", NULL);
    if (mw_sys_slurp(run.path, run.text, sizeof run.text) <= 0)
        return;
    char *at = run.text;
    for (unsigned i = 0; *at && !(i >= 2 && enough()); i++) { /* two lines of headings */
        char *end = strchr(at, '\n');
        if (end)
            *end = '\0';
        if (i >= 2)
            interface_put(at);
        if (!end)
            break;
        at = end + 1;
    }
}

/* --- cards --- */

static const char *const infiniband_errors[] = {
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_xmit_discards",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
};

/* Data counters of InfiniBand count words of four bytes; those of EFA, bytes. */
static void infiniband_counters(struct port *port)
{
    char counters[600];
    mw_join(counters, sizeof counters, run.folder, "/counters", NULL);
    if (mw_sys_number(counters, "port_rcv_data", 10, &port->received) |
        mw_sys_number(counters, "port_xmit_data", 10, &port->sent)) {
        port->received *= 4;
        port->sent *= 4;
        port->errors = sum(counters, infiniband_errors, COUNT(infiniband_errors));
        return;
    }
    static const char *const drops[] = {"rx_drops"};
    mw_join(counters, sizeof counters, run.folder, "/hw_counters", NULL);
    mw_sys_number(counters, "rx_bytes", 10, &port->received);
    mw_sys_number(counters, "tx_bytes", 10, &port->sent);
    port->errors = sum(counters, drops, COUNT(drops));
}

static void infiniband_port(const char *device, const char *port_number)
{
    char text[128];
    struct port port = {.name = device, .kind = "infiniband"};
    port.number = mw_number(port_number, 10, NULL);
    mw_join(run.folder, sizeof run.folder, run.root, "/sys/class/infiniband/", device, "/ports/",
            port_number, NULL);
    if (line(run.folder, "state", text, sizeof text)) { /* "4: ACTIVE" */
        const char *word = strchr(text, ':');
        mw_join(port.state, sizeof port.state, word ? word + 1 + strspn(word + 1, " ") : text,
                NULL);
    }
    if (line(run.folder, "rate", text, sizeof text))
        port.rate = rate_of(text);
    if (line(run.folder, "lid", text, sizeof text) && strcmp(text, "0x0") != 0 &&
        strcmp(text, "0") != 0)
        mw_join(port.address, sizeof port.address, "lid ", text, NULL);
    infiniband_counters(&port);
    port_put(&port);
}

static void infiniband(void)
{
    struct mw_dir cards, numbers;
    const char *card, *port;
    mw_join(run.path, sizeof run.path, run.root, "/sys/class/infiniband", NULL);
    if (mw_dir_open(&cards, run.path) != 0)
        return;
    while (!enough() && (card = mw_dir_next(&cards))) {
        mw_join(run.path, sizeof run.path, run.root, "/sys/class/infiniband/", card, "/ports",
                NULL);
        if (mw_dir_open(&numbers, run.path) != 0)
            continue;
        while (!enough() && (port = mw_dir_next(&numbers)))
            infiniband_port(card, port);
        mw_dir_close(&numbers);
    }
    mw_dir_close(&cards);
}

/* Slingshot; the two generations of cards lay their port files out differently. */
static void cxi_port(const char *card)
{
    static const char *const lost[] = {"hni_pcs_uncorrected_cw"};
    char text[64], telemetry[600];
    struct port port = {.name = card, .kind = "cxi"};
    mw_join(run.folder, sizeof run.folder, run.root, "/sys/class/cxi/", card, "/device", NULL);
    if (!line(run.folder, "port/link", port.state, sizeof port.state))
        line(run.folder, "port/0/link/state", port.state, sizeof port.state);
    if (line(run.folder, "port/speed", text, sizeof text) ||
        line(run.folder, "port/0/link/speed", text, sizeof text))
        port.rate = rate_of(text + strcspn(text, "_")); /* after the letters of the mode */
    if (line(run.folder, "properties/nid", text, sizeof text))
        mw_join(port.address, sizeof port.address, "nid ", text, NULL);
    mw_join(telemetry, sizeof telemetry, run.folder, "/telemetry", NULL);
    mw_sys_number(telemetry, "hni_sts_rx_ok_octets", 10, &port.received);
    mw_sys_number(telemetry, "hni_sts_tx_ok_octets", 10, &port.sent);
    port.errors = sum(telemetry, lost, COUNT(lost));
    port_put(&port);
}

static void cxi(void)
{
    struct mw_dir cards;
    const char *card;
    mw_join(run.path, sizeof run.path, run.root, "/sys/class/cxi", NULL);
    if (mw_dir_open(&cards, run.path) != 0)
        return;
    while (!enough() && (card = mw_dir_next(&cards)))
        cxi_port(card);
    mw_dir_close(&cards);
}

void mw_ports_write(const char *root, enum mw_when when)
{
    run.root = root;
    run.when = when;
    run.time = mw_now();
    run.ports = 0;
    run.late = 0;
    chunk_begin();
    cxi(); /* what is most wanted first, should the time not suffice */
    infiniband();
    interfaces();
    chunk_end();
    if (run.late)
        mw_choice("probe", "ports", "partly", "not all ports were read");
    else if (!run.ports) /* every network namespace has one */
        mw_choice("probe", "ports", "not covered",
                  "neither /proc/self/net/dev nor /sys tells of a port");
}

/* --- who writes --- */

/* The network namespace of the process that wrote the node's facts; 0 when it cannot be told. */
static int others_namespace(int file, char *out, size_t capacity)
{
    struct mw_env_base base;
    struct mw_fact fact;
    int known = 0;
    void *memory = mmap(NULL, FACTS_ROOM, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    if (mw_env_base_find(file, memory, FACTS_ROOM, &base) == MW_OK &&
        mw_fact_list_find(&base.facts, "namespace", "net", &fact)) {
        mw_join(out, capacity, fact.value, NULL);
        known = 1;
    }
    munmap(memory, FACTS_ROOM);
    return known;
}

static int is_ours_to_write(void)
{
    char own[64], other[64];
    int file = mw_output_file();
    if (file < 0)
        return 0;
    if (mw_env_first_process(file) == mw_output_process())
        return 1;
    return mw_sys_link("/proc/self/ns/net", own, sizeof own) > 0 &&
           others_namespace(file, other, sizeof other) && strcmp(own, other) != 0;
}

static int writes; /* decided once */

static void ready(void)
{
    writes = is_ours_to_write();
    if (writes)
        mw_ports_write("", MW_WHEN_INIT);
}

static void finish(enum mw_end_reason reason)
{
    if (writes)
        mw_ports_write("", MW_WHEN_END);
}

const struct mw_probe mw_probe_ports = {
    .name = "ports", .limit_us = 20000, .ready = ready, .finish = finish};
