/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probe of placement: sets of CPUs, odd names in /proc, cpusets of both versions of cgroups,
 * what a look says of this very process, and foreign processes on a made-up /proc.
 */
#include "probe_fixture.h"
#include "tree_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "probe/env_store.h"
#include "probe/placement.h"
#include "probe/procstat.h"

static int is_writer;

int mw_env_is_writer(void)
{
    return is_writer;
}

void *mw_pages(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

struct mw_thread_state *mw_threads_first(void)
{
    return NULL;
}

static void expect_cpus(const struct mw_cpus *cpus, const char *expected)
{
    char memory[8192];
    struct mw_text text;
    mw_text_init(&text, memory, sizeof memory);
    mw_cpus_text(&text, cpus);
    assert_string_equal(memory, expected);
}

static void test_lists_and_masks(void **state)
{
    static const char *const same[] = {"", "0", "0-3", "0-3,8", "1,3,5,64-127,1023"};
    struct mw_cpus cpus, other;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        mw_cpus_of_list(&cpus, same[i]);
        expect_cpus(&cpus, same[i]);
    }
    mw_cpus_of_list(&cpus, "0-3,4-7\n");
    expect_cpus(&cpus, "0-7");
    mw_cpus_of_list(&cpus, "7-3,9,4294967296-4294967299");
    expect_cpus(&cpus, "9");
    mw_cpus_of_list(&cpus, "0-2 nonsense 5");
    expect_cpus(&cpus, "0-2");
    uint8_t mask[24] = {0x0f, 0x80, 0x01};
    mask[23] = 0x80;
    mw_cpus_of_mask(&cpus, mask, sizeof mask);
    expect_cpus(&cpus, "0-3,15-16,191");
    assert_int_equal(mw_cpus_total(&cpus), 7);
    mw_cpus_of_list(&other, "0-3,15-16,191");
    assert_true(mw_cpus_equal(&cpus, &other));
    uint8_t comb[1024];
    memset(comb, 0x55, sizeof comb);
    mw_cpus_of_mask(&cpus, comb, sizeof comb);
    assert_int_equal(cpus.count, MW_CPU_RUNS);
}

static void test_names_in_stat(void **state)
{
    struct mw_procstat stat;
    char path[128];
    snprintf(path, sizeof path, "%s/stat", root);
    file_put("/stat", "42 (a) b (c)) R 7 1 1 0 -1 2097152 0 0 0 0 12 34 0 0 20 0 1 0 999 0 0 0 0 0 "
                      "0 0 0 0 0 0 0 0 0 0 0 63 0 0\n");
    assert_int_equal(mw_procstat_read(path, &stat), 0);
    assert_string_equal(stat.name, "a) b (c)");
    assert_int_equal(stat.parent, 7);
    assert_true(stat.flags & MW_PROCSTAT_KERNEL);
    assert_int_equal(stat.ticks, 46);
    assert_int_equal(stat.start, 999);
    assert_int_equal(stat.cpu, 63);
    static const char *const bad[] = {"", "42", "42 (a", "42 (a) R 7 1", ") 42 ("};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        file_put("/stat", bad[i]);
        assert_int_equal(mw_procstat_read(path, &stat), -1);
    }
    assert_int_equal(mw_procstat_read("/proc/self/stat", &stat), 0);
    assert_int_equal(stat.parent, getppid());
}

static void test_cpusets(void **state)
{
    struct mw_cpus cpus;
    mw_placement_cgroup(&cpus, root);
    expect_cpus(&cpus, "");
    file_put("/proc/self/cgroup", "0::/system.slice/job/step\n");
    mw_placement_cgroup(&cpus, root);
    expect_cpus(&cpus, "");
    file_put("/sys/fs/cgroup/cpuset.cpus.effective", "0-127\n");
    mw_placement_cgroup(&cpus, root);
    expect_cpus(&cpus, "0-127"); /* a container, or no cpuset of its own */
    file_put("/sys/fs/cgroup/system.slice/job/cpuset.cpus.effective", "0-7,64-71\n");
    mw_placement_cgroup(&cpus, root);
    expect_cpus(&cpus, "0-7,64-71");
    file_put("/sys/fs/cgroup/system.slice/job/step/cpuset.cpus.effective", "\n");
    mw_placement_cgroup(&cpus, root);
    expect_cpus(&cpus, "0-7,64-71");
    file_put("/proc/self/cgroup", "5:memory:/slurm\n4:cpuset,cpu:/slurm/uid_0/job_1\n0::/init\n");
    file_put("/sys/fs/cgroup/cpuset/slurm/uid_0/cpuset.cpus", "3\n");
    mw_placement_cgroup(&cpus, root);
    expect_cpus(&cpus, "3");
    file_put("/sys/fs/cgroup/cpuset/slurm/uid_0/job_1/cpuset.effective_cpus", "2\n");
    mw_placement_cgroup(&cpus, root);
    expect_cpus(&cpus, "2");
}

static uint64_t runs_total(struct mw_field field)
{
    struct mw_reader list = {field.data, field.data + field.size};
    uint64_t total = 0, first, count;
    while (mw_read_varint(&list, &first) == MW_OK && mw_read_varint(&list, &count) == MW_OK)
        total += count;
    return total;
}

static void test_a_look_at_ourselves(void **state)
{
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    forget();
    mw_placement_look("", MW_WHEN_INIT);
    assert_int_equal(kept_count, 1);
    struct mw_reader look = fields_of(0);
    assert_int_equal(number_in(look, MW_F_PLACEMENT_when), MW_WHEN_INIT);
    assert_int_equal(runs_total(bytes_in(look, MW_F_PLACEMENT_cpus)), CPU_COUNT(&before));
    assert_true(number_in(look, MW_F_PLACEMENT_cpu) > 0);
    assert_true(number_in(look, MW_F_PLACEMENT_threads) == 1);
    assert_true(bytes_in(look, MW_F_PLACEMENT_parent_cpus).size > 0);
    assert_true(bytes_in(look, MW_F_PLACEMENT_parent).size > 0);
    assert_true(text_is(look, MW_F_PLACEMENT_policy, "default") ||
                bytes_in(look, MW_F_PLACEMENT_policy).size == 0);
    mw_placement_look("", MW_WHEN_DURING); /* nothing is other than it was */
    assert_int_equal(kept_count, 1);
    if (CPU_COUNT(&before) < 2)
        skip();
    CPU_ZERO(&one);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && !CPU_COUNT(&one); cpu--)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    mw_placement_look("", MW_WHEN_DURING);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(kept_count, 2);
    look = fields_of(1);
    assert_int_equal(runs_total(bytes_in(look, MW_F_PLACEMENT_cpus)), 1);
    assert_int_equal(bytes_in(look, MW_F_PLACEMENT_parent_cpus).size, 0);
    assert_int_equal(number_in(look, MW_F_PLACEMENT_threads), 0);
}

static void *look_elsewhere(void *unused)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    while (mw_clock_ns(CLOCK_THREAD_CPUTIME_ID) < 150000000)
        ;
    mw_placement_look("", MW_WHEN_END);
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t thread;
    cpu_set_t before;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    forget();
    assert_int_equal(pthread_create(&thread, NULL, look_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    struct mw_reader look = fields_of(0);
    assert_int_equal(runs_total(bytes_in(look, MW_F_PLACEMENT_cpus)), 1);
    assert_int_equal(number_in(look, MW_F_PLACEMENT_threads), 2);
    if (CPU_COUNT(&before) > 1)
        assert_int_equal(runs_total(bytes_in(look, MW_F_PLACEMENT_process_cpus)),
                         CPU_COUNT(&before));
    struct walk walk = {.type = MW_CHUNK_PLACEMENT, .id = MW_F_PLACEMENT_thread};
    struct mw_reader record;
    unsigned used = 0;
    while (record_next(&walk, &record))
        used += number_in(record, MW_F_PLACEDTHREAD_ticks) > 5;
    assert_true(used >= 1);
}

static void process_put(unsigned pid, unsigned parent, unsigned flags, unsigned ticks,
                        unsigned long long start)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    snprintf(text, sizeof text,
             "%u (spin %u) R %u 1 1 0 -1 %u 0 0 0 0 %u 0 0 0 20 0 1 0 %llu 0 0 0 0 0 0 0 0 0 0 0 0 "
             "0 0 0 0 5 0 0\n",
             pid, pid, parent, flags, ticks, start);
    file_put(path, text);
}

static void foreign_look(void)
{
    uint8_t memory[65536];
    struct mw_buffer buffer;
    forget();
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_foreign_look(&buffer, root);
    assert_false(buffer.overflow);
    mw_output_chunk(MW_CHUNK_PLACEMENT, buffer.data, buffer.size);
}

static void test_foreign_processes(void **state)
{
    unsigned parent = (unsigned)getppid(), own = (unsigned)getpid();
    process_put(100, 1, 0, 5000, 10);
    process_put(101, 1, 0, 100, 10);    /* idle */
    process_put(102, parent, 0, 0, 10); /* another rank */
    process_put(103, own, 0, 0, 10);    /* the program's child */
    process_put(104, 2, MW_PROCSTAT_KERNEL, 0, 10);
    process_put(105, 1, 0, 7000, 10); /* its number will be used again */
    file_put("/proc/self/stat", "nothing\n");
    file_put("/proc/106/stat", "damaged\n");
    foreign_look();
    struct walk first = {.type = MW_CHUNK_PLACEMENT, .id = MW_F_PLACEMENT_foreign};
    struct mw_reader record;
    assert_false(record_next(&first, &record));
    assert_int_equal(number_in(fields_of(0), MW_F_PLACEMENT_watched), 0);
    foreign_look(); /* at once: too early to tell */
    assert_int_equal(kept[0].size, 0);
    usleep(200000);
    process_put(100, 1, 0, 5015, 10); /* 150 ms of some 200 */
    process_put(101, 1, 0, 101, 10);
    for (unsigned pid = 102; pid <= 104; pid++)
        process_put(pid,
                    pid == 102   ? parent
                    : pid == 103 ? own
                                 : 2,
                    pid == 104 ? MW_PROCSTAT_KERNEL : 0, 9000, 10);
    process_put(105, 1, 0, 3, 1); /* began before the first look, unseen then: not known */
    process_put(107, 1, 0, 20, ~0ull >> 8); /* has begun since */
    foreign_look();
    assert_true(number_in(fields_of(0), MW_F_PLACEMENT_watched) >= 200000000);
    unsigned found = 0;
    struct walk walk = {.type = MW_CHUNK_PLACEMENT, .id = MW_F_PLACEMENT_foreign};
    while (record_next(&walk, &record)) {
        uint64_t pid = number_in(record, MW_F_FOREIGN_pid);
        assert_true(pid == 100 || pid == 107);
        found += pid == 100 ? 1 : 10;
        assert_int_equal(number_in(record, MW_F_FOREIGN_cpu), 6);
        assert_int_equal(number_in(record, MW_F_FOREIGN_same_user), 1);
        assert_int_equal(number_in(record, MW_F_FOREIGN_parent), 1);
        assert_in_range(number_in(record, MW_F_FOREIGN_busy), 20, 110);
        assert_true(text_is(record, MW_F_FOREIGN_name, pid == 100 ? "spin 100" : "spin 107"));
    }
    assert_int_equal(found, 11);
}

/* The launcher is process 1 of a container: who has it for a parent is a rank of its own. If that
 * is somebody else, they are orphans. Returns how many foreign ones were found. */
static unsigned found_below_process_1(const char *name)
{
    char text[256];
    snprintf(text, sizeof text,
             "1 (%s) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5 "
             "0 0\n",
             name);
    file_put("/proc/1/stat", text);
    process_put(200, 1, 0, 0, 10);
    usleep(120000);
    foreign_look();
    usleep(200000);
    process_put(200, 1, 0, 9000, 10);
    foreign_look();
    struct walk walk = {.type = MW_CHUNK_PLACEMENT, .id = MW_F_PLACEMENT_foreign};
    struct mw_reader record;
    unsigned found = 0;
    while (record_next(&walk, &record))
        found += number_in(record, MW_F_FOREIGN_pid) == 200;
    return found;
}

static int status_of(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* By a child of process 1 of a namespace of its own. */
static void test_process_1(void **state)
{
    enum { CANNOT = 77 };
    pid_t outside = fork();
    if (outside == 0) {
        if (syscall(SYS_unshare, CLONE_NEWPID) != 0)
            _exit(CANNOT);
        pid_t first = fork();
        if (first == 0) {
            pid_t second = fork();
            if (second == 0)
                _exit((int)(getppid() != 1 || found_below_process_1("mpirun.openmpi") != 0 ||
                            found_below_process_1("bash") != 1));
            _exit(status_of(second));
        }
        _exit(status_of(first));
    }
    int status = status_of(outside);
    if (status == CANNOT)
        skip();
    assert_int_equal(status, 0);
}

static void test_no_time_for_all(void **state)
{
    for (unsigned pid = 1; pid <= 40; pid++)
        process_put(pid, 1, 0, 0, 10);
    usleep(120000);
    uint8_t memory[4096];
    struct mw_buffer buffer;
    forget();
    late_after = 1; /* asked every 16 processes, from the newest down */
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_foreign_look(&buffer, root);
    mw_output_chunk(MW_CHUNK_PLACEMENT, buffer.data, buffer.size);
    assert_int_equal(number_in(fields_of(0), MW_F_PLACEMENT_unwatched), 17);
}

/* More records than there is room for: what stands behind them is there all the same. */
static void test_no_room_for_all(void **state)
{
    for (unsigned i = 0; i < 8; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/task/%u/stat", 1000000 + i);
        file_put(path,
                 "1 (worker thread) R 7 1 1 0 -1 0 0 0 0 0 99 1 0 0 20 0 1 0 9 0 0 0 0 0 0 0 0 "
                 "0 0 0 0 0 0 0 0 3 0 0\n");
    }
    uint8_t memory[100];
    struct mw_buffer buffer;
    struct mw_cpus none = {0};
    forget();
    mw_buffer_init(&buffer, memory, sizeof memory);
    mw_placement_threads(&buffer, root, &none);
    assert_false(buffer.overflow);
    mw_output_chunk(MW_CHUNK_PLACEMENT, buffer.data, buffer.size);
    struct walk walk = {.type = MW_CHUNK_PLACEMENT, .id = MW_F_PLACEMENT_thread};
    struct mw_reader record;
    unsigned found = 0;
    while (record_next(&walk, &record))
        found++;
    assert_in_range(found, 1, 4);
    assert_int_equal(number_in(fields_of(0), MW_F_PLACEMENT_threads), 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_begin, tree_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_and_masks),
        TEST(test_names_in_stat),
        TEST(test_cpusets),
        TEST(test_a_look_at_ourselves),
        TEST(test_threads),
        TEST(test_foreign_processes),
        TEST(test_process_1),
        TEST(test_no_time_for_all),
        TEST(test_no_room_for_all),
    };
    return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
