# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of placement and its findings share: jobs with places, findings of these rules alone."""

import build_trace as b
import fabric_jobs as f
import placed_jobs as p
from cli import CliTest

MEBI = f.MEBI
RULES = ("far-from-nic", "shared-cpu", "uneven-nics", "migrated", "slow-link", "slit-flat", "gpu-staged", "gpu-links")


class Placed(CliTest):
    def trace(self, ranks, name="job.mpiw"):
        return b.write(self.path(name), b.job(), *ranks)

    def section(self, ranks):
        return self.run_cli("placement", "-f", "json", self.trace(ranks)).json()["placement"]

    def findings(self, ranks):
        return [finding for finding in self.report(self.trace(ranks))["findings"] if finding["id"] in RULES]

    def only(self, ranks, rule, severity="warning"):
        found = self.findings(ranks)
        self.assertEqual([(finding["id"], finding["severity"]) for finding in found], [(rule, severity)],
                         [finding["title"] for finding in found])
        return found[0]

    def none(self, ranks):
        self.assertEqual([finding["title"] for finding in self.findings(ranks)], [])

    def says(self, finding, *words):
        whole = "\n".join([finding["title"], *finding["evidence"], finding["cost"] or "", finding["advice"]])
        for word in words:
            self.assertIn(word, whole)


LAUNCHER = 900  # its pid


def local(ranks):
    """A job that ran to its end and talked within its node."""
    f.exchange(ranks, size=8, count=2, pairs=[(ranks[0].rank, ranks[-1].rank)] if len(ranks) > 1 else [])
    return f.finish(ranks)


def on_one_node(machine, masks, **more):
    ranks = [f.openmpi(rank, len(masks)) for rank in range(len(masks))]
    p.topology(ranks[0], machine)
    for process, cpus in zip(ranks, masks):
        process.parent = LAUNCHER
        p.place(process, cpus, **{"parent": machine.cpus(), "group": machine.cpus(), **more})
    return ranks
