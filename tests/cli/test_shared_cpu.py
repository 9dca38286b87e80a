# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on top of each other, and beside busy processes of others (C8)."""

import build_trace as b
import fabric_jobs as f
import placed_jobs as p
from cli import main
from machines import MACHINES, runs
from placed import LAUNCHER, Placed, local, on_one_node


class SharedCpu(Placed):
    """C8."""

    def test_pinned_to_one(self):
        every = MACHINES["desktop"].cpus()
        for parent, starter, bind, words in (
                ([0], "orted", None, "from its launcher orted: taskset, a batch system or a script did that before"),
                ([0], "bash", None, "from its parent bash: its launcher, a wrapper or a script before it did that"),
                (every, "orted", None, "its launcher, a wrapper (taskset) or the program itself did that"),
                (every, "orted", "true", "or the program itself (OMP_PROC_BIND=true) did that")):
            ranks = on_one_node(MACHINES["desktop"], [[0], [0]], parent=parent, starter=starter)
            for process in ranks if bind else []:
                f.facts(process, ("env", "OMP_PROC_BIND", bind))
            finding = self.only(local(ranks), "shared-cpu")
            self.assertEqual(finding["ranks"], "0-1")
            self.says(finding, "ranks 0-1 (2 ranks) share CPU 0 on node1", words)
            self.assertEqual("without taskset around mpirun" in finding["advice"], "from its launcher" in words)

    def test_bound_by_the_launcher(self):
        ranks = on_one_node(MACHINES["desktop"], [[0], [0]])
        for process in ranks:
            f.facts(process, ("env", "OMPI_MCA_orte_bound_at_launch", "1"))
        finding = self.only(local(ranks), "shared-cpu")
        self.says(finding, "its launcher bound it: its parent orted has more CPUs", "--bind-to core")

    def test_more_ranks_than_cpus(self):
        machine = MACHINES["desktop"]
        finding = self.only(local(on_one_node(machine, [machine.cpus()] * 9, involuntary=77)), "shared-cpu")
        self.says(finding, "ranks 0-8 (9 ranks) share 8 CPUs (0-7)", "nobody bound it",
                  "had 77 involuntary context switches (with those where it gave way itself", "mpi_yield_when_idle 1")
        self.none(local(on_one_node(machine, [machine.cpus()] * 8)))

    def test_it_gives_way_already(self):
        """Open MPI's launcher lets ranks yield where it knows of more than there are CPUs."""
        machine = MACHINES["desktop"]
        asked = "OMPI_MCA_mpi_yield_when_idle"
        for facts, gives_way in (([("env", "OMPI_MCA_mpi_oversubscribe", "1")], True), ([("env", asked, "1")], True),
                                 ([("parameter", asked, "true")], True), ([("parameter", asked, "0")], False),
                                 ([("env", asked, "0"), ("parameter.override", asked, "1")], True),
                                 ([("env", asked, "0"), ("parameter", asked, "1")], False)):
            ranks = on_one_node(machine, [machine.cpus()] * 9)
            for process in ranks:
                f.facts(process, *facts)
            finding = self.only(local(ranks), "shared-cpu")
            self.says(finding, "Start no more ranks")
            self.assertEqual("mpi_yield_when_idle 1" in finding["advice"], not gives_way, facts)

    def used(self, masks, *shares):
        """Ranks that used so many percent of a processor between their looks."""
        ranks = on_one_node(MACHINES["desktop"], masks)
        for process, share in zip(ranks, shares):
            for when, time, ticks in ((1, 2000, 50), (3, 8 * b.SECOND, 50 + 8 * share)):
                p.look(process, masks[process.rank], when=when, time=time,
                       thread=[{"tid": 1, "ticks": ticks, "mpi": 1}])
        return local(ranks)

    def test_ranks_that_sleep(self):
        """They wait in the kernel, and need no CPU of their own."""
        every = MACHINES["desktop"].cpus()  # 8
        for masks, shares, number in (([[0]] * 3, [0, 1, 0], 0), ([[0]] * 3, [0, 99, 1], 0), ([[0]] * 2, [5, 4], 0),
                                      ([[0]] * 2, [50, 49], 1), ([[0]] * 3, [1, 49, 50], 1), ([[0]] * 2, [50], 1),
                                      ([[0]] * 20, [5] * 20, 1), ([every] * 16, [10] * 16, 0),
                                      ([every] * 16, [50] * 16, 1)):
            found = self.findings(self.used(masks, *shares))
            self.assertEqual([finding["id"] for finding in found], ["shared-cpu"] * number, (masks, shares))

    def test_the_one_that_looked_sleeps(self):
        ranks = on_one_node(MACHINES["desktop"], [[0], [1]])
        for when, time in ((1, 2000), (3, 8 * b.SECOND)):
            foreign = [{"pid": 7, "name": "x", "cpu": 2, "busy": 49, "parent": 3}] if when == 3 else []
            p.look(ranks[0], [0], when=when, time=time, thread=[{"tid": 1, "ticks": 50, "mpi": 1}], foreign=foreign)
        self.assertEqual(self.only(local(ranks), "shared-cpu")["ranks"], "1")

    def test_some_of_them(self):
        """Ranks 1 to 3 have two CPUs; the others are fine."""
        masks = [[0], [2, 3], [2], [3], [4, 5], [4, 5]]
        finding = self.only(local(on_one_node(MACHINES["desktop"], masks)), "shared-cpu")
        self.says(finding, "ranks 1-3 (3 ranks) share 2 CPUs (2-3)")

    def test_room_is_found(self):
        """Masks overlap, but each rank can have a CPU: 0 on 2, 1 on 1, 2 on 0."""
        self.none(local(on_one_node(MACHINES["desktop"], [[0, 1, 2], [0, 1], [0]])))

    def test_hardware_threads(self):
        machine = MACHINES["desktop"]
        self.assertEqual(machine.core_cpus(0), [0, 4])
        self.none(local(on_one_node(machine, [[0], [4]])))

    def test_many_more_ranks_than_cpus(self):
        """Who searched in vain once is not searched for again: this took minutes."""
        ranks = [f.openmpi(rank, 3000) for rank in range(3000)]
        ranks[0].add("TOPOLOGY", slit=[{"node": 0, "cpus": [0, 1500]}])
        for process in ranks:
            p.look(process, range(1500))
        self.says(self.only(f.finish(ranks), "shared-cpu"), "(3000 ranks) share 1500 CPUs")

    def test_two_groups(self):
        found = self.findings(local(on_one_node(MACHINES["desktop"], [[0], [0], [3], [3], [5]])))
        self.assertEqual([finding["ranks"] for finding in found], ["0-1", "2-3"])

    def test_other_nodes_do_not_matter(self):
        ranks = [f.openmpi(rank, 2, host="node%d" % rank) for rank in range(2)]
        self.none(local(p.bound(ranks, MACHINES["desktop"], lambda rank: [0])))

    def foreign(self, masks, **process):
        ranks = on_one_node(MACHINES["desktop"], masks)
        record = {"pid": 7, "name": "spinner", "cpu": 1, "busy": 99, "same_user": 1, "parent": 1, **process}
        p.look(ranks[0], masks[0], when=3, time=8 * b.SECOND + 1, parent=MACHINES["desktop"].cpus(), foreign=[record])
        return local(ranks)

    def test_a_busy_process_of_others(self):
        finding = self.only(self.foreign([[0], [1]]), "shared-cpu")
        self.assertEqual(finding["ranks"], "0")
        self.says(finding, "rank 0 shares CPU 0 on node1 with 1 busy process of others",
                  "process 7 (spinner) of the same user used 99 % of CPU 0")

    def test_left_over(self):
        """When it began is not recorded: only what was seen is said."""
        finding = self.only(self.foreign([[0], [1]], name="solver"), "shared-cpu")
        self.says(finding, "it has this program's name, and its parent has ended")
        self.assertNotIn("left over", "".join(finding["evidence"]))
        for other in ({"name": "sol"}, {"name": "solver", "parent": 9}):
            finding = self.only(self.foreign([[0], [1]], **other), "shared-cpu")
            self.assertNotIn("this program", "".join(finding["evidence"]))

    def test_the_jobs_own(self):
        """Ranks have the numbers 1000 and 1001 (build_trace.py)."""
        for pid, parent in ((1001, 1), (1001, 5), (5, 1000), (5, LAUNCHER), (LAUNCHER, 1)):
            self.none(self.foreign([[0], [1]], pid=pid, parent=parent))

    def test_descendants_of_the_jobs(self):
        """A chain of busy ones up to a rank; one that goes round in circles ends."""
        one = {"pid": 5, "parent": 6, "name": "child", "cpu": 1, "busy": 99, "same_user": 1}
        for parent, number in ((1000, 0), (5, 1)):
            ranks = on_one_node(MACHINES["desktop"], [[0], [1]])
            p.look(ranks[0], [0], when=3, time=8 * b.SECOND + 1, parent=MACHINES["desktop"].cpus(),
                   foreign=[one, {**one, "pid": 6, "parent": parent}])
            self.assertEqual(len(self.findings(local(ranks))), number)

    def test_process_1(self):
        """It is the launcher in a container, else it adopts whoever has lost his parent."""
        for starter, number in (("mpirun.openmpi", 0), ("systemd", 1)):
            ranks = on_one_node(MACHINES["desktop"], [[0], [1]], starter=starter)
            for process in ranks:
                process.parent = 1
            p.look(ranks[0], [0], when=3, time=8 * b.SECOND + 1,
                   foreign=[{"pid": 5, "parent": 1, "name": "x", "cpu": 1, "busy": 99, "same_user": 1}])
            self.assertEqual(len(self.findings(local(ranks))), number)

    def several(self, masks, *busy, watched=8 * b.SECOND, **process):
        ranks = on_one_node(MACHINES["desktop"], masks)
        p.look(ranks[0], masks[0], when=3, time=8 * b.SECOND + 1, parent=MACHINES["desktop"].cpus(), watched=watched,
               foreign=[{"pid": 7 + n, "name": "make", "cpu": 1, "busy": share, "same_user": 1, "parent": 3, **process}
                        for n, share in enumerate(busy)])
        return local(ranks)

    def test_a_fair_share_is_less_than_half(self):
        """The kernel gives a rank and a spinner on one CPU 50 % each, rounded down 49 %."""
        self.says(self.only(self.foreign([[0], [1]], busy=49), "shared-cpu"), "used 49 % of CPU 0")
        self.none(self.several([[0], [1]], 29))

    def test_they_add_up(self):
        finding = self.only(self.several([[0], [1]], 20, 20), "shared-cpu")
        self.says(finding, "with 2 busy processes of others", "process 7 (make)", "process 8 (make)")
        self.none(self.several([[0], [1]], 10, 19))

    def test_they_add_up_in_sets_within_others(self):
        machine = MACHINES["desktop"]

        def job(*others):
            ranks = on_one_node(machine, [[0], [1], [3]])  # whom the wider set does not hold
            p.look(ranks[0], [0], when=3, time=8 * b.SECOND + 1, parent=machine.cpus(), foreign=[
                {"pid": 7 + n, "name": "spinner", "cpu": 1 + min(cpus), "busy": busy, "same_user": 1, "parent": 1,
                 "cpus": runs(cpus)} for n, (cpus, busy) in enumerate(others)])
            return local(ranks)

        self.none(job(([0], 20)))
        self.none(job(([0, 1], 29)))
        finding = self.only(job(([0], 20), ([0, 1], 20)), "shared-cpu")  # neither is worth a processor
        self.says(finding, "with 2 busy processes of others", "process 7 ", "process 8 ")
        self.none(job(([0], 20), ([1], 20)))  # these do not add up
        self.only(job(([0], 20), ([1], 20), ([0, 1], 25)), "shared-cpu")
        # One of 60 % on CPU 0 has one; with as much on CPUs 0 and 2 they want no more than that in all.
        ranks = on_one_node(machine, [[1], [1, 2], [3]])
        p.look(ranks[0], [1], when=3, time=8 * b.SECOND + 1, parent=machine.cpus(), foreign=[
            {"pid": 7, "name": "x", "cpu": 1, "busy": 60, "parent": 1, "cpus": runs([0])},
            {"pid": 8, "name": "y", "cpu": 1, "busy": 60, "parent": 1, "cpus": runs([0, 2])}])
        self.none(local(ranks))

    def test_more_demand_than_cpus(self):
        """Nobody is bound: only what does not fit in sum is a finding."""
        every = MACHINES["desktop"].cpus()  # 8
        for ranks, busy, expected in ((7, [60, 60], 0), (7, [70, 70], 1), (7, [99], 0), (8, [49], 0), (8, [50], 1),
                                      (4, [99] * 4, 0), (4, [99] * 5, 1), (5, [290], 0), (5, [390], 1), (8, [40] * 4, 0)):
            found = self.findings(self.several([every] * ranks, *busy, cpus=runs(every)))
            self.assertEqual([finding["id"] for finding in found], ["shared-cpu"] * expected, (ranks, busy))
        self.none(self.several([every] * 8, 99, 99, cpus=runs(every), watched=b.SECOND // 2))  # it may have run by
        self.only(self.several([[cpu] for cpu in every], 99, cpus=runs(every)), "shared-cpu")

    def test_it_does_not_matter(self):
        self.none(self.foreign([[0], [1]], busy=29))
        self.none(self.foreign([[0], [1]], cpu=8))
        self.none(self.foreign([[0, 1], [0, 1]], cpu=8))
        self.none(self.foreign([[0], [1]], cpus=runs([0, 5])))  # it can go elsewhere


if __name__ == "__main__":
    main()
