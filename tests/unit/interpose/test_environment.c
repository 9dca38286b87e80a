/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts of the environment: from made-up machines below a folder and from the real one, limits of
 * time, and what stays out.
 */
#include "environment_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "probe/redact.h"

static void test_made_up_node(void **state)
{
    put("/proc/sys/kernel/osrelease", "6.1.0-test\n");
    put("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 9\"\nID=y\n");
    put("/proc/cmdline", "root=/dev/sda1 secret=abc mitigations=off isolcpus=2-3 quiet\n");
    put("/proc/meminfo",
        "MemTotal:       527942852 kB\nHugePages_Total:      16\nSwapTotal: 0 kB\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put("/sys/module/pcie_aspm/parameters/policy", "default [powersave] performance\n");
    put("/sys/module/intel_idle/parameters/max_cstate", "9\n");
    put("/sys/devices/system/node/node0/cpulist", "0-3\n");
    put("/sys/devices/system/node/node1/cpulist", "4-7\n");
    put("/sys/devices/system/node/node2/cpulist", "8-15\n");
    put("/sys/devices/system/node/node3/cpulist", "\n"); /* memory alone */
    put("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    put("/sys/devices/system/cpu/cpu4/topology/physical_package_id", "0\n");
    put("/sys/devices/system/cpu/cpu8/topology/physical_package_id", "1\n");
    put("/proc/sys/kernel/numa_balancing", "1\n");
    put("/sys/devices/system/node/online", "0-7\n");
    put("/proc/sys/kernel/yama/ptrace_scope", "1\n");
    for (int i = 0; i < 12; i++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpufreq/policy%d/scaling_governor", i);
        put(path, i < 8 ? "performance\n" : "powersave\n");
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpufreq/policy%d/scaling_driver", i);
        put(path, "acpi-cpufreq\n");
    }
    put("/sys/devices/system/cpu/cpufreq/boost", "0\n");
    put("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n");
    put("/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n");
    put("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C2\n");
    put("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "400\n");
    put("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n");
    put("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
    put("/sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n");
    put("/sys/module/xpmem/version", "2.7\n");
    put("/.dockerenv", "");
    collect_made_up(MW_ENV_NODE);
    has_fact("system", "kernel", "6.1.0-test");
    has_fact("system", "distribution", "Some Linux 9");
    has_fact("system", "boot_parameters", "mitigations=off isolcpus=2-3");
    has_fact("memory", "MemTotal", "527942852 kB");
    has_fact("memory", "HugePages_Total", "16");
    has_fact("memory", "transparent_hugepages", "madvise");
    has_fact("memory", "nodes_per_package", "2, 1");
    has_fact("kernel", "pcie_aspm", "powersave");
    has_fact("cpu", "intel_idle.max_cstate", "9");
    has_fact("memory", "numa_balancing", "1");
    has_fact("memory", "numa_nodes", "0-7");
    has_fact("kernel", "yama.ptrace_scope", "1");
    has_fact("cpu", "frequency_driver", "acpi-cpufreq");
    const char *governors = value_of(&facts, "cpu", "governor"); /* folders have no order */
    assert_non_null(governors);
    assert_non_null(strstr(governors, "performance (8)"));
    assert_non_null(strstr(governors, "powersave (4)"));
    has_fact("cpu", "boost", "0");
    has_fact("cpu", "idle_state.POLL", "0 us");
    has_fact("cpu", "idle_state.C2", "400 us, disabled");
    has_fact("cpu", "vulnerability.meltdown", "Mitigation: PTI");
    assert_null(value_of(&facts, "cpu", "vulnerability.mds"));
    has_fact("driver", "xpmem", "present");
    has_fact("driver", "xpmem.version", "2.7");
    has_fact("container", "kind", "docker");
    assert_null(value_of(&facts, "mpiwatch", "environment.left_out"));
    struct mw_fact fact;
    assert_true(mw_fact_list_find(&facts, "cpu", "boost", &fact));
    assert_string_equal(fact.source, "/sys/devices/system/cpu/cpufreq/boost");
}

static void test_made_up_devices(void **state)
{
    put("/sys/class/infiniband/mlx5_0/fw_ver", "20.31.1014\n");
    put("/sys/class/infiniband/mlx5_0/board_id", "MT_0000000223\n");
    put("/sys/class/infiniband/mlx5_0/node_guid", "506b:4b03:00c8:f5d2\n");
    put("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    put("/sys/class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)\n");
    put("/sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
    put("/sys/devices/pci0/0000:c1:00.0/numa_node", "6\n");
    put("/sys/devices/pci0/0000:c1:00.0/current_link_speed", "16.0 GT/s PCIe\n");
    put("/sys/devices/pci0/0000:c1:00.0/current_link_width", "8\n");
    put("/sys/devices/pci0/0000:c1:00.0/max_link_width", "16\n");
    put_link("/sys/devices/pci0/0000:c1:00.0/driver", "../../../bus/pci/drivers/mlx5_core");
    put_link("/sys/class/infiniband/mlx5_0/device", "../../../devices/pci0/0000:c1:00.0");
    put("/sys/class/cxi/cxi0/device/uc/qspi_blob_version", "1.5.41\n");
    put("/sys/class/cxi/cxi0/device/port/speed", "BS_200G\n");
    put("/sys/class/cxi/cxi0/device/port/link", "up\n");
    put("/sys/class/cxi/cxi1/device/port/0/link/speed", "ck400G\n");
    put("/sys/class/cxi/cxi0/device/fru/serial_number", "HA20360017\n");
    put("/sys/class/net/hsn0/operstate", "up\n");
    put("/sys/class/net/hsn0/speed", "200000\n");
    put("/sys/class/net/hsn0/mtu", "9000\n");
    put("/sys/class/net/hsn0/address", "02:00:00:00:01:02\n");
    put("/sys/class/net/eth1/speed", "-1\n");
    put("/sys/class/net/lo/mtu", "65536\n");
    put("/sys/class/net/veth12/mtu", "1500\n");
    collect_made_up(MW_ENV_NODE);
    has_fact("infiniband", "mlx5_0.firmware", "20.31.1014");
    has_fact("infiniband", "mlx5_0.port1.state", "4: ACTIVE");
    has_fact("infiniband", "mlx5_0.port1.rate", "200 Gb/sec (4X HDR)");
    has_fact("infiniband", "mlx5_0.port2.state", "1: DOWN");
    has_fact("infiniband", "mlx5_0.pci", "0000:c1:00.0");
    has_fact("infiniband", "mlx5_0.numa_node", "6");
    has_fact("infiniband", "mlx5_0.driver", "mlx5_core");
    has_fact("infiniband", "mlx5_0.pcie_width", "8");
    has_fact("infiniband", "mlx5_0.pcie_width_max", "16");
    has_fact("cxi", "cxi0.firmware", "1.5.41");
    has_fact("cxi", "cxi0.port.speed", "BS_200G");
    has_fact("cxi", "cxi0.port.state", "up");
    has_fact("cxi", "cxi1.port.speed", "ck400G");
    has_fact("network", "hsn0.speed", "200000 Mbit/s");
    has_fact("network", "hsn0.mtu", "9000");
    assert_null(value_of(&facts, "network", "eth1.speed"));
    assert_null(value_of(&facts, "network", "lo.mtu"));
    assert_null(value_of(&facts, "network", "veth12.mtu"));
    /* nothing that identifies a single card */
    struct mw_fact fact;
    for (size_t at = 0; mw_fact_list_next(&facts, &at, &fact);) {
        assert_null(strstr(fact.value, "HA20360017"));
        assert_null(strstr(fact.value, "02:00:00:00:01:02"));
        assert_null(strstr(fact.value, "506b:4b03"));
    }
}

static void test_made_up_process(void **state)
{
    put("/proc/self/cgroup", "0::/slurm/job_7/step_0\n");
    put("/sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "200000 100000\n");
    put("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
    put("/proc/self/status", "Name:\tx\nSeccomp:\t2\nCpus_allowed_list:\t0-3,8\nCpus_allowed:\tff\n"
                             "Mems_allowed_list:\t0\nNoNewPrivs:\t1\n");
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_STEP_ID", "0", 1);
    collect_made_up(MW_ENV_PROCESS);
    has_fact("cgroup", "path", "/slurm/job_7/step_0");
    has_fact("cgroup", "cpu.max", "200000 100000");
    has_fact("cgroup", "memory.max", "max");
    has_fact("process", "seccomp", "filter");
    has_fact("process", "cpus_allowed", "0-3,8");
    has_fact("process", "memory_nodes_allowed", "0");
    has_fact("process", "no_new_privileges", "1");
    has_fact("scheduler", "system", "Slurm");
    has_fact("scheduler", "job", "7");
    has_fact("scheduler", "step", "0");
    /* version 1, and controllers that share a line */
    put("/proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n2:cpuset:/\n1:name=systemd:/x\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
    put("/sys/fs/cgroup/cpuset/cpuset.cpus", "0-1\n");
    collect_made_up(MW_ENV_PROCESS);
    has_fact("cgroup", "path.cpu,cpuacct", "/job");
    has_fact("cgroup", "memory.limit_in_bytes", "1073741824");
    has_fact("cgroup", "cpu.cfs_quota_us", "50000");
    has_fact("cgroup", "cpuset.cpus", "0-1");
    assert_null(value_of(&facts, "cgroup", "path.name=systemd"));
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_STEP_ID");
}

static unsigned open_files(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void test_this_machine(void **state)
{
    struct utsname name;
    char expected[256] = "";
    cpu_set_t before, one;
    int cpu = -1;
    uname(&name);
    sched_getaffinity(0, sizeof before, &before);
    while (!CPU_ISSET(++cpu, &before))
        ;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    unsigned files = open_files();
    allocations = 0;
    errno = 4711;
    mw_environment_collect_at(&fresh()->sink, MW_ENV_NODE | MW_ENV_PROCESS, "", 5000000000u);
    assert_int_equal(errno, 4711);
    assert_int_equal(allocations, 0);
    assert_int_equal(open_files(), files);
    sched_setaffinity(0, sizeof before, &before);
    has_fact("system", "kernel", name.release);
    has_fact("system", "machine", name.machine);
    snprintf(expected, sizeof expected, "%d", cpu);
    has_fact("process", "cpus_allowed", expected);
    memset(expected, 0, sizeof expected);
    assert_true(readlink("/proc/self/ns/net", expected, sizeof expected - 1) > 0);
    has_fact("namespace", "net", expected);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    const char *files_limit = value_of(&facts, "limit", "nofile");
    assert_non_null(files_limit);
    if (limit.rlim_cur != RLIM_INFINITY)
        assert_int_equal(strtoull(files_limit, NULL, 10), limit.rlim_cur);
    assert_non_null(value_of(&facts, "memory", "MemTotal"));
#ifdef __x86_64__
    /* the CPU's own name is the one that the kernel shows */
    const char *brand = value_of(&facts, "cpu", "model");
    char line[256], *known = NULL;
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && !known && fgets(line, sizeof line, info))
        if (strncmp(line, "model name", 10) == 0)
            known = strchr(line, ':') + 2;
    if (info)
        fclose(info);
    if (known && brand) {
        known[strcspn(known, "\n")] = '\0';
        assert_string_equal(brand, known);
    }
#endif
}

static void test_variables(void **state)
{
    static const struct {
        const char *name;
        int wanted;
    } cases[] = {
        {"OMPI_MCA_btl", 1},
        {"PMIX_RANK", 1},
        {"PMI_RANK", 1},
        {"PMI2_X", 1},
        {"MPICH_VERSION", 1},
        {"FI_PROVIDER", 1},
        {"UCX_TLS", 1},
        {"I_MPI_FABRICS", 1},
        {"SLURM_JOB_ID", 1},
        {"EBROOTGCC", 1},
        {"LD_LIBRARY_PATH", 1},
        {"LOADEDMODULES", 1},
        {"CUDA_VISIBLE_DEVICES", 1},
        {"OMP_NUM_THREADS", 1},
        {"GUIX_ENVIRONMENT", 1},
        {"PATH", 0},
        {"HOME", 0},
        {"USER", 0},
        {"AWS_SECRET_ACCESS_KEY", 0},
        {"SINGULARITYENV_TOKEN", 0},
        {"FOO_OMPI_X", 0},
        {"OMPI", 0},
        {"LD_LIBRARY_PATH2", 0},
        {"FI", 0},
        {"EDITOR", 0},
        {"EBAY_PASSWORD", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (mw_environment_wants(cases[i].name, strlen(cases[i].name)) != cases[i].wanted)
            fail_msg("%s", cases[i].name);
    setenv("UCX_TLS", "rc,self", 1);
    setenv("OMPI_MCA_db_password", "hunter2", 1);
    setenv("UCX_EMPTY", "", 1);
    setenv("MW_TEST_PRIVATE", "private", 1);
    char *longer = malloc(40001);
    memset(longer, 'x', 40000);
    longer[40000] = '\0';
    setenv("LD_LIBRARY_PATH", longer, 1);
    mw_environment_collect(&fresh()->sink, MW_ENV_PROCESS);
    has_fact("env", "UCX_TLS", "rc,self");
    has_fact("env", "UCX_EMPTY", "");
    has_fact("env", "OMPI_MCA_db_password", MW_REDACTED);
    const char *cut = value_of(&facts, "env", "LD_LIBRARY_PATH");
    assert_true(cut && strlen(cut) < 16000 && strcmp(cut + strlen(cut) - 5, "[...]") == 0);
    struct mw_fact fact;
    for (size_t at = 0; mw_fact_list_next(&facts, &at, &fact);) {
        assert_null(strstr(fact.value, "hunter2"));
        assert_null(strstr(fact.value, "private"));
    }
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("OMPI_MCA_db_password");
    unsetenv("UCX_EMPTY");
    unsetenv("UCX_TLS");
    free(longer);
}

static void test_time_limit(void **state)
{
    mw_environment_collect_at(&fresh()->sink, MW_ENV_NODE, "", 0);
    assert_int_equal(facts.count, 1);
    const char *left = value_of(&facts, "mpiwatch", "environment.left_out");
    assert_non_null(left);
    assert_non_null(strstr(left, "system"));
    assert_non_null(strstr(left, "infiniband"));
    assert_non_null(strstr(left, "cpu"));
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    mw_environment_collect_at(&fresh()->sink, MW_ENV_NODE, "", 1000000);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ms =
        1e3 * (double)(end.tv_sec - start.tv_sec) + 1e-6 * (double)(end.tv_nsec - start.tv_nsec);
    assert_true(ms < 500); /* a busy machine; the point is that it ends */
}

static void test_list(void **state)
{
    char small[256];
    struct mw_fact_list list;
    struct mw_fact fact;
    mw_fact_list_init(&list, small, sizeof small);
    list.sink.fact(&list.sink, "a", "bc", "1", "s");
    list.sink.fact(&list.sink, "ab", "c", "2", "s");
    list.sink.fact(&list.sink, "a", "bc", "3", "t");
    has_fact_at(&list, "a", "bc", "3", __LINE__);
    has_fact_at(&list, "ab", "c", "2", __LINE__);
    unsigned shown = 0;
    for (size_t at = 0; mw_fact_list_next(&list, &at, &fact);)
        shown++;
    assert_int_equal(shown, 2);
    for (int i = 0; i < 10; i++)
        list.sink.fact(&list.sink, "a", "longer key", "a longer value", "s");
    assert_true(list.lost > 0);
    has_fact_at(&list, "a", "longer key", "a longer value", __LINE__); /* the last that had room */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_made_up_node),
        cmocka_unit_test(test_made_up_devices),
        cmocka_unit_test(test_made_up_process),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_time_limit),
    };
    return cmocka_run_group_tests_name("environment", tests, set_up, tear_down);
}
