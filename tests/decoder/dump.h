/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of dump_events, a test program of one thread: how canonical lines are put, and what is
 * put of a process. Bytes of texts are printed as the code points U+0000 to U+00FF.
 */
#ifndef MW_TEST_DUMP_H
#define MW_TEST_DUMP_H

#include <mpiwatch/trace.h>

/* dump_put.c: one record a line, members in the order of the calls. */
void record_begin(const char *name);
void record_end(void);
void put_text(const char *name, const char *text);
void put_u64(const char *name, uint64_t value);
/* Fields that are younger than the first golden files: shown where they say something. */
void put_known(const char *name, uint64_t value);
void put_i64(const char *name, int64_t value);
void put_key(const char *name, uint64_t key);
void put_hex(const char *name, const uint8_t *bytes, size_t size);
void put_texts(const char *name, const char *const *texts, size_t count);
/* A list: list_separate before each element, putchar(']') behind the last. */
void list_begin(const char *name);
void list_separate(void);
const char *status_word(enum mw_status status);

/* dump_process.c */
void dump_process(const struct mw_process *process);
void dump_clocks_and_modules(const struct mw_process *process);
void dump_sites(const struct mw_process *process);
void dump_comms(const struct mw_process *process);
void dump_counts_and_open(const struct mw_process *process);
void dump_health_and_facts(const struct mw_process *process);

/* dump_fabric.c */
void dump_fabric(const struct mw_process *process);

/* dump_placement.c */
void dump_topology(const struct mw_topology *topology);
void dump_placement(const struct mw_placement *look);
void dump_devices(const struct mw_process *process);

/* dump_sums.c */
void dump_sums(const struct mw_process *process);

#endif
