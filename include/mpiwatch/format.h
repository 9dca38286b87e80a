/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constants of the trace format (docs/format.md is the norm). The lists give enum, names and reader
 * at once: X(number, IDENTIFIER, ...). Numbers are never reused.
 */
#ifndef MPIWATCH_FORMAT_H
#define MPIWATCH_FORMAT_H

#define MW_FORMAT_VERSION 1
#define MW_CHUNK_MAGIC 0x4b43574du /* "MWCK" */
#define MW_CHUNK_HEADER_SIZE 32u
#define MW_CHUNK_MAX_STORED (1u << 24)
#define MW_CHUNK_MAX_RAW (1u << 26)
#define MW_CHUNK_FLAG_ZSTD 1u
#define MW_STEP_MAX_EVENTS 4096u
#define MW_EVENTS_MAX_SHAPES (1u << 16) /* of one EVENTS chunk */
#define MW_EVENTS_MAX_COUNT (1u << 26)

#define MW_CHUNK_LIST(X) \
    X(1, FILE)           \
    X(2, JOB)            \
    X(3, PROCESS)        \
    X(4, RANK)           \
    X(5, CLOCK)          \
    X(6, MODULES)        \
    X(7, SITES)          \
    X(8, COMM)           \
    X(9, EVENTS)         \
    X(10, COUNTS)        \
    X(11, OPEN)          \
    X(12, HEALTH)        \
    X(13, ENVIRONMENT)   \
    X(14, END)           \
    X(15, COST)          \
    X(16, THREAD)        \
    X(17, TOPOLOGY)      \
    X(18, PLACEMENT)     \
    X(19, ATTEMPT)       \
    X(20, ENDPOINT)      \
    X(21, LOG)           \
    X(22, SOCKETS)       \
    X(23, PORTS)         \
    X(24, WINDOW)        \
    X(25, IOFILE)        \
    X(26, REGION)        \
    X(27, AGGREGATE)     \
    X(28, DEVICE)        \
    X(29, BUFFER)        \
    X(30, INDEX)         \
    X(31, CMA)           \
    X(32, CHOICE)        \
    X(33, FLOW)

enum mw_chunk_type {
#define MW_CHUNK_ENUM(number, id) MW_CHUNK_##id = number,
    MW_CHUNK_LIST(MW_CHUNK_ENUM)
#undef MW_CHUNK_ENUM
};

/* Fields by chunk: X(number, identifier); MW_F_<CHUNK>_<identifier> is the number. */
#define MW_FIELDS_FILE(X) X(1, writer) X(2, host) X(3, boot_id) X(4, pid_ns) X(5, mnt_ns) X(6, user_ns) X(7, daemon)
#define MW_FIELDS_JOB(X) X(1, key) X(2, launcher) X(3, job_id) X(4, program) X(5, command)
#define MW_FIELDS_PROCESS(X)                                                                      \
    X(1, host) X(2, pid) X(3, start_time) X(4, ppid) X(5, exe) X(6, argument) X(7, cwd) X(8, clock) \
    X(9, abi) X(10, mpi_library) X(11, rank_hint) X(12, size_hint) X(13, began) X(14, boot_id)    \
    X(15, pid_ns) X(16, thread_level) X(17, world) X(18, name) X(19, spawner)
#define MW_FIELDS_RANK(X)                                                                     \
    X(1, rank) X(2, size) X(3, library_version) X(4, standard) X(5, thread_level) X(6, init_end) \
    X(7, processor_name) X(8, appnum)
#define MW_FIELDS_CLOCK(X) X(1, time) X(2, raw) X(3, real) X(4, mono) X(5, width)
#define MW_FIELDS_MODULES(X) X(1, module)
#define MW_FIELDS_MODULE(X) X(1, id) X(2, path) X(3, build_id) X(4, start) X(5, end) X(6, role)
#define MW_FIELDS_SITES(X) X(1, site)
#define MW_FIELDS_SITE(X) X(1, id) X(2, frames) X(3, truncated)
#define MW_FIELDS_COMM(X)                                                                          \
    X(1, id) X(2, how) X(3, parent) X(4, number) X(5, size) X(6, rank) X(7, remote_size) X(8, hash) \
    X(9, members) X(10, remote_members) X(11, name) X(12, freed) X(13, began) X(14, made)           \
    X(15, port) X(16, places) X(17, place_hash)
#define MW_FIELDS_COUNTS(X) X(1, function) X(2, thread)
#define MW_FIELDS_COUNT(X) X(1, id) X(2, name) X(3, calls)
#define MW_FIELDS_OPEN(X) X(1, call) X(2, taken) X(3, alive)
#define MW_FIELDS_OPENCALL(X)                                                                   \
    X(1, thread) X(2, function) X(3, start) X(4, comm) X(5, peer) X(6, tag) X(7, instance) X(8, site) \
    X(9, name)
#define MW_FIELDS_HEALTH(X) X(1, code) X(2, message) X(3, count) X(4, time)
#define MW_FIELDS_ENVIRONMENT(X) X(1, node) X(2, base) X(3, fact)
#define MW_FIELDS_FACT(X) X(1, section) X(2, key) X(3, value) X(4, source) X(5, removed)
#define MW_FIELDS_END(X) X(1, reason) X(2, time) X(3, code) X(4, finalize_end)
#define MW_FIELDS_COST(X)                                                                     \
    X(1, init) X(2, encode) X(3, write) X(4, bytes) X(5, chunks) X(6, events) X(7, longest)   \
    X(8, finalize) X(9, memory) X(10, stamp)
#define MW_FIELDS_THREAD(X) X(1, index) X(2, tid) X(3, name) X(4, main)

#define MW_FIELDS_ATTEMPT(X)                                                                      \
    X(1, id) X(2, library) X(3, call) X(4, result) X(5, words) X(6, provider) X(7, domain)        \
    X(8, fabric) X(9, caller) X(10, start) X(11, end) X(12, inner) X(13, device) X(14, speed)     \
    X(15, driver) X(16, offer) X(17, asked) X(18, endpoint)
#define MW_FIELDS_OFFER(X) \
    X(1, provider) X(2, domain) X(3, fabric) X(4, device) X(5, speed) X(6, state) X(7, driver)
#define MW_FIELDS_ENDPOINT(X)                                                                  \
    X(1, id) X(2, library) X(3, provider) X(4, domain) X(5, caller) X(6, address) X(7, format) \
    X(8, peer) X(9, device) X(10, speed) X(11, inner) X(12, time) X(13, unlisted)
#define MW_FIELDS_PEER(X)                                                                    \
    X(1, address) X(2, sends) X(3, sent) X(4, puts) X(5, put) X(6, gets) X(7, got) X(8, unsized) \
    X(9, lane)
#define MW_FIELDS_LANE(X) X(1, use) X(2, transport) X(3, device)
#define MW_FIELDS_LOG(X)                                                                      \
    X(1, id) X(2, library) X(3, level) X(4, subsystem) X(5, provider) X(6, function) X(7, line) \
    X(8, text) X(9, count) X(10, time)
#define MW_FIELDS_SOCKETS(X) X(1, when) X(2, time) X(3, connection) X(4, unseen)
#define MW_FIELDS_CONNECTION(X)                                                           \
    X(1, local) X(2, remote) X(3, sent) X(4, received) X(5, rtt) X(6, retransmits)        \
    X(7, interface) X(8, cookie) X(9, state) X(10, fd) X(11, waiting) X(12, min_rtt)
#define MW_FIELDS_PORTS(X) X(1, when) X(2, time) X(3, port)
#define MW_FIELDS_PORT(X)                                                                       \
    X(1, name) X(2, kind) X(3, number) X(4, received) X(5, sent) X(6, rate) X(7, state) X(8, errors) \
    X(9, address)
#define MW_FIELDS_WINDOW(X)                                                                     \
    X(1, id) X(2, flavour) X(3, comm) X(4, number) X(5, size) X(6, unit) X(7, name) X(8, freed)
#define MW_FIELDS_IOFILE(X) \
    X(1, id) X(2, comm) X(3, number) X(4, name) X(5, mode) X(6, closed)
#define MW_FIELDS_FLOW(X) X(1, comm) X(2, peers) X(3, time)
#define MW_FIELDS_CMA(X) X(1, peer) X(2, time)
#define MW_FIELDS_CMAPEER(X)                                                                  \
    X(1, pid) X(2, reads) X(3, read) X(4, writes) X(5, written) X(6, refused) X(7, error) \
    X(8, error_time)
#define MW_FIELDS_CHOICE(X) X(1, item)
#define MW_FIELDS_CHOICEITEM(X) X(1, what) X(2, name) X(3, how) X(4, source)
#define MW_FIELDS_TOPOLOGY(X)                                                                \
    X(1, xml) X(2, source) X(3, took) X(4, failure) X(5, slit) X(6, pci) X(7, gpu) X(8, link)
#define MW_FIELDS_SLIT(X) X(1, node) X(2, distance) X(3, cpus) X(4, memory)
#define MW_FIELDS_PCI(X)                                                                   \
    X(1, address) X(2, parent) X(3, class) X(4, vendor) X(5, device) X(6, node) X(7, speed) \
    X(8, speed_max) X(9, width) X(10, width_max) X(11, driver) X(12, names) X(13, cpus)
#define MW_FIELDS_GPU(X) X(1, node) X(2, pci) X(3, gpu_id) X(4, name) X(5, unique_id) X(6, hive)
#define MW_FIELDS_GPULINK(X) \
    X(1, from) X(2, to) X(3, type) X(4, weight) X(5, min_bandwidth) X(6, max_bandwidth)
#define MW_FIELDS_PLACEMENT(X)                                                               \
    X(1, when) X(2, time) X(3, cpus) X(4, process_cpus) X(5, parent_cpus) X(6, parent)       \
    X(7, cgroup_cpus) X(8, cpu) X(9, node) X(10, policy) X(11, migrations) X(12, involuntary) \
    X(13, voluntary) X(14, mems) X(15, thread) X(16, foreign) X(18, watched) X(19, unwatched) \
    X(20, threads)
#define MW_FIELDS_PLACEDTHREAD(X) X(1, tid) X(2, cpu) X(3, cpus) X(4, ticks) X(5, name) X(6, mpi)
#define MW_FIELDS_FOREIGN(X) \
    X(1, pid) X(2, name) X(3, cpu) X(4, busy) X(5, same_user) X(6, parent) X(7, cpus)
#define MW_FIELDS_DEVICE(X) X(1, device) X(2, time) X(3, visible)
#define MW_FIELDS_GPUDEVICE(X)                                                                \
    X(1, runtime) X(2, index) X(3, pci) X(4, name) X(5, memory) X(6, uuid) X(7, peer) X(8, current)
#define MW_FIELDS_DEVICEPEER(X) X(1, index) X(2, access) X(3, link) X(4, hops)
#define MW_FIELDS_BUFFER(X) X(1, space)
#define MW_FIELDS_SPACE(X) \
    X(1, id) X(2, kind) X(3, runtime) X(4, device) X(5, note) X(6, calls) X(7, bytes)

#define MW_FIELDS_REGION(X) \
    X(1, id) X(2, parent) X(3, level) X(4, name) X(5, entries) X(6, time) X(7, since)
#define MW_FIELDS_AGGREGATE(X)                                                                \
    X(1, thread) X(2, number) X(3, start) X(4, end) X(5, why) X(6, row) X(7, last_function)   \
    X(8, last_site) X(9, last_end) X(10, spaces)
#define MW_FIELDS_ROW(X)                                                                      \
    X(1, function) X(2, site) X(3, kind) X(4, flags) X(5, comm) X(6, peer) X(7, class)        \
    X(8, region) X(9, calls) X(10, time) X(11, least) X(12, most) X(13, errors)               \
    X(14, operations) X(15, bytes) X(16, bytes_in) X(17, next) X(18, object)       \
        X(19, spaces)

#define MW_FIELD_ENUM_(chunk, number, id) MW_F_##chunk##_##id = number,
enum mw_field_number {
#define X(n, id) MW_FIELD_ENUM_(FILE, n, id)
    MW_FIELDS_FILE(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(JOB, n, id)
    MW_FIELDS_JOB(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(PROCESS, n, id)
    MW_FIELDS_PROCESS(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(RANK, n, id)
    MW_FIELDS_RANK(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(CLOCK, n, id)
    MW_FIELDS_CLOCK(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(MODULES, n, id)
    MW_FIELDS_MODULES(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(MODULE, n, id)
    MW_FIELDS_MODULE(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(SITES, n, id)
    MW_FIELDS_SITES(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(SITE, n, id)
    MW_FIELDS_SITE(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(COMM, n, id)
    MW_FIELDS_COMM(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(COUNTS, n, id)
    MW_FIELDS_COUNTS(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(COUNT, n, id)
    MW_FIELDS_COUNT(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(OPEN, n, id)
    MW_FIELDS_OPEN(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(OPENCALL, n, id)
    MW_FIELDS_OPENCALL(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(HEALTH, n, id)
    MW_FIELDS_HEALTH(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(ENVIRONMENT, n, id)
    MW_FIELDS_ENVIRONMENT(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(FACT, n, id)
    MW_FIELDS_FACT(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(END, n, id)
    MW_FIELDS_END(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(COST, n, id)
    MW_FIELDS_COST(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(THREAD, n, id)
    MW_FIELDS_THREAD(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(ATTEMPT, n, id)
    MW_FIELDS_ATTEMPT(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(OFFER, n, id)
    MW_FIELDS_OFFER(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(ENDPOINT, n, id)
    MW_FIELDS_ENDPOINT(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(PEER, n, id)
    MW_FIELDS_PEER(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(LANE, n, id)
    MW_FIELDS_LANE(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(LOG, n, id)
    MW_FIELDS_LOG(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(SOCKETS, n, id)
    MW_FIELDS_SOCKETS(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(CONNECTION, n, id)
    MW_FIELDS_CONNECTION(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(PORTS, n, id)
    MW_FIELDS_PORTS(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(PORT, n, id)
    MW_FIELDS_PORT(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(WINDOW, n, id)
    MW_FIELDS_WINDOW(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(IOFILE, n, id)
    MW_FIELDS_IOFILE(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(FLOW, n, id)
    MW_FIELDS_FLOW(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(CMA, n, id)
    MW_FIELDS_CMA(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(CMAPEER, n, id)
    MW_FIELDS_CMAPEER(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(CHOICE, n, id)
    MW_FIELDS_CHOICE(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(CHOICEITEM, n, id)
    MW_FIELDS_CHOICEITEM(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(TOPOLOGY, n, id)
    MW_FIELDS_TOPOLOGY(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(SLIT, n, id)
    MW_FIELDS_SLIT(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(PCI, n, id)
    MW_FIELDS_PCI(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(GPU, n, id)
    MW_FIELDS_GPU(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(GPULINK, n, id)
    MW_FIELDS_GPULINK(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(PLACEMENT, n, id)
    MW_FIELDS_PLACEMENT(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(PLACEDTHREAD, n, id)
    MW_FIELDS_PLACEDTHREAD(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(FOREIGN, n, id)
    MW_FIELDS_FOREIGN(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(DEVICE, n, id)
    MW_FIELDS_DEVICE(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(GPUDEVICE, n, id)
    MW_FIELDS_GPUDEVICE(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(DEVICEPEER, n, id)
    MW_FIELDS_DEVICEPEER(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(BUFFER, n, id)
    MW_FIELDS_BUFFER(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(SPACE, n, id)
    MW_FIELDS_SPACE(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(REGION, n, id)
    MW_FIELDS_REGION(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(AGGREGATE, n, id)
    MW_FIELDS_AGGREGATE(X)
#undef X
#define X(n, id) MW_FIELD_ENUM_(ROW, n, id)
    MW_FIELDS_ROW(X)
#undef X
};

enum mw_clock_kind { MW_CLOCK_TSC = 1, MW_CLOCK_CNTVCT = 2, MW_CLOCK_MONOTONIC = 3 };

enum mw_abi_kind { MW_ABI_OPENMPI = 1, MW_ABI_MPICH = 2, MW_ABI_STANDARD = 3 };

enum mw_module_role {
    MW_MODULE_PROGRAM = 0,
    MW_MODULE_MPI = 1,
    MW_MODULE_BINDING = 2,
    MW_MODULE_TOOL = 3,
    MW_MODULE_MPIWATCH = 4,
};

/* How a communicator came to be (COMM.how): X(number, IDENTIFIER, word in reports). */
#define MW_COMM_LIST(X)                  \
    X(0, FOUND, "found")                 \
    X(1, WORLD, "world")                 \
    X(2, SELF, "self")                   \
    X(3, DUP, "dup")                     \
    X(4, CREATE, "create")               \
    X(5, CREATE_GROUP, "create_group")   \
    X(6, SPLIT, "split")                 \
    X(7, SPLIT_TYPE, "split_type")       \
    X(8, CART, "cart")                   \
    X(9, CART_SUB, "cart_sub")           \
    X(10, GRAPH, "graph")                \
    X(11, DIST_GRAPH, "dist_graph")      \
    X(12, INTERCOMM, "intercomm")        \
    X(13, MERGE, "merge")                \
    X(14, FROM_GROUP, "from_group")      \
    X(15, SPAWN, "spawn")                \
    X(16, CONNECT, "connect")            \
    X(17, ACCEPT, "accept")              \
    X(18, JOIN, "join")                  \
    X(19, PARENT, "parent")

enum mw_comm_how {
#define MW_COMM_ENUM(number, id, word) MW_COMM_##id = number,
    MW_COMM_LIST(MW_COMM_ENUM)
#undef MW_COMM_ENUM
    MW_COMM_HOW_END_
};

enum mw_event_kind {
    MW_EVENT_CALL = 1,
    MW_EVENT_SEND = 2,
    MW_EVENT_RECV = 3,
    MW_EVENT_DONE = 4,
    MW_EVENT_COLL = 5,
    MW_EVENT_POLL = 6,
    /* 7 is none: an early golden file has it as an unknown kind */
    MW_EVENT_RMA = 8,
    MW_EVENT_EPOCH = 9,
    MW_EVENT_READ = 10,
    MW_EVENT_WRITE = 11,
    MW_EVENT_FILE = 12,
};
#define MW_EVENT_KIND_KNOWN(kind) ((kind) >= 1 && (kind) <= 12 && (kind) != 7)

enum mw_event_flag {
    MW_EVENT_PART = 1 << 0,
    MW_EVENT_ERROR = 1 << 1,
    MW_EVENT_NESTED = 1 << 2,
    MW_EVENT_REQUEST = 1 << 3,
    MW_EVENT_FOREIGN = 1 << 4,
    MW_EVENT_ORDINAL = 1 << 5,
    MW_EVENT_COUNTED = 1 << 6,
    MW_EVENT_STATUS = 1 << 7,
    MW_EVENT_MATCHED = 1 << 8,
    MW_EVENT_ANY_SOURCE = 1 << 9,
    MW_EVENT_ANY_TAG = 1 << 10,
    MW_EVENT_CANCELLED = 1 << 11,
    MW_EVENT_PERSISTENT = 1 << 12,
    MW_EVENT_FREED = 1 << 13,
    MW_EVENT_INTER = 1 << 14,
    MW_EVENT_SYNC = 1 << 15,
    MW_EVENT_BUFFERED = 1 << 16,
    MW_EVENT_READY = 1 << 17,
    /* 1 << 18 is none, as kind 7 */
    MW_EVENT_COLLECTIVE = 1 << 19,
    MW_EVENT_OFFSET = 1 << 20,
    MW_EVENT_HELD = MW_EVENT_OFFSET, /* at CALL */
};
/* Flags also hold two numbers: the memory spaces (BUFFER) that the call sends from and receives
 * into; 0 is ordinary host memory, MW_EVENT_SPACE_MORE one of more than there are numbers. */
#define MW_EVENT_SPACE_SEND_SHIFT 21
#define MW_EVENT_SPACE_RECEIVE_SHIFT 26
#define MW_EVENT_SPACE_MASK 31
#define MW_EVENT_SPACE_MORE 31
#define MW_EVENT_SPACE_SEND(flags) ((flags) >> MW_EVENT_SPACE_SEND_SHIFT & MW_EVENT_SPACE_MASK)
#define MW_EVENT_SPACE_RECEIVE(flags) \
    ((flags) >> MW_EVENT_SPACE_RECEIVE_SHIFT & MW_EVENT_SPACE_MASK)
#define MW_EVENT_SPACES \
    (MW_EVENT_SPACE_MASK << MW_EVENT_SPACE_SEND_SHIFT | \
     MW_EVENT_SPACE_MASK << MW_EVENT_SPACE_RECEIVE_SHIFT)
/* Both numbers in one, as rows have them (ROW.spaces), and back. */
#define MW_ROW_SPACES(flags)        (((uint32_t)(flags) & MW_EVENT_SPACES) >> MW_EVENT_SPACE_SEND_SHIFT)
#define MW_ROW_SPACE_SEND(spaces)    ((spaces) & MW_EVENT_SPACE_MASK)
#define MW_ROW_SPACE_RECEIVE(spaces) ((spaces) >> 5 & MW_EVENT_SPACE_MASK)
#define MW_EVENT_KNOWN_FLAGS ((((MW_EVENT_OFFSET << 1) - 1) & ~(1 << 18)) | MW_EVENT_SPACES)

/* What a memory space is (SPACE.kind): X(number, IDENTIFIER, word in reports). */
#define MW_MEMORY_LIST(X)               \
    X(1, PINNED, "pinned host")         \
    X(2, MANAGED, "managed")            \
    X(3, DEVICE, "device")              \
    X(4, REGISTERED, "registered host") \
    X(5, UNKNOWN, "unknown")

enum mw_memory_kind {
    MW_MEMORY_HOST = 0, /* ordinary: has no space */
#define MW_MEMORY_ENUM(number, id, word) MW_MEMORY_##id = number,
    MW_MEMORY_LIST(MW_MEMORY_ENUM)
#undef MW_MEMORY_ENUM
};

/* How a window came to be (WINDOW.flavour): X(number, IDENTIFIER, word in reports). */
#define MW_WINDOW_LIST(X)      \
    X(1, CREATE, "create")     \
    X(2, ALLOCATE, "allocate") \
    X(3, SHARED, "shared")     \
    X(4, DYNAMIC, "dynamic")

enum mw_window_flavour {
    MW_WINDOW_UNKNOWN = 0,
#define MW_WINDOW_ENUM(number, id, word) MW_WINDOW_##id = number,
    MW_WINDOW_LIST(MW_WINDOW_ENUM)
#undef MW_WINDOW_ENUM
};

/* Peers that are no rank of MPI_COMM_WORLD. MW_PEER_OUTSIDE(r): rank r of a remote group of another job. */
enum { MW_PEER_ANY = -1, MW_PEER_NONE = -2, MW_PEER_UNKNOWN = -3 };
enum { MW_TAG_ANY = -1 };
#define MW_PEER_OUTSIDE(rank) (-16 - (rank))

/* When it was looked (SOCKETS.when, PORTS.when, PLACEMENT.when). */
enum mw_when { MW_WHEN_INIT = 1, MW_WHEN_DURING = 2, MW_WHEN_END = 3 };

/* Flags of rows beside those of events (ROW.flags): each operation has bytes or bytes_in; else none. */
enum mw_row_flag { MW_ROW_SENT = 1 << 24, MW_ROW_RECEIVED = 1 << 25 };

/* Why calls were aggregated (AGGREGATE.why). */
enum mw_aggregate_why { MW_WHY_SUMMARY = 1, MW_WHY_BUDGET = 2, MW_WHY_PCONTROL = 3 };

enum mw_end_reason {
    MW_END_NONE = 0, /* an end before was none: recording goes on */
    MW_END_FINALIZE = 1,
    MW_END_EXIT = 2,
    MW_END_ABORT = 3,
    MW_END_COLLECTED = 4,
    MW_END_SNAPSHOT = 5,
};

#endif
