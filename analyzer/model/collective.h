/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the standard says of who must wait for whom in a collective, and how many bytes a network
 * moves for it. A table of constants; any thread.
 */
#ifndef MW_MODEL_COLLECTIVE_H
#define MW_MODEL_COLLECTIVE_H

enum mw_collective_kind {
    MW_COLLECTIVE_OTHER,
    MW_COLLECTIVE_BARRIER,
    MW_COLLECTIVE_NXN,        /* everybody needs something of everybody */
    MW_COLLECTIVE_ONE_TO_ALL, /* everybody needs something of the root */
    MW_COLLECTIVE_ALL_TO_ONE,
};

struct mw_collective {
    const char *name;
    enum mw_collective_kind kind;
    int even;   /* all ranks give the same amount: with some bytes nobody leaves before all came */
    int halves; /* bus bandwidth is `halves` / 2 × (n - 1) / n of algorithm bandwidth; 0: the same
                 */
    int of_received; /* the amount is what a rank received; else what it contributed */
};

/* "MPI_Allreduce"; of one that is not known the kind is OTHER. Never NULL. */
const struct mw_collective *mw_collective_of(const char *name);

#endif
