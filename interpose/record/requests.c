/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests under way; see requests.h. */
#include "record/requests.h"

#define STRIPES 64u
#define BUCKETS 64u /* of a stripe at first */
#define SLAB 64u    /* nodes taken from the kernel at a time */
#define LOOKS 32u   /* requests of one handle that are looked at for one of the calling thread */

/* Requests of the same handle hang behind the first of them, oldest first. */
struct node {
    struct node *next;  /* another handle in the bucket, or in the free list */
    struct node *later; /* the same handle */
    struct node *last;  /* of the same handle; only in the first */
    mw_handle handle;
    struct mw_request request;
};

static struct stripe {
    struct mw_lock lock;
    uint32_t mask;    /* of the buckets; 0 while never used */
    uint32_t handles; /* different ones */
    struct node *free;
    struct node **buckets;
    struct node *few[BUCKETS];
} __attribute__((aligned(64))) stripes[STRIPES];

static uint64_t hash_of(mw_handle handle)
{
    return (uint64_t)handle * 0x9e3779b97f4a7c15u;
}

static struct stripe *stripe_lock(mw_handle handle)
{
    struct stripe *stripe = &stripes[hash_of(handle) >> 58];
    mw_lock_take(&stripe->lock);
    if (!stripe->mask) {
        stripe->buckets = stripe->few;
        stripe->mask = BUCKETS - 1;
    }
    return stripe;
}

/* Under the lock, as is all that follows. */
static struct node **bucket_of(struct stripe *stripe, mw_handle handle)
{
    return &stripe->buckets[(hash_of(handle) >> 26) & stripe->mask];
}

/* The link that leads to the first node of this handle, or to the end of the chain. */
static struct node **find(struct stripe *stripe, mw_handle handle)
{
    struct node **link = bucket_of(stripe, handle);
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
}

/* Short chains for a million requests, too. Without memory they get longer. */
static void grow(struct stripe *stripe)
{
    uint32_t old_mask = stripe->mask;
    struct node **old = stripe->buckets;
    struct node **buckets = mw_pages((old_mask + 1) * 4 * sizeof *buckets);
    if (!buckets)
        return;
    stripe->buckets = buckets;
    stripe->mask = (old_mask + 1) * 4 - 1;
    for (uint32_t i = 0; i <= old_mask; i++)
        for (struct node *node = old[i], *next; node; node = next) {
            struct node **bucket = bucket_of(stripe, node->handle);
            next = node->next;
            node->next = *bucket;
            *bucket = node;
        }
}

static struct node *node_new(struct stripe *stripe)
{
    if (!stripe->free) {
        struct node *slab = mw_pages(SLAB * sizeof *slab);
        if (!slab)
            return NULL;
        for (size_t i = 0; i < SLAB; i++) {
            slab[i].next = stripe->free;
            stripe->free = &slab[i];
        }
    }
    struct node *node = stripe->free;
    stripe->free = node->next;
    return node;
}

static void insert(struct stripe *stripe, struct node *node)
{
    struct node **link = find(stripe, node->handle);
    node->next = node->later = NULL;
    if (*link) {
        (*link)->last->later = node;
        (*link)->last = node;
        return;
    }
    node->last = node;
    *link = node;
    if (++stripe->handles > 2 * stripe->mask)
        grow(stripe);
}

/* `before`: the node before it of the same handle; NULL when it is the first, which `link` leads to. */
static void unlink_node(struct stripe *stripe, struct node **link, struct node *before,
                        struct node *node)
{
    struct node *later = node->later;
    if (before) {
        before->later = later;
        if (!later)
            (*link)->last = before;
    } else if (later) {
        later->next = node->next;
        later->last = node->last;
        *link = later;
    } else {
        *link = node->next;
        stripe->handles--;
    }
    node->next = stripe->free;
    stripe->free = node;
}

/* Requests of which only a status tells what became of them: wildcards, reads of files, and what was cancelled. */
static uint32_t needs(const struct mw_request *request)
{
    int wildcard = request->kind == MW_EVENT_RECV &&
                   (request->flags & (MW_EVENT_ANY_SOURCE | MW_EVENT_ANY_TAG)) != 0;
    int read = request->kind == MW_EVENT_READ;
    return (uint32_t)(wildcard + read) + (request->cancelled ? 1 : 0);
}

static void count_status_needs(uint32_t change)
{
    if (change)
        atomic_fetch_add_explicit(&mw_recorder.status_needs, change, memory_order_relaxed);
}

/* Requests that a call which makes sums has started are counted while detail may come back. */
static void count_reduced(const struct mw_request *request, uint32_t change)
{
    if (request->reduced)
        atomic_fetch_add_explicit(&mw_recorder.reduced_requests, change, memory_order_relaxed);
}

void mw_request_add(mw_handle handle, const struct mw_request *request)
{
    struct stripe *stripe = stripe_lock(handle);
    struct node *node = node_new(stripe);
    if (node) {
        node->handle = handle;
        node->request = *request;
        insert(stripe, node);
    }
    mw_lock_drop(&stripe->lock);
    if (node && request->reduced)
        count_reduced(request, 1);
    if (node)
        count_status_needs(needs(request));
    else
        mw_health("requests", "no memory for a request: its completion is unknown");
}

/* The oldest that this thread started, where several have the handle; else the oldest. */
static struct node *choose(struct node *first, uint16_t origin, struct node **before)
{
    struct node *previous = NULL, *node = first;
    *before = NULL;
    if (!first || !first->later)
        return first;
    for (unsigned i = 0; node && i < LOOKS; i++) {
        if (node->request.origin == origin) {
            *before = previous;
            return node;
        }
        previous = node;
        node = node->later;
    }
    return first;
}

int mw_request_take(mw_handle handle, uint16_t origin, struct mw_request *request)
{
    struct stripe *stripe = stripe_lock(handle);
    int taken = 0, removed = 0;
    struct node **link = find(stripe, handle), *before;
    struct node *node = choose(*link, origin, &before);
    if (node && (!(node->request.flags & MW_EVENT_PERSISTENT) || node->request.active)) {
        *request = node->request;
        taken = 1;
        removed = !(request->flags & MW_EVENT_PERSISTENT);
        if (removed)
            unlink_node(stripe, link, before, node);
        else
            node->request.active = node->request.cancelled = node->request.reduced = 0;
    }
    mw_lock_drop(&stripe->lock);
    if (taken)
        count_reduced(request, -1u);
    if (removed)
        count_status_needs(-needs(request));
    else if (taken)
        count_status_needs(request->cancelled ? -1u : 0);
    return taken;
}

int mw_request_peek(mw_handle handle, struct mw_request *request)
{
    struct stripe *stripe = stripe_lock(handle);
    const struct node *node = *find(stripe, handle);
    if (node)
        *request = node->request;
    mw_lock_drop(&stripe->lock);
    return node != NULL;
}

int mw_request_is_reduced(mw_handle handle)
{
    struct stripe *stripe = stripe_lock(handle);
    const struct node *node = *find(stripe, handle);
    while (node && !node->request.reduced)
        node = node->later;
    mw_lock_drop(&stripe->lock);
    return node != NULL;
}

int mw_request_start(mw_handle handle, const struct mw_call *call, uint32_t number, struct mw_request *request)
{
    struct stripe *stripe = stripe_lock(handle);
    struct node *node = *find(stripe, handle);
    if (node && !(node->request.flags & MW_EVENT_PERSISTENT))
        node = NULL;
    if (node) {
        if (node->request.active) /* the program's error; MPI lets it pass */
            count_reduced(&node->request, -1u);
        node->request.active = 1;
        node->request.uses++;
        node->request.origin = (uint16_t)call->thread->index;
        node->request.number = number;
        mw_request_started_by(&node->request, call);
        count_reduced(&node->request, 1);
        *request = node->request;
    }
    mw_lock_drop(&stripe->lock);
    return node != NULL;
}

int mw_request_forget(mw_handle handle, struct mw_request *request)
{
    struct stripe *stripe = stripe_lock(handle);
    struct node **link = find(stripe, handle);
    int found = *link != NULL;
    if (found) {
        *request = (*link)->request;
        unlink_node(stripe, link, NULL, *link);
    }
    mw_lock_drop(&stripe->lock);
    if (found) {
        count_status_needs(-needs(request));
        count_reduced(request, -1u);
    }
    return found;
}

void mw_request_mark_cancelled(mw_handle handle)
{
    struct stripe *stripe = stripe_lock(handle);
    struct node *node = *find(stripe, handle);
    int first = node && !node->request.cancelled;
    if (first)
        node->request.cancelled = 1;
    mw_lock_drop(&stripe->lock);
    count_status_needs((uint32_t)first);
}

void mw_request_abandon(mw_handle handle)
{
    struct mw_request request;
    struct stripe *stripe = stripe_lock(handle);
    struct node **link = find(stripe, handle);
    int removed = 0;
    if (*link && ((*link)->request.flags & MW_EVENT_PERSISTENT)) {
        count_reduced(&(*link)->request, -1u);
        (*link)->request.active = (*link)->request.reduced = 0;
    } else if (*link) {
        request = (*link)->request;
        unlink_node(stripe, link, NULL, *link);
        removed = 1;
    }
    mw_lock_drop(&stripe->lock);
    if (removed) {
        count_status_needs(-needs(&request));
        count_reduced(&request, -1u);
    }
}
