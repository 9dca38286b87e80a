/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows and files by handle: what a call on one needs to know of it. Look-ups are lock-free;
 * making and releasing take a lock. An object keeps the entry of the communicator that it was made
 * on, so that ranks can be told after MPI_Comm_free. Any thread, inside its MPI call.
 */
#ifndef MW_RECORD_OBJECTS_H
#define MW_RECORD_OBJECTS_H

#include "record/comms.h"
#include "record/listed.h"
#include "record/requests.h"

/* The operation that MPI_File_..._begin started; MPI allows one a file. */
struct mw_split {
    _Atomic int active;
    struct mw_request request; /* that its first half has started */
};

struct mw_object {
    _Atomic mw_handle handle; /* 0 when free */
    _Atomic(struct mw_object *) next;
    struct mw_object *next_free;
    struct mw_comm_entry *comm; /* NULL: not known */
    uint32_t id;
    int listed; /* the trace describes it */
    struct mw_split split;
};

enum mw_object_class { MW_WINDOWS, MW_FILES, MW_OBJECT_CLASSES };
extern struct mw_listed mw_objects_listed[MW_OBJECT_CLASSES];

/* The handle without garbage, as the functions below want it: MPI_File is a pointer everywhere. */
mw_handle mw_object_handle(enum mw_object_class class, mw_handle handle);
/* NULL when it was made where we did not see it. */
struct mw_object *mw_object_find(enum mw_object_class class, mw_handle handle);
/* The same for the window of a call, which is mostly that of the call before. */
struct mw_object *mw_window_find(struct mw_thread_state *thread, mw_handle window);
/* Made by a successful call. NULL: no memory, which is a health note. */
struct mw_object *mw_object_made(enum mw_object_class class, mw_handle handle,
                                 struct mw_comm_entry *comm);
/* Takes the object out, if its id is still this one: the handle may belong to a new one by now. */
void mw_object_gone(enum mw_object_class class, mw_handle handle, uint32_t id);

#define MW_OBJECT_UNKNOWN (-1)
static inline int32_t mw_object_id(const struct mw_object *object)
{
    return object ? (int32_t)object->id : MW_OBJECT_UNKNOWN;
}

/* A call on an object: opens it; and ends it as an event of `kind`, where it failed with the code.
 */
void mw_object_open(struct mw_call *call, const struct mw_object *object, int32_t peer);
void mw_object_event(struct mw_call *call, uint64_t end, int kind, uint32_t flags, int rc);

#endif
