/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "shared-cpu": so many ranks, or ranks and busy processes of others, are held to so few
 * processors that not each can have one of its own. Ranks wait by polling: two on one processor
 * take turns of milliseconds. Who can have a processor of his own is a matching of ranks to
 * processors; hardware threads of one core are processors of their own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/analysis/settings.h"
#include "analyzer/findings/foreigners.h"
#include "analyzer/findings/seats.h"
#include "analyzer/findings/words.h"
#include "analyzer/model/endpoints.h"
#include "trace/launchers.h"

#define BUSY_MIN    30         /* percent of a processor that foreign processes used in sum */
#define ROAMING_MIN 50         /* percent, of one that may go wherever ranks are */
#define WATCHED_MIN 1000000000 /* ns for which such a one was watched */
#define TAKERS_MAX  8192       /* of a node, on which the matching is tried */
#define SEATS_MAX   1024       /* of one of others */
#define ASLEEP_MAX  1  /* percent of a processor: even one rank of fifty that poll has more */
#define IDLE_MAX    25 /* percent of its equal part of the processors that a rank that sleeps used */
#define NAMED_MAX   4

/* Somebody who wants a processor: a rank, or a busy process of others. */
struct taker {
    uint32_t process;                 /* a rank; or who saw the foreign one */
    const struct mw_foreign *foreign; /* NULL: a rank */
    struct mw_cpus cpus;              /* on which it may run */
    size_t seats;                     /* processors that it wants; 0: it shares one with others */
};

struct contest {
    MW_VECTOR(struct taker) takers; /* ranks first */
    size_t *owner;                  /* by processor: number of the taker + 1; 0 free */
    unsigned char *tried;           /* by processor */
    size_t end;                     /* behind the last processor that anybody may use */
};
/* Whoever searches in vain leaves processors behind that will never be free for anybody else. */
enum tried { UNTRIED, TRIED /* in the search under way */, IN_VAIN };

/* Finds a processor for a taker, moving others where they can: an augmenting path, depth first. The
 * depth is bounded by the processors that were tried. */
static int settle(struct contest *contest, size_t taker)
{
    const struct mw_cpus *cpus = &contest->takers.at[taker].cpus;
    for (size_t cpu = mw_cpus_next(cpus, 0); cpu != SIZE_MAX; cpu = mw_cpus_next(cpus, cpu + 1)) {
        if (!contest->tried[cpu] && !contest->owner[cpu]) {
            contest->tried[cpu] = TRIED;
            contest->owner[cpu] = taker + 1;
            return 1;
        }
    }
    for (size_t cpu = mw_cpus_next(cpus, 0); cpu != SIZE_MAX; cpu = mw_cpus_next(cpus, cpu + 1)) {
        if (contest->tried[cpu])
            continue;
        contest->tried[cpu] = TRIED;
        if (settle(contest, contest->owner[cpu] - 1)) {
            contest->owner[cpu] = taker + 1;
            return 1;
        }
    }
    return 0;
}

static size_t end_of(const struct mw_cpus *cpus, size_t end)
{
    for (size_t cpu = mw_cpus_next(cpus, end); cpu != SIZE_MAX; cpu = mw_cpus_next(cpus, end))
        end = cpu + 1;
    return end;
}

/* Finds one for each seat that a taker wants; 1 where one lacks. Seats are alike: after one in vain
 * all are. */
static int settle_all(struct contest *contest, size_t taker)
{
    int settled = 1;
    for (size_t seat = 0; settled && seat < contest->takers.at[taker].seats; seat++) {
        settled = settle(contest, taker);
        for (size_t cpu = 0; cpu < contest->end; cpu++)
            if (contest->tried[cpu] == TRIED)
                contest->tried[cpu] = settled ? UNTRIED : IN_VAIN;
    }
    return !settled;
}

/* --- who is on a node ------------------------------------------------------------------------- */

/* Ranks that sleep, as with a library that waits for interrupts, need no processor of their own. */
static int sleeps(const struct mw_finding_input *in, uint32_t process)
{
    int64_t share = mw_cpu_share(in, process);
    return share >= 0 && share <= ASLEEP_MAX;
}

static void add_ranks(const struct mw_finding_input *in, struct contest *contest, uint32_t node)
{
    for (uint32_t p = 0; p < in->model->process_count; p++)
        if (mw_seated(in, p, node) && !sleeps(in, p) && contest->takers.count < TAKERS_MAX)
            *mw_vector_add(&contest->takers) =
                (struct taker){p, NULL, mw_cpus_copy(&in->placements->places[p].seat.cpus), 1};
}

/* What processes of others took of a set of CPUs. */
struct demand {
    struct mw_cpus cpus;
    uint64_t busy;        /* percent of a processor */
    size_t wanted, seats; /* processors; seats: that were given to takers */
    int counts;           /* what is wanted here, or of a set around it, is wanted by these, too */
};
struct demands {
    MW_VECTOR(struct demand) list;
};

static struct demand *demand_for(struct demands *demands, const struct mw_cpus *cpus)
{
    for (size_t i = 0; i < demands->list.count; i++)
        if (mw_cpus_equal(&demands->list.at[i].cpus, cpus))
            return &demands->list.at[i];
    struct demand *demand = mw_vector_add(&demands->list);
    demand->cpus = mw_cpus_copy(cpus);
    return demand;
}

/* A processor for each whole one that they took, and one for a rest that is worth it. */
static size_t seats_for(uint64_t busy)
{
    return (size_t)((busy + 100 - BUSY_MIN) / 100);
}

static int demand_compare(const void *left, const void *right)
{
    const struct demand *a = left, *b = right;
    size_t one = mw_cpus_count(&a->cpus), other = mw_cpus_count(&b->cpus);
    return (one > other) - (one < other);
}

/* Sets lie within others: what was taken of a set is all that was taken within it, and processors that
 * are wanted for sets within it are not wanted again. */
static void demands_settle(struct demands *demands)
{
    struct demand *at = demands->list.at;
    if (demands->list.count)
        qsort(at, demands->list.count, sizeof(at[0]), demand_compare);
    for (size_t i = 0; i < demands->list.count; i++) {
        uint64_t busy = 0;
        size_t given = 0;
        for (size_t j = 0; j <= i; j++)
            if (mw_cpus_within(&at[j].cpus, &at[i].cpus)) {
                busy += at[j].busy;
                given += at[j].wanted;
            }
        at[i].wanted = seats_for(busy) > given ? seats_for(busy) - given : 0;
        for (size_t j = 0; at[i].wanted && j <= i; j++)
            at[j].counts |= mw_cpus_within(&at[j].cpus, &at[i].cpus);
    }
}

static struct mw_cpus foreign_cpus(const struct mw_foreign *foreign)
{
    struct mw_cpus cpus = {0};
    for (size_t r = 0; r < foreign->cpu_runs; r++)
        mw_cpus_add(&cpus, foreign->cpus[r].first, foreign->cpus[r].count);
    if (!mw_cpus_count(&cpus) && foreign->cpu >= 0)
        mw_cpus_add(&cpus, (uint64_t)foreign->cpu, 1);
    return cpus;
}

/* Who may go wherever the job is takes what is free. It stands in the way only if it wants most of
 * a processor, for a while: a compiler that ran by does not. */
static int matters(const struct contest *contest, const struct mw_placement *look,
                   const struct mw_foreign *foreign)
{
    struct mw_cpus cpus = foreign_cpus(foreign);
    int roams = mw_cpus_count(&cpus) > 1;
    for (size_t i = 0; i < contest->takers.count && roams; i++)
        roams = contest->takers.at[i].foreign || mw_cpus_within(&contest->takers.at[i].cpus, &cpus);
    mw_cpus_free(&cpus);
    return !roams || (foreign->busy >= ROAMING_MIN && look->watched_ns >= WATCHED_MIN);
}

static int is_other(const struct mw_finding_input *in, const struct contest *contest,
                    uint32_t process, const struct mw_foreign *foreign)
{
    return !mw_foreign_is_ours(in->model, process, foreign) &&
           matters(contest, in->placements->places[process].last, foreign);
}

/* Nobody uses more than the processors on which he may run; nor do we search for so many that only
 * a made-up trace has them. */
static uint64_t busy_of(const struct mw_foreign *foreign, const struct mw_cpus *cpus)
{
    uint64_t count = mw_cpus_count(cpus), most = 100 * (count < SEATS_MAX ? count : SEATS_MAX);
    return foreign->busy < most ? foreign->busy : most;
}

static void demand_add(struct demands *demands, const struct mw_foreign *foreign)
{
    struct mw_cpus cpus = foreign_cpus(foreign);
    if (mw_cpus_count(&cpus))
        demand_for(demands, &cpus)->busy += busy_of(foreign, &cpus);
    mw_cpus_free(&cpus);
}

/* Nobody is a taker whose demand was not worth a processor. Of several who share one, the first
 * takes it; the others are named with him. */
static void add_foreigner(struct contest *contest, struct demands *demands, uint32_t process,
                          const struct mw_foreign *foreign)
{
    struct mw_cpus cpus = foreign_cpus(foreign);
    struct demand *demand = mw_cpus_count(&cpus) ? demand_for(demands, &cpus) : NULL;
    if (!demand || !demand->counts || contest->takers.count >= TAKERS_MAX) {
        mw_cpus_free(&cpus);
        return;
    }
    size_t left = demand->wanted - demand->seats, most = (busy_of(foreign, &cpus) + 99) / 100;
    size_t seats = most < left ? most : left;
    demand->seats += seats;
    *mw_vector_add(&contest->takers) = (struct taker){process, foreign, cpus, seats};
}

/* Processes of others that were busy when it was looked last. */
static void add_foreigners(const struct mw_finding_input *in, struct contest *contest,
                           uint32_t process)
{
    const struct mw_placement *last = in->placements->places[process].last;
    struct demands demands = {0};
    for (size_t i = 0; i < mw_foreign_count(last); i++)
        if (is_other(in, contest, process, &last->foreign[i]))
            demand_add(&demands, &last->foreign[i]);
    demands_settle(&demands);
    for (size_t i = 0; i < mw_foreign_count(last); i++)
        if (is_other(in, contest, process, &last->foreign[i]))
            add_foreigner(contest, &demands, process, &last->foreign[i]);
    for (size_t i = 0; i < demands.list.count; i++)
        mw_cpus_free(&demands.list.at[i].cpus);
    free(demands.list.at);
}

/* --- words ------------------------------------------------------------------------------------ */

static char *foreign_words(const struct mw_finding_input *in, const struct taker *taker)
{
    const struct mw_foreign *foreign = taker->foreign;
    int orphan = foreign->parent <= 1 && foreign->same_user &&
                 mw_foreign_is_namesake(in->model, taker->process, foreign);
    return mw_format(
        "process %" PRIu64 " (%s) of %s used %" PRIu64 " %% of CPU %" PRId64 "%s", foreign->pid,
        foreign->name, foreign->same_user ? "the same user" : "another user", foreign->busy,
        foreign->cpu, orphan ? "; it has this program's name, and its parent has ended" : "");
}

static void say_switches(const struct mw_finding_input *in, const struct mw_crowd *crowd,
                         struct mw_finding *finding)
{
    uint64_t most = 0;
    uint32_t who = 0;
    for (uint32_t p = 0; p < in->model->process_count; p++) {
        const struct mw_placement *last = in->placements->places[p].last;
        if (mw_crowd_has(crowd, p) && last && last->involuntary > most) {
            most = last->involuntary;
            who = p;
        }
    }
    if (!most)
        return;
    char *name = mw_process_words(in->model, who);
    mw_finding_evidence(finding, mw_format("%s had %" PRIu64 " involuntary context switches (with "
                                           "those where it gave way itself, by sched_yield)",
                                           name, most));
    free(name);
}

static char *cpus_words(const struct mw_cpus *cpus)
{
    size_t count = mw_cpus_count(cpus);
    char *list = mw_cpus_text(cpus);
    char *words = count == 1 ? mw_format("CPU %s", list) : mw_format("%zu CPUs (%s)", count, list);
    free(list);
    return words;
}

/* Does Open MPI call sched_yield while it waits? Asked for in the environment or a parameter file;
 * it does so by itself where its launcher knows of more ranks than CPUs. */
static int gives_way(const struct mw_finding_input *in, uint32_t process)
{
    static const char *const yes[] = {"1", "true", "yes", "on", "enabled", "t", "y"};
    const struct mw_setting *setting = mw_settings_find(in->settings, "OMPI_MCA_mpi_yield_when_idle");
    const struct mw_setting_variant *on = setting ? mw_setting_on(setting, process) : NULL;
    const char *asked = on ? on->in_force.value
                           : mw_process_fact(mw_trace_process(in->model->trace, process), "env",
                                             "OMPI_MCA_mpi_oversubscribe");
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
        if (!strcasecmp(asked, yes[i]))
            return 1;
    return 0;
}

static const char *advice_for(const struct mw_rank_place *place, int foreigners, int yields)
{
    int launched = mw_is_launcher(place->first->parent);
    if (foreigners)
        return "End what does not belong there (an earlier run's left-over processes?), or take "
               "other "
               "CPUs: ask the batch system for the whole node.";
    if ((place->origin == MW_MASK_INHERITED && launched) || place->origin == MW_MASK_CGROUP)
        return "Start the job with all the CPUs that it needs: without taskset around mpirun, with "
               "as "
               "many CPUs as ranks in the batch system or container. mpirun --report-bindings does "
               "not "
               "show this limit.";
    if (place->origin == MW_MASK_NONE)
        return yields ? "Start no more ranks than the node has CPUs, or use more nodes."
                      : "Start no more ranks than the node has CPUs, or use more nodes. Where it "
                        "must be, let ranks give way while they wait: --mca mpi_yield_when_idle 1 "
                        "(Open MPI).";
    if (place->origin == MW_MASK_INHERITED || place->origin == MW_MASK_NARROWED)
        return "Find out who did it, and let each rank have CPUs of its own: the launcher's "
               "options "
               "(mpirun --report-bindings, Open MPI, shows what those did), taskset or numactl in "
               "the command or script, and what binds OpenMP's threads (OMP_PROC_BIND=false).";
    return "Let each rank have CPUs of its own: mpirun --map-by core --bind-to core (Open MPI), "
           "-bind-to core (MPICH), srun --cpu-bind=cores; check lists of CPUs that were given by "
           "hand.";
}

/* Did all ranks use little of what each would have had of the processors? Then none polled. */
static int is_idle(const struct mw_finding_input *in, const struct contest *contest,
                   const unsigned char *shares, const struct mw_cpus *cpus)
{
    size_t sharers = 0;
    int64_t most = 0;
    for (size_t i = 0; i < contest->takers.count; i++) {
        const struct taker *taker = &contest->takers.at[i];
        if (!shares[i])
            continue;
        sharers++;
        int64_t share = taker->foreign ? 0 : mw_cpu_share(in, taker->process);
        if (share < 0)
            return 0;
        most = share > most ? share : most;
    }
    return (uint64_t)most * sharers < IDLE_MAX * mw_cpus_count(cpus);
}

/* Those who share `cpus`: ranks as a crowd, and busy processes of others. */
static void report(const struct mw_finding_input *in, const struct contest *contest, uint32_t node,
                   const unsigned char *shares, const struct mw_cpus *cpus, struct mw_findings *out)
{
    struct mw_crowd ranks;
    size_t foreigners = 0;
    mw_crowd_begin(&ranks, in->model);
    for (size_t i = 0; i < contest->takers.count; i++) {
        if (shares[i] && !contest->takers.at[i].foreign)
            mw_crowd_add(&ranks, contest->takers.at[i].process);
        foreigners += shares[i] && contest->takers.at[i].foreign;
    }
    if (!ranks.count) {
        mw_crowd_end(&ranks);
        return;
    }
    const struct mw_rank_place *place = &in->placements->places[mw_crowd_first(&ranks)];
    char *names = mw_crowd_names(&ranks), *where = cpus_words(cpus);
    char *others = foreigners ? mw_format(" with %zu busy process%s of others", foreigners,
                                          foreigners == 1 ? "" : "es")
                              : mw_text_copy("");
    struct mw_finding *finding = mw_finding_add(
        out, "shared-cpu", MW_WARNING,
        ranks.count == 1
            ? mw_format("%s shares %s on %s%s", names, where, in->model->nodes[node].host, others)
            : mw_format("%s (%zu ranks) share %s on %s%s", names, ranks.count, where,
                        in->model->nodes[node].host, others));
    char *origin = mw_origin_words(in, (uint32_t)mw_crowd_first(&ranks));
    char *first = mw_process_words(in->model, (uint32_t)mw_crowd_first(&ranks));
    mw_finding_evidence(finding, mw_format("of the CPUs of %s: %s", first, origin));
    for (size_t i = 0, named = 0; i < contest->takers.count && named < NAMED_MAX; i++)
        if (shares[i] && contest->takers.at[i].foreign) {
            mw_finding_evidence(finding, foreign_words(in, &contest->takers.at[i]));
            named++;
        }
    say_switches(in, &ranks, finding);
    finding->advice = mw_text_copy(advice_for(
        place, foreigners > 0, gives_way(in, (uint32_t)mw_crowd_first(&ranks))));
    mw_crowd_give(&ranks, finding);
    free(names);
    free(where);
    free(others);
    free(origin);
    free(first);
    mw_crowd_end(&ranks);
}

/* Everybody whom the search for `loser` came upon: these are more than their processors. */
static void report_around(const struct mw_finding_input *in, struct contest *contest, uint32_t node,
                          size_t loser, unsigned char *told, struct mw_findings *out)
{
    unsigned char *shares = mw_alloc(contest->takers.count, 1);
    struct mw_cpus cpus = {0};
    int fresh = !told[loser];
    shares[loser] = 1;
    for (size_t cpu = 0; cpu < MW_CPUS_MAX; cpu++) {
        if (!contest->tried[cpu])
            continue;
        mw_cpus_add(&cpus, cpu, 1);
        shares[contest->owner[cpu] - 1] = 1;
        fresh = fresh && !told[contest->owner[cpu] - 1];
    }
    /* Others who may run nowhere else take part, too. */
    for (size_t i = 0; i < contest->takers.count; i++)
        shares[i] = shares[i] || mw_cpus_within(&contest->takers.at[i].cpus, &cpus);
    if (fresh && !is_idle(in, contest, shares, &cpus))
        report(in, contest, node, shares, &cpus, out);
    for (size_t i = 0; i < contest->takers.count; i++)
        told[i] |= shares[i];
    free(shares);
    mw_cpus_free(&cpus);
}

static void find_on_node(const struct mw_finding_input *in, uint32_t node, struct mw_findings *out)
{
    struct contest contest = {.owner = mw_alloc(MW_CPUS_MAX, sizeof(size_t)),
                              .tried = mw_alloc(MW_CPUS_MAX, 1)};
    add_ranks(in, &contest, node);
    for (uint32_t p = 0; p < in->model->process_count; p++)
        if (mw_seated(in, p, node)) /* also one that sleeps */
            add_foreigners(in, &contest, p);
    unsigned char *told = mw_alloc(contest.takers.count, 1),
                  *lost = mw_alloc(contest.takers.count, 1);
    for (size_t i = 0; i < contest.takers.count; i++)
        contest.end = end_of(&contest.takers.at[i].cpus, contest.end);
    for (size_t i = 0; i < contest.takers.count; i++)
        lost[i] = (unsigned char)settle_all(&contest, i);
    for (size_t i = 0; i < contest.takers.count; i++) {
        if (!lost[i] || told[i]) /* all whom its search would come upon are told, too */
            continue;
        memset(contest.tried, UNTRIED, MW_CPUS_MAX);
        if (!settle(&contest, i))
            report_around(in, &contest, node, i, told, out);
    }
    for (size_t i = 0; i < contest.takers.count; i++)
        mw_cpus_free(&contest.takers.at[i].cpus);
    free(contest.takers.at);
    free(contest.owner);
    free(contest.tried);
    free(told);
    free(lost);
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    for (uint32_t node = 0; node < in->model->node_count; node++)
        find_on_node(in, node, out);
}

const struct mw_rule mw_rule_shared_cpu = {
    "shared-cpu", "ranks share processors with each other or with processes of others", find};
