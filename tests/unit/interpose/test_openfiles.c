/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The openfiles probe: descriptors of files that have the names of devices (in a /dev of the
 * test's own), mapped shared memory, other files; and the walk over descriptors.
 */
#include "probe_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/fdwalk.h"
#include "sandbox.h"

static void shared_memory_of_known_kinds(void **state)
{
    static const char *const names[] = {"/ucx_shm_posix_1a2b", "/vader_segment.test.0.1",
                                        "/my_own_memory"};
    void *area[3];
    int fd[3];
    char name[64];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s-%d", names[i], (int)getpid());
        fd[i] = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd[i] < 0)
            skip();
        shm_unlink(name); /* as libraries do: "(deleted)" in the list */
        assert_int_equal(ftruncate(fd[i], 4096), 0);
        area[i] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd[i], 0);
        assert_ptr_not_equal(area[i], MAP_FAILED);
    }
    errno = 55;
    mw_probe_openfiles.ready();
    assert_int_equal(errno, 55);
    assert_choice("shm", "ucx_shm_posix", "mapped");
    assert_choice("shm", "vader_segment", "mapped");
    for (unsigned i = 0; i < choice_count; i++)
        assert_null(strstr(choices[i].name, "my_own"));
    unsigned said = choice_count;
    mw_probe_openfiles.finish(MW_END_FINALIZE); /* nothing twice */
    assert_int_equal(choice_count, said);
    for (int i = 0; i < 3; i++) {
        munmap(area[i], 4096);
        close(fd[i]);
    }
}

static void links_that_cannot_be_read_are_said(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        forget();
        if (open("/dev/null", O_RDONLY) < 0 || !refuse_call(SYS_readlinkat, EACCES))
            _exit(77);
        mw_probe_openfiles.finish(MW_END_FINALIZE);
        _exit(!choice_is("probe", "openfiles", "partly"));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* As root, a /dev of our own, in a namespace of our own, so that nobody else sees it: the last
 * test. */
static int own_dev(void)
{
    return getuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/dev", "tmpfs", 0, NULL) == 0;
}

static void devices(void **state)
{
    if (!own_dev())
        skip();
    assert_int_equal(mkdir("/dev/infiniband", 0700), 0);
    static const char *const paths[] = {"/dev/knem", "/dev/infiniband/uverbs0", "/dev/cxi0",
                                        "/dev/other"};
    int fds[4];
    for (int i = 0; i < 4; i++) {
        fds[i] = open(paths[i], O_RDWR | O_CREAT, 0600);
        assert_true(fds[i] >= 0);
    }
    close(fds[0]);
    forget();
    mw_probe_openfiles.ready();
    assert_choice("device", "/dev/knem", "present");
    assert_null(how_of("device", "/dev/xpmem"));
    assert_choice("device", "/dev/infiniband/uverbs0", "open");
    assert_choice("device", "/dev/cxi0", "open");
    assert_null(how_of("device", "/dev/other"));
    fds[0] = open("/dev/knem", O_RDWR);
    forget();
    mw_probe_openfiles.finish(MW_END_FINALIZE);
    assert_choice("device", "/dev/knem", "open"); /* replaces "present" */
    assert_int_equal(choice_count, 1);
    for (int i = 0; i < 4; i++)
        close(fds[i]);
}

static void other_files_are_not_told(void **state)
{
    int null = open("/dev/null", O_RDWR);
    forget();
    mw_probe_openfiles.finish(MW_END_FINALIZE);
    for (unsigned i = 0; i < choice_count; i++)
        assert_string_not_equal(choices[i].name, "/dev/null");
    close(null);
}

static void the_limit_is_kept_and_said(void **state)
{
    forget();
    late_after = 0;
    mw_probe_openfiles.finish(MW_END_FINALIZE);
    assert_choice("probe", "openfiles", "partly");
    late_after = -1;
}

static unsigned open_among(struct mw_fdwalk *walk, const int *fds)
{
    unsigned found = 0;
    int fd, last = -1;
    while ((fd = mw_fdwalk_next(walk)) >= 0) {
        assert_true(fd > last);
        last = fd;
        for (int i = 0; i < 5; i++)
            found += fd == fds[i];
    }
    return found;
}

/* The walk itself: begins where it is told, ends, and leaves no descriptor open; by numbers and
 * by the folder. */
static void the_walk(void **state)
{
    static int (*const ways[])(struct mw_fdwalk *, int) = {mw_fdwalk_open, mw_fdwalk_open_folder};
    struct mw_fdwalk walk;
    int fds[5], fd;
    for (int i = 0; i < 5; i++)
        fds[i] = dup(0);
    int next = dup(0);
    close(next);
    for (int way = 0; way < 2; way++) {
        assert_int_equal(ways[way](&walk, fds[2]), 0);
        assert_int_equal(open_among(&walk, fds), 3);
        mw_fdwalk_close(&walk);
        assert_int_equal(ways[way](&walk, 0), 0);
        while (mw_fdwalk_next(&walk) != fds[1])
            continue;
        unsigned rest = mw_fdwalk_rest(&walk, 1000);
        assert_in_range(rest, 3, 40);
        mw_fdwalk_close(&walk);
        assert_int_equal(ways[way](&walk, 0), 0);
        assert_int_equal(mw_fdwalk_rest(&walk, 2), 2);
        mw_fdwalk_close(&walk);
        assert_int_equal(ways[way](&walk, 100000000), 0);
        assert_int_equal(mw_fdwalk_next(&walk), -1);
        mw_fdwalk_close(&walk);
        fd = dup(0);
        assert_int_equal(fd, next);
        close(fd);
    }
    for (int i = 0; i < 5; i++)
        close(fds[i]);
}

/* One descriptor of a very high number does not make the walk long. */
static void a_very_high_descriptor(void **state)
{
    struct mw_fdwalk walk;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int high = fcntl(0, F_DUPFD, 70000), fd, last = -1, steps = 0;
    if (high < 0)
        skip();
    assert_int_equal(mw_fdwalk_open(&walk, 0), 0);
    while ((fd = mw_fdwalk_next(&walk)) >= 0) {
        last = fd;
        steps++;
    }
    mw_fdwalk_close(&walk);
    close(high);
    assert_int_equal(last, high);
    assert_true(steps < 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory_of_known_kinds),
        cmocka_unit_test(links_that_cannot_be_read_are_said),
        cmocka_unit_test(other_files_are_not_told),
        cmocka_unit_test(the_limit_is_kept_and_said),
        cmocka_unit_test(the_walk),
        cmocka_unit_test(a_very_high_descriptor),
        cmocka_unit_test(devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
