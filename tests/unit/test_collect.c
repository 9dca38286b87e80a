/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moving what dead processes left into their node file: what is written, where it must not be
 * written, several collectors at once, and finding the mappings.
 */
#include "mapping_fixture.h"

#include <sys/file.h>
#include <sys/resource.h>
#include <utime.h>

#include "allocations.h"

static int exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static uint64_t file_size(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (uint64_t)st.st_size;
}

static void collecting_moves_the_chunks(void **state)
{
    struct fixture fixture;
    struct taken taken = {0};
    uint64_t bytes = 0, sum = 0;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    assert_int_equal(fixture_take(&fixture, &taken), MW_OK);
    for (size_t i = 0; i < taken.count; i++)
        sum += taken.chunk[i].size;
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_OK);
    /* Times are of different lengths in another moment: a few bytes. */
    assert_in_range(bytes, sum - 8, sum + 8);
    assert_int_equal(file_size(fixture.node_file), MW_CHUNK_HEADER_SIZE + bytes);
    assert_false(exists(fixture.path));
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_ERR_NOT_FOUND);

    uint8_t *file = malloc(MW_CHUNK_HEADER_SIZE + bytes);
    int fd = open(fixture.node_file, O_RDONLY);
    assert_int_equal(read(fd, file, MW_CHUNK_HEADER_SIZE + bytes), MW_CHUNK_HEADER_SIZE + bytes);
    close(fd);
    size_t at = MW_CHUNK_HEADER_SIZE;
    for (size_t i = 0; i < taken.count; i++) {
        struct mw_chunk_header header;
        assert_int_equal(mw_chunk_parse(file + at, &header), MW_OK);
        assert_int_equal(header.type, taken.chunk[i].type);
        if (i < 5)
            assert_memory_equal(file + at, taken.chunk[i].data, taken.chunk[i].size);
        at += MW_CHUNK_HEADER_SIZE + header.length;
    }
    assert_int_equal(at, MW_CHUNK_HEADER_SIZE + bytes);
    free(file);
    taken_free(&taken);
    fixture_remove(&fixture);
}

static void damaged_mappings_are_collected_once(void **state)
{
    struct fixture fixture;
    uint64_t bytes = 0;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    fixture_thread(&fixture, 0)->capacity = 77;
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_OK);
    assert_true(bytes > 0);
    assert_false(exists(fixture.path));
    fixture_remove(&fixture);
}

/* Node files that chunks must not go to. The mapping keeps its name, and nothing is written. */
static void refuse_node_file(struct fixture *fixture, enum mw_status status)
{
    uint64_t bytes = 5;
    assert_int_equal(mw_residue_collect(fixture->path, &bytes), status);
    assert_int_equal(bytes, 5);
    assert_true(exists(fixture->path));
}

static void wrong_node_files_are_left_alone(void **state)
{
    struct fixture fixture;
    char other[700];
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    snprintf(other, sizeof other, "%s/other", fixture.folder);
    assert_int_equal(rename(fixture.node_file, other), 0);
    refuse_node_file(&fixture, MW_ERR_NOT_FOUND);
    assert_false(exists(fixture.node_file)); /* never created */
    assert_int_equal(symlink(other, fixture.node_file), 0);
    refuse_node_file(&fixture, MW_ERR_NOT_TRACE);
    unlink(fixture.node_file);
    fixture_write(fixture.node_file, "a letter to a friend, not less than 32 bytes", 44);
    refuse_node_file(&fixture, MW_ERR_NOT_TRACE);
    assert_int_equal(file_size(fixture.node_file), 44);
    fixture_write(fixture.node_file, "", 0);
    refuse_node_file(&fixture, MW_ERR_NOT_TRACE);
    unlink(fixture.node_file);
    assert_int_equal(mkfifo(fixture.node_file, 0600), 0);
    refuse_node_file(&fixture, MW_ERR_NOT_TRACE);
    unlink(fixture.node_file);
    assert_int_equal(rename(other, fixture.node_file), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(fixture.node_file, 1, (gid_t)-1), 0);
        refuse_node_file(&fixture, MW_ERR_NOT_TRACE);
        assert_int_equal(chown(fixture.node_file, 0, (gid_t)-1), 0);
    }
    assert_int_equal(file_size(fixture.node_file), MW_CHUNK_HEADER_SIZE);
    fixture_remove(&fixture);
}

/* What belongs to a trace that was removed would fill /dev/shm for ever. */
static void what_belongs_nowhere_is_removed(void **state)
{
    struct fixture fixture;
    uint64_t bytes = 5;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    strcpy(fixture.header->node_file, "/nowhere/trace.mpiw/node.mpiw"); /* not mounted, perhaps */
    refuse_node_file(&fixture, MW_ERR_NOT_FOUND);
    strcpy(fixture.header->node_file, fixture.node_file);
    fixture.header->folder_ino ^= 1; /* another folder has its name now */
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_ERR_NOT_FOUND);
    assert_int_equal(bytes, 5);
    assert_false(exists(fixture.path));
    assert_int_equal(file_size(fixture.node_file), MW_CHUNK_HEADER_SIZE);
    fixture_remove(&fixture);
}

/* Another trace was made in the place of a removed one, and has its names and even its inode. */
static void what_a_newer_trace_has_replaced_is_removed(void **state)
{
    struct fixture fixture;
    struct mw_residue residue;
    struct stat st;
    uint64_t bytes = 5;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    assert_int_equal(mw_residue_open(fixture.path, &residue), MW_OK);
    uint64_t dev = residue.header->folder_dev, ino = residue.header->folder_ino;
    assert_true(mw_residue_belongs(&residue, dev, ino));
    assert_false(mw_residue_belongs(&residue, dev, ino + 1));
    mw_residue_close(&residue);
    fixture.header->file_process = 0x1234; /* not what begins the file */
    assert_int_equal(mw_residue_open(fixture.path, &residue), MW_OK);
    assert_false(mw_residue_belongs(&residue, dev, ino));
    mw_residue_close(&residue);
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_ERR_NOT_FOUND);
    assert_false(exists(fixture.path));
    assert_int_equal(stat(fixture.node_file, &st), 0);
    assert_int_equal(st.st_size, MW_CHUNK_HEADER_SIZE);
    fixture_remove(&fixture);
}

static void wrong_node_paths_are_refused(void **state)
{
    struct fixture fixture;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    static const char *const paths[] = {"", "node.mpiw", "/", "/..", "relative/node.mpiw"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        strcpy(fixture.header->node_file, paths[i]);
        refuse_node_file(&fixture, MW_ERR_CORRUPT);
    }
    memset(fixture.header->node_file, '/', MW_MAP_PATH); /* without an end */
    refuse_node_file(&fixture, MW_ERR_CORRUPT);
    fixture_remove(&fixture);
}

static void one_collector_at_a_time(void **state)
{
    struct fixture fixture;
    char claimed[700];
    uint64_t bytes;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    /* Another one is at work: it holds the lock and has given the mapping its name. */
    snprintf(claimed, sizeof claimed, "%s.claim-123", fixture.path);
    int fd = open(fixture.path, O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_ERR_ARGUMENT);
    assert_int_equal(rename(fixture.path, claimed), 0);
    assert_int_equal(mw_residue_collect(claimed, &bytes), MW_ERR_ARGUMENT);
    close(fd); /* and is killed */
    assert_int_equal(rename(fixture.node_file, fixture.trace), -1);
    assert_int_equal(mw_residue_collect(claimed, &bytes), MW_OK);
    assert_false(exists(claimed));
    assert_false(exists(fixture.path));
    fixture_remove(&fixture);
}

static void a_claim_that_fails_gets_its_own_name_back(void **state)
{
    struct fixture fixture;
    char claimed[700];
    uint64_t bytes;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    snprintf(claimed, sizeof claimed, "%s.claim-123", fixture.path);
    assert_int_equal(rename(fixture.path, claimed), 0);
    unlink(fixture.node_file);
    assert_int_equal(mw_residue_collect(claimed, &bytes), MW_ERR_NOT_FOUND);
    assert_true(exists(fixture.path));
    assert_false(exists(claimed));
    fixture_remove(&fixture);
}

/* Many at once: each chunk is in the file exactly once. */
static void racing_collectors_do_it_once(void **state)
{
    enum { COLLECTORS = 4, ROUNDS = 20 };
    for (int round = 0; round < ROUNDS; round++) {
        struct fixture fixture;
        pid_t child[COLLECTORS];
        int won = 0;
        fixture_make(&fixture, NULL);
        fixture_kill(&fixture);
        for (int i = 0; i < COLLECTORS; i++) {
            child[i] = fork();
            if (child[i] == 0) {
                uint64_t bytes;
                _exit(mw_residue_collect(fixture.path, &bytes) == MW_OK);
            }
        }
        for (int i = 0; i < COLLECTORS; i++) {
            int exit_status;
            assert_int_equal(waitpid(child[i], &exit_status, 0), child[i]);
            assert_true(WIFEXITED(exit_status));
            won += WEXITSTATUS(exit_status);
        }
        assert_int_equal(won, 1);
        assert_false(exists(fixture.path));
        assert_in_range(file_size(fixture.node_file), 500, 20000);
        fixture_remove(&fixture);
    }
}

/* SIGXFSZ would end a program that is not ours. */
static void a_file_size_limit_is_not_hit(void **state)
{
    struct fixture fixture;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    pid_t child = fork();
    if (child == 0) {
        uint64_t bytes;
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
        enum mw_status status = mw_residue_collect(fixture.path, &bytes);
        _exit(status == MW_ERR_SYSTEM && errno == EFBIG ? 0 : 1);
    }
    int exit_status;
    assert_int_equal(waitpid(child, &exit_status, 0), child);
    assert_true(WIFEXITED(exit_status));
    assert_int_equal(WEXITSTATUS(exit_status), 0);
    assert_true(exists(fixture.path));
    fixture_remove(&fixture);
}

static void unfinished_mappings_go_when_they_are_old(void **state)
{
    struct fixture fixture;
    uint64_t bytes;
    fixture_make(&fixture, NULL);
    fixture.header->magic = 0;
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_ERR_CORRUPT);
    assert_true(exists(fixture.path)); /* it may be starting just now */
    fixture.header->magic = 1;         /* something else */
    msync(fixture.map, FIXTURE_SIZE, MS_SYNC);
    assert_int_equal(utime(fixture.path, &(struct utimbuf){time(NULL) - 4000, time(NULL) - 4000}),
                     0);
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_ERR_CORRUPT);
    assert_true(exists(fixture.path));
    fixture.header->magic = 0;
    msync(fixture.map, FIXTURE_SIZE, MS_SYNC);
    assert_int_equal(utime(fixture.path, &(struct utimbuf){time(NULL) - 4000, time(NULL) - 4000}),
                     0);
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_ERR_CORRUPT);
    assert_false(exists(fixture.path));
    fixture_remove(&fixture);
}

struct visits {
    int count, stop_at;
    char seen[8][700];
};

static enum mw_status visit(void *context, const char *path)
{
    struct visits *visits = context;
    char renamed[800];
    assert_true(visits->count < 8);
    strcpy(visits->seen[visits->count++], path);
    snprintf(renamed, sizeof renamed, "%s.claim-1", path); /* must not be seen again */
    assert_int_equal(rename(path, renamed), 0);
    return visits->count == visits->stop_at ? MW_ERR_FULL : MW_OK;
}

static void each_finds_the_mappings_of_this_user(void **state)
{
    struct fixture fixture;
    char path[700];
    fixture_make(&fixture, NULL);
    unsigned me = (unsigned)geteuid();
    const unsigned owners[] = {me, me, me + 1, me * 10 + 1};
    for (unsigned i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/" MW_MAP_PREFIX "%u-9-%u", fixture.folder, owners[i], i);
        fixture_write(path, "", 0);
    }
    snprintf(path, sizeof path, "%s/other-%u-1-1", fixture.folder, me);
    fixture_write(path, "", 0);
    struct visits visits = {0};
    assert_int_equal(mw_residue_each(fixture.folder, visit, &visits), MW_OK);
    assert_int_equal(visits.count, 3);
    int found = 0;
    for (int i = 0; i < 3; i++)
        found += strcmp(visits.seen[i], fixture.path) == 0;
    assert_int_equal(found, 1);
    visits = (struct visits){.stop_at = 2}; /* claimed ones are visited, too */
    assert_int_equal(mw_residue_each(fixture.folder, visit, &visits), MW_ERR_FULL);
    assert_int_equal(visits.count, 2);
    snprintf(path, sizeof path, "%s/none", fixture.folder);
    assert_int_equal(mw_residue_each(path, visit, &visits), MW_ERR_NOT_FOUND);
    fixture_remove(&fixture);
}

static void nothing_is_allocated(void **state)
{
    struct fixture fixture;
    uint64_t bytes;
    fixture_make(&fixture, NULL);
    fixture_kill(&fixture);
    unsigned long before = allocations;
    assert_true(before > 0);
    assert_int_equal(mw_residue_collect(fixture.path, &bytes), MW_OK);
    assert_int_equal(allocations, before);
    fixture_remove(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collecting_moves_the_chunks),
        cmocka_unit_test(damaged_mappings_are_collected_once),
        cmocka_unit_test(wrong_node_files_are_left_alone),
        cmocka_unit_test(what_belongs_nowhere_is_removed),
        cmocka_unit_test(what_a_newer_trace_has_replaced_is_removed),
        cmocka_unit_test(wrong_node_paths_are_refused),
        cmocka_unit_test(one_collector_at_a_time),
        cmocka_unit_test(a_claim_that_fails_gets_its_own_name_back),
        cmocka_unit_test(racing_collectors_do_it_once),
        cmocka_unit_test(a_file_size_limit_is_not_hit),
        cmocka_unit_test(unfinished_mappings_go_when_they_are_old),
        cmocka_unit_test(each_finds_the_mappings_of_this_user),
        cmocka_unit_test(nothing_is_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
