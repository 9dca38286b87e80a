/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floating-point state of the calling thread, set aside while a library computes that would
 * raise flags, or a trap where the program has asked for traps. Not by fenv.h: that is in libm,
 * which a program need not have.
 */
#ifndef MW_PROBE_FPSTATE_H
#define MW_PROBE_FPSTATE_H

#include <stdint.h>

#if defined(__x86_64__)

struct mw_fpstate {
    uint32_t mxcsr;
    uint32_t x87[7];
};

/* Sets it aside; what comes has the defaults: to nearest, no traps, no flags. */
static inline void mw_fpstate_begin(struct mw_fpstate *state)
{
    enum { DEFAULT = 0x1f80 };
    state->mxcsr = __builtin_ia32_stmxcsr();
    __asm__ volatile("fnstenv %0\n\tfninit" : "=m"(state->x87));
    __builtin_ia32_ldmxcsr(DEFAULT);
}

static inline void mw_fpstate_end(const struct mw_fpstate *state)
{
    __asm__ volatile("fldenv %0" : : "m"(state->x87));
    __builtin_ia32_ldmxcsr(state->mxcsr);
}

#elif defined(__aarch64__)

struct mw_fpstate {
    uint64_t control, status;
};

static inline void mw_fpstate_begin(struct mw_fpstate *state)
{
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr"
                     : "=r"(state->control), "=r"(state->status));
}

static inline void mw_fpstate_end(const struct mw_fpstate *state)
{
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(state->control), "r"(state->status));
}

#else
#error "unknown machine"
#endif

#endif
