/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For programs that are also to be recorded while detail comes and goes: with MWTEST_TOGGLE, every
 * second of their steps takes it back or restores it.
 */
#ifndef MWTEST_TOGGLE_H
#define MWTEST_TOGGLE_H

#include <mpi.h>
#include <stdlib.h>

static void toggle_detail(void)
{
    static unsigned steps;
    if (getenv("MWTEST_TOGGLE") && ++steps % 2 == 0)
        MPI_Pcontrol((int)(steps / 2 % 2));
}

#endif
