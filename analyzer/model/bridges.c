/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds which sides are one communicator (bridges.h). */
#include "analyzer/model/bridges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PASSES     64    /* over communicators made of joined ones: so deep can they be */
#define GROUP_MOST 1024  /* ends that may belong together; more are left as they are */
#define RUNS_MOST  64    /* of members; longer lists are left, too */
#define SLACK_NEAR 0.001 /* seconds by which two readings of one node's clock may differ */
#define SLACK_FAR  1.0   /* of two nodes' */

struct bridging;

/* One side of a communicator that reaches over worlds, as all its holders tell. */
struct end {
    const struct mw_comm *comm, *placed; /* placed: with the ranks in the parent, if any has them */
    const struct bridging *in;
    int64_t spawner; /* number of the process that spawned this world; -1 not known */
    const char *host;
    size_t number; /* of the joined one */
    uint32_t world;
    double began, made; /* seconds; NaN not known */
    uint64_t port;
    uint64_t places; /* hash of the ranks in the parent; 0 not known */
    uint64_t order;  /* among its like: as COMM.number, or counted here */
};

struct bridging {
    struct mw_comms *comms;
    uint32_t *same;       /* by number: a smaller one that is the same, or itself */
    unsigned char *spans; /* by number that `same` leads to: it is several worlds', */
    unsigned char *met;   /* and both sides of a handshake are among them */
    struct end *ends;     /* by number */
    struct mw_index names;         /* what launchers call processes: */
    MW_VECTOR(int64_t) name_owner; /* its number; -1: several are called so */
};

static size_t first_of(const struct bridging *bridging, size_t number)
{
    while (bridging->same[number] != number)
        number = bridging->same[number];
    return number;
}

static void unite(struct bridging *bridging, size_t a, size_t b)
{
    a = first_of(bridging, a);
    b = first_of(bridging, b);
    size_t least = a < b ? a : b;
    bridging->same[a < b ? b : a] = (uint32_t)least;
    bridging->spans[least] = 1;
    bridging->met[least] |= bridging->met[a] | bridging->met[b];
}

static double seconds(const struct mw_process *process, uint64_t time)
{
    return time ? mw_process_time_ns(process, time, MW_TIME_REAL) / 1e9 : NAN;
}

static void names_find(struct bridging *bridging)
{
    const struct mw_model *model = bridging->comms->model;
    for (size_t p = 0; p < model->process_count; p++) {
        uint64_t name = mw_trace_process(model->trace, p)->name;
        size_t at = name ? mw_index_put(&bridging->names, name) : 0;
        if (name && at == bridging->name_owner.count)
            *mw_vector_add(&bridging->name_owner) = (int64_t)p;
        else if (name)
            bridging->name_owner.at[at] = -1;
    }
}

static int64_t spawner_of(const struct bridging *bridging, const struct mw_process *process)
{
    size_t at = process->spawner ? mw_index_find(&bridging->names, process->spawner) : MW_INDEX_NONE;
    return at == MW_INDEX_NONE ? -1 : bridging->name_owner.at[at];
}

/* Counts communicators of one process that are alike but for when they were made. */
struct orders {
    struct mw_index index;
    MW_VECTOR(uint64_t) counts;
};

/* How many were made before this one of the same parent in the same way: the norm counts that where all of the parent take
 * part; of those that some of it have made, those of the same members. */
static uint64_t order_of(struct orders *orders, const struct mw_comm *comm)
{
    if (mw_comm_has_parent(comm))
        return comm->number;
    uint64_t key = mw_mix(mw_mix(comm->place_hash ^ comm->how) + (uint64_t)comm->parent);
    size_t at = mw_index_put(&orders->index, key);
    if (at == orders->counts.count)
        *mw_vector_add(&orders->counts) = 0;
    return orders->counts.at[at]++;
}

/* The processes of a spawned world have their parents since they were initialised. */
static void end_add(struct end *end, const struct mw_process *process, const struct mw_comm *comm)
{
    int parent = comm->how == MW_COMM_PARENT;
    if (comm->place_runs && !end->placed->place_runs)
        end->placed = comm;
    if (comm->place_hash)
        end->places = comm->place_hash;
    end->began = fmin(end->began, seconds(process, parent ? process->began : comm->began));
    end->made = fmax(end->made, seconds(process, parent ? process->init_end : comm->made));
    if (comm->port)
        end->port = comm->port;
}

static void ends_find(struct bridging *bridging)
{
    const struct mw_comms *comms = bridging->comms;
    for (size_t i = 0; i < comms->joined.count; i++)
        bridging->ends[i] = (struct end){.comm = comms->joined.at[i].sample,
                                         .placed = comms->joined.at[i].sample,
                                         .in = bridging,
                                         .spawner = -1,
                                         .number = i,
                                         .host = "",
                                         .began = NAN,
                                         .made = NAN};
    for (size_t p = 0; p < comms->model->process_count; p++) {
        const struct mw_process *process = mw_trace_process(comms->model->trace, p);
        struct orders orders = {0};
        for (size_t c = 0; c < process->comm_count; c++) {
            struct end *end = &bridging->ends[comms->by_process[p][c]];
            end->world = comms->model->process_world[p];
            end->host = process->host;
            end->order = order_of(&orders, &process->comms[c]);
            if (end->spawner < 0)
                end->spawner = spawner_of(bridging, process);
            end_add(end, process, &process->comms[c]);
        }
        mw_index_free(&orders.index);
        free(orders.counts.at);
    }
}

/* --- which two fit ---------------------------------------------------------------------------- */

static int sizes_mirror(const struct end *a, const struct end *b)
{
    return a->comm->size == b->comm->remote_size && a->comm->remote_size == b->comm->size;
}

/* Whether [a, b] holds `time`, as far as the clocks can tell. */
static int holds(double from, double to, double time, double slack)
{
    return !(time < from - slack) && !(time > to + slack); /* NaN: may be */
}

static int is_held_by(const struct end *end, size_t process)
{
    const struct mw_comms *comms = end->in->comms;
    size_t count = mw_trace_process(comms->model->trace, process)->comm_count;
    for (size_t c = 0; c < count; c++)
        if (first_of(end->in, comms->by_process[process][c]) == first_of(end->in, end->number))
            return 1;
    return 0;
}

/* Both ends of one handshake: the second call began before the first ended, and so the other way
 * round. A spawned process begins within the call that spawns it. */
static int times_fit(const struct end *a, const struct end *b)
{
    double slack = strcmp(a->host, b->host) ? SLACK_FAR : SLACK_NEAR;
    if (b->comm->how == MW_COMM_PARENT)
        return holds(a->began, a->made, b->began, slack);
    return !(a->made < b->began - slack) && !(b->made < a->began - slack);
}

/* The kind of the other end; MW_COMM_FOUND for those that have none. */
static enum mw_comm_how counterpart(enum mw_comm_how how)
{
    switch (how) {
    case MW_COMM_SPAWN:
        return MW_COMM_PARENT;
    case MW_COMM_PARENT:
        return MW_COMM_SPAWN;
    case MW_COMM_ACCEPT:
        return MW_COMM_CONNECT;
    case MW_COMM_CONNECT:
        return MW_COMM_ACCEPT;
    case MW_COMM_JOIN:
    case MW_COMM_INTERCOMM:
        return how;
    default:
        return MW_COMM_FOUND;
    }
}

static int handshake_fits(const struct end *a, const struct end *b)
{
    if (a->world == b->world || counterpart(a->comm->how) != b->comm->how || !sizes_mirror(a, b) ||
        (a->port && b->port && a->port != b->port))
        return 0;
    const struct end *spawn = b->comm->how == MW_COMM_PARENT ? a : b, *parent = spawn == a ? b : a;
    if (parent->comm->how == MW_COMM_PARENT && parent->spawner >= 0 &&
        !is_held_by(spawn, (size_t)parent->spawner))
        return 0; /* the launcher has told who it was */
    return times_fit(spawn, parent);
}

/* The member that stands `at` places behind the start of a run. */
static int64_t member(const struct mw_run *run, uint64_t at)
{
    return (int64_t)((uint64_t)run->start + at * (uint64_t)run->stride);
}

/* Whether two lists of members have nobody whom both know as one of their own world, as far as the
 * ends of their runs tell. */
static int members_differ(const struct mw_comm *a, const struct mw_comm *b)
{
    size_t i = 0, j = 0;
    uint64_t in_a = 0, in_b = 0; /* places of the runs that are behind us */
    while (i < a->member_runs && j < b->member_runs) {
        const struct mw_run *one = &a->members[i], *two = &b->members[j];
        uint64_t left = one->count - in_a, right = two->count - in_b;
        uint64_t step = left < right ? left : right, last = step ? step - 1 : 0;
        if (step && ((member(one, in_a) >= 0 && member(two, in_b) >= 0) ||
                     (member(one, in_a + last) >= 0 && member(two, in_b + last) >= 0)))
            return 0;
        in_a += step;
        in_b += step;
        if (in_a == one->count)
            i++, in_a = 0;
        if (in_b == two->count)
            j++, in_b = 0;
    }
    return 1;
}

/* Made of one communicator by one call: whom one side knows is a stranger to the other. */
static int derived_fits(const struct end *a, const struct end *b)
{
    size_t most =
        a->comm->member_runs > b->comm->member_runs ? a->comm->member_runs : b->comm->member_runs;
    if (a->world == b->world)
        return 0;
    if (a->comm->remote_size || b->comm->remote_size)
        return sizes_mirror(a, b);
    return a->comm->size == b->comm->size && a->comm->member_runs && b->comm->member_runs &&
           most <= RUNS_MOST && members_differ(a->comm, b->comm);
}

/* --- which of several ------------------------------------------------------------------------- */

/* Ends of which any two may belong together. */
struct group {
    MW_VECTOR(const struct end *) ends;
    int (*fits)(const struct end *a, const struct end *b); /* NULL: by their places all do */
    unsigned *choices; /* by end: others that it may belong to; 0 where it is done */
    int whole;         /* each has its other end among them */
};

static int group_fits(const struct group *group, size_t a, size_t b)
{
    return a != b && group->choices[a] && group->choices[b] &&
           group->fits(group->ends.at[a], group->ends.at[b]);
}

static size_t only_choice(const struct group *group, size_t a)
{
    size_t b = 0;
    while (!group_fits(group, a, b))
        b++;
    return b;
}

/* Takes two that have found each other out of what the others may choose of. */
static void group_settle(struct group *group, size_t a, size_t b)
{
    for (size_t i = 0; i < group->ends.count; i++)
        if (i != a && i != b)
            group->choices[i] -= (unsigned)(group_fits(group, i, a) + group_fits(group, i, b));
    group->choices[a] = group->choices[b] = 0;
}

/* One that has one choice only is joined to it where that has no other either. Where there are as
 * many ends of one kind as of the other it need not be so: each has its partner, and this one no
 * other. */
static int group_join(struct bridging *bridging, struct group *group)
{
    int joined = 0, again = 1;
    while (again) {
        again = 0;
        for (size_t a = 0; a < group->ends.count; a++) {
            size_t b = group->choices[a] == 1 ? only_choice(group, a) : a;
            if (a == b || (group->choices[b] > 1 && !group->whole))
                continue;
            unite(bridging, group->ends.at[a]->number, group->ends.at[b]->number);
            if (group->fits == handshake_fits)
                bridging->met[first_of(bridging, group->ends.at[a]->number)] = 1;
            group_settle(group, a, b);
            joined = again = 1;
        }
    }
    return joined;
}

/* More than two worlds' sides of what one call made: each fits each. */
static int group_unite_all(struct bridging *bridging, const struct group *group)
{
    if (group->fits == handshake_fits)
        return 0;
    for (size_t i = 0; i < group->ends.count; i++)
        if (group->choices[i] + 1 != group->ends.count)
            return 0;
    for (size_t i = 1; i < group->ends.count; i++)
        unite(bridging, group->ends.at[0]->number, group->ends.at[i]->number);
    return 1;
}

/* Made of one communicator by one call, of the same members: these have ranks in it that all worlds know. */
static int group_unite_placed(struct bridging *bridging, const struct group *group)
{
    const struct end *const *ends = group->ends.at;
    int joined = 0;
    for (size_t a = 0; a < group->ends.count; a++)
        for (size_t b = 0; b < a; b++)
            if (ends[a]->world == ends[b]->world)
                return 0; /* two calls that cannot be told apart */
    for (size_t a = 1; a < group->ends.count; a++) {
        if (first_of(bridging, ends[a]->number) == first_of(bridging, ends[0]->number))
            continue;
        unite(bridging, ends[0]->number, ends[a]->number);
        joined = 1;
    }
    return joined;
}

static int group_work(struct bridging *bridging, struct group *group)
{
    size_t count = group->ends.count;
    int joined = 0;
    if (count >= 2 && count <= GROUP_MOST && !group->fits) {
        joined = group_unite_placed(bridging, group);
    } else if (count >= 2 && count <= GROUP_MOST) {
        group->choices = mw_alloc(count, sizeof(group->choices[0]));
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < count; b++)
                group->choices[a] += a != b && group->fits(group->ends.at[a], group->ends.at[b]);
        joined = group_unite_all(bridging, group) || group_join(bridging, group);
        free(group->choices);
    }
    free(group->ends.at);
    return joined;
}

/* --- who comes into question ------------------------------------------------------------------ */

struct groups {
    struct mw_index index;
    MW_VECTOR(struct group) list;
};

static void groups_add(struct groups *groups, uint64_t key, const struct end *end)
{
    size_t at = mw_index_put(&groups->index, key);
    if (at == groups->list.count)
        mw_vector_add(&groups->list);
    *mw_vector_add(&groups->list.at[at].ends) = end;
}

static int groups_work(struct bridging *bridging, struct groups *groups,
                       int (*fits)(const struct end *, const struct end *),
                       int (*whole)(const struct group *))
{
    int joined = 0;
    for (size_t i = 0; i < groups->list.count; i++) {
        groups->list.at[i].fits = fits;
        groups->list.at[i].whole = whole(&groups->list.at[i]);
        joined |= group_work(bridging, &groups->list.at[i]);
    }
    mw_index_free(&groups->index);
    free(groups->list.at);
    return joined;
}

/* As many spawned as parents, as many accepted as connected. */
static int kinds_balance(const struct group *group)
{
    int64_t balance = 0;
    for (size_t i = 0; i < group->ends.count; i++) {
        enum mw_comm_how how = group->ends.at[i]->comm->how;
        if (how == counterpart(how))
            return 0;
        balance += how == MW_COMM_SPAWN || how == MW_COMM_ACCEPT ? 1 : -1;
    }
    return balance == 0;
}

static int never(const struct group *group)
{
    (void)group;
    return 0;
}

/* MPI_Intercomm_create makes it within a world, too, and then nobody has noted when. */
static int may_shake_hands(const struct end *end)
{
    enum mw_comm_how how = end->comm->how;
    return counterpart(how) != MW_COMM_FOUND && (how != MW_COMM_INTERCOMM || !isnan(end->made));
}

/* Of worlds that have found each other and do this together, one speaks for all. */
static int join_handshakes(struct bridging *bridging)
{
    struct groups groups = {0};
    for (size_t i = 0; i < bridging->comms->joined.count; i++) {
        const struct mw_comm *comm = bridging->ends[i].comm;
        enum mw_comm_how how = comm->how, other = counterpart(how);
        uint64_t least = comm->size < comm->remote_size ? comm->size : comm->remote_size;
        if (may_shake_hands(&bridging->ends[i]) && first_of(bridging, i) == i && !bridging->met[i])
            groups_add(&groups,
                       mw_mix(mw_mix((uint64_t)(how < other ? how : other)) ^ least) + comm->size +
                           comm->remote_size,
                       &bridging->ends[i]);
    }
    return groups_work(bridging, &groups, handshake_fits, kinds_balance);
}

/* Made by the same call on a communicator that is joined. */
static int join_derived(struct bridging *bridging)
{
    const struct mw_comms *comms = bridging->comms;
    struct groups placed = {0}, others = {0};
    for (size_t i = 0; i < comms->joined.count; i++) {
        const struct mw_joined_comm *joined = &comms->joined.at[i];
        const struct end *end = &bridging->ends[i];
        if (joined->parent < 0)
            continue;
        size_t parent = first_of(bridging, (size_t)joined->parent);
        uint64_t key = mw_mix(mw_mix(parent) ^ joined->how);
        if (bridging->spans[parent] && end->places)
            groups_add(&placed, mw_mix(mw_mix(key ^ end->order) ^ end->places), end);
        else if (bridging->spans[parent] && !bridging->spans[first_of(bridging, i)])
            groups_add(&others, mw_mix(key ^ end->comm->number), end);
    }
    return groups_work(bridging, &placed, NULL, never) |
           groups_work(bridging, &others, derived_fits, never);
}

/* --- numbering -------------------------------------------------------------------------------- */

static int side_compare(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->world > b->world) - (a->world < b->world);
}

static uint64_t *run_starts(const struct mw_run *runs, size_t count)
{
    uint64_t *starts = mw_alloc(count, sizeof(*starts)), next = 0;
    for (size_t i = 0; i < count; i++) {
        starts[i] = next;
        next = next + runs[i].count < next ? UINT64_MAX : next + runs[i].count;
    }
    return starts;
}

static void sides_fill(struct bridging *bridging, size_t old_count)
{
    struct mw_comms *comms = bridging->comms;
    if (old_count)
        qsort(bridging->ends, old_count, sizeof(bridging->ends[0]), side_compare);
    comms->sides = mw_alloc(old_count, sizeof(comms->sides[0]));
    comms->side_count = old_count;
    for (size_t i = 0; i < old_count; i++) {
        const struct end *end = &bridging->ends[i];
        struct mw_joined_comm *joined = &comms->joined.at[end->number];
        if (!joined->side_count++)
            joined->side = i;
        comms->sides[i] = (struct mw_comm_side){
            .world = end->world,
            .comm = end->comm,
            .starts = run_starts(end->comm->members, end->comm->member_runs),
            .placed = end->placed,
            .place_starts = run_starts(end->placed->places, end->placed->place_runs)};
    }
}

/* What was counted of another side adds; sizes are those of the first. */
static void joined_unite(struct mw_joined_comm *to, const struct mw_joined_comm *from)
{
    to->holders += from->holders;
    to->freed += from->freed;
    if (!to->name || !to->name[0])
        to->name = from->name;
}

/* Numbers what is left without gaps. `same` becomes the new number of each old one. */
static void renumber(struct bridging *bridging)
{
    struct mw_comms *comms = bridging->comms;
    size_t count = comms->joined.count, kept = 0;
    uint32_t *numbers = mw_alloc(count, sizeof(*numbers));
    for (size_t i = 0; i < count; i++) {
        size_t first = first_of(bridging, i);
        numbers[i] = first == i ? (uint32_t)kept : numbers[first];
        if (first == i)
            comms->joined.at[kept++] = comms->joined.at[i];
        else
            joined_unite(&comms->joined.at[numbers[i]], &comms->joined.at[i]);
        bridging->ends[i].number = numbers[i];
    }
    comms->joined.count = kept;
    for (size_t i = 0; i < kept; i++)
        if (comms->joined.at[i].parent >= 0)
            comms->joined.at[i].parent = numbers[comms->joined.at[i].parent];
    for (size_t p = 0; p < comms->model->process_count; p++)
        for (size_t c = 0; c < mw_trace_process(comms->model->trace, p)->comm_count; c++)
            comms->by_process[p][c] = numbers[comms->by_process[p][c]];
    free(numbers);
    sides_fill(bridging, count);
}

void mw_comms_bridge(struct mw_comms *comms)
{
    size_t count = comms->joined.count;
    struct bridging bridging = {.comms = comms,
                                .same = mw_alloc(count, sizeof(bridging.same[0])),
                                .spans = mw_alloc(count, 1),
                                .met = mw_alloc(count, 1),
                                .ends = mw_alloc(count, sizeof(bridging.ends[0]))};
    for (size_t i = 0; i < count; i++)
        bridging.same[i] = (uint32_t)i;
    names_find(&bridging);
    ends_find(&bridging);
    int joined = 1;
    for (int pass = 0; pass < PASSES && joined; pass++)
        joined = join_handshakes(&bridging) | join_derived(&bridging);
    renumber(&bridging);
    mw_index_free(&bridging.names);
    free(bridging.name_owner.at);
    free(bridging.same);
    free(bridging.spans);
    free(bridging.met);
    free(bridging.ends);
}
