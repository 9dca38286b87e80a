/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading mpiwatch traces (libmpiwatch-trace). A trace is a folder NAME.mpiw, a packed file, or any
 * single file of one; docs/format.md is the norm.
 *
 * Ownership: whatever a function returns by pointer belongs to the mw_trace (or mw_cursor) it came
 * from and lives until mw_trace_close (mw_cursor_close, or the next mw_cursor_next where said).
 * Text is a terminated string, never NULL ("" where the trace has none), and comes from the trace
 * as it is: it may hold control characters and must be escaped before it is shown.
 * Times are readings of a process's own clock unless a name ends in _ns.
 * Errors: enum mw_status. A damaged place never makes the rest unreadable: what was found is in
 * mw_trace_damage(). Nothing here writes to a file or to a stream.
 * Threads: one mw_trace may be read by several threads at once through different cursors.
 */
#ifndef MPIWATCH_TRACE_H
#define MPIWATCH_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "mpiwatch/format.h"
#include "mpiwatch/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_trace mw_trace;
typedef struct mw_cursor mw_cursor;

enum mw_open_flags {
    MW_OPEN_RESIDUE = 1, /* also read what processes of this trace left in /dev/shm of this host */
};

/* Opens a trace: `paths` are folders, packed files or node files, joined into one trace. Reads
 * everything but the events. Of a folder the files NAME.mpiw in it are read, sorted by name, no
 * symbolic links and no folders within it. A file that is named twice is read once.
 * MW_OK when anything could be read: paths that could not are then in mw_trace_damage(). Else what
 * is wrong with the first path, whose index (0) *failed then is, where not NULL: MW_ERR_SYSTEM
 * (errno) when it cannot be read, MW_ERR_NOT_TRACE when it holds no chunk, MW_ERR_NEWER when all in
 * it is newer, MW_ERR_TRUNCATED, MW_ERR_CORRUPT or MW_ERR_LIMIT when it begins like a trace but has
 * no whole chunk. MW_ERR_ARGUMENT, MW_ERR_MEMORY. What is kept of a trace in memory is bounded by
 * its size on disk; where a hostile one would need more, the rest is left out and is damage. */
enum mw_status mw_trace_open(const char *const *paths, size_t count, unsigned flags,
                             mw_trace **trace, size_t *failed);
void mw_trace_close(mw_trace *trace);

/* What could not be read: in file order, within a file by offset. Of a file that is damaged all
 * over the first hundred places are named, and one more entry says how many others there are. */
struct mw_damage {
    const char *file;
    uint64_t offset; /* bytes from the start of the file */
    uint64_t length; /* bytes that were skipped; 0 where not known */
    enum mw_status status;
    const char *text; /* one line: what is wrong there */
};
size_t mw_trace_damage_count(const mw_trace *trace);
const struct mw_damage *mw_trace_damage(const mw_trace *trace, size_t index);

/* The files that were read. */
struct mw_file {
    const char *path;
    uint64_t size;   /* bytes, when it was opened */
    uint64_t chunks; /* whole ones with a right checksum, also of unknown types */
    const char *writer, *host;
    int residue; /* 1: a mapping in /dev/shm, not a file of the trace */
    const char *boot_id;
    uint64_t pid_ns, mnt_ns, user_ns; /* inode numbers of the writer's namespaces */
};
size_t mw_trace_file_count(const mw_trace *trace);
const struct mw_file *mw_trace_file(const mw_trace *trace, size_t index);

struct mw_job {
    const char *key, *launcher, *job_id, *program;
    const char *const *command;
    size_t command_count;
};
/* Never NULL; all empty where the trace has no JOB chunk. */
const struct mw_job *mw_trace_job(const mw_trace *trace);

struct mw_clock_reading {
    uint64_t time, raw_ns, real_ns, mono_ns, width;
};

struct mw_module {
    uint64_t id;
    const char *path;
    const uint8_t *build_id;
    size_t build_id_size;
    uint64_t start, end;
    enum mw_module_role role;
};

struct mw_frame {
    uint64_t module; /* id; mw_process_module() */
    uint64_t offset; /* of the return address from the module's start */
};
struct mw_site {
    uint64_t id;
    const struct mw_frame *frames; /* innermost first */
    size_t frame_count;
    int truncated;
};

struct mw_run { /* start, start + stride, ...: count world ranks */
    int64_t start, stride;
    uint64_t count;
};
struct mw_comm {
    uint64_t id;
    enum mw_comm_how how;
    int64_t parent; /* id; -1 none or unknown */
    uint64_t number, size, rank, remote_size, hash;
    const struct mw_run *members, *remote_members;
    size_t member_runs, remote_member_runs; /* 0 where another rank wrote them */
    /* Ranks of the members in the parent, where some are outside the world, and a hash of them; 0 not known. */
    const struct mw_run *places;
    size_t place_runs;
    uint64_t place_hash;
    const char *name;
    uint64_t freed; /* time; 0 not freed */
    /* Of those with processes outside the world (spawn, connect, accept, join): the times of the call that made it, and
     * a hash of the port's name in the root; 0 not known. */
    uint64_t began, made, port;
};

struct mw_count {
    uint64_t function;
    const char *name; /* "MPI_Send" */
    uint64_t calls;
};

struct mw_open_call {
    uint64_t thread, function, start, site;
    const char *name;
    int64_t comm;      /* id; -1 none */
    int64_t peer, tag; /* MW_PEER_NONE where it has none */
    int64_t instance;  /* of a collective on its communicator; -1 none */
};

struct mw_health {
    const char *code, *message;
    uint64_t count, time;
};

struct mw_fact {
    const char *section, *key, *value, *source;
};

struct mw_thread {
    uint64_t index, tid;
    const char *name;
    int main;
};

struct mw_cost {
    uint64_t init_ns, encode_ns, write_ns, bytes, chunks, events, longest_ns, finalize_ns, memory,
        stamp_ps;
};

/* What fabrics were opened, and what went through them (docs/format.md: ATTEMPT, ENDPOINT, LOG, SOCKETS,
 * PORTS, CMA, CHOICE), windows, files and collective amounts. Bytes and counts are cumulative. */
struct mw_offer {
    const char *provider, *domain, *fabric, *device, *state, *driver;
    uint64_t speed; /* bit/s; 0 not known */
};
struct mw_attempt {
    uint64_t id;
    const char *library, *call, *words, *provider, *domain, *fabric, *device, *driver, *asked;
    int64_t result;
    uint64_t caller;     /* module id; 0 not known */
    uint64_t start, end; /* end 0: had not returned */
    int inner;
    uint64_t speed, endpoint;
    const struct mw_offer *offers;
    size_t offer_count;
};
struct mw_lane {
    const char *use, *transport, *device;
};
struct mw_peer {
    const uint8_t *address;
    size_t address_size;
    uint64_t sends, sent, puts, put, gets, got, unsized;
    const struct mw_lane *lanes;
    size_t lane_count;
};
struct mw_endpoint {
    uint64_t id;
    const char *library, *provider, *domain, *device;
    uint64_t caller;
    const uint8_t *address;
    size_t address_size;
    uint64_t format, speed, time, unlisted;
    int inner;
    const struct mw_peer *peers; /* by address, as bytes */
    size_t peer_count;
};
struct mw_log_line {
    uint64_t id, line, count, time;
    const char *library, *level, *subsystem, *provider, *function, *text;
};
struct mw_connection {
    const uint8_t *local, *remote; /* 6 or 18 bytes each, or none: address and port, big-endian */
    size_t local_size, remote_size;
    uint64_t sent, received, rtt_us, retransmits, cookie, state, fd, waiting, min_rtt_us;
    const char *interface;
};
struct mw_sockets { /* one look at the connections */
    enum mw_when when;
    uint64_t time, unseen;
    const struct mw_connection *connections; /* by fd */
    size_t connection_count;
};
struct mw_port {
    const char *name, *kind, *state, *address;
    uint64_t number, received, sent, rate, errors; /* rate: bit/s; 0 not known */
};
struct mw_ports { /* one look at the ports of a node */
    enum mw_when when;
    uint64_t time;
    const struct mw_port *ports; /* by kind, name and number */
    size_t port_count;
};
struct mw_cma_peer {
    uint64_t pid, reads, read, writes, written, refused, error, error_time;
};
struct mw_rma_window {
    uint64_t id;
    enum mw_window_flavour flavour;
    int64_t comm;    /* id; -1 unknown */
    uint64_t number; /* of the windows made on it */
    uint64_t size, unit; /* bytes that this process exposes; its displacement unit */
    const char *name;
    uint64_t freed; /* time; 0 not freed */
};
struct mw_iofile {
    uint64_t id;
    int64_t comm;    /* id; -1 unknown */
    uint64_t number; /* of the files opened on it */
    const char *name;
    uint64_t mode;   /* as given to MPI_File_open */
    uint64_t closed; /* time; 0 not closed */
};
struct mw_coll_flow { /* what a process sent to a peer in collectives of which only it knows how much */
    int64_t comm, peer;
    uint64_t messages, bytes;
};
struct mw_choice {
    const char *what, *name, *how, *source;
};

/* Where processes sit, what their node is, and GPUs (docs/format.md: TOPOLOGY, PLACEMENT, DEVICE,
 * BUFFER). CPUs are the kernel's numbers. */
struct mw_cpu_run { /* first, first + 1, ...: count of them */
    uint64_t first, count;
};
struct mw_slit { /* a NUMA node, with the firmware's distances to all of them, by number */
    uint64_t node, memory;
    const uint64_t *distances;
    size_t distance_count;
    const struct mw_cpu_run *cpus;
    size_t cpu_runs;
};
struct mw_pci {
    const char *address, *parent; /* "0000:c1:00.0"; parent "": a host bridge */
    uint64_t class_code, vendor, device;
    int64_t node;                                  /* NUMA node; -1 not known */
    uint64_t speed, speed_max, width, width_max; /* MT/s, lanes; 0 not known */
    const char *driver, *names;
    const struct mw_cpu_run *cpus;
    size_t cpu_runs;
};
struct mw_gpu { /* of the amdgpu driver's list */
    uint64_t node;
    const char *pci, *name;
    uint64_t gpu_id, unique_id, hive;
};
struct mw_gpu_link {
    uint64_t from, to, type, weight, min_bandwidth, max_bandwidth; /* MB/s; 0 not known */
};
struct mw_topology {
    const uint8_t *xml; /* hwloc's; NULL or size 0: none, and `failure` says why */
    size_t xml_size;
    const char *source, *failure;
    uint64_t took_ns;
    const struct mw_slit *slit;      /* by node */
    const struct mw_pci *pci;        /* by address */
    const struct mw_gpu *gpus;       /* by node */
    const struct mw_gpu_link *links; /* by from, to, type */
    size_t slit_count, pci_count, gpu_count, link_count;
};
struct mw_placed_thread {
    uint64_t tid;
    int64_t cpu;                   /* the last one; -1 not known */
    const struct mw_cpu_run *cpus; /* none: as the thread's that calls MPI */
    size_t cpu_runs;
    uint64_t ticks; /* of processor time, 100 a second */
    const char *name;
    int mpi;
};
struct mw_foreign { /* a busy process of the node that the recorded one did not start */
    uint64_t pid, parent, busy; /* percent of one processor since the look before */
    const char *name;
    int64_t cpu; /* the last one; -1 not known */
    int same_user;
    const struct mw_cpu_run *cpus;
    size_t cpu_runs;
};
struct mw_placement { /* one look at where a process may run and does */
    enum mw_when when;
    uint64_t time;
    const struct mw_cpu_run *cpus; /* of the thread that calls MPI */
    size_t cpu_runs;
    const struct mw_cpu_run *process_cpus; /* of the main thread, where they differ */
    size_t process_cpu_runs;
    const struct mw_cpu_run *parent_cpus; /* of the parent process */
    size_t parent_cpu_runs;
    const struct mw_cpu_run *cgroup_cpus;
    size_t cgroup_cpu_runs;
    const struct mw_cpu_run *mems; /* memory nodes */
    size_t mem_runs;
    const char *parent, *policy;
    int64_t cpu, node, migrations; /* -1 not known */
    uint64_t involuntary, voluntary, thread_total;
    uint64_t watched_ns, unwatched; /* of the look for foreign processes; 0: there was none */
    const struct mw_placed_thread *threads; /* by tid */
    const struct mw_foreign *foreign;       /* by pid */
    size_t thread_count, foreign_count;
};
struct mw_device_peer {
    uint64_t index, access, hops;
    const char *link;
};
struct mw_device { /* a GPU that a process can use */
    const char *runtime;
    uint64_t index;
    const char *pci, *name, *uuid;
    uint64_t memory;
    int current;
    const struct mw_device_peer *peers;
    size_t peer_count;
};
struct mw_memory_space {
    uint64_t id;
    enum mw_memory_kind kind;
    const char *runtime, *note;
    int64_t device; /* index; -1 none */
    uint64_t calls, bytes;
};

/* Calls of which only sums are kept (docs/format.md: AGGREGATE). */
struct mw_aggregate_row {
    uint64_t function, site;
    uint64_t kind;  /* enum mw_event_kind of its operations; CALL: none */
    uint64_t flags; /* enum mw_event_flag, mw_row_flag */
    int64_t comm;   /* id; -1 none */
    int64_t peer;
    uint64_t size_class, region;
    uint64_t calls, time, least, most, errors; /* time, least, most: clock ticks */
    uint64_t operations, bytes, bytes_in;
    uint64_t next;  /* one more than the highest instance of a collective; 0 none */
    int64_t object; /* id of the window or file of kinds above POLL; -1 not known */
    uint64_t spaces; /* of its operations: MW_ROW_SPACE_SEND, MW_ROW_SPACE_RECEIVE */
};
struct mw_aggregate { /* a slice of time of one thread */
    uint64_t thread, number, start, end;
    uint64_t why;   /* enum mw_aggregate_why */
    uint64_t last_function, last_site, last_end; /* the thread's last aggregated call by then */
    uint64_t weight; /* calls and operations of its rows in all */
    uint64_t spaces; /* 1: its rows tell memory spaces apart */
    const struct mw_aggregate_row *rows;
    size_t row_count;
};

/* A part of the program that MPI_Pcontrol named. */
struct mw_region {
    uint64_t id, parent; /* parent: id of the region around it, 0 none */
    int64_t level;
    const char *name;
    uint64_t entries, time; /* time: ticks in finished entries */
    uint64_t since;         /* start of the entry that is open; 0: none is */
};

struct mw_process {
    uint64_t key;
    const char *host;
    uint64_t pid, start_time, ppid;
    const char *exe, *cwd, *boot_id, *mpi_library;
    const char *const *arguments;
    size_t argument_count;
    enum mw_clock_kind clock;
    enum mw_abi_kind abi;
    int64_t rank_hint, size_hint; /* -1 unknown */
    uint64_t began;               /* start of the call that initialised MPI */
    int has_rank;                 /* a RANK chunk was read: the fields below are set */
    int64_t rank, size;           /* -1 unknown */
    const char *library_version, *processor_name;
    int standard;     /* 41 for MPI 4.1 */
    int thread_level; /* provided; -1 unknown */
    uint64_t init_end;
    int64_t appnum; /* -1 unknown */
    int end_reason; /* enum mw_end_reason; 0: no END chunk */
    uint64_t end_time, finalize_end;
    int64_t end_code;
    uint64_t open_taken_ns; /* CLOCK_REALTIME when the open calls were read */
    int open_alive;
    struct mw_cost cost;
    const struct mw_clock_reading *clocks;
    const struct mw_module *modules;
    const struct mw_site *sites;
    const struct mw_comm *comms;
    const struct mw_count *counts; /* summed over threads */
    const struct mw_open_call *open_calls;
    const struct mw_health *health;
    const struct mw_fact *facts; /* with those of its base */
    const struct mw_thread *threads;
    size_t clock_count, module_count, site_count, comm_count, count_count, open_call_count,
        health_count, fact_count, thread_count;
    int thread_level_asked; /* of MPI_Init_thread; -1 unknown */
    uint64_t pid_ns;
    uint64_t facts_base; /* key of the process whose facts these built on; 0 none */
    int facts_node;      /* 1: its facts hold for the whole node */
    const struct mw_attempt *attempts;    /* by id */
    const struct mw_endpoint *endpoints;  /* by id */
    const struct mw_log_line *log;        /* by id; without id 0 */
    const struct mw_sockets *sockets;     /* by time, then when */
    const struct mw_ports *ports;         /* by time, then when */
    const struct mw_cma_peer *cma;        /* by pid */
    const struct mw_choice *choices;      /* by what, then name */
    size_t attempt_count, endpoint_count, log_count, sockets_count, ports_count, cma_count,
        choice_count;
    const struct mw_rma_window *windows; /* by id */
    const struct mw_iofile *iofiles; /* by id */
    const struct mw_coll_flow *flows;     /* by comm, then peer */
    size_t window_count, iofile_count, flow_count;
    uint64_t flow_time; /* when these amounts were read */
    uint64_t log_lost; /* lines that found no room */
    uint64_t cma_time; /* when these counts were read */
    const struct mw_topology *topology;    /* NULL: another process of its node has it, or none */
    const struct mw_placement *placements; /* by time, then when */
    const struct mw_device *devices;       /* by runtime, then index */
    const struct mw_memory_space *spaces;  /* by id */
    size_t placement_count, device_count, space_count;
    uint64_t device_time;        /* when they were read */
    const char *devices_visible; /* which settings leave devices out */
    uint64_t world; /* equal in processes of one MPI_COMM_WORLD, as the launcher told; 0 not known */
    /* Hashes of what the launcher calls this process, and the one that spawned its world; 0 not known. */
    uint64_t name, spawner;
    const struct mw_aggregate *aggregates; /* by thread, then number */
    const struct mw_region *regions;       /* by id */
    size_t aggregate_count, region_count;
};

/* Processes, those with a rank first and by rank. */
size_t mw_trace_process_count(const mw_trace *trace);
const struct mw_process *mw_trace_process(const mw_trace *trace, size_t index);

/* Look-ups; NULL when there is none. */
const struct mw_module *mw_process_module(const struct mw_process *process, uint64_t id);
const struct mw_site *mw_process_site(const struct mw_process *process, uint64_t id);
const struct mw_comm *mw_process_comm(const struct mw_process *process, uint64_t id);

const struct mw_rma_window *mw_process_window(const struct mw_process *process, uint64_t id);
const struct mw_iofile *mw_process_iofile(const struct mw_process *process, uint64_t id);

/* CLOCK_REALTIME (kind 0) or CLOCK_MONOTONIC_RAW (kind 1), in ns, for a reading of the process's
 * clock, and the length of a span in ns. A straight line through the first and the last clock
 * readings; with one reading only, or none, TSC time is unknown: NaN. */
enum mw_time_kind { MW_TIME_REAL = 0, MW_TIME_RAW = 1 };
double mw_process_time_ns(const struct mw_process *process, uint64_t time, int kind);
/* The same to the nanosecond (a double since 1970 has a step of 256 ns); 0 when it is not known,
 * *ns is then untouched. */
int mw_process_time_exact(const struct mw_process *process, uint64_t time, int kind, int64_t *ns);
double mw_process_span_ns(const struct mw_process *process, uint64_t ticks);

/* One event (docs/format.md section 5). */
struct mw_event {
    enum mw_event_kind kind;
    uint32_t flags; /* enum mw_event_flag, MW_EVENT_SPACE_SEND, MW_EVENT_SPACE_RECEIVE */
    uint64_t function;
    uint64_t start, end; /* PART: those of its call */
    int64_t comm;        /* id; -1 none */
    int64_t peer, tag;
    uint64_t bytes, bytes_in;
    uint64_t site;
    uint64_t request, origin; /* number and thread of the request, with REQUEST */
    int64_t ordinal;          /* with COUNTED; else -1 */
    uint64_t polls, busy;
    int64_t code;
    int64_t offset; /* with OFFSET; CALL: ticks that recording held the call up, with HELD */
};

/* One call of user code: its event and the parts that belong to it. */
struct mw_call_record {
    uint64_t number; /* of the call's own event, within its thread */
    struct mw_event call;
    const struct mw_event *parts;
    size_t part_count;
    /* Parts without their call, as it is still open or lost: `call` then has kind CALL and, where an
     * open call of the thread is known, its function, start and site. More than 2^20 parts come as
     * several such records. */
    int incomplete;
};

/* Reads the calls of one thread in the order in which they ended. Needs memory for one chunk. */
enum mw_status mw_cursor_open(const mw_trace *trace, const struct mw_process *process,
                              uint64_t thread, mw_cursor **cursor);
/* The next call, valid until the following mw_cursor_next. MW_END after the last one. Damaged
 * chunks are skipped (mw_cursor_missing counts the events that are known to be missing so far).
 * MW_ERR_MEMORY. */
enum mw_status mw_cursor_next(mw_cursor *cursor, const struct mw_call_record **record);
uint64_t mw_cursor_missing(const mw_cursor *cursor);
/* What this cursor found unreadable so far that mw_trace_damage does not have: chunks whose content
 * turned out to be malformed. */
size_t mw_cursor_damage_count(const mw_cursor *cursor);
const struct mw_damage *mw_cursor_damage(const mw_cursor *cursor, size_t index);
void mw_cursor_close(mw_cursor *cursor);

/* "MPI_Send" for a function number; "MPI_function_<n>" where neither this library nor the process's
 * counts know it. */
const char *mw_process_function_name(const struct mw_process *process, uint64_t function);
/* A chunk type's name, "UNKNOWN" for others. */
const char *mw_chunk_type_name(unsigned type);
/* The word for how a communicator was made, "unknown" for others. */
const char *mw_comm_how_word(enum mw_comm_how how);
/* The word for how a window was made, "unknown" for others. */
const char *mw_window_flavour_word(enum mw_window_flavour flavour);
/* The word for a kind of memory, "unknown" for others. */
const char *mw_memory_kind_word(enum mw_memory_kind kind);

/* Raw access, for tools that copy, filter or index traces: every whole chunk with a right checksum,
 * in file order. The payload is as stored. */
struct mw_chunk_view {
    const char *file;
    uint64_t offset;
    unsigned type, version, flags;
    uint64_t process;
    const uint8_t *payload;
    uint32_t length, raw_length;
};
/* Calls `visit` for each chunk until it returns other than MW_OK, which is then returned. */
enum mw_status mw_trace_visit(const mw_trace *trace,
                              enum mw_status (*visit)(void *context,
                                                      const struct mw_chunk_view *chunk),
                              void *context);

#ifdef __cplusplus
}
#endif
#endif
