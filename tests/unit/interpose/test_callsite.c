/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call sites: the frames that are recorded, the cache's hits and what must not be a hit, other
 * stacks, other threads, a machine without libunwind. STUBS is the folder of the stub libraries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <alloca.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#if __has_include(<libunwind.h>)
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#define HAVE_LIBUNWIND_H 1
#endif

#include "record/callsite.h"
#include "record/unwind_abi.h"

#define NOINLINE __attribute__((noinline, noipa))

static struct mw_callsite_cache *cache;
static volatile int never;

/* Plays the wrapper of an MPI function. */
static NOINLINE uint32_t wrapper(void)
{
    uint32_t site = mw_callsite(cache, __builtin_return_address(0), __builtin_frame_address(0));
    return site + (uint32_t)never; /* no tail call */
}

static void start(unsigned depth, mw_site_new_fn tell, void *context)
{
    const char *reason = mw_callsite_setup(depth, tell, context);
    if (depth > 1 && reason) {
        print_message("stacks: %s\n", reason);
        skip();
    }
    cache = mw_callsite_cache_create();
    assert_non_null(cache);
    mw_callsite_thread_start(cache);
}

static uint64_t misses(void)
{
    uint64_t missed, walked;
    mw_callsite_cache_stats(cache, &missed, &walked);
    return missed;
}

static uint64_t walks(void)
{
    uint64_t missed, walked;
    mw_callsite_cache_stats(cache, &missed, &walked);
    return walked;
}

static const void *address_of(const struct mw_site *site, unsigned frame)
{
    const struct mw_module_entry *module = mw_modules_at(site->frames[frame].module - 1);
    assert_non_null(module);
    return (const void *)(module->start + site->frames[frame].offset);
}

/* What each function of a chain says its own return address is. */
static const void *said[8];

static NOINLINE uint32_t chain3(void)
{
    said[1] = __builtin_return_address(0);
    uint32_t site = wrapper();
    return site + (uint32_t)never;
}
static NOINLINE uint32_t chain2(void)
{
    said[2] = __builtin_return_address(0);
    uint32_t site = chain3();
    return site + (uint32_t)never;
}
static NOINLINE uint32_t chain1(void)
{
    said[3] = __builtin_return_address(0);
    uint32_t site = chain2();
    return site + (uint32_t)never;
}

static void test_frames(void **state)
{
    start(4, NULL, NULL);
    uint32_t id = chain1();
    const struct mw_site *site = mw_site_at(id);
    assert_non_null(site);
    assert_int_equal(site->id, id);
    assert_int_equal(site->count, 4);
    assert_true(site->truncated);
    for (unsigned i = 1; i < 4; i++)
        assert_ptr_equal(address_of(site, i), said[i]);
    uintptr_t first = (uintptr_t)address_of(site, 0);
    assert_true(first > (uintptr_t)chain3 && first < (uintptr_t)chain3 + 256);
    start(MW_FRAMES_MAX, NULL, NULL); /* down to the bottom */
    site = mw_site_at(chain1());
    assert_false(site->truncated);
    assert_true(site->count > 5 && site->count < MW_FRAMES_MAX);
}

static NOINLINE void two_calls(uint32_t *sites)
{
    sites[0] = wrapper();
    sites[1] = wrapper();
}

static void test_hits(void **state)
{
    uint32_t sites[2];
    start(8, NULL, NULL);
    for (volatile int i = 0; i < 1000; i++)
        two_calls(sites);
    assert_true(sites[0] && sites[1] && sites[0] != sites[1]);
    assert_int_equal(misses(), 2);
    assert_int_equal(walks(), 2);
}

static NOINLINE uint32_t shared_step(void)
{
    uint32_t site = wrapper();
    return site + (uint32_t)never;
}
static NOINLINE uint32_t path_a(void)
{
    uint32_t site = shared_step();
    return site + (uint32_t)never;
}
static NOINLINE uint32_t path_b(void)
{
    uint32_t site = shared_step();
    return site + (uint32_t)never;
}

/* One return address, one frame address, two ways to get there. */
static void test_two_paths(void **state)
{
    start(8, NULL, NULL);
    uint32_t a = 0, b = 0;
    for (int i = 0; i < 1000; i++) {
        uint32_t (*volatile path)(void) = i % 2 ? path_b : path_a;
        uint32_t site = path();
        uint32_t *known = i % 2 ? &b : &a;
        if (i < 2)
            *known = site;
        assert_int_equal(site, *known);
    }
    assert_int_not_equal(a, b);
    assert_int_equal(misses(), 2);
}

/* Moves a part of the stack by alloca: in (0, 96) and (96, 0) the wrapper's frame is at one place,
 * and where the first one's return addresses were, the second has not written. */
static NOINLINE uint32_t moving_end(size_t room)
{
    volatile char *memory = alloca(room + 16);
    memory[0] = 0;
    uint32_t site = wrapper();
    return site + (uint32_t)never;
}
static NOINLINE uint32_t moving_a(size_t room)
{
    uint32_t site = moving_end(room);
    return site + (uint32_t)never;
}
static NOINLINE uint32_t moving_b(size_t room)
{
    uint32_t site = moving_end(room);
    return site + (uint32_t)never;
}
static NOINLINE uint32_t moving_start(size_t above, size_t below, int which)
{
    volatile char *memory = alloca(above + 16);
    uint32_t (*volatile path)(size_t) = which ? moving_b : moving_a;
    memory[0] = 0;
    uint32_t site = path(below);
    return site + (uint32_t)never;
}

static NOINLINE void both_ways(uint32_t *sites)
{
    for (volatile int which = 0; which < 2;
         which++) /* from one place, so that only the middle differs */
        sites[which] = moving_start(which ? 96 : 0, which ? 0 : 96, which);
}

static void test_variable_frames(void **state)
{
    start(8, NULL, NULL);
    uint32_t sites[200][2];
    for (volatile int i = 0; i < 200; i++)
        both_ways(sites[i]);
    assert_int_not_equal(sites[0][0], sites[0][1]);
    for (int i = 1; i < 200; i++)
        assert_memory_equal(sites[i], sites[0], sizeof sites[0]);
    assert_int_equal(misses(), 2);
}

static NOINLINE uint32_t deeper(unsigned levels)
{
    uint32_t site = levels ? deeper(levels - 1) : wrapper();
    return site + (uint32_t)never;
}

/* Ever new frame addresses: few walks, and the quick way finds the same sites. */
static void test_many_frames(void **state)
{
    start(8, NULL, NULL);
    uint32_t site = deeper(20);
    for (int round = 0; round < 20; round++)
        for (unsigned levels = 20; levels < 3000; levels++)
            assert_int_equal(deeper(levels), site);
    assert_true(walks() < misses() / 4);
    assert_true(misses() > 3000);
}

/* Both ways to walk, at many depths. */
static NOINLINE void compare_walks(void)
{
    struct mw_stack quick, exact;
    const void *caller = __builtin_return_address(0), *frame = __builtin_frame_address(0);
    for (unsigned depth = 1; depth <= MW_FRAMES_MAX; depth++) {
        assert_int_equal(mw_unwind_quick(caller, depth, &quick), 0);
        assert_int_equal(mw_unwind_exact(caller, frame, depth, &exact), 0);
        assert_int_equal(exact.count, quick.count);
        assert_int_equal(exact.truncated, quick.truncated);
        for (unsigned i = 0; i < quick.count; i++)
            assert_ptr_equal(exact.address[i], quick.address[i]);
        assert_true(exact.exact);
        assert_true(exact.checks >= exact.count - 1);
        assert_ptr_equal(quick.address[0], caller);
    }
}
static NOINLINE int compare_from(void)
{
    compare_walks();
    return never;
}

static void test_walks_agree(void **state)
{
    start(8, NULL, NULL);
    compare_from();
    char path[4096];
    snprintf(path, sizeof path, "%s/libplugin.so", getenv("STUBS"));
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(plugin);
    ((int (*)(int (*)(void)))dlsym(plugin, "stub_call"))(compare_from);
    dlclose(plugin);
}

static int site_seen;
static NOINLINE int call_wrapper(void)
{
    site_seen = (int)wrapper();
    return never;
}

/* A frame in a plug-in belongs to the plug-in; when another one takes its place, it is another
 * site. */
static void test_modules_of_frames(void **state)
{
    char path[4096];
    const char *const names[] = {"libplugin.so", "libplugin_noid.so", "libplugin.so"};
    uint32_t sites[3], modules[3];
    start(3, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", getenv("STUBS"), names[i]);
        void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        assert_non_null(plugin);
        mw_modules_refresh(); /* as a flush does */
        ((int (*)(int (*)(void)))dlsym(plugin, "stub_call"))(call_wrapper);
        const struct mw_site *site = mw_site_at((uint32_t)site_seen);
        sites[i] = site->id;
        modules[i] = site->frames[1].module;
        assert_int_equal(site->frames[0].module, 1);
        assert_string_equal(mw_modules_at(modules[i] - 1)->path, path);
        dlclose(plugin);
        mw_modules_refresh();
    }
    assert_true(modules[0] < modules[1] && modules[1] < modules[2]);
    assert_true(sites[0] != sites[1] && sites[1] != sites[2]);
}

/* A call from code that belongs to no object. */
static void test_generated_code(void **state)
{
#ifdef __x86_64__
    /* sub rsp,8; call rdi; add rsp,8; ret */
    static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7,
                                         0x48, 0x83, 0xc4, 0x08, 0xc3};
    start(8, NULL, NULL);
    unsigned char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    memcpy(page, code, sizeof code);
    for (int i = 0; i < 100; i++)
        assert_true(((uint32_t(*)(uint32_t(*)(void)))page)(wrapper) != 0);
    const struct mw_site *site = mw_site_at(((uint32_t(*)(uint32_t(*)(void)))page)(wrapper));
    assert_int_equal(site->frames[0].module, 0);
    assert_int_equal(site->frames[0].offset, (uintptr_t)page + 6);
    munmap(page, 4096);
#endif
}

static ucontext_t back, coroutine;
static uint32_t coroutine_site;

static void coroutine_main(void)
{
    coroutine_site = shared_step();
}

static void run_on(void *stack, size_t size)
{
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = size;
    coroutine.uc_link = &back;
    makecontext(&coroutine, coroutine_main, 0);
    swapcontext(&back, &coroutine);
}

/* A stack that is unmapped later: nothing of it may be remembered. */
static void test_other_stacks(void **state)
{
    start(8, NULL, NULL);
    const size_t size = 1 << 16;
    uint32_t first = 0;
    for (int i = 0; i < 50; i++) {
        char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(stack, MAP_FAILED);
        run_on(stack, size);
        first = first ? first : coroutine_site;
        assert_int_equal(coroutine_site, first);
        munmap(stack, size);
        /* a smaller one, the frame at the same address as before, little mapped above */
        char *small = mmap(stack, size / 2, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (small != MAP_FAILED) {
            run_on(small, size / 2);
            munmap(small, size / 2);
        }
    }
    assert_true(misses() >= 50);
    assert_int_equal(walks(), 0);
}

static void *thread_main(void *argument)
{
    mw_callsite_thread_start(cache);
    uint32_t *out = argument;
    for (int i = 0; i < 100; i++)
        *out = shared_step();
    assert_int_equal(misses(), 1); /* it knows this thread's stack, and nothing of the last one's */
    return NULL;
}

static void test_threads_in_turn(void **state)
{
    start(2, NULL, NULL);
    uint32_t sites[4];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 18);
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, i % 2 ? &attributes : NULL, thread_main, &sites[i]);
        pthread_join(thread, NULL);
        assert_int_equal(sites[i], sites[0]);
    }
}

static void test_depth(void **state)
{
    assert_null(mw_callsite_setup(0, NULL, NULL));
    cache = mw_callsite_cache_create();
    mw_callsite_thread_start(cache);
    assert_int_equal(wrapper(), 0);
    start(1, NULL, NULL);
    uint32_t a = path_a(), b = path_b();
    assert_int_equal(a, b); /* the return address alone does not tell them apart */
    assert_int_equal(mw_site_at(a)->count, 1);
    for (unsigned levels = 0; levels < 100; levels++)
        deeper(levels);
    assert_int_equal(misses(), 2);
    cache = NULL;
    assert_int_equal(path_a(), a);
    mw_callsite_setup(1000, NULL, NULL);
    assert_true(mw_callsite_depth() <= MW_FRAMES_MAX);
}

struct heard {
    _Atomic unsigned count;
    _Atomic uint32_t last;
};

static void on_site(const struct mw_site *site, void *context)
{
    struct heard *heard = context;
    heard->count++;
    heard->last = site->id;
    assert_ptr_equal(mw_site_at(site->id), site);
}

static void test_new_sites_are_told(void **state)
{
    struct heard heard = {0, 0};
    start(8, on_site, &heard);
    unsigned before = 0;
    for (int i = 0; i < 10; i++) {
        uint32_t site = wrapper();
        assert_int_equal(heard.count, 1);
        assert_int_equal(heard.last, site);
        before = site;
    }
    assert_true(before == mw_sites_last());
    mw_sites_notify(NULL, NULL);
}

#define THREADS 4
#define SITES   3000

static struct heard told;
static void *intern_main(void *argument)
{
    uint32_t *ids = argument;
    for (unsigned i = 0; i < SITES; i++) {
        struct mw_site_frame frames[2] = {{77, i % 1000}, {78, i / 1000 * 7}};
        ids[i] = mw_site_intern(frames, 2, 0);
    }
    return NULL;
}

static void test_interning_in_parallel(void **state)
{
    static uint32_t ids[THREADS][SITES];
    pthread_t threads[THREADS];
    mw_sites_notify(on_site, &told);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, intern_main, ids[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    mw_sites_notify(NULL, NULL);
    assert_int_equal(told.count, SITES);
    for (unsigned i = 0; i < SITES; i++) {
        for (int t = 1; t < THREADS; t++)
            assert_int_equal(ids[t][i], ids[0][i]);
        assert_int_equal(mw_site_at(ids[0][i])->frames[0].offset, i % 1000);
        assert_int_equal(mw_site_at(ids[0][i])->frames[1].offset, i / 1000 * 7);
    }
}

/* Fills the table: full stacks fall back to their innermost frame, then to 0. Comes last. */
static void test_full_table(void **state)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < 2 * MW_SITES_MAX; i++) {
        struct mw_site_frame frames[2] = {{5, i % 3}, {6, i}};
        uint32_t id = mw_site_intern(frames, 2, 0);
        assert_true(id > 0 && id < MW_SITES_MAX);
        last = id;
    }
    assert_int_equal(mw_site_at(last)->count, 1);
    assert_int_equal(mw_sites_lost(), 0);
    for (uint32_t i = 0; i < 2 * MW_SITES_MAX; i++) {
        struct mw_site_frame frame = {9, i};
        last = mw_site_intern(&frame, 1, 0);
    }
    assert_int_equal(last, 0);
    assert_true(mw_sites_lost() > 0);
    struct mw_site_frame known[2] = {{5, 1}, {6, 1}};
    assert_int_equal(mw_site_at(mw_site_intern(known, 2, 0))->count, 2);
}

static void test_libunwind_interface(void **state)
{
#if defined(HAVE_LIBUNWIND_H) && defined(__x86_64__)
    struct mw_unw_save_loc ours;
    unw_save_loc_t theirs;
    assert_true(sizeof(struct mw_unw_cursor) >= sizeof(unw_cursor_t));
    assert_true(sizeof(ucontext_t) >= sizeof(unw_context_t));
    assert_true(sizeof ours >= sizeof theirs);
    assert_int_equal((char *)&ours.u - (char *)&ours, (char *)&theirs.u - (char *)&theirs);
    assert_int_equal(sizeof ours.type, sizeof theirs.type);
    assert_int_equal(MW_UNW_IN_MEMORY, UNW_SLT_MEMORY);
    assert_int_equal(MW_UNW_NOWHERE, UNW_SLT_NONE);
    assert_int_equal(MW_UNW_RIP, UNW_REG_IP);
    assert_int_equal(MW_UNW_RSP, UNW_REG_SP);
    assert_int_equal(MW_UNW_RBP, UNW_X86_64_RBP);
#else
    skip();
#endif
}

/* Run by test_without_libunwind in a process that finds a libunwind.so.8 without any function. */
static int without_libunwind(void)
{
    const char *reason = mw_callsite_setup(8, NULL, NULL);
    cache = mw_callsite_cache_create();
    mw_callsite_thread_start(cache);
    uint32_t a = path_a(), b = path_b();
    return reason && strstr(reason, "libunwind") && mw_callsite_depth() == 1 && a && a == b &&
                   mw_site_at(a)->count == 1
               ? 0
               : 1;
}

static void test_without_libunwind(void **state)
{
    char command[8192], exe[4096] = "";
    assert_true(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
    snprintf(command, sizeof command, "LD_LIBRARY_PATH='%s' WITHOUT=1 '%s'", getenv("STUBS"), exe);
    int status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    if (getenv("WITHOUT"))
        return without_libunwind();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libunwind_interface),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_hits),
        cmocka_unit_test(test_two_paths),
        cmocka_unit_test(test_variable_frames),
        cmocka_unit_test(test_many_frames),
        cmocka_unit_test(test_walks_agree),
        cmocka_unit_test(test_modules_of_frames),
        cmocka_unit_test(test_generated_code),
        cmocka_unit_test(test_other_stacks),
        cmocka_unit_test(test_threads_in_turn),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_new_sites_are_told),
        cmocka_unit_test(test_without_libunwind),
        cmocka_unit_test(test_interning_in_parallel),
        cmocka_unit_test(test_full_table),
    };
    return cmocka_run_group_tests_name("callsite", tests, NULL, NULL);
}
