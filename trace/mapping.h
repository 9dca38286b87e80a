/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crash-safe mapping: a file /dev/shm/mpiwatch-UID-PID-STARTTIME (mode 0600) that a recording
 * process shares with whoever finds it after its death. The recorder (interpose/) writes it,
 * residue.c reads it. Not part of the trace format: writer and reader must have the same
 * MW_MAP_LAYOUT. A reader trusts nothing in it: another process may write while it reads.
 *
 * File: header | outbox bytes | thread areas (each a struct mw_map_thread followed by its ring).
 * All atomics: the writer stores with release after the data, a reader loads with acquire. `magic`
 * is written last of the header, so that a reader sees a whole header or none.
 */
#ifndef MW_TRACE_MAPPING_H
#define MW_TRACE_MAPPING_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/encoder.h"

#define MW_MAP_MAGIC     0x3150414d4357504dull /* "MPWCMAP1" */
#define MW_MAP_LAYOUT    5u
#define MW_MAP_PREFIX    "mpiwatch-" /* of the file's name in /dev/shm */
#define MW_MAP_THREADS   2048u       /* most threads with an area */
#define MW_MAP_FUNCTIONS 1024u       /* room for counts by function number */
#define MW_MAP_OPEN      4u          /* nesting of open calls that is kept */
#define MW_MAP_PATH      1024u
#define MW_MAP_RING_MAX  (1u << 20) /* most events in a ring */
#define MW_MAP_ROWS      128u       /* of a group of sums */
#define MW_MAP_SEGMENT   8u         /* groups that are allocated together, but for the first ones */
#define MW_MAP_SEGMENTS  63u
#define MW_MAP_GROUPS    (MW_MAP_SEGMENT * (MW_MAP_SEGMENTS - 3))
#define MW_MAP_REGIONS   128u
#define MW_MAP_REGION    64u        /* a region's name with its end */

/* ENDED: the END chunk is in the node file; what is left are at most the outbox and events. */
enum mw_map_state { MW_MAP_STARTING = 0, MW_MAP_RECORDING = 1, MW_MAP_ENDED = 2 };

/* A call that has begun. Valid while its index is below open_depth. */
struct mw_map_open {
    uint64_t start;
    uint32_t function, comm; /* comm: id + 1 */
    int32_t peer, tag;
    uint32_t instance; /* of a collective, + 1; 0 none */
    uint32_t site;
};

/* Sums over calls of one kind (docs/format.md: AGGREGATE), and what tells them from others. */
struct mw_map_key {
    uint32_t comm; /* id + 1; 0 none */
    int32_t peer;
    uint32_t site;
    uint16_t function;
    uint8_t kind, size_class;
    uint32_t flags, region;
    int32_t object;
    uint32_t spaces; /* MW_ROW_SPACES */
};
struct mw_map_row {
    struct mw_map_key key;
    uint64_t calls, time, least, most, errors, operations, bytes, bytes_in;
    uint64_t next;
};
_Static_assert(sizeof(struct mw_map_key) == 32, "without holes");

/* Rows that are written together. `number` grows by MW_MAP_GROUPS when they are in the node file or
 * the outbox and have been emptied: a crash in between writes them again under the same number. */
struct mw_map_group {
    _Atomic uint64_t number;
    uint64_t start, end; /* of the calls in it */
    uint32_t why;        /* 0: nothing in it */
    uint32_t used;       /* rows that have a key */
    uint64_t reserved[4];
    struct mw_map_row row[MW_MAP_ROWS];
};
_Static_assert(sizeof(struct mw_map_group) % 64 == 0, "whole cache lines");

/* Groups in a segment: 1, 1, 2, 4, then 8 each. Most threads need one. */
static inline uint32_t mw_map_segment_groups(uint32_t segment)
{
    return segment < 2 ? 1 : segment < 4 ? 1u << (segment - 1) : MW_MAP_SEGMENT;
}

struct mw_map_region {
    char name[MW_MAP_REGION];
    uint32_t parent; /* index + 1 */
    int32_t level;
    uint64_t entries, time;
    uint64_t since; /* 0: no entry is open */
};

struct mw_map_thread {
    uint32_t index, tid;
    uint64_t capacity;           /* events in the ring, a power of two */
    uint64_t ring_offset;        /* from the start of the file */
    _Atomic uint64_t committed;  /* number of the next event: all below are complete */
    _Atomic uint64_t flushed;    /* all below are in the node file */
    _Atomic uint32_t open_depth; /* may exceed MW_MAP_OPEN */
    uint32_t reserved;
    struct mw_map_open open[MW_MAP_OPEN];
    uint64_t counts[MW_MAP_FUNCTIONS]; /* calls by function number */
    uint32_t last_function, last_site; /* of the last call that was only summed up */
    uint64_t last_end;
    /* Groups of sums, mw_map_segment_groups of them at each place; 0: none, or not in the mapping. */
    _Atomic uint64_t segment[MW_MAP_SEGMENTS];
};

struct mw_map_header {
    uint64_t magic;
    uint32_t layout, header_size;
    _Atomic uint64_t size; /* of the file that is in use */
    uint64_t process;      /* key */
    uint64_t pid, start_time, pid_ns;
    char boot_id[40];
    uint32_t uid, clock; /* enum mw_clock_kind */
    uint32_t shift;      /* for EVENTS chunks */
    _Atomic uint32_t state;
    uint64_t folder_dev, folder_ino; /* of the trace's folder */
    char node_file[MW_MAP_PATH];     /* absolute: where the chunks belong */
    /* Process key of the node file's first chunk, 0 not known: names and inode numbers are used again
     * when a trace was removed and another made. */
    uint64_t file_process;
    uint64_t outbox_offset, outbox_capacity;
    /* The outbox holds whole framed chunks [0, outbox_used); the writer empties it into the node
     * file by setting `outbox_used` to 0 after the write: a crash in between repeats chunks, which
     * readers tolerate. */
    _Atomic uint64_t outbox_used;
    _Atomic uint32_t thread_count;
    uint32_t time_ns; /* inode of /proc/self/ns/time of the writer; 0 where there is none */
    /* From the start of the file; 0: thread without an area. */
    _Atomic uint64_t thread_offset[MW_MAP_THREADS];
    _Atomic uint32_t region_count;
    uint32_t reserved;
    struct mw_map_region region[MW_MAP_REGIONS];
};

#endif
