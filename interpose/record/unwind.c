/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See unwind.h. libunwind is dlopened RTLD_LOCAL: its shared object exports `backtrace`, and
 * Debian's static one is not position independent. Its functions are declared here, so that
 * building needs no header of it; a unit test compares sizes and numbers with the real header.
 *
 * Why the checks of mw_unwind_exact are a proof, frame by frame: the place of the innermost frame
 * is given. Where a function is at a known return address and its frame lies at a known place, its
 * size is fixed by its unwind information, unless it is measured from the frame pointer (alloca, or
 * code built so). Then the pointer's value, which a function further in has saved at a known place,
 * is checked as well. So the next return address lies where it lay before, and its value is checked
 * in turn.
 *
 * AArch64 would need the same argument for x29/x30 and has not been tried: only the return address
 * is recorded there.
 */
#include "record/unwind.h"

#include <stddef.h>

#ifdef __x86_64__

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "record/unwind_abi.h"

/* Frames of our own between the wrapper and the walk, at most. */
#define OWN_FRAMES 16u
#define DESCRIPTOR_FIRST 160 /* least number of the two that libunwind takes */

static int (*context_get)(ucontext_t *);
static int (*cursor_init)(struct mw_unw_cursor *, ucontext_t *);
static int (*cursor_step)(struct mw_unw_cursor *);
static int (*register_get)(struct mw_unw_cursor *, int, uintptr_t *);
static int (*register_place)(struct mw_unw_cursor *, int, struct mw_unw_save_loc *);
static int (*addresses_get)(void **, int);

/* Stores the function and says whether it is there. */
static int resolve(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    *(void **)function = found;
    return found != NULL;
}

/* libunwind opens a pipe at its first use and keeps it, to try addresses with: it writes and reads there. Low
 * numbers would shift those that the program gets, and one that closes all descriptors and uses the numbers
 * again would find the byte in its own file. So the numbers below are taken while it does that. */
static void first_use(void)
{
    ucontext_t context;
    struct mw_unw_cursor cursor;
    int taken[DESCRIPTOR_FIRST], count = 0;
    int last = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (last >= 0 && last < DESCRIPTOR_FIRST && count < DESCRIPTOR_FIRST) {
        taken[count++] = last;
        last = fcntl(last, F_DUPFD_CLOEXEC, 0);
    }
    if (last >= 0)
        close(last);
    if (context_get(&context) == 0)
        cursor_init(&cursor, &context);
    while (count)
        close(taken[--count]);
}

/* Whether the program can do without the two descriptors. */
static int descriptors_suffice(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > DESCRIPTOR_FIRST + 64;
}

const char *mw_unwind_setup(void)
{
    static _Atomic(const char *) outcome;
    static const char works[] = "";
    const char *known = atomic_load(&outcome);
    if (known)
        return known == works ? NULL : known;
    void *library = descriptors_suffice() ? dlopen("libunwind.so.8", RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (!descriptors_suffice())
        known = "too few descriptors are allowed for libunwind";
    else if (!library)
        known = "libunwind.so.8 could not be loaded";
    else if (!resolve(library, "_Ux86_64_getcontext", &context_get) ||
             !resolve(library, "_ULx86_64_init_local", &cursor_init) ||
             !resolve(library, "_ULx86_64_step", &cursor_step) ||
             !resolve(library, "_ULx86_64_get_reg", &register_get) ||
             !resolve(library, "_ULx86_64_get_save_loc", &register_place) ||
             !resolve(library, "unw_backtrace", &addresses_get))
        known = "libunwind.so.8 lacks a function";
    else
        known = works;
    if (known == works)
        first_use();
    atomic_store(&outcome, known);
    return known == works ? NULL : known;
}

int mw_unwind_quick(const void *caller, unsigned depth, struct mw_stack *stack)
{
    void *found[MW_FRAMES_MAX + OWN_FRAMES + 1];
    stack->count = stack->checks = 0;
    stack->exact = stack->truncated = 0;
    int wanted = (int)(depth + OWN_FRAMES + 1), count = addresses_get(found, wanted), at = 0;
    while (at < count && at <= (int)OWN_FRAMES && found[at] != caller)
        at++;
    if (at >= count || found[at] != caller)
        return -1;
    for (; at < count && found[at]; at++) {
        if (stack->count == depth) {
            stack->truncated = 1;
            break;
        }
        stack->address[stack->count++] = found[at];
    }
    return 0;
}

unsigned mw_unwind_all(const void *caller, void **found, unsigned most)
{
    if (!addresses_get)
        return 0;
    int count = addresses_get(found, (int)most), at = 0;
    while (at < count && at <= (int)OWN_FRAMES && found[at] != caller)
        at++;
    if (count == (int)most || at >= count || found[at] != caller)
        return 0;
    for (int i = at; i < count; i++)
        found[i - at] = found[i];
    return (unsigned)(count - at);
}

/* One frame as the cursor shows it. */
struct view {
    uintptr_t ip, sp, fp;
};

static int look(struct mw_unw_cursor *cursor, struct view *view)
{
    return register_get(cursor, MW_UNW_RIP, &view->ip) == 0 &&
                   register_get(cursor, MW_UNW_RSP, &view->sp) == 0 &&
                   register_get(cursor, MW_UNW_RBP, &view->fp) == 0
               ? 0
               : -1;
}

static void check_add(struct mw_stack *stack, uintptr_t slot, uintptr_t value)
{
    for (unsigned i = 0; i < stack->checks; i++)
        if ((uintptr_t)stack->check[i].slot == slot)
            return;
    if (stack->checks == MW_CHECKS_MAX || slot % sizeof(uintptr_t) ||
        *(const uintptr_t *)slot != value) {
        stack->exact = 0; /* a signal frame, or something that we do not understand */
        return;
    }
    stack->check[stack->checks++] = (struct mw_stack_check){(const uintptr_t *)slot, value};
}

/* What fixes the place of the return address that leads from the frame `inner` to the next. */
static void step_check(struct mw_stack *stack, const struct view *inner, const struct view *outer,
                       const struct mw_unw_save_loc *fp_place)
{
    if (outer->sp <= inner->sp) {
        stack->exact = 0;
        return;
    }
    if (inner->fp >= inner->sp && inner->fp < outer->sp) {
        if (fp_place->type == MW_UNW_IN_MEMORY)
            check_add(stack, fp_place->u.address, inner->fp);
        else
            stack->exact = 0;
    }
    check_add(stack, outer->sp - sizeof(uintptr_t), outer->ip);
}

/* Steps to the function that the wrapper returns to. 0, or -1 when it is not met. */
static int find_caller(struct mw_unw_cursor *cursor, const void *caller, const void *frame,
                       struct view *view)
{
    for (unsigned i = 0; i < OWN_FRAMES; i++) {
        if (cursor_step(cursor) <= 0 || look(cursor, view) != 0)
            return -1;
        if (view->ip == (uintptr_t)caller && view->sp > (uintptr_t)frame)
            return 0;
        if (view->sp > (uintptr_t)frame + 4096)
            return -1;
    }
    return -1;
}

int mw_unwind_exact(const void *caller, const void *frame, unsigned depth, struct mw_stack *stack)
{
    ucontext_t context;
    struct mw_unw_cursor cursor;
    struct view inner, outer;
    stack->count = stack->checks = 0;
    stack->truncated = 0;
    if (context_get(&context) != 0 || cursor_init(&cursor, &context) != 0 ||
        find_caller(&cursor, caller, frame, &inner) != 0)
        return -1;
    stack->address[stack->count++] = caller;
    /* the wrapper keeps a frame pointer: its return address stands right above it */
    stack->exact = inner.sp == (uintptr_t)frame + 2 * sizeof(uintptr_t);
    for (;;) {
        struct mw_unw_save_loc fp_place;
        if (register_place(&cursor, MW_UNW_RBP, &fp_place) != 0)
            fp_place.type = MW_UNW_NOWHERE;
        if (cursor_step(&cursor) <= 0 || look(&cursor, &outer) != 0 || !outer.ip)
            break;
        if (stack->count == depth) {
            stack->truncated = 1;
            break;
        }
        if (stack->exact)
            step_check(stack, &inner, &outer, &fp_place);
        stack->address[stack->count++] = (const void *)outer.ip;
        inner = outer;
    }
    return 0;
}

#else

unsigned mw_unwind_all(const void *caller, void **found, unsigned most)
{
    return 0;
}

const char *mw_unwind_setup(void)
{
    return "stacks are only walked on x86-64";
}

int mw_unwind_quick(const void *caller, unsigned depth, struct mw_stack *stack)
{
    return -1;
}

int mw_unwind_exact(const void *caller, const void *frame, unsigned depth, struct mw_stack *stack)
{
    return -1;
}

#endif
