/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests under way; see requests.h. */
#include "record/requests.h"

#define STRIPES 64u
#define BUCKETS 256u /* in each stripe */
#define SLAB 64u     /* nodes taken from the kernel at a time */

struct node {
    struct node *next;
    mw_handle handle;
    struct mw_request request;
};

/* Thousands of small sends may have one handle: appending must not walk the chain. */
struct bucket {
    struct node *head;
    struct node **tail; /* where the next node goes; NULL while never used */
};

static struct stripe {
    struct mw_lock lock;
    struct node *free;
    struct bucket buckets[BUCKETS];
} __attribute__((aligned(64))) stripes[STRIPES];

static uint64_t hash_of(mw_handle handle)
{
    return (uint64_t)handle * 0x9e3779b97f4a7c15u;
}

static struct stripe *stripe_of(uint64_t hash)
{
    return &stripes[hash >> 58];
}

static struct bucket *bucket_of(struct stripe *stripe, mw_handle handle)
{
    return &stripe->buckets[(hash_of(handle) >> 50) % BUCKETS];
}

/* Under the lock: the link that leads to the first node of this handle, or to the end of the chain. */
static struct node **find(struct stripe *stripe, mw_handle handle)
{
    struct node **link = &bucket_of(stripe, handle)->head;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
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

static void unlink_node(struct stripe *stripe, struct node **link)
{
    struct node *node = *link;
    if (!node->next)
        bucket_of(stripe, node->handle)->tail = link;
    *link = node->next;
    node->next = stripe->free;
    stripe->free = node;
}

static int is_wildcard(const struct mw_request *request)
{
    return request->kind == MW_EVENT_RECV &&
           (request->flags & (MW_EVENT_ANY_SOURCE | MW_EVENT_ANY_TAG)) != 0;
}

static void count_wildcard(const struct mw_request *request, int change)
{
    if (is_wildcard(request))
        atomic_fetch_add_explicit(&mw_recorder.wildcards, (uint32_t)change, memory_order_relaxed);
}

void mw_request_add(mw_handle handle, const struct mw_request *request)
{
    struct stripe *stripe = stripe_of(hash_of(handle));
    mw_lock_take(&stripe->lock);
    struct node *node = node_new(stripe);
    if (node) {
        struct bucket *bucket = bucket_of(stripe, handle);
        node->handle = handle;
        node->request = *request;
        node->next = NULL;
        if (!bucket->tail)
            bucket->tail = &bucket->head;
        *bucket->tail = node;
        bucket->tail = &node->next;
    }
    mw_lock_drop(&stripe->lock);
    if (node)
        count_wildcard(request, 1);
    else
        mw_health("requests", "no memory for a request: its completion is unknown");
}

int mw_request_take(mw_handle handle, struct mw_request *request)
{
    struct stripe *stripe = stripe_of(hash_of(handle));
    int taken = 0, removed = 0;
    mw_lock_take(&stripe->lock);
    struct node **link = find(stripe, handle);
    if (*link && (!((*link)->request.flags & MW_EVENT_PERSISTENT) || (*link)->request.active)) {
        *request = (*link)->request;
        taken = 1;
        removed = !(request->flags & MW_EVENT_PERSISTENT);
        if (removed)
            unlink_node(stripe, link);
        else
            (*link)->request.active = (*link)->request.cancelled = 0;
    }
    mw_lock_drop(&stripe->lock);
    if (removed)
        count_wildcard(request, -1);
    return taken;
}

int mw_request_peek(mw_handle handle, struct mw_request *request)
{
    struct stripe *stripe = stripe_of(hash_of(handle));
    mw_lock_take(&stripe->lock);
    const struct node *node = *find(stripe, handle);
    if (node)
        *request = node->request;
    mw_lock_drop(&stripe->lock);
    return node != NULL;
}

int mw_request_start(mw_handle handle, uint8_t origin, uint32_t number, struct mw_request *request)
{
    struct stripe *stripe = stripe_of(hash_of(handle));
    mw_lock_take(&stripe->lock);
    struct node *node = *find(stripe, handle);
    if (node && !(node->request.flags & MW_EVENT_PERSISTENT))
        node = NULL;
    if (node) {
        node->request.active = 1;
        node->request.origin = origin;
        node->request.number = number;
        *request = node->request;
    }
    mw_lock_drop(&stripe->lock);
    return node != NULL;
}

int mw_request_forget(mw_handle handle, struct mw_request *request)
{
    struct stripe *stripe = stripe_of(hash_of(handle));
    mw_lock_take(&stripe->lock);
    struct node **link = find(stripe, handle);
    int found = *link != NULL;
    if (found) {
        *request = (*link)->request;
        unlink_node(stripe, link);
    }
    mw_lock_drop(&stripe->lock);
    if (found)
        count_wildcard(request, -1);
    return found;
}

void mw_request_mark_cancelled(mw_handle handle)
{
    struct stripe *stripe = stripe_of(hash_of(handle));
    mw_lock_take(&stripe->lock);
    struct node *node = *find(stripe, handle);
    if (node)
        node->request.cancelled = 1;
    mw_lock_drop(&stripe->lock);
}
