/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of libunwind.so.8's x86-64 interface that unwind.c uses, in our own words. Its shared
 * object has kept these sizes and numbers since version 1.0; tests/unit/interpose/test_callsite.c
 * compares them with libunwind.h.
 */
#ifndef MW_RECORD_UNWIND_ABI_H
#define MW_RECORD_UNWIND_ABI_H

#include <stdint.h>

/* libunwind's cursor has 127 words; the rest is room to spare. */
struct mw_unw_cursor {
    uintptr_t words[256];
};

enum { MW_UNW_RBP = 6, MW_UNW_RSP = 7, MW_UNW_RIP = 16 };
enum mw_unw_where { MW_UNW_NOWHERE = 0, MW_UNW_IN_MEMORY = 1, MW_UNW_IN_REGISTER = 2 };

struct mw_unw_save_loc {
    enum mw_unw_where type;
    union {
        uintptr_t address;
        int number;
    } u;
    uintptr_t extra[2];
};

#endif
