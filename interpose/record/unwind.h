/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walking the stack with a libunwind that is loaded at run time (the MPI libraries and Fortran
 * runtimes have no frame pointers). Any thread, on the miss path of the call-site caches. libunwind
 * takes the loader's lock and, the first time in a thread, pages from the kernel (120 to 150 us):
 * the caller holds no lock that a dlopen in another thread could wait for. x86-64 only so far; see
 * unwind.c.
 */
#ifndef MW_RECORD_UNWIND_H
#define MW_RECORD_UNWIND_H

#include <stdint.h>

#define MW_FRAMES_MAX 32u
#define MW_CHECKS_MAX (2 * MW_FRAMES_MAX)

/* A place on the stack and what it holds as long as the stack is the one that was walked. */
struct mw_stack_check {
    const uintptr_t *slot;
    uintptr_t value;
};

struct mw_stack {
    unsigned count; /* return addresses, innermost (the caller's) first */
    int truncated;  /* the stack goes on */
    const void *address[MW_FRAMES_MAX];
    /* Only from mw_unwind_exact: where the checks all hold, a call from the same return address and
     * the same frame address has this very stack. exact = 0: no such proof was found. */
    int exact;
    unsigned checks;
    struct mw_stack_check check[MW_CHECKS_MAX];
};

/* Loads libunwind, once. NULL: it works; else the reason why not (static text). */
const char *mw_unwind_setup(void);

/* The return addresses only: 60 ns for a known path, 2 to 4 us for a new one. -1: the caller was
 * not found. */
int mw_unwind_quick(const void *caller, unsigned depth, struct mw_stack *stack);
/* The return addresses from the caller to the bottom of the stack; how many. 0: there are more than
 * `most`, or it cannot be told. */
unsigned mw_unwind_all(const void *caller, void **found, unsigned most);
/* With checks: some microseconds. `caller` and `frame` are return and frame address of a function
 * that is still running, below us. */
int mw_unwind_exact(const void *caller, const void *frame, unsigned depth, struct mw_stack *stack);

#endif
