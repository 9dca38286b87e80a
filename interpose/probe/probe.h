/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes: what a process sees of the fabric libraries, MPI's choice and the kernel, beyond the
 * calls of MPI. One file (or a few of one name) each, one struct each; probes.c runs them all. A
 * probe writes facts (docs/format.md) and concludes nothing. It is switched off by
 * MPIWATCH_PROBES=-name, and where its library never comes it does nothing at all.
 *
 * Steps run on the thread that makes the call of MPI, one at a time, never two steps at once.
 * Wrapped functions of other libraries run on any thread, also inside MPI calls, also before
 * MPI_Init. A probe allocates nothing from the program's heap on the path of messages, takes no
 * lock over a call of the wrapped library, prints nothing, and never makes up a return value.
 */
#ifndef MW_PROBE_PROBE_H
#define MW_PROBE_PROBE_H

#include <stdint.h>

#include "mpiwatch/format.h"

struct mw_probe {
    const char *name; /* in MPIWATCH_PROBES, and in the trace (CHOICE) */
    /* What one step may take: its loops ask mw_probe_late(). A flush that took more than twice as
     * long is the last one. */
    uint32_t limit_us;
    void (*start)(void); /* recording has begun, the real MPI_Init not yet */
    void (*ready)(void); /* after the real MPI_Init: MPI and the fabric are set up */
    /* Now and then, in a call that writes a chunk anyway: a snapshot. It delays a call of the
     * program in mid-run: as short as can be. */
    void (*flush)(void);
    /* What is known goes to the trace: before the real MPI_Finalize (MW_END_FINALIZE) or
     * MPI_Abort, or in exit(), where other libraries may have gone: there and in MPI_Abort
     * only memory of our own and the kernel may be asked. */
    void (*finish)(enum mw_end_reason reason);
    void (*again)(void); /* that finish was not the last: MPI is used again */
};
/* Any step may be NULL. */

extern const struct mw_probe mw_probe_libfabric, mw_probe_ucx, mw_probe_openmpi, mw_probe_mpich,
    mw_probe_sockets, mw_probe_cma, mw_probe_openfiles, mw_probe_ports, mw_probe_placement,
    mw_probe_topology, mw_probe_gpu;

/* For wrapped functions, any thread: 1 while this process is recorded and the probe is not
 * switched off. Some instructions. */
int mw_probe_on(const struct mw_probe *probe);
/* 1 when the step in progress has used up its time (of this thread, where the processor was taken
 * away from it, within bounds): what is left is left out, and said to be (mw_choice, "partly"). */
int mw_probe_late(void);

/* One item of a CHOICE chunk; texts are copied. Any thread. `how` of a "probe" item says how far
 * it saw. */
void mw_choice(const char *what, const char *name, const char *how, const char *source);

/* Run by lifecycle.c and by the writing of chunks. */
void mw_probes_start(void);
void mw_probes_ready(void);
void mw_probes_flush(void);                       /* at most one in MW_PROBES_EVERY_MS */
/* After a finish that was not the last: another one follows. */
void mw_probes_again(void);
void mw_probes_finish(enum mw_end_reason reason); /* only the first call counts */
#define MW_PROBES_EVERY_MS 5000u

/* For tests: whether MPIWATCH_PROBES=list leaves this probe on. */
int mw_probes_wanted(const char *list, const char *name);

#endif
