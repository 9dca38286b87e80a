/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace line by line: metadata, then the events of each thread, as text or as one JSON object a
 * line. The JSON of events is printed by hand: there may be a hundred million. Main thread only.
 */
#ifndef MW_RENDER_DUMP_H
#define MW_RENDER_DUMP_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/model/comms.h"
#include "analyzer/model/model.h"
#include "analyzer/model/symbols.h"

struct mw_dump {
    const struct mw_model *model;
    const struct mw_comms *comms;
    struct mw_symbols *symbols;
    int json;
    int64_t place; /* of one rank; -1: all */
    long thread;   /* -1: all */
    FILE *out;
};

/* MW_OK, or the first status of a thread that could not be read to its end. */
enum mw_status mw_dump(const struct mw_dump *dump);

/* dump.c */
void mw_dump_damage(const struct mw_dump *dump, const struct mw_damage *damage);

/* Of a process: takes the object. */
void mw_dump_line(const struct mw_dump *dump, const char *type, const struct mw_process *process,
                  json_t *object);

/* dump_fabric.c */
void mw_dump_fabric(const struct mw_dump *dump, const struct mw_process *process);

/* dump_sums.c */
void mw_dump_sums(const struct mw_dump *dump, const struct mw_process *process);

/* dump_placement.c */
void mw_dump_placement(const struct mw_dump *dump, const struct mw_process *process);

/* dump_events.c */
const char *mw_dump_kind(uint64_t kind);
json_t *mw_dump_flags(uint32_t flags);
enum mw_status mw_dump_events(const struct mw_dump *dump, size_t process, uint64_t thread);

#endif
