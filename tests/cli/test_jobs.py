# SPDX-License-Identifier: BSD-3-Clause
"""Real jobs, started by mpiwatch run and read back. Arguments: --mpi openmpi or mpich."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from cli import MPIWATCH, CliTest, main

# A ring that sends rank + 1 times 1000 bytes to the right, STEPS times; then what the argument says.
SOURCE = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char out[100000], in[100000];

static void __attribute__((noinline)) exchange(int rank, int size)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(in, sizeof in, MPI_CHAR, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1000 * (rank + 1), MPI_CHAR, (rank + 1) % size, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
}

int main(int argc, char **argv)
{
    int rank, size, sum;
    const char *what = argc > 2 ? argv[2] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < atoi(argv[1]); step++)
        exchange(rank, size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("sum %d\n", sum);
        fflush(stdout);
    }
    if (!strcmp(what, "kill") && rank == 1) {
        sleep(1);
        raise(SIGKILL);
    }
    if (!strcmp(what, "exit"))
        exit(3);
    if (!strcmp(what, "hang") && rank == 1)
        MPI_Recv(in, 1, MPI_CHAR, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""
MPI = sys.argv[sys.argv.index("--mpi") + 1] if "--mpi" in sys.argv else "openmpi"
LAUNCHER = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpirun.mpich"]}[MPI]
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}


class Jobs(CliTest):
    def setUp(self):
        super().setUp()
        with open(self.path("ring.c"), "w", encoding="utf-8") as file:
            file.write(SOURCE)
        subprocess.run(["mpicc." + MPI, "-g", "-O1", "ring.c", "-o", "ring"], cwd=self.folder, check=True)

    def job(self, *command, code=0, name="job"):
        return self.run_cli("run", "-o", name, "--", *command, code=code, env=ENVIRONMENT, timeout=90)

    def plain(self, *command):
        return subprocess.run(command, cwd=self.folder, env={**os.environ, **ENVIRONMENT}, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=90)

    def ring(self, *arguments, ranks=4):
        return [*LAUNCHER, "-n", str(ranks), "./ring", *arguments]

    def test_record_and_read_back(self):
        result = self.job(*self.ring("10"))
        self.assertEqual(result.out, self.plain(*self.ring("10")).stdout.decode())
        self.assertEqual(result.err, 'mpiwatch: recorded job.mpiw; "mpiwatch report job.mpiw" shows it\n')
        pairs = {(str(rank), str((rank + 1) % 4)): 10 for rank in range(4)}
        self.assertEqual(self.matrix("job.mpiw", "-m", "messages"), pairs)
        self.assertEqual(self.matrix("job.mpiw"), {pair: 10000 * (int(pair[0]) + 1) for pair in pairs})
        doc = self.report("job.mpiw")
        self.assertEqual(doc["processes"]["recorded_ranks"], 4)
        self.assertEqual(doc["processes"]["ended"][0]["how"], "MPI_Finalize")
        self.assertEqual(doc["job"]["program"], "ring")
        self.assertEqual(doc["job"]["command"], [" ".join(self.ring("10"))])
        self.assertEqual(doc["damage"], [])
        calls = {call["function"]: call for call in doc["calls"]}
        self.assertEqual(calls["MPI_Waitall"]["calls"], 40)
        self.assertEqual(calls["MPI_Irecv"]["received_bytes"], sum(range(1, 5)) * 10000)
        site = next(site for site in doc["sites"]["listed"] if site["function"] == "MPI_Waitall")
        caller = site["frames"][site["caller"]]
        self.assertEqual((caller["function"], os.path.basename(caller["file"])), ("exchange", "ring.c"))
        self.assertEqual(site["frames"][site["caller"] + 1]["function"], "main")
        version = doc["stack"]["mpi"][0]["version"]
        self.assertTrue(version.startswith({"openmpi": "Open MPI", "mpich": "MPICH"}[MPI]), version)
        self.assert_fits(self.run_cli("report", "job.mpiw").out)

    def test_packed_and_anonymous(self):
        self.job(*self.ring("3"))
        self.run_cli("pack", "job.mpiw", "-o", "packed.mpiw")
        self.assertEqual(self.run_cli("report", "packed.mpiw").out, self.run_cli("report", "job.mpiw").out)
        self.run_cli("anonymize", "job.mpiw", "-o", "anonymous.mpiw")
        dump = self.run_cli("dump", "anonymous.mpiw").out
        host = socket.gethostname()
        for secret in (os.path.basename(self.folder), os.path.realpath(self.folder), "/usr/lib"):
            self.assertNotIn(secret, dump.replace("anonymous.mpiw", ""))
        if len(host) > 3:
            self.assertNotIn(host, dump)
        self.assertEqual(self.matrix("anonymous.mpiw"), self.matrix("job.mpiw"))

    def test_several_programs(self):
        self.job(*LAUNCHER, "-n", "1", "./ring", "2", ":", "-n", "2", "./ring", "2")
        self.assertEqual(self.report("job.mpiw")["processes"]["recorded_ranks"], 3)

    def test_without_a_launcher(self):
        self.job("./ring", "5")
        self.assertEqual(self.matrix("job.mpiw"), {("0", "0"): 5000})

    def test_a_rank_is_killed(self):
        code = self.plain(*self.ring("5", "kill", ranks=3)).returncode
        self.job(*self.ring("5", "kill", ranks=3), code=code)
        doc = self.report("job.mpiw")
        self.assertEqual(doc["processes"]["recorded_ranks"], 3)
        # No call that had completed is lost.
        self.assertEqual(self.matrix("job.mpiw", "-m", "messages"),
                         {("0", "1"): 5, ("1", "2"): 5, ("2", "0"): 5})
        outside = [entry["rank"] for entry in doc["stuck"]["outside_mpi"]]
        self.assertEqual(outside, [1])
        barrier = doc["stuck"]["collectives"][0]
        self.assertEqual(barrier["inside"], [{"function": "MPI_Barrier", "count": 2, "ranks": "0,2"}])
        self.assertEqual(barrier["never_reached"][0]["ranks"], "1")
        self.assertEqual(barrier["never_reached"][0]["last_instance"], 0)

    def test_exit_without_finalize(self):
        # Which code a launcher reports of several is its luck, with and without us.
        codes = {self.plain(*self.ring("2", "exit", ranks=2)).returncode for _ in range(5)}
        self.assertNotIn(0, codes)
        self.assertIn(self.job(*self.ring("2", "exit", ranks=2), code=None).code, codes)
        ends = {end["how"] for end in self.report("job.mpiw")["processes"]["ended"]}
        self.assertLessEqual(ends, {"exit", "collected"})
        self.assertEqual(self.matrix("job.mpiw", "-m", "messages"), {("0", "1"): 2, ("1", "0"): 2})

    def wait_until(self, ready, seconds=40):
        until = time.time() + seconds
        while time.time() < until:
            if ready():
                return
            time.sleep(0.2)
        self.fail("it did not come to that")

    def sitting(self):
        """Who sits where, as far as a look from outside shows."""
        shown = self.run_cli("report", "-f", "json", "job.mpiw", code=None)
        if shown.code:
            return {}
        calls = shown.json()["stuck"]["calls"]
        return {call["rank"]: call["function"] for call in calls}

    def test_a_job_that_hangs(self):
        process = subprocess.Popen(
            [MPIWATCH, "run", "-o", "job", "--", *self.ring("5", "hang", ranks=3)], cwd=self.folder,
            env={**os.environ, **ENVIRONMENT}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            wanted = {0: "MPI_Barrier", 1: "MPI_Recv", 2: "MPI_Barrier"}
            self.wait_until(lambda: self.sitting() == wanted)
            doc = self.report("job.mpiw")
            self.assertEqual(doc["processes"]["ended"][0]["how"], "snapshot")
            self.assertEqual(doc["stuck"]["collectives"][0]["never_reached"][0]["state"], "in MPI_Recv")
            still = self.run_cli("collect", "job.mpiw")
            self.assertEqual(len(re.findall("still running", still.out)), 3)
        finally:
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
        self.assertIn(b"recorded job.mpiw", err)
        after = self.report("job.mpiw")
        self.assertEqual(after["trace"]["residues"], 0)
        self.assertEqual({call["rank"]: call["function"] for call in after["stuck"]["calls"]}, wanted)
        self.assertGreater(after["stuck"]["calls"][0]["held_s"], 0)


if __name__ == "__main__":
    for tool in ("mpicc." + MPI, LAUNCHER[0]):
        if not shutil.which(tool):
            print("skipped:", tool, "is not installed")
            sys.exit(77)
    if "--mpi" in sys.argv:
        del sys.argv[sys.argv.index("--mpi"):sys.argv.index("--mpi") + 2]
    main()
