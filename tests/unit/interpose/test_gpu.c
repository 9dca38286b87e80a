/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory spaces of calls, the answers about addresses that a thread keeps, and the watch on the
 * driver, over a runtime that this file plays and objects that call ioctl().
 */
#include "probe_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "probe/gpu.h"
#include "record/spaces.h"

__thread struct mw_thread_local mw_self;
static struct mw_thread_state thread;
static const struct mw_abi abi = {.in_place = (void *)-1};

/* --- a runtime --- */

static char device_memory[64], other_device[64], pinned[64], broken[64], host[64];
static unsigned asked;
static int hidden; /* device_memory has become host memory */

static struct mw_gpu_memory memory_of(const void *address)
{
    asked++;
    if (address == device_memory && !hidden)
        return (struct mw_gpu_memory){.kind = MW_MEMORY_DEVICE, .device = 0};
    if (address == other_device)
        return (struct mw_gpu_memory){.kind = MW_MEMORY_DEVICE, .device = 1};
    if (address == pinned)
        return (struct mw_gpu_memory){.kind = MW_MEMORY_PINNED, .device = -1};
    if (address == broken)
        return (struct mw_gpu_memory){.kind = MW_MEMORY_UNKNOWN, .device = -1, .error = 999};
    return (struct mw_gpu_memory){.kind = MW_MEMORY_HOST, .device = -1};
}
static const struct mw_gpu_runtime runtime = {
    .name = "played", .symbol = "playedPointer", .memory_of = memory_of};

_Atomic uint64_t mw_gpu_next_look = UINT64_MAX;
_Atomic int mw_gpu_there = 1;

void mw_gpu_look(uint64_t now)
{
    fail(); /* none is due */
}

/* --- calls --- */

static struct mw_call call_of(const void *sends, const void *receives)
{
    return (struct mw_call){.thread = &thread, .start = 1000, .sends = sends, .receives = receives};
}

static uint32_t spaces(int kind, uint32_t flags, const void *sends, const void *receives,
                       uint64_t out, uint64_t in)
{
    struct mw_call call = call_of(sends, receives);
    struct mw_raw_event detail = {.bytes = out, .bytes_in = in};
    return mw_spaces_of(&call, kind, flags, &detail);
}

#define BOTH(send, receive)                                                                        \
    ((uint32_t)(send) << MW_EVENT_SPACE_SEND_SHIFT | (uint32_t)(receive)                           \
                                                         << MW_EVENT_SPACE_RECEIVE_SHIFT)

/* The record of a space as written last. */
static struct mw_reader space_record(unsigned id)
{
    struct walk walk = {.type = MW_CHUNK_BUFFER, .id = MW_F_BUFFER_space};
    struct mw_reader record, found = {NULL, NULL};
    while (record_next(&walk, &record))
        if (number_in(record, MW_F_SPACE_id) == id)
            found = record;
    assert_non_null(found.next);
    return found;
}

static void kinds_of_events(void **state)
{
    mw_spaces_due_at(0);
    assert_int_equal(spaces(MW_EVENT_SEND, 0, device_memory, NULL, 8, 0), BOTH(1, 0));
    assert_int_equal(spaces(MW_EVENT_RECV, 0, device_memory, device_memory, 0, 8), BOTH(0, 1));
    assert_int_equal(spaces(MW_EVENT_COLL, 0, device_memory, pinned, 8, 8), BOTH(1, 2));
    assert_int_equal(spaces(MW_EVENT_RMA, 0, device_memory, device_memory, 0, 8), BOTH(0, 1));
    assert_int_equal(spaces(MW_EVENT_READ, MW_EVENT_OFFSET, pinned, pinned, 8, 77), BOTH(0, 2));
    assert_int_equal(spaces(MW_EVENT_WRITE, MW_EVENT_OFFSET, pinned, pinned, 8, 77), BOTH(2, 0));
    assert_int_equal(spaces(MW_EVENT_SEND, 0, host, NULL, 8, 0), 0);
    assert_int_equal(spaces(MW_EVENT_SEND, 0, broken, NULL, 8, 0), BOTH(3, 0));
    assert_true(text_is(space_record(3), MW_F_SPACE_note, "playedPointer: error 999"));
    assert_true(text_is(space_record(1), MW_F_SPACE_runtime, "played"));
    assert_int_equal(number_in(space_record(1), MW_F_SPACE_device), 1);
    /* nothing moved, or nothing known of it */
    assert_int_equal(spaces(MW_EVENT_SEND, 0, device_memory, NULL, 0, 0), 0);
    assert_int_equal(spaces(MW_EVENT_RECV, MW_EVENT_ERROR, NULL, device_memory, 15, 0), 0);
    assert_int_equal(spaces(MW_EVENT_CALL, 0, device_memory, device_memory, 0, 0), 0);
    assert_int_equal(spaces(MW_EVENT_DONE, 0, device_memory, device_memory, 0, 8), 0);
    assert_int_equal(spaces(MW_EVENT_POLL, 0, device_memory, device_memory, 1, 8), 0);
}

static void special_addresses(void **state)
{
    const void *in_place = abi.in_place;
    assert_int_equal(spaces(MW_EVENT_COLL, 0, in_place, pinned, 8, 8), BOTH(2, 2));
    assert_int_equal(spaces(MW_EVENT_COLL, 0, pinned, in_place, 8, 8), BOTH(2, 2));
    assert_int_equal(spaces(MW_EVENT_SEND, 0, NULL, NULL, 8, 0), BOTH(4, 0)); /* MPI_BOTTOM */
    assert_int_equal(number_in(space_record(4), MW_F_SPACE_kind), MW_MEMORY_UNKNOWN);
    assert_int_equal(spaces(MW_EVENT_SEND, 0, NULL, NULL, 0, 0), 0);
}

/* What is prepared is counted when it is started, from what was found then. */
static void persistent_requests(void **state)
{
    struct mw_call call = call_of(other_device, NULL), start = call_of(NULL, NULL);
    struct mw_raw_event detail = {.bytes = 100};
    call.mode = MW_PREPARES;
    uint32_t flags = mw_spaces_of(&call, MW_EVENT_SEND, 0, &detail);
    unsigned number = MW_EVENT_SPACE_SEND(flags);
    assert_int_equal(number, 5);
    mw_spaces_write();
    assert_int_equal(number_in(space_record(number), MW_F_SPACE_calls), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(mw_spaces_of(&start, MW_EVENT_SEND, flags | MW_EVENT_PERSISTENT, &detail),
                         flags);
    mw_spaces_write();
    assert_int_equal(number_in(space_record(number), MW_F_SPACE_calls), 2);
    assert_int_equal(number_in(space_record(number), MW_F_SPACE_bytes), 200);
    /* one of host memory: no buffer is looked for */
    assert_int_equal(mw_spaces_of(&start, MW_EVENT_SEND, MW_EVENT_PERSISTENT, &detail), 0);
}

static void answers_are_kept(void **state)
{
    atomic_store(&mw_gpu_keep, 100);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(mw_gpu_space(&thread, device_memory, 5000), 1);
        assert_int_equal(mw_gpu_space(&thread, host, 5000), 0);
    }
    asked = 0;
    assert_int_equal(mw_gpu_space(&thread, device_memory, 5099), 1);
    assert_int_equal(mw_gpu_space(&thread, host, 5099), 0);
    assert_int_equal(asked, 0);
    hidden = 1;
    assert_int_equal(mw_gpu_space(&thread, device_memory, 5099), 1); /* the driver did nothing */
    atomic_fetch_add(&mw_gpu_changes, 1);
    assert_int_equal(mw_gpu_space(&thread, device_memory, 5099), 0);
    hidden = 0;
    assert_int_equal(mw_gpu_space(&thread, device_memory, 5198), 0);
    assert_int_equal(mw_gpu_space(&thread, device_memory, 5199), 1); /* too old */
    atomic_store(&mw_gpu_keep, 0);
    asked = 0;
    assert_int_equal(mw_gpu_space(&thread, device_memory, 5199), 1);
    assert_int_equal(mw_gpu_space(&thread, device_memory, 5199), 1);
    assert_int_equal(asked, 2);
}

static void when_nothing_is_due(void **state)
{
    asked = 0;
    mw_spaces_due_at(UINT64_MAX);
    assert_int_equal(spaces(MW_EVENT_SEND, 0, device_memory, NULL, 8, 0), 0);
    mw_spaces_due_at(1001);
    assert_int_equal(spaces(MW_EVENT_SEND, 0, device_memory, NULL, 8, 0), 0);
    mw_spaces_due_at(1000);
    assert_int_equal(spaces(MW_EVENT_SEND, 0, device_memory, NULL, 8, 0), BOTH(1, 0));
    mw_gpu_there = 0;
    assert_int_equal(spaces(MW_EVENT_SEND, 0, device_memory, NULL, 8, 0), 0);
    mw_gpu_there = 1;
    assert_int_equal(asked, 1);
}

static void more_spaces_than_numbers(void **state)
{
    forget();
    for (int device = 10; device < 35; device++)
        assert_int_equal(mw_space_number(MW_MEMORY_DEVICE, "played", device, ""), device - 4);
    assert_int_equal(mw_space_number(MW_MEMORY_DEVICE, "played", 40, ""), MW_EVENT_SPACE_MORE);
    assert_int_equal(mw_space_number(MW_MEMORY_DEVICE, "played", 34, ""), 30);
    assert_int_equal(kept_count, 25); /* each was written when it came */
}

/* --- the watch --- */

static const struct mw_module_entry *load(const char *name,
                                          int (**call)(int, unsigned long, void *))
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lib%s.so", getenv("STUBS"), name);
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    assert_non_null(handle);
    *call = (int (*)(int, unsigned long, void *))dlsym(handle, "kernel_call");
    assert_non_null(*call);
    return mw_modules_locate(dlsym(handle, "kernel_call"));
}

static uint32_t changes(void)
{
    return atomic_load(&mw_gpu_changes);
}

static void watched(const char *name)
{
    int (*call)(int, unsigned long, void *);
    const struct mw_module_entry *object = load(name, &call);
    enum { ALLOCATE = 0x4b16, WAIT = 0x4b0c }; /* 'K' and a number */
    assert_true(mw_gpu_watch(object));
    assert_true(mw_gpu_watch(object)); /* once */
    assert_true(mw_gpu_watch_stands());
    uint32_t before = changes();
    errno = 0;
    assert_int_equal(call(-1, ALLOCATE, NULL), -1);
    assert_int_equal(errno, EBADF); /* what the real one says */
    assert_int_equal(changes(), before + 1);
    assert_int_equal(call(-1, WAIT, NULL), -1);
    assert_int_equal(changes(), before + 1);
    assert_int_equal(call(-1, 0x46 << 8 | WAIT, NULL), -1); /* another driver's */
    assert_int_equal(changes(), before + 2);
}

static void the_watch(void **state)
{
    int (*call)(int, unsigned long, void *);
    watched("kernel_lazy");
    watched("kernel_sealed");
    assert_false(mw_gpu_watch(load("kernel_other", &call)));
    assert_int_equal(call(-1, 0, NULL), 0);
}

/* Its table is read-only again. */
static void the_seal_stands(void **state)
{
    int (*call)(int, unsigned long, void *);
    const struct mw_module_entry *object = load("kernel_sealed", &call);
    uintptr_t slot = (uintptr_t)mw_elf_slot(&object->elf, "ioctl"), from, to;
    char line[4096], rights[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    int found = 0;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%zx-%zx %7s", &from, &to, rights) == 3 && slot >= from && slot < to) {
            assert_string_equal(rights, "r--p");
            found = 1;
        }
    fclose(maps);
    assert_true(found);
}

/* Somebody else takes the slot. */
static void the_watch_is_taken(void **state)
{
    int (*call)(int, unsigned long, void *);
    void **slot = mw_elf_slot(&load("kernel_lazy", &call)->elf, "ioctl"), *ours = *slot;
    *slot = (void *)call;
    assert_false(mw_gpu_watch_stands());
    *slot = ours;
    assert_true(mw_gpu_watch_stands());
}

int main(void)
{
    mw_recorder.abi = &abi;
    mw_gpu_memory_add(&runtime);
    atomic_store(&mw_gpu_keep, 1000000);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_events),     cmocka_unit_test(special_addresses),
        cmocka_unit_test(persistent_requests), cmocka_unit_test(answers_are_kept),
        cmocka_unit_test(when_nothing_is_due), cmocka_unit_test(more_spaces_than_numbers),
        cmocka_unit_test(the_watch),           cmocka_unit_test(the_seal_stands),
        cmocka_unit_test(the_watch_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
