# SPDX-License-Identifier: BSD-3-Clause
#
# Every form of a call moves the same: blocking, nonblocking, persistent, for large counts, the record of each must be
# the same as that of the plain one, which t_calls compares with what the program expects.
"""All forms of collectives and sends are recorded alike."""

from harness import check, main, mpi_test, same
from trace import Trace

COLLECTIVES = (
    "bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw reduce allreduce "
    "reduce_scatter reduce_scatter_block scan exscan"
).split()
NEIGHBOURS = "allgather allgatherv alltoall alltoallv alltoallw".split()
SENDS = "send bsend ssend rsend".split()


def family(name):
    """"bcast" of MPI_Bcast, MPI_Ibcast_c, MPI_Bcast_init ..."""
    for end in ("_c", "_init"):
        name = name[: -len(end)] if name.endswith(end) else name
    name = name[len("MPI_") :]
    return name[1:] if name[0] == "I" else name.lower()


def forms_of(process):
    """{"bcast": {"MPI_Ibcast": (kind, bytes out, bytes in, peer, communicator)}}; a start stands under what
    prepared it."""
    found, prepared = {}, None
    for call in process.calls():
        if call.function.endswith(("_init", "_init_c")):
            prepared = call.function
        for event in call.events:
            if event.kind not in ("COLL", "SEND"):
                continue
            name = prepared if event.function == "MPI_Start" else event.function
            effect = (event.kind, event.bytes, event.bytes_in, event.peer, process.comm_word(event.comm))
            known = found.setdefault(family(name), {}).setdefault(name, effect)
            same(effect, known, "%s, called again" % name)
    return found


def expected_forms(mpi):
    """How many forms each family has."""
    new = mpi.standard >= 40
    forms = {name: 6 if new else 2 for name in COLLECTIVES}
    forms.update({"neighbor_" + name: 6 if new else 2 for name in NEIGHBOURS})
    forms.update({name: 6 if new else 3 for name in SENDS}, barrier=3 if new else 2)
    forms["ssend"] -= 2 if new else 1  # the blocking ones would wait for each other
    return forms


@mpi_test
def every_form_is_recorded_alike(mpi, folder):
    job, path = mpi.record(2, [mpi.build("forms.c")], folder)
    job.expect(0)
    trace = Trace(path)
    check(not trace.damage, "damage: %s" % trace.damage)
    for process in trace.processes:
        found = forms_of(process)
        counted = {name: len(forms) for name, forms in found.items()}
        expected = expected_forms(mpi)
        same({name: counted.get(name) for name in expected}, expected, "forms that were recorded")
        for name in expected:
            effects = set(found[name].values())
            same(len(effects), 1, "%s: different records of its forms: %s" % (name, found[name]))
            kind, out, into, peer, comm = effects.pop()
            same((kind, comm), ("SEND" if name in SENDS else "COLL", "cart"), name)
            check(name in ("barrier", "exscan") or out or into, "%s moved nothing" % name)
            check(kind == "COLL" or peer == 1 - process.rank, "%s went to %d" % (name, peer))


@mpi_test
def every_request_is_completed(mpi, folder):
    job, path = mpi.record(2, [mpi.build("forms.c")], folder)
    job.expect(0)
    for process in Trace(path).processes:
        started, done = [], []
        for call in process.calls():
            for event in call.events:
                if "request" in event.flags:
                    (done if event.kind == "DONE" else started).append(event)
        same(len(done), len(started), "requests that were completed")
        for event in done:
            check(process.started(event) is not None, "a completion without a start: %s" % event)


main()
