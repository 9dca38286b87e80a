# SPDX-License-Identifier: BSD-3-Clause
#
# A program without and with us, which must end alike.
"""The same program twice."""

from harness import same


def outcome(job):
    return job.code, job.stdout.splitlines()


def both(mpi, folder, program, arguments, env=None, ranks=1):
    """Runs a program without and with us; fails unless both end alike. (job, path of the trace)"""
    argv = [program] + [str(argument) for argument in arguments]
    plain = mpi.run(ranks, argv, folder, env=env)
    job, path = mpi.record(ranks, argv, folder, env=env)
    same(outcome(job), outcome(plain), "code and output")
    return job, path


def kinds(process, function):
    return [call.kind for call in process.all_calls() if call.function == function]
