/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words for the format's numbers, and names of functions. Any thread: what must be made up for a
 * function that nobody knows is kept in the trace, under its lock.
 */
#include "trace/reader/reader.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/names.h"

#define UNKNOWN_NAMES 1024 /* most made-up names a trace keeps */

struct unknown_name {
    uint64_t function;
    char text[40];
};

const char *mw_chunk_type_name(unsigned type)
{
    switch (type) {
#define MW_CHUNK_NAME(number, id)                                                                  \
    case number:                                                                                   \
        return #id;
        MW_CHUNK_LIST(MW_CHUNK_NAME)
#undef MW_CHUNK_NAME
    default:
        return "UNKNOWN";
    }
}

const char *mw_window_flavour_word(enum mw_window_flavour flavour)
{
    switch ((int)flavour) {
#define MW_WINDOW_WORD(number, id, word)                                                           \
    case number:                                                                                   \
        return word;
        MW_WINDOW_LIST(MW_WINDOW_WORD)
#undef MW_WINDOW_WORD
    default:
        return "unknown";
    }
}

const char *mw_memory_kind_word(enum mw_memory_kind kind)
{
    switch ((int)kind) {
#define MW_MEMORY_WORD(number, id, word)                                                           \
    case number:                                                                                   \
        return word;
        MW_MEMORY_LIST(MW_MEMORY_WORD)
#undef MW_MEMORY_WORD
    default:
        return "unknown";
    }
}

const char *mw_comm_how_word(enum mw_comm_how how)
{
    switch ((int)how) {
#define MW_COMM_WORD(number, id, word)                                                             \
    case number:                                                                                   \
        return word;
        MW_COMM_LIST(MW_COMM_WORD)
#undef MW_COMM_WORD
    default:
        return "unknown";
    }
}

static const char *name_make_up(struct mw_trace *trace, uint64_t function)
{
    const char *text = "MPI_function_unknown";
    pthread_mutex_lock(&trace->names_lock);
    struct unknown_name **names = trace->names.items, *name = NULL;
    for (size_t i = 0; i < trace->names.count && !name; i++)
        if (names[i]->function == function)
            name = names[i];
    if (!name && trace->names.count < UNKNOWN_NAMES && (name = malloc(sizeof *name)) != NULL) {
        enum mw_status status;
        struct unknown_name **slot = mw_vector_add(NULL, &trace->names, sizeof *slot, &status);
        if (slot) {
            *slot = name;
            name->function = function;
            snprintf(name->text, sizeof name->text, "MPI_function_%llu",
                     (unsigned long long)function);
        } else {
            free(name);
            name = NULL;
        }
    }
    if (name)
        text = name->text;
    pthread_mutex_unlock(&trace->names_lock);
    return text;
}

const char *mw_process_function_name(const struct mw_process *process, uint64_t function)
{
    const char *name = function <= UINT_MAX ? mw_function_name((unsigned)function) : NULL;
    if (name)
        return name;
    const struct mw_count *count = process->count_count
                                       ? bsearch(&function, process->counts, process->count_count,
                                                 sizeof *process->counts, mw_id_order)
                                       : NULL;
    if (count && *count->name)
        return count->name;
    return name_make_up(((const struct mw_process_entry *)process)->trace, function);
}
