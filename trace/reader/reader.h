/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the reader share: the trace, its files, processes and the memory they live in.
 * Everything here is built by mw_trace_open on one thread and only read afterwards, except what
 * `names` guards. Nothing writes to a file or a stream.
 */
#ifndef MW_READER_H
#define MW_READER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mpiwatch/trace.h"
#include "trace/chunk.h"
#include "trace/fields.h"

/* Memory (memory.c). A hostile trace may claim anything: all that is kept of a trace is charged to
 * one account, whose limit grows with the size of the files. */
struct mw_account {
    uint64_t used, limit;
};
enum mw_status mw_account_charge(struct mw_account *account, uint64_t bytes);

struct mw_vector {
    void *items;
    size_t count, capacity;
};
/* Appends a zeroed item; NULL with *status MW_ERR_MEMORY or MW_ERR_LIMIT. */
void *mw_vector_add(struct mw_account *account, struct mw_vector *vector, size_t item,
                    enum mw_status *status);
void mw_vector_free(struct mw_vector *vector);
/* Sorts stably by `order` and keeps the last of equal items, after `merge`, where not NULL, has
 * given it what it shall have of the one before. */
enum mw_status mw_vector_settle(struct mw_vector *vector, size_t item,
                                int (*order)(const void *, const void *),
                                void (*merge)(void *earlier, void *later));

/* Of tables: seeded, as a hostile trace could choose texts and keys that all meet in one place. */
uint64_t mw_hash_seed(void);
uint64_t mw_hash_seeded(uint64_t seed, const void *data, size_t size);

struct mw_pool_block;
struct mw_pool {
    struct mw_account *account;
    uint64_t seed;
    struct mw_pool_block *blocks;
    struct mw_pool_kept { /* open addressing, a power of two */
        const void *data;
        size_t size;
    } * kept;
    size_t kept_count, kept_capacity;
};
/* Zeroed memory that lives as long as the trace. */
enum mw_status mw_pool_take(struct mw_pool *pool, size_t size, void **memory);
/* The one copy of these bytes, with a zero byte behind it, aligned for any type. */
enum mw_status mw_pool_bytes(struct mw_pool *pool, const void *data, size_t size,
                             const void **kept);
/* The one terminated copy of a text. */
enum mw_status mw_pool_text(struct mw_pool *pool, const void *data, size_t size, const char **text);
void mw_pool_free(struct mw_pool *pool);

/* Files (source.c). */
struct mw_source {
    struct mw_file file; /* what the public sees */
    const char *real;    /* absolute, to open it again */
    dev_t dev;
    ino_t ino;
    int fd;              /* kept open for the first files only, else -1 */
    uint8_t *memory;     /* a residue: the chunks themselves */
    int absent;          /* could not be opened: here for the damage to name only */
    size_t damage_count; /* entries in the list of damage */
    uint64_t damage_more, damage_more_offset; /* that are not in it */
    unsigned newest;                          /* newest version above ours */
    uint64_t newer, newer_offset;
    int begins_like_one;         /* with a chunk's magic */
    enum mw_status first_damage; /* at its beginning */
};

/* With MW_EXACT_BUFFERS, for fuzzing, buffers are no larger than what is in them, so that a
 * sanitizer sees every read beyond. */
#ifndef MW_EXACT_BUFFERS
#define MW_EXACT_BUFFERS 0
#endif

/* A window on a source: bytes at any offset, read ahead. The file is opened when the first byte is
 * wanted. */
struct mw_window {
    const struct mw_source *source;
    int fd;
    size_t ahead; /* bytes to read at least */
    uint8_t *buffer;
    size_t capacity, length;
    uint64_t offset;
};
void mw_window_open(struct mw_window *window, const struct mw_source *source, size_t ahead);
/* Lets go of the descriptor until the next get needs it. */
void mw_window_rest(struct mw_window *window);
/* Bytes [offset, offset + length) of the source, valid until the next get. MW_ERR_TRUNCATED beyond
 * the end. */
enum mw_status mw_window_get(struct mw_window *window, uint64_t offset, size_t length,
                             const uint8_t **data);
void mw_window_close(struct mw_window *window);

struct mw_trace;
/* Adds a path's files. MW_ERR_NOT_TRACE for a folder without any. */
enum mw_status mw_sources_add(struct mw_trace *trace, const char *path);
/* The folder of mappings. Only tests change it. */
extern const char *mw_reader_shm;
/* An entry without bytes, for damage to name. */
enum mw_status mw_sources_add_absent(struct mw_trace *trace, const char *path);
/* The size, as it is now. */
void mw_source_measure(struct mw_source *source);
/* Residues of the opened folders; their chunks are taken at once, before the files are read. */
enum mw_status mw_sources_add_residues(struct mw_trace *trace);

/* Chunks (scan.c). */
struct mw_scan {
    enum mw_status (*chunk)(void *context, uint64_t offset, const struct mw_chunk_header *header,
                            const uint8_t *payload);
    void (*damage)(void *context, uint64_t offset, uint64_t length, enum mw_status status,
                   const char *text); /* may be NULL */
    void *context;
};
/* Walks over the whole chunks of a source. Ends early with what `chunk` returns other than MW_OK.
 */
enum mw_status mw_scan_source(const struct mw_source *source, const struct mw_scan *scan);

/* Processes. */
struct mw_event_chunk { /* where some events of a thread are */
    uint64_t thread, first, count;
    uint64_t offset; /* of the chunk's header */
    uint32_t source, length, raw_length, check;
};

struct mw_thread_counts { /* one COUNTS chunk */
    uint64_t thread, total;
    struct mw_count *counts; /* allocated: they are replaced at every flush of a long job */
    size_t count;
};

struct mw_comm_chunk { /* one COMM chunk: what it says */
    struct mw_comm comm;
    uint32_t given; /* bits by field number */
};

struct mw_own_fact {
    struct mw_fact fact;
    int removed;
};

struct mw_place { /* of a chunk */
    uint32_t source;
    uint64_t offset;
};

/* Tables of what a process saw of fabrics and of the kernel (rows.c): a later row replaces, or adds
 * to, an earlier one of the same key. */
enum mw_table {
    MW_TABLE_ATTEMPTS,
    MW_TABLE_ENDPOINTS,
    MW_TABLE_PEERS,
    MW_TABLE_LOG,
    MW_TABLE_SOCKETS,
    MW_TABLE_CONNECTIONS,
    MW_TABLE_PORTS,
    MW_TABLE_PORT_ROWS,
    MW_TABLE_CMA,
    MW_TABLE_CHOICES,
    MW_TABLE_WINDOWS,
    MW_TABLE_IOFILES,
    MW_TABLE_FLOWS,
    MW_TABLE_SLIT,
    MW_TABLE_PCI,
    MW_TABLE_GPUS,
    MW_TABLE_LINKS,
    MW_TABLE_PLACEMENTS,
    MW_TABLE_PLACED_THREADS,
    MW_TABLE_FOREIGN,
    MW_TABLE_DEVICES,
    MW_TABLE_SPACES,
    MW_TABLE_AGGREGATES,
    MW_TABLE_REGIONS,
    MW_TABLE_END_
};
struct mw_rows {
    struct mw_vector vector;
    size_t settled; /* rows that were left when it was last settled */
};

struct mw_process_entry {
    struct mw_process process; /* must be first: the public sees only this */
    struct mw_trace *trace;
    int has_process, has_facts;
    int64_t order; /* of appearance */
    struct mw_vector clocks, modules, sites, comms, counts, open_calls, health, facts, threads;
    struct mw_vector thread_counts, comm_chunks, own_facts, event_chunks;
    size_t thread_counts_settled;
    struct mw_rows rows[MW_TABLE_END_];
    struct mw_topology topology;
    struct mw_place facts_place;
    enum mw_facts_state { FACTS_OWN, FACTS_JOINING, FACTS_DONE } facts_state;
    int facts_cyclic;                     /* they build on themselves in the end */
    struct mw_process_entry *facts_above; /* that waits for this one's */
    struct mw_job job;
    int has_job;
};

struct mw_trace {
    struct mw_account account; /* memory */
    struct mw_account
        unpacked; /* bytes of decompressed payloads: time that a small file may take */
    struct mw_pool pool;
    struct mw_vector sources;   /* struct mw_source * */
    struct mw_vector files;     /* const struct mw_file *, of the sources that are not absent */
    struct mw_vector folders;   /* struct mw_folder */
    struct mw_vector damage;    /* struct mw_damage_entry */
    struct mw_vector processes; /* struct mw_process_entry * */
    struct mw_process_entry **table; /* by key, open addressing */
    size_t table_capacity;
    struct mw_process_entry no_process; /* key 0 */
    struct mw_job job;
    int over_limit;
    uint8_t *raw; /* scratch for decompressed payloads */
    size_t raw_capacity;
    pthread_mutex_t names_lock;
    struct mw_vector names; /* of unknown functions */
};

struct mw_folder {
    dev_t dev;
    ino_t ino;
};

struct mw_damage_entry {
    struct mw_damage damage;
    uint32_t source;
};

/* damage.c. Never fails: what there is no memory for is counted. */
void mw_damage_add(struct mw_trace *trace, uint32_t source, uint64_t offset, uint64_t length,
                   enum mw_status status, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
void mw_damage_finish(struct mw_trace *trace);

/* process.c */
enum mw_status mw_trace_find_process(struct mw_trace *trace, uint64_t key,
                                     struct mw_process_entry **entry);
void mw_process_entry_free(struct mw_process_entry *entry);
enum mw_status mw_processes_finish(struct mw_trace *trace);

/* load.c: reads one chunk into the trace. */
enum mw_status mw_load_source(struct mw_trace *trace, uint32_t source);

/* What one chunk's payload says (load_*.c). `reader` is checked: its fields are well formed. */
struct mw_load {
    struct mw_trace *trace;
    struct mw_process_entry *entry;
    struct mw_place place;
    struct mw_reader reader;
};
typedef enum mw_status (*mw_loader)(struct mw_load *load);
enum mw_status mw_load_file(struct mw_load *load);
enum mw_status mw_load_job(struct mw_load *load);
enum mw_status mw_load_process(struct mw_load *load);
enum mw_status mw_load_rank(struct mw_load *load);
enum mw_status mw_load_clock(struct mw_load *load);
enum mw_status mw_load_modules(struct mw_load *load);
enum mw_status mw_load_sites(struct mw_load *load);
enum mw_status mw_load_comm(struct mw_load *load);
enum mw_status mw_load_counts(struct mw_load *load);
enum mw_status mw_load_open(struct mw_load *load);
enum mw_status mw_load_health(struct mw_load *load);
enum mw_status mw_load_environment(struct mw_load *load);
enum mw_status mw_load_end(struct mw_load *load);
enum mw_status mw_load_cost(struct mw_load *load);
enum mw_status mw_load_thread(struct mw_load *load);
enum mw_status mw_load_attempt(struct mw_load *load);
enum mw_status mw_load_endpoint(struct mw_load *load);
enum mw_status mw_load_log(struct mw_load *load);
enum mw_status mw_load_sockets(struct mw_load *load);
enum mw_status mw_load_ports(struct mw_load *load);
enum mw_status mw_load_cma(struct mw_load *load);
enum mw_status mw_load_choice(struct mw_load *load);
enum mw_status mw_load_window(struct mw_load *load);
enum mw_status mw_load_iofile(struct mw_load *load);
enum mw_status mw_load_flow(struct mw_load *load);
enum mw_status mw_load_topology(struct mw_load *load);
enum mw_status mw_load_placement(struct mw_load *load);
enum mw_status mw_load_device(struct mw_load *load);
enum mw_status mw_load_buffer(struct mw_load *load);
enum mw_status mw_load_aggregate(struct mw_load *load);
enum mw_status mw_load_region(struct mw_load *load);

/* Field values (load_fields.c). A field of another kind than expected reads as if it were missing.
 */
uint64_t mw_field_number(const struct mw_field *field);
int64_t mw_field_signed(const struct mw_field *field);
/* A number that must fit an int; `otherwise` where it does not. */
int mw_field_small(const struct mw_field *field, int otherwise);
/* number - 1 as a signed value; -1 where that does not fit. */
int64_t mw_field_less_one(const struct mw_field *field);
enum mw_status mw_field_text(struct mw_trace *trace, const struct mw_field *field,
                             const char **text);
enum mw_status mw_field_bytes(struct mw_trace *trace, const struct mw_field *field,
                              const uint8_t **data, size_t *size);
enum mw_status mw_field_text_add(struct mw_trace *trace, const struct mw_field *field,
                                 struct mw_vector *texts);
/* How many numbers a packed field holds. */
size_t mw_packed_count(struct mw_reader list);
struct mw_reader mw_field_reader(const struct mw_field *field);
/* MW_ERR_CORRUPT unless the payload of a chunk of this type is a well-formed list, records and
 * packed fields included. */
enum mw_status mw_fields_check(unsigned type, const uint8_t *payload, size_t length);

/* load_tables.c: the rows of all chunks together. */
enum mw_status mw_tables_finish(struct mw_process_entry *entry);
enum mw_status mw_comms_finish(struct mw_process_entry *entry);
enum mw_status mw_counts_finish(struct mw_process_entry *entry);
void mw_counts_free(struct mw_process_entry *entry);
/* Orders rows by their first member, an unsigned 64-bit id. */
int mw_id_order(const void *a, const void *b);

/* members.c: lists of fields that are nothing but the members of a structure. */
struct mw_member {
    unsigned field;
    enum mw_member_kind {
        MW_MEMBER_NUMBER, /* uint64_t */
        MW_MEMBER_SIGNED, /* int64_t */
        MW_MEMBER_FLAG,   /* int: not 0 */
        MW_MEMBER_LESS_ONE, /* int64_t: number - 1; -1 where it is not there */
        MW_MEMBER_WHEN,   /* enum mw_when */
        MW_MEMBER_TEXT,   /* const char * */
        MW_MEMBER_BYTES,  /* const uint8_t *, with a size_t at `size` */
        MW_MEMBER_NUMBERS, /* packed: const uint64_t *, with their count at `size` */
        MW_MEMBER_RUNS,    /* packed pairs: const struct mw_cpu_run *, likewise */
    } kind;
    size_t offset, size;
};
struct mw_members {
    const struct mw_member *members;
    size_t count, structure; /* size of the structure in bytes */
};
/* A member that is called like its field; and all of a structure. */
#define MW_MEMBER(chunk, type, id, kind)                                                           \
    {                                                                                              \
        MW_F_##chunk##_##id, MW_MEMBER_##kind, offsetof(struct type, id), 0                        \
    }
/* The same with the count of its things in another member. */
#define MW_MEMBER_COUNTED(chunk, type, id, kind, count)                                            \
    {                                                                                              \
        MW_F_##chunk##_##id, MW_MEMBER_##kind, offsetof(struct type, id),                          \
            offsetof(struct type, count)                                                           \
    }
#define MW_MEMBERS(table, type)                                                                    \
    {                                                                                              \
        table, sizeof table / sizeof *table, sizeof(struct type)                                   \
    }
/* Empties the structure, then reads the list into it. `given`, where not NULL: bits by field
 * number, also of fields that are no members. */
enum mw_status mw_members_read(struct mw_trace *trace, struct mw_reader list,
                               const struct mw_members *members, void *structure, uint32_t *given);
/* Copies the members of which `given` has no bit. */
void mw_members_fill(const struct mw_members *members, void *structure, uint32_t given,
                     const void *from);
/* All records of one field as an array of structures, of which there is one copy. */
enum mw_status mw_members_array(struct mw_trace *trace, struct mw_reader list, unsigned field,
                                const struct mw_members *members, const void **array,
                                size_t *count);

/* rows.c: what the tables hold while chunks are read. The first members are the key. */
struct mw_endpoint_row {
    struct mw_endpoint endpoint;
    uint32_t given; /* bits by field number */
};
struct mw_peer_row {
    uint64_t endpoint;
    struct mw_peer peer;
};
struct mw_look { /* what mw_sockets, mw_ports and mw_placement begin with */
    enum mw_when when;
    uint64_t time;
};
struct mw_sockets_row {
    struct mw_sockets sockets;
    uint32_t given;
};
struct mw_connection_row {
    struct mw_look look;
    struct mw_connection connection;
};
struct mw_port_row {
    struct mw_look look;
    struct mw_port port;
};
struct mw_window_row {
    struct mw_rma_window window;
    uint32_t given;
};
struct mw_placement_row {
    struct mw_placement placement;
    uint32_t given;
};
struct mw_placed_thread_row {
    struct mw_look look;
    struct mw_placed_thread thread;
};
struct mw_foreign_row {
    struct mw_look look;
    struct mw_foreign foreign;
};
struct mw_iofile_row {
    struct mw_iofile iofile;
    uint32_t given;
};
extern const struct mw_members mw_endpoint_members; /* load_fabric.c */
extern const struct mw_members mw_window_members, mw_iofile_members; /* load_objects.c */
extern const struct mw_members mw_placement_members;                 /* load_placement.c */
/* A new row; of the size that the table has. NULL with *status. */
void *mw_rows_add(struct mw_process_entry *entry, enum mw_table table, enum mw_status *status);
enum mw_status mw_rows_finish(struct mw_process_entry *entry);
void mw_rows_free(struct mw_process_entry *entry);

/* facts.c */
enum mw_status mw_facts_finish(struct mw_trace *trace);

/* index.c */
/* From the head of an EVENTS chunk. MW_ERR_CORRUPT when it is absurd. */
enum mw_status mw_index_read(struct mw_place place, const struct mw_chunk_header *header,
                             const uint8_t *payload, struct mw_event_chunk *chunk);
enum mw_status mw_index_add(struct mw_process_entry *entry, const struct mw_event_chunk *chunk);
void mw_index_finish(struct mw_process_entry *entry);
/* The chunks of one thread, by first event. */
const struct mw_event_chunk *mw_index_thread(const struct mw_process_entry *entry, uint64_t thread,
                                             size_t *count);

static inline struct mw_source *mw_trace_source(const struct mw_trace *trace, size_t index)
{
    return ((struct mw_source **)trace->sources.items)[index];
}

#endif
