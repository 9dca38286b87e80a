/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where chunks go: the crash-safe mapping first, then the node file. Chunks other than EVENTS wait in the
 * mapping's outbox until the next flush, so that noting something costs a copy. All writes are
 * appends of whole chunks. Any thread; a lock for the outbox, held over a write.
 */
#ifndef MW_OUTPUT_OUTPUT_H
#define MW_OUTPUT_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "output/job.h"
#include "trace/mapping.h"

/* Makes folder, node file and mapping. 0: nothing can be written, record nothing. */
int mw_output_start(const struct mw_config *config, const struct mw_job_facts *job);

int mw_output_ready(void); /* chunks can be taken */
/* One chunk of fields. Never fails; what is lost is a health note. */
void mw_output_chunk(unsigned type, const void *payload, size_t size);
/* The same, compressed where that helps: for long payloads outside the path of calls. */
void mw_output_packed(unsigned type, const void *payload, size_t size);
/* Writes the outbox to the file. */
void mw_output_flush(void);
/* A framed EVENTS chunk, written at once, after the outbox. */
void mw_output_events(const uint8_t *chunk, size_t size);
/* Appends framed chunks as they are. */
void mw_output_raw(const uint8_t *chunks, size_t size);

/* Area and ring of thread number `index`: in the mapping, or private memory (then lost in a crash, which is a health
 * note). NULL: no memory. */
struct mw_map_thread *mw_output_thread_area(uint32_t index, uint64_t events,
                                            struct mw_raw_event **ring);

/* Memory for a segment of sums of a thread, zeroed: in the mapping where the thread's area is there and there is room. NULL: no memory. */
struct mw_map_group *mw_output_segment(struct mw_map_thread *area, uint32_t segment);

/* Whether that area is in the mapping. */
int mw_output_thread_mapped(uint32_t index);
/* Writes what other threads left in the mapping that is not in the file. 0: it could not be read. */
int mw_output_flush_others(void);
/* Removes the mapping: everything is in the file. */
void mw_output_end(void);

uint64_t mw_output_process(void); /* this process's key */
unsigned mw_output_shift(void);   /* bits that EVENTS chunks drop from times */
void mw_output_set_shift(unsigned shift);
void mw_output_set_state(unsigned state); /* enum mw_map_state */
int mw_output_file_is_own(void);          /* 1: no other process writes there */
int mw_output_file(void);                 /* descriptor of the node file, for reading it back; -1 none */
uint64_t mw_output_bytes(void);           /* written by this process */
uint64_t mw_output_waiting(void);         /* bytes in the outbox */
uint64_t mw_output_chunks(void);

#endif
