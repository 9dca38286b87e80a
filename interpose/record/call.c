/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entering and leaving a call: the depth guard, the open-call slot, and the events that handlers make.
 * This is the hot path: everything here runs on the thread that calls MPI, for every call.
 *
 * The guard keeps the call in progress. A call from a deeper frame comes from inside MPI (ROMIO, a binding,
 * another tool) and passes through, unless its return address lies in user code: then it is a callback's
 * own call. Where the new frame is not deeper, or the stack shows that no call of MPI is in progress, the
 * old one was left by longjmp or an exception: the guard is stale.
 */
#include "record/record.h"

#include "record/aggregate.h"
#include "record/callsite.h"
#include "record/spaces.h"
#include "trace/names.h"

#define STACK_MOST 256u /* frames that are looked at to tell a callback from what a longjmp left */

struct mw_recording mw_recording;
struct mw_recorder mw_recorder = {.rank = -1, .size = -1};
__thread struct mw_thread_local mw_self __attribute__((tls_model("initial-exec")));

static const struct mw_module_entry *module_of(const void *address)
{
    const struct mw_module_entry *module = mw_modules_find(address);
    if (!module) {
        mw_modules_refresh();
        module = mw_modules_find(address);
    }
    return module;
}

static struct mw_thread_state *this_thread(void)
{
    return __builtin_expect(mw_self.thread != NULL, 1) ? mw_self.thread : mw_thread_register();
}

/* Whether the frame of the call that the guard keeps holds what it held. What cannot be read safely, or lies
 * elsewhere on other processors, counts as unchanged. */
__attribute__((no_sanitize("address"))) static int frame_stands(const struct mw_call *outer)
{
#ifdef __x86_64__
    const struct mw_callsite_cache *stack = mw_self.thread->sites;
    if (!mw_callsite_on_stack(stack, outer))
        return 1;
    const void *const *frame = outer->frame;
    return outer->thread == mw_self.thread && (uintptr_t)frame > (uintptr_t)outer &&
           mw_callsite_on_stack(stack, frame + 1) && frame[1] == outer->caller;
#else
    return 1;
#endif
}

/* Whether the stack shows that no MPI call is in progress: user code all the way down. A callback has been
 * called by MPI, so that its stack leads there. */
static int only_user_code_below(const void *caller)
{
    void *found[STACK_MOST];
    unsigned count = mw_unwind_all(caller, found, STACK_MOST);
    const struct mw_module_entry *module = NULL;
    for (unsigned i = 0; i < count; i++) {
        uintptr_t address = (uintptr_t)found[i] - 1; /* of the call */
        if (!found[i])
            break;
        if (!module || address < module->start || address >= module->end)
            module = module_of((const void *)address);
        if (!module || module->role == MW_MODULE_MPI || module->role == MW_MODULE_MPIWATCH)
            return 0;
    }
    return count > 0;
}

/* Which of the calls from below the frame that the guard keeps this is. */
enum nesting { INSIDE_MPI, CALLBACK, LEFT_BEHIND };

static enum nesting nesting_of(const struct mw_call *outer, const void *caller)
{
    if (!frame_stands(outer))
        return LEFT_BEHIND;
    const struct mw_module_entry *module = module_of(caller);
    if (module && module->role != MW_MODULE_PROGRAM && module->role != MW_MODULE_BINDING)
        return INSIDE_MPI;
    if (only_user_code_below(caller))
        return LEFT_BEHIND;
    return module && module->role == MW_MODULE_BINDING ? INSIDE_MPI : CALLBACK;
}

/* Decides whether the call makes sums. */
static inline void reduce(struct mw_call *call)
{
    uint32_t reduced = atomic_load_explicit(&mw_recorder.reduced, memory_order_relaxed);
    call->reduced = 0;
    if (__builtin_expect(reduced != 0, 0))
        mw_aggregate_begin(call, reduced);
}

/* The event of a call that did not return: what its slot knows of it. It ended at some time before now. (The slot is
 * that of the deepest call where more are open than there are slots for: those have none.) */
static void left_event(struct mw_thread_state *thread, const struct mw_map_open *slot, int nested)
{
    struct mw_call left = {.thread = thread,
                           .function = (uint16_t)slot->function,
                           .nested = (uint8_t)nested,
                           .start = slot->start,
                           .site = slot->site};
    struct mw_raw_event detail = {.comm = slot->comm, .peer = slot->peer, .tag = slot->tag};
    uint64_t end = mw_close(&left);
    reduce(&left);
    if (slot->instance) { /* whether it was entered is not known */
        detail.ordinal = slot->instance - 1;
        mw_call_event(&left, end, MW_EVENT_COLL, MW_EVENT_ERROR | MW_EVENT_COUNTED, &detail);
    } else {
        mw_call_event(&left, end, MW_EVENT_CALL, MW_EVENT_ERROR, &detail);
    }
}

/* The innermost call in progress was left by a jump or an exception; the guard goes back to the one around it, which is
 * returned. The frame of what was left is not looked at: it may be gone. */
static const struct mw_call *abandon(struct mw_thread_state *thread)
{
    struct mw_map_thread *area = thread->area;
    uint32_t depth = atomic_load_explicit(&area->open_depth, memory_order_relaxed);
    struct mw_outer_call outer = {NULL, 0};
    if (thread->nesting && --thread->nesting < MW_NESTING)
        outer = thread->outers[thread->nesting];
    if (depth > outer.open) {
        if (depth < MW_MAP_OPEN)
            left_event(thread, &area->open[depth - 1], outer.call != NULL);
        if (thread->waited_count && thread->waited_open + 1 == depth)
            mw_waits_abandon(thread);
        atomic_store_explicit(&area->open_depth, outer.open, memory_order_release);
    }
    mw_self.call = outer.call;
    return outer.call;
}

void mw_calls_abandon(struct mw_thread_state *thread)
{
    while (mw_self.call)
        abandon(thread);
}

/* A callback in this call has left calls of its own. */
static void abandon_above(const struct mw_call *call)
{
    while (mw_self.call && mw_self.call != call)
        abandon(call->thread);
}

/* A call that the guard lets through as one of user code: 1, with the call's identity filled in. */
static int admit(struct mw_call *call, enum mw_function function, const void *caller,
                 const void *frame)
{
    const struct mw_call *outer = mw_self.call;
    while (__builtin_expect(outer != NULL, 0)) {
        if ((uintptr_t)frame < (uintptr_t)outer) {
            enum nesting nesting = nesting_of(outer, caller);
            if (nesting == INSIDE_MPI)
                return 0;
            if (nesting == CALLBACK)
                break;
        }
        outer = abandon(mw_self.thread);
    }
    struct mw_thread_state *thread = this_thread();
    if (!thread)
        return 0;
    int nested = outer != NULL;
    if (__builtin_expect(nested, 0)) {
        if (thread->nesting < MW_NESTING)
            thread->outers[thread->nesting] = (struct mw_outer_call){
                outer, atomic_load_explicit(&thread->area->open_depth, memory_order_relaxed)};
        thread->nesting++;
    } else { /* whatever a longjmp left behind */
        atomic_store_explicit(&thread->area->open_depth, 0, memory_order_relaxed);
        thread->scratch_used = 0;
        thread->waited_count = 0;
    }
    call->outer = outer;
    mw_self.call = call;
    thread->area->counts[function]++;
    call->thread = thread;
    call->function = (uint16_t)function;
    call->nested = (uint8_t)nested;
    call->mode = MW_BLOCKS;
    call->caller = caller;
    call->frame = frame;
    call->request = NULL;
    call->sends = call->receives = NULL;
    reduce(call);
    return 1;
}

static int recording(void)
{
    return atomic_load_explicit(&mw_recording.state, memory_order_relaxed) == MW_RECORDING;
}

void *mw_call_enter(struct mw_call *call, enum mw_function function, enum mw_entry entry,
                    const void *caller, const void *frame)
{
    void *real = mw_libmpi_real(function, entry, caller);
    call->recorded = 0;
    if (__builtin_expect(!real, 0))
        return NULL;
    if (__builtin_expect(!recording(), 0)) {
        if (!mw_lifecycle_starts(function, caller))
            return real;
    }
    if (!mw_libmpi_serves(mw_recorder.lib, caller)) /* a second MPI in this process */
        return real;
    if (!admit(call, function, caller, frame))
        return real;
    call->recorded = 1;
    call->site = mw_callsite(call->thread->sites, caller, frame);
    return real;
}

/* The call returns: what its callbacks left has been left, */
static inline void guard_settle(const struct mw_call *call)
{
    if (__builtin_expect(mw_self.call != call, 0))
        abandon_above(call);
}

/* and the guard goes back to the call around it. */
static inline void guard_drop(const struct mw_call *call)
{
    if (__builtin_expect(call->outer != NULL, 0) && call->thread->nesting)
        call->thread->nesting--;
    mw_self.call = call->outer;
}

/* local functions keep their guard value in the call and nothing else */
void *mw_local_enter(struct mw_call *call, enum mw_function function, enum mw_entry entry,
                     const void *caller, const void *frame)
{
    void *real = mw_libmpi_real(function, entry, caller);
    call->recorded = 0;
    if (real && recording() && mw_libmpi_serves(mw_recorder.lib, caller))
        call->recorded = admit(call, function, caller, frame);
    return real;
}

void mw_local_leave(struct mw_call *call)
{
    if (!call->recorded)
        return;
    guard_settle(call);
    guard_drop(call);
}

int mw_missing(enum mw_function function)
{
    /* The class "unsupported operation" of the running MPI; 52 is Open MPI's where none is known. */
    return mw_recorder.abi ? mw_recorder.abi->err_unsupported : 52;
}

void mw_open(struct mw_call *call, uint32_t comm, int32_t peer, int32_t tag, uint32_t instance)
{
    struct mw_map_thread *area = call->thread->area;
    uint32_t depth = atomic_load_explicit(&area->open_depth, memory_order_relaxed);
    call->comm = comm;
    call->peer = peer;
    call->tag = tag;
    call->instance = instance;
    struct mw_map_open *slot = &area->open[depth < MW_MAP_OPEN ? depth : MW_MAP_OPEN - 1];
    slot->function = call->function;
    slot->comm = comm;
    slot->peer = peer;
    slot->tag = tag;
    slot->instance = instance;
    slot->site = call->site;
    slot->start = call->start = mw_now();
    atomic_store_explicit(&area->open_depth, depth + 1, memory_order_release);
}

static inline void append_event(struct mw_call *call, uint64_t end, int kind, uint32_t flags,
                                const struct mw_raw_event *detail)
{
    struct mw_raw_event *event = mw_event_new(call->thread);
    *event = *detail;
    event->kind = (uint8_t)kind;
    event->flags = flags | (call->nested ? MW_EVENT_NESTED : 0);
    event->function = call->function;
    event->site = call->site;
    event->start = call->start;
    event->end = end;
    mw_event_commit(call->thread);
}

static inline void append_part(struct mw_call *call, int kind, uint32_t flags,
                               const struct mw_raw_event *detail)
{
    struct mw_raw_event *event = mw_event_new(call->thread);
    *event = *detail;
    event->kind = (uint8_t)kind;
    event->flags = flags | MW_EVENT_PART;
    event->function = call->function;
    event->site = 0;
    event->start = event->end = 0;
    mw_event_commit(call->thread);
}

void mw_call_event(struct mw_call *call, uint64_t end, int kind, uint32_t flags,
                   const struct mw_raw_event *detail)
{
    uint32_t spaces = mw_spaces_of(call, kind, flags, detail);
    if (__builtin_expect(call->reduced != 0, 0))
        mw_aggregate_event(call, end, kind, flags | spaces, detail);
    else
        append_event(call, end, kind, flags | spaces, detail);
}

void mw_call_part(struct mw_call *call, int kind, uint32_t flags, const struct mw_raw_event *detail)
{
    uint32_t spaces = mw_spaces_of(call, kind, flags, detail);
    if (__builtin_expect(call->reduced != 0, 0))
        mw_aggregate_part(call, kind, flags | spaces, detail);
    else
        append_part(call, kind, flags | spaces, detail);
}

/* A completion moves nothing that its start had not a buffer for: no memory is looked at. */
void mw_call_done(struct mw_call *call, uint64_t end, const struct mw_request *request,
                  uint32_t flags, const struct mw_raw_event *detail)
{
    if (__builtin_expect(call->reduced != 0, 0))
        mw_aggregate_done(call, end, request, flags, detail);
    else
        append_event(call, end, MW_EVENT_DONE, flags, detail);
}

void mw_call_done_part(struct mw_call *call, const struct mw_request *request, uint32_t flags,
                       const struct mw_raw_event *detail)
{
    if (__builtin_expect(call->reduced != 0, 0))
        mw_aggregate_done_part(call, request, flags, detail);
    else
        append_part(call, MW_EVENT_DONE, flags, detail);
}

void mw_call_failed(struct mw_call *call, uint64_t end, int rc)
{
    struct mw_raw_event detail = {
        .comm = call->comm, .peer = call->peer, .tag = call->tag, .bytes = (uint64_t)(int64_t)rc};
    mw_call_event(call, end, MW_EVENT_CALL, MW_EVENT_ERROR, &detail);
}

/* An unsuccessful poll. A run of them from one place becomes one event, which grows in place. */
void mw_call_poll(struct mw_call *call, uint64_t end)
{
    struct mw_thread_state *thread = call->thread;
    if (__builtin_expect(call->reduced != 0, 0)) {
        mw_aggregate_poll(call, end);
        return;
    }
    struct mw_raw_event *last = &thread->ring[(thread->next - 1) & thread->mask];
    uint64_t busy = end - call->start;
    uint32_t nested = call->nested ? MW_EVENT_NESTED : 0;
    if (thread->poll_open && last->function == call->function && last->site == call->site &&
        last->comm == call->comm && last->peer == call->peer && last->tag == call->tag &&
        last->flags == nested) {
        last->end = end;
        last->bytes++;
        last->bytes_in += busy;
        return;
    }
    struct mw_raw_event detail = {.comm = call->comm,
                                  .peer = call->peer,
                                  .tag = call->tag,
                                  .bytes = 1,
                                  .bytes_in = busy};
    mw_call_event(call, end, MW_EVENT_POLL, 0, &detail);
    thread->poll_open = 1;
}

void mw_leave(struct mw_call *call)
{
    struct mw_thread_state *thread = call->thread;
    guard_settle(call);
    uint32_t depth = atomic_load_explicit(&thread->area->open_depth, memory_order_relaxed);
    if (depth)
        atomic_store_explicit(&thread->area->open_depth, depth - 1, memory_order_release);
    mw_events_work(thread);
    guard_drop(call);
}
