/* SPDX-License-Identifier: BSD-3-Clause */
/* Which job and which world a process is of, by what launchers leave in the environment and above
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "output/job.h"

static struct mw_job_facts facts;

static void forget_launchers(void)
{
    static const char *const names[] = {"OMPI_MCA_orte_precondition_transports",
                                        "PMIX_NAMESPACE",
                                        "OMPI_MCA_ess_base_jobid",
                                        "PRTE_MCA_ess_base_jobid",
                                        "SLURM_JOB_ID",
                                        "SLURM_STEP_ID",
                                        "SLURM_RESTART_COUNT",
                                        "PALS_APID",
                                        "FLUX_JOB_ID",
                                        "PMI_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

/* key and world of a process with these variables */
static uint64_t read_facts(const char *name, const char *value, const char *other, char *key)
{
    struct mw_config config = {0};
    setenv(name, value, 1);
    if (other)
        setenv("PMIX_NAMESPACE", other, 1);
    mw_job_facts_read(&config, &facts);
    strcpy(key, facts.key);
    return facts.world;
}

static void test_nothing(void **state)
{
    struct mw_config config = {0};
    forget_launchers();
    mw_job_facts_read(&config, &facts);
    assert_string_equal(facts.launcher, "");
    assert_true(facts.world == 0);
    assert_true(strlen(facts.key) > 0);
}

/* What a job spawns is of the job, and another world. */
static void test_spawned(void **state)
{
    char one[160], two[160], other[160];
    forget_launchers();
    uint64_t first = read_facts("OMPI_MCA_orte_precondition_transports", "a-b", "100", one);
    uint64_t second = read_facts("OMPI_MCA_orte_precondition_transports", "a-b", "101", two);
    assert_string_equal(facts.launcher, "Open MPI");
    assert_string_equal(one, two);
    assert_true(first && second && first != second);
    assert_true(first == read_facts("OMPI_MCA_orte_precondition_transports", "a-b", "100", two));
    read_facts("OMPI_MCA_orte_precondition_transports", "c-d", "100", other);
    assert_string_not_equal(one, other);
}

/* A child says who spawned it by the same hash as that process itself; another job's processes have other ones. */
static void test_names(void **state)
{
    char key[160];
    forget_launchers();
    setenv("PMIX_RANK", "1", 1);
    read_facts("OMPI_MCA_orte_precondition_transports", "a-b", "100", key);
    uint64_t parent = facts.name;
    assert_true(parent && facts.spawner == 0);
    setenv("OMPI_PARENT_PORT", "100.1:4711", 1);
    setenv("PMIX_RANK", "0", 1);
    read_facts("OMPI_MCA_orte_precondition_transports", "a-b", "101", key);
    assert_true(facts.name != parent && facts.spawner == parent);
    read_facts("OMPI_MCA_orte_precondition_transports", "c-d", "101", key);
    assert_true(facts.spawner && facts.spawner != parent);
    setenv("OMPI_PARENT_PORT", "no port", 1);
    read_facts("OMPI_MCA_orte_precondition_transports", "a-b", "101", key);
    assert_true(facts.spawner == 0);
    unsetenv("PMIX_RANK");
    read_facts("OMPI_MCA_orte_precondition_transports", "a-b", "101", key);
    assert_true(facts.name == 0);
    unsetenv("OMPI_PARENT_PORT");
}

/* prterun begins anew with each job; a daemon has several. */
static void test_prrte(void **state)
{
    char one[160], two[160];
    forget_launchers();
    uint64_t first = read_facts("PMIX_NAMESPACE", "prterun-node1-77@1", NULL, one);
    uint64_t second = read_facts("PMIX_NAMESPACE", "prterun-node1-77@2", NULL, two);
    assert_string_equal(facts.launcher, "PRRTE");
    assert_string_equal(one, two);
    assert_true(first != second);
    read_facts("PMIX_NAMESPACE", "prte-node1-77@1", NULL, one);
    read_facts("PMIX_NAMESPACE", "prte-node1-77@2", NULL, two);
    assert_string_not_equal(one, two);
}

static void test_key_that_was_given(void **state)
{
    struct mw_config config = {.job = "mine"};
    forget_launchers();
    setenv("PALS_APID", "5", 1);
    mw_job_facts_read(&config, &facts);
    assert_string_equal(facts.key, "mine");
    assert_true(facts.world != 0);
}

/* This program again, as hydra's proxy with an empty one between it and the rank; what the rank
 * found. */
static void under_proxy(const char *port, const char *group, char *key, uint64_t *world)
{
    int ends[2];
    char line[256] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t proxy = fork();
    if (proxy == 0) {
        dup2(ends[1], 1);
        setenv("PMI_SIZE", "2", 1);
        execl("/proc/self/exe", "proxy", "--control-port", port, "--pgid", group, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof line, in));
    fclose(in);
    waitpid(proxy, NULL, 0);
    unsigned long long number;
    assert_int_equal(sscanf(line, "%159s %llx", key, &number), 2);
    *world = number;
}

static int play_rank(void)
{
    struct mw_config config = {0};
    mw_job_facts_read(&config, &facts);
    printf("%s %llx\n", facts.key, (unsigned long long)facts.world);
    return fflush(stdout);
}

static int play_proxy(void)
{
    int status;
    pid_t script = fork();
    if (script == 0) {
        pid_t rank = fork();
        if (rank == 0)
            _exit(play_rank());
        _exit(waitpid(rank, &status, 0) != rank);
    }
    return waitpid(script, &status, 0) != script;
}

static void test_hydra(void **state)
{
    char one[160], two[160], other[160];
    uint64_t first, second, third;
    forget_launchers();
    under_proxy("node1:4000", "0", one, &first);
    under_proxy("node1:4000", "1", two, &second);
    under_proxy("node1:4001", "0", other, &third);
    assert_string_equal(one, "node1:4000");
    assert_string_equal(one, two);
    assert_string_not_equal(one, other);
    assert_true(first && first != second && first != third);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_spawned), cmocka_unit_test(test_names), cmocka_unit_test(test_prrte),
                                       cmocka_unit_test(test_key_that_was_given),
                                       cmocka_unit_test(test_hydra)};
    if (argc > 1 && strcmp(argv[1], "--control-port") == 0)
        return play_proxy();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
