/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_vm_readv and process_vm_writev as the cma probe wraps them: real transfers from a
 * child, refusals, errno, and exact counts under threads.
 */
#include "probe_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char shared_text[] = "what the child has in its memory";

/* A child with this process's memory image, that sleeps. */
static pid_t child_start(void)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

static void child_end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* The entry of a process in the last chunk that has one; 0 none. */
static int find(pid_t pid, struct mw_reader *record)
{
    struct walk walk = {.type = MW_CHUNK_CMA, .id = MW_F_CMA_peer};
    struct mw_reader next;
    int found = 0;
    while (record_next(&walk, &next))
        if (number_in(next, MW_F_CMAPEER_pid) == (uint64_t)pid) {
            *record = next;
            found = 1;
        }
    return found;
}

static ssize_t read_from(pid_t pid, void *to, const void *from, size_t size)
{
    struct iovec local = {to, size}, remote = {(void *)from, size};
    return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

static ssize_t write_to(pid_t pid, const void *from, void *to, size_t size)
{
    struct iovec local = {(void *)from, size}, remote = {to, size};
    return process_vm_writev(pid, &local, 1, &remote, 1, 0);
}

static void transfers_are_counted_by_process(void **state)
{
    pid_t child = child_start();
    char text[sizeof shared_text];
    struct mw_reader record;
    forget();
    for (int i = 0; i < 3; i++) {
        memset(text, 0, sizeof text);
        assert_int_equal(read_from(child, text, shared_text, sizeof text), sizeof text);
        assert_string_equal(text, shared_text);
    }
    assert_int_equal(write_to(child, "WHAT", shared_text, 4), 4);
    assert_int_equal(read_from(getpid(), text, shared_text, 5), 5);
    assert_string_equal(shared_text, "what the child has in its memory");
    assert_int_equal(kept_count, 0);
    mw_probe_cma.finish(MW_END_FINALIZE);
    assert_true(find(child, &record));
    assert_int_equal(number_in(record, MW_F_CMAPEER_reads), 3);
    assert_int_equal(number_in(record, MW_F_CMAPEER_read), 3 * sizeof text);
    assert_int_equal(number_in(record, MW_F_CMAPEER_writes), 1);
    assert_int_equal(number_in(record, MW_F_CMAPEER_written), 4);
    assert_int_equal(number_in(record, MW_F_CMAPEER_refused), 0);
    assert_true(find(getpid(), &record));
    assert_int_equal(number_in(record, MW_F_CMAPEER_read), 5);
    forget();
    mw_probe_cma.flush(); /* nothing has changed: nothing is written */
    assert_int_equal(kept_count, 0);
    assert_int_equal(read_from(child, text, shared_text, 7), 7);
    mw_probe_cma.flush();
    assert_true(find(child, &record)); /* cumulative */
    assert_int_equal(number_in(record, MW_F_CMAPEER_read), 3 * sizeof text + 7);
    assert_false(find(getpid(), &record));
    child_end(child);
}

static void a_transfer_of_a_part_counts_as_that(void **state)
{
    long page = sysconf(_SC_PAGESIZE);
    char *area =
        mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static char to[65536];
    struct mw_reader record;
    munmap(area + page, (size_t)page);
    pid_t child = child_start();
    struct iovec local = {to, 2 * (size_t)page};
    struct iovec remote[2] = {{area, (size_t)page}, {area + page, (size_t)page}};
    forget();
    assert_int_equal(process_vm_readv(child, &local, 1, remote, 2, 0), page);
    mw_probe_cma.flush();
    assert_true(find(child, &record));
    assert_int_equal(number_in(record, MW_F_CMAPEER_read), page);
    child_end(child);
    munmap(area, (size_t)page);
}

static void a_refusal_is_written_at_once_with_its_errno(void **state)
{
    pid_t child = child_start();
    char text[8];
    struct mw_reader record;
    child_end(child); /* now nobody has that number */
    forget();
    errno = 0;
    assert_int_equal(read_from(child, text, shared_text, 8), -1);
    assert_int_equal(errno, ESRCH);
    assert_int_equal(kept_count, 1);
    assert_true(find(child, &record));
    assert_int_equal(number_in(record, MW_F_CMAPEER_refused), 1);
    assert_int_equal(number_in(record, MW_F_CMAPEER_error), ESRCH);
    assert_true(number_in(record, MW_F_CMAPEER_error_time) > 0);
    assert_int_equal(number_in(record, MW_F_CMAPEER_reads), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(write_to(child, text, shared_text, 8), -1);
    assert_int_equal(errno, ESRCH);
    assert_int_equal(kept_count, 1); /* the others are counted */
    mw_probe_cma.flush();
    assert_true(find(child, &record));
    assert_int_equal(number_in(record, MW_F_CMAPEER_refused), 101);
}

/* A process of another user refuses; a wrong address before does not hide that. */
static void forbidden_wins_over_a_wrong_address(void **state)
{
    char text[8];
    struct mw_reader record;
    if (getuid() != 0)
        skip();
    pid_t target = child_start();
    forget();
    assert_int_equal(read_from(target, text, (void *)8, 8), -1);
    assert_int_equal(errno, EFAULT);
    assert_true(find(target, &record));
    assert_int_equal(number_in(record, MW_F_CMAPEER_error), EFAULT);
    assert_int_equal(setresuid(65534, 65534, 0), 0);
    ssize_t got = read_from(target, text, shared_text, 8);
    int error = errno;
    assert_int_equal(setresuid(0, 0, 0), 0);
    assert_int_equal(got, -1);
    assert_int_equal(error, EPERM);
    assert_int_equal(kept_count, 2);
    assert_true(find(target, &record));
    assert_int_equal(number_in(record, MW_F_CMAPEER_error), EPERM);
    assert_int_equal(number_in(record, MW_F_CMAPEER_refused), 2);
    child_end(target);
}

static void success_leaves_errno_alone(void **state)
{
    char text[8];
    errno = 1234;
    assert_int_equal(read_from(getpid(), text, shared_text, 8), 8);
    assert_int_equal(errno, 1234);
}

static void nothing_is_counted_outside_a_recording(void **state)
{
    pid_t child = child_start();
    char text[8];
    struct mw_reader record;
    forget();
    probe_on = 0;
    assert_int_equal(read_from(child, text, shared_text, 8), 8);
    errno = 0;
    assert_int_equal(read_from(-5, text, shared_text, 8), -1);
    assert_int_equal(errno, ESRCH);
    probe_on = 1;
    mw_probe_cma.finish(MW_END_FINALIZE);
    assert_false(find(child, &record));
    child_end(child);
}

static void calls_that_name_no_process_go_to_pid_0(void **state)
{
    char text[8];
    struct mw_reader record;
    forget();
    assert_int_equal(read_from(-7, text, shared_text, 8), -1);
    assert_int_equal(kept_count, 1);
    struct walk walk = {.type = MW_CHUNK_CMA, .id = MW_F_CMA_peer};
    assert_true(record_next(&walk, &record));
    assert_int_equal(number_in(record, MW_F_CMAPEER_pid), 0);
    assert_int_equal(number_in(record, MW_F_CMAPEER_refused), 1);
}

#define THREADS 4
#define CALLS   20000
static pid_t target;

static void *thread_body(void *argument)
{
    char text[16];
    for (int i = 0; i < CALLS; i++)
        if (read_from(target, text, shared_text, 16) != 16)
            return "failed";
    return NULL;
}

static void counts_are_exact_under_threads(void **state)
{
    pthread_t threads[THREADS];
    struct mw_reader record;
    void *result;
    target = child_start();
    forget();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, thread_body, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    mw_probe_cma.flush();
    assert_true(find(target, &record));
    assert_int_equal(number_in(record, MW_F_CMAPEER_reads), THREADS * CALLS);
    assert_int_equal(number_in(record, MW_F_CMAPEER_read), 16 * THREADS * CALLS);
    child_end(target);
}

/* More processes than the table holds: what found no room is in the entry of pid 0, nothing is
 * lost. */
static void a_full_table_loses_nothing(void **state)
{
    char text[8];
    uint64_t total = 0;
    struct mw_reader record;
    mw_probe_cma.flush();
    forget();
    enum { FIRST = 5000000, COUNT = 3000 }; /* above the largest process id */
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(read_from(FIRST + i * 7, text, shared_text, 8), -1);
        assert_true(kept_count <= 1); /* the first refusal of each, at once */
        forget();
    }
    mw_probe_cma.flush();
    struct walk walk = {.type = MW_CHUNK_CMA, .id = MW_F_CMA_peer};
    while (record_next(&walk, &record))
        total += number_in(record, MW_F_CMAPEER_refused);
    assert_in_range(total, COUNT, COUNT + 1); /* and the one of the test before */
    assert_true(kept_count > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_are_counted_by_process),
        cmocka_unit_test(a_transfer_of_a_part_counts_as_that),
        cmocka_unit_test(a_refusal_is_written_at_once_with_its_errno),
        cmocka_unit_test(forbidden_wins_over_a_wrong_address),
        cmocka_unit_test(success_leaves_errno_alone),
        cmocka_unit_test(nothing_is_counted_outside_a_recording),
        cmocka_unit_test(calls_that_name_no_process_go_to_pid_0),
        cmocka_unit_test(counts_are_exact_under_threads),
        cmocka_unit_test(a_full_table_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
