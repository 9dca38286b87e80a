/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts about the environment (docs/format.md, ENVIRONMENT): where collectors put them, and a list
 * that keeps them in memory of the caller's. Any thread, one list one thread, no allocation.
 */
#ifndef MW_PROBE_FACTS_H
#define MW_PROBE_FACTS_H

#include <stddef.h>
#include <stdint.h>

struct mw_fact_sink {
    /* source: where the value was found (a path, file:line, "environment"); never NULL */
    void (*fact)(struct mw_fact_sink *sink, const char *section, const char *key, const char *value,
                 const char *source);
};

/* A sink that keeps what it gets. The last fact of a (section, key) counts. */
struct mw_fact_list {
    struct mw_fact_sink sink; /* first: a list is a sink */
    char *memory;
    size_t used, capacity;
    unsigned count; /* facts kept, replaced ones included */
    unsigned lost;  /* facts that found no room */
};

/* One fact of a list. The texts lie in the list's memory. */
struct mw_fact {
    const char *section, *key, *value, *source;
    uint32_t hash;  /* of section and key */
    int superseded; /* a later one has the same section and key */
};

void mw_fact_list_init(struct mw_fact_list *list, void *memory, size_t capacity);
/* Walks the list: *at starts at 0. 0 at the end. Superseded ones are skipped. */
int mw_fact_list_next(const struct mw_fact_list *list, size_t *at, struct mw_fact *fact);
/* 1 when the list has it. */
int mw_fact_list_find(const struct mw_fact_list *list, const char *section, const char *key,
                      struct mw_fact *fact);

#endif
