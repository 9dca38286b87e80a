/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of parameters below a made-up root, in the order in which their libraries obey them, and
 * command lines of made-up launchers above this process.
 */
#include "environment_fixture.h"

#include "probe/redact.h"

/* Where facts come from, too. */
#define has_place(section, key, value, source) has_place_at(section, key, value, source, __LINE__)
static void has_place_at(const char *section, const char *key, const char *value,
                         const char *source, int line)
{
    struct mw_fact fact;
    has_fact_at(&facts, section, key, value, line);
    assert_true(mw_fact_list_find(&facts, section, key, &fact));
    if (strcmp(fact.source, source) != 0)
        fail_msg("line %d: %s comes from \"%s\", not from \"%s\"", line, key, fact.source, source);
}

static const char *const own[] = {"HOME",
                                  "OPAL_PREFIX",
                                  "OPAL_SYSCONFDIR",
                                  "UCX_CONFIG_DIR",
                                  "OMPI_MCA_mca_base_param_files",
                                  "OMPI_MCA_mca_base_envar_file_prefix",
                                  "OMPI_MCA_mca_base_param_file_prefix",
                                  "OMPI_MCA_btl",
                                  "UCX_TLS"};

/* A machine without files, and none of the variables that matter here. */
static int fresh_machine(void **state)
{
    char command[128];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        unsetenv(own[i]);
    setenv("HOME", "/home/joe", 1);
    snprintf(command, sizeof command, "rm -rf '%s'/*", root);
    return system(command);
}

static void test_order_of_openmpi(void **state)
{
    put("/etc/openmpi/openmpi-mca-params.conf",
        "# btl = nothing\n\nmtl = ^ofi\n  btl =^uct,openib,ofi  \r\npml_secret = abc\nbroken "
        "line\nonly_here=\n");
    put("/home/joe/.openmpi/mca-params.conf", "mtl = psm2\nquoted = \"a b\"\n");
    put("/etc/openmpi/openmpi-mca-params-override.conf", "pml = ob1");
    collect_made_up(MW_ENV_PROCESS);
    has_place("parameter", "OMPI_MCA_mtl", "psm2", "/home/joe/.openmpi/mca-params.conf:1");
    has_place("parameter.weaker", "OMPI_MCA_mtl#1", "^ofi",
              "/etc/openmpi/openmpi-mca-params.conf:3");
    has_place("parameter", "OMPI_MCA_btl", "^uct,openib,ofi",
              "/etc/openmpi/openmpi-mca-params.conf:4");
    has_fact("parameter", "OMPI_MCA_pml_secret", MW_REDACTED);
    has_place("parameter", "OMPI_MCA_only_here", "", "/etc/openmpi/openmpi-mca-params.conf:7");
    has_fact("parameter", "OMPI_MCA_quoted", "a b");
    has_place("parameter.override", "OMPI_MCA_pml", "ob1",
              "/etc/openmpi/openmpi-mca-params-override.conf:1");
    assert_null(value_of(&facts, "parameter", "OMPI_MCA_broken"));
    assert_null(value_of(&facts, "parameter", "OMPI_MCA_pml"));
}

/* Of two lines of one file the later counts. */
static void test_twice_in_a_file(void **state)
{
    put("/etc/openmpi/openmpi-mca-params.conf", "btl = tcp\nx = 1\nbtl = self\n\nbtl = vader");
    collect_made_up(MW_ENV_PROCESS);
    has_place("parameter", "OMPI_MCA_btl", "vader", "/etc/openmpi/openmpi-mca-params.conf:5");
    has_place("parameter.weaker", "OMPI_MCA_btl#1", "self",
              "/etc/openmpi/openmpi-mca-params.conf:3");
    has_place("parameter.weaker", "OMPI_MCA_btl#2", "tcp",
              "/etc/openmpi/openmpi-mca-params.conf:1");
}

/* Named files replace the usual ones, and the first counts most; files of options come before. */
static void test_named_files(void **state)
{
    put("/etc/openmpi/openmpi-mca-params.conf", "btl = usual\n");
    put("/a.conf", "btl = first\n");
    put("/b.conf", "btl = second\nmtl = ofi\n");
    put("/tune.conf", "-mca mtl psm2 --mca pml cm -x UCX_TLS=rc\nbtl_x = 4\n");
    put("/set.conf", "coll = tuned\n");
    setenv("OMPI_MCA_mca_base_param_files", "/a.conf,/b.conf", 1);
    setenv("OMPI_MCA_mca_base_envar_file_prefix", "/tune.conf", 1);
    setenv("OMPI_MCA_mca_base_param_file_prefix", "/set.conf", 1);
    collect_made_up(MW_ENV_PROCESS);
    has_place("parameter", "OMPI_MCA_btl", "first", "/a.conf:1");
    has_place("parameter.weaker", "OMPI_MCA_btl#1", "second", "/b.conf:1");
    has_place("parameter", "OMPI_MCA_mtl", "psm2", "/tune.conf:1");
    has_place("parameter.weaker", "OMPI_MCA_mtl#1", "ofi", "/b.conf:2");
    has_place("parameter", "OMPI_MCA_pml", "cm", "/tune.conf:1");
    has_place("parameter", "UCX_TLS", "rc", "/tune.conf:1");
    has_place("parameter", "OMPI_MCA_btl_x", "4", "/tune.conf:2");
    has_place("parameter.perhaps", "OMPI_MCA_coll#1", "tuned",
              "/set.conf:1, a set of parameters that Open MPI may not read");
    struct mw_fact fact;
    for (size_t at = 0; mw_fact_list_next(&facts, &at, &fact);)
        assert_string_not_equal(fact.value, "usual");
}

static void test_installation(void **state)
{
    put("/opt/ompi/etc/openmpi-mca-params.conf", "btl = there\n");
    setenv("OPAL_PREFIX", "/opt/ompi", 1);
    put("/etc/openmpi/openmpi-mca-params.conf", "btl = here\n");
    collect_made_up(MW_ENV_PROCESS);
    has_place("parameter", "OMPI_MCA_btl", "there", "/opt/ompi/etc/openmpi-mca-params.conf:1");
    assert_null(value_of(&facts, "parameter.weaker", "OMPI_MCA_btl#1"));
    put("/site/openmpi-mca-params.conf", "btl = site\n");
    setenv("OPAL_SYSCONFDIR", "/site", 1);
    collect_made_up(MW_ENV_PROCESS);
    has_fact("parameter", "OMPI_MCA_btl", "site");
}

static void test_ucx_and_libfabric(void **state)
{
    put("/etc/ucx/ucx.conf", "UCX_TLS=tcp,self\nUCX_A = 1 ; why\n[HCA]\nCPU model=X\nUCX_B=2\n");
    put("/home/joe/ucx.conf", "UCX_TLS=rc\n");
    put("/conf/ucx.conf", "UCX_TLS=sm\n");
    put("/etc/libfabric.conf", "FI_PROVIDER=cxi\n# FI_X=1\nnothing\n");
    setenv("UCX_CONFIG_DIR", "/conf", 1);
    collect_made_up(MW_ENV_PROCESS);
    has_place("parameter", "UCX_TLS", "sm", "/conf/ucx.conf:1");
    has_place("parameter.weaker", "UCX_TLS#1", "rc", "/home/joe/ucx.conf:1");
    has_place("parameter.weaker", "UCX_TLS#2", "tcp,self", "/etc/ucx/ucx.conf:1");
    has_fact("parameter", "UCX_A", "1");
    has_place("parameter.perhaps", "UCX_B#1", "2", "/etc/ucx/ucx.conf:5");
    has_place("parameter", "FI_PROVIDER", "cxi", "/etc/libfabric.conf:1");
    assert_null(value_of(&facts, "parameter", "FI_X"));
}

static void put_command(const char *name, const char *const *words)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    folders_make(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (; *words; words++)
        fwrite(*words, 1, strlen(*words) + 1, file);
    fclose(file);
}

/* This process is started by a shell of mpirun, and mpirun by a script that happens to have
 * options. */
static void test_launchers(void **state)
{
    static const char *const shell[] = {"/bin/sh", "-c", "--mca", "coll", "shell", NULL};
    static const char *const mpirun[] = {"/opt/bin/mpirun",
                                         "-n",
                                         "2",
                                         "--mca",
                                         "btl",
                                         "tcp,self",
                                         "-mca",
                                         "pml",
                                         "cm",
                                         "--gmca",
                                         "plm_rsh_agent",
                                         "ssh",
                                         "-x",
                                         "UCX_TLS=sm",
                                         "-x",
                                         "HOME=/x",
                                         "-mca",
                                         "db_password",
                                         "hunter2",
                                         "--tune",
                                         "/tune.conf",
                                         "./app",
                                         "--mca",
                                         "mtl",
                                         "theirs",
                                         NULL};
    static const char *const outer[] = {"mpirun", "--mca", "osc", "outer", NULL};
    put("/tune.conf", "--mca btl_tcp_links 2\n");
    put_link("/proc/self/exe", "/home/joe/app");
    put("/proc/self/status", "Name:\tapp\nPPid:\t70\n");
    put("/proc/70/status", "PPid:\t60\n");
    put_command("/proc/70/cmdline", shell);
    put("/proc/60/status", "PPid:\t50\n");
    put_command("/proc/60/cmdline", mpirun);
    put("/proc/50/status", "PPid:\t1\n");
    put_command("/proc/50/cmdline", outer);
    setenv("OMPI_MCA_btl", "tcp,self", 1);
    setenv("UCX_TLS", "rc", 1);
    setenv("OMPI_MCA_btl_tcp_links", "2", 1);
    collect_made_up(MW_ENV_PROCESS);
    has_place("env", "OMPI_MCA_btl", "tcp,self",
              "environment, from the command line of mpirun (pid 60)");
    has_place("env", "UCX_TLS", "rc", "environment");
    has_place("launcher", "UCX_TLS", "sm", "command line of mpirun (pid 60)");
    has_place("launcher", "OMPI_MCA_pml", "cm", "command line of mpirun (pid 60)");
    has_fact("launcher", "OMPI_MCA_plm_rsh_agent", "ssh");
    has_fact("launcher", "OMPI_MCA_db_password", MW_REDACTED);
    has_place("env", "OMPI_MCA_btl_tcp_links", "2",
              "environment, from /tune.conf:1, by --tune of mpirun (pid 60)");
    struct mw_fact fact;
    for (size_t at = 0; mw_fact_list_next(&facts, &at, &fact);) {
        assert_string_not_equal(fact.value, "theirs"); /* the program's own */
        assert_string_not_equal(fact.value, "outer");
        assert_string_not_equal(fact.value, "shell");
        assert_true(strcmp(fact.section, "launcher") != 0 || strcmp(fact.key, "HOME") != 0);
    }
    unsetenv("OMPI_MCA_btl_tcp_links");
}

static void test_hydra(void **state)
{
    static const char *const proxy[] = {"/usr/bin/hydra_pmi_proxy", "--control-port", "x", NULL};
    static const char *const mpiexec[] = {"mpiexec.hydra",
                                          "-genv",
                                          "UCX_TLS",
                                          "rc",
                                          "-genv",
                                          "FI_PROVIDER=tcp",
                                          "-env",
                                          "OMPI_MCA_btl",
                                          "a,b",
                                          "-n",
                                          "1",
                                          "./app",
                                          NULL};
    put_link("/proc/self/exe", "/home/joe/app");
    put("/proc/self/status", "PPid:\t70\n");
    put("/proc/70/status", "PPid:\t60\n");
    put_command("/proc/70/cmdline", proxy);
    put("/proc/60/status", "PPid:\t0\n");
    put_command("/proc/60/cmdline", mpiexec);
    setenv("UCX_TLS", "rc", 1);
    collect_made_up(MW_ENV_PROCESS);
    has_place("env", "UCX_TLS", "rc", "environment, from the command line of mpiexec (pid 60)");
    has_fact("launcher", "FI_PROVIDER", "tcp");
    has_fact("launcher", "OMPI_MCA_btl", "a,b");
}

/* Files that nobody meant to be read: long, of zeros, of one line, of many names. */
static void test_strange_files(void **state)
{
    static char much[200000];
    memset(much, 'x', sizeof much - 1);
    put("/etc/openmpi/openmpi-mca-params.conf", much);
    collect_made_up(MW_ENV_PROCESS);
    size_t size = 0;
    for (int i = 0; i < 4000; i++)
        size += (size_t)snprintf(much + size, sizeof much - size, "n%d = %d\n", i, i);
    put("/etc/openmpi/openmpi-mca-params.conf", much);
    put("/home/joe/ucx.conf", "====\n[\n[]]\n=\n a b = c\n\n\n");
    allocations = 0;
    collect_made_up(MW_ENV_PROCESS);
    assert_int_equal(allocations, 0);
    unsigned kept = 0;
    struct mw_fact fact;
    for (size_t at = 0; mw_fact_list_next(&facts, &at, &fact);)
        kept += strcmp(fact.section, "parameter") == 0;
    has_fact("mpiwatch", "parameters.left_out", "2976");
    assert_in_range(kept, 1000, 1024); /* as many as there is room for, those that count most */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_order_of_openmpi, fresh_machine),
        cmocka_unit_test_setup(test_twice_in_a_file, fresh_machine),
        cmocka_unit_test_setup(test_named_files, fresh_machine),
        cmocka_unit_test_setup(test_installation, fresh_machine),
        cmocka_unit_test_setup(test_ucx_and_libfabric, fresh_machine),
        cmocka_unit_test_setup(test_launchers, fresh_machine),
        cmocka_unit_test_setup(test_hydra, fresh_machine),
        cmocka_unit_test_setup(test_strange_files, fresh_machine),
    };
    return cmocka_run_group_tests_name("files of parameters", tests, set_up, tear_down);
}
