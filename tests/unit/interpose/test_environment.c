/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts of the environment: from made-up machines below a folder and from the real one, limits of
 * time, what stays out, and the chunks by which a node's processes share them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "mpiwatch/format.h"
#include "probe/env_store.h"
#include "probe/environment.h"
#include "probe/redact.h"
#include "trace/chunk.h"
#include "trace/fields.h"

#define LIST_SIZE (2u << 20)

/* The linker leads these calls of the code under test here (--wrap): there must be none. */
static unsigned allocations;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

static char root[] = "/tmp/mw-environment-XXXXXX";
static struct mw_fact_list facts;
static void *facts_memory, *other_memory;

static struct mw_fact_list *fresh(void)
{
    mw_fact_list_init(&facts, facts_memory, LIST_SIZE);
    return &facts;
}

static const char *value_of(const struct mw_fact_list *list, const char *section, const char *key)
{
    struct mw_fact fact;
    return mw_fact_list_find(list, section, key, &fact) ? fact.value : NULL;
}

#define has_fact(section, key, expected) has_fact_at(&facts, section, key, expected, __LINE__)
static void has_fact_at(const struct mw_fact_list *list, const char *section, const char *key,
                        const char *expected, int line)
{
    const char *value = value_of(list, section, key);
    if (!value || strcmp(value, expected) != 0)
        fail_msg("line %d: %s %s is %s, not %s", line, section, key, value ? value : "(absent)",
                 expected);
}

static void folders_make(char *path)
{
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    folders_make(path);
    FILE *file = fopen(path, "w");
    if (!file)
        fail_msg("%s", path);
    fputs(text, file);
    fclose(file);
}

static void put_link(const char *name, const char *target)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    folders_make(path);
    assert_int_equal(symlink(target, path), 0);
}

static int set_up(void **state)
{
    facts_memory = aligned_alloc(64, LIST_SIZE);
    other_memory = aligned_alloc(64, LIST_SIZE);
    return facts_memory && other_memory && mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    free(facts_memory);
    free(other_memory);
    return system(command);
}

static void collect_made_up(unsigned what)
{
    mw_environment_collect_at(&fresh()->sink, what, root, 10000000000u);
}

static void test_made_up_node(void **state)
{
    put("/proc/sys/kernel/osrelease", "6.1.0-test\n");
    put("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 9\"\nID=y\n");
    put("/proc/cmdline", "root=/dev/sda1 secret=abc mitigations=off isolcpus=2-3 quiet\n");
    put("/proc/meminfo",
        "MemTotal:       527942852 kB\nHugePages_Total:      16\nSwapTotal: 0 kB\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
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
    char home[256];
    put("/proc/self/cgroup", "0::/slurm/job_7/step_0\n");
    put("/sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "200000 100000\n");
    put("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
    put("/proc/self/status", "Name:\tx\nSeccomp:\t2\nCpus_allowed_list:\t0-3,8\nCpus_allowed:\tff\n"
                             "Mems_allowed_list:\t0\nNoNewPrivs:\t1\n");
    put("/etc/openmpi/openmpi-mca-params.conf",
        "# btl = nothing\n\nmtl = ^ofi\n  btl =^uct,openib,ofi  \r\npml_secret = abc\nbroken "
        "line\n");
    put("/etc/ucx/ucx.conf", "UCX_TLS=tcp,self\n");
    put("/home/joe/.openmpi/mca-params.conf", "mtl = psm2\n");
    snprintf(home, sizeof home, "%s", getenv("HOME") ? getenv("HOME") : "");
    setenv("HOME", "/home/joe", 1);
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_STEP_ID", "0", 1);
    unsetenv("OPAL_PREFIX");
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
    has_fact("parameter", "OMPI_MCA_mtl", "psm2");
    has_fact("parameter", "OMPI_MCA_btl", "^uct,openib,ofi");
    has_fact("parameter", "OMPI_MCA_pml_secret", MW_REDACTED);
    has_fact("parameter", "UCX_TLS", "tcp,self");
    struct mw_fact fact;
    assert_true(mw_fact_list_find(&facts, "parameter", "OMPI_MCA_btl", &fact));
    assert_string_equal(fact.source, "/etc/openmpi/openmpi-mca-params.conf:4");
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
    setenv("HOME", home, 1);
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

/* --- chunks --- */

struct file {
    int fd;
    unsigned chunks;
    size_t last_size;
};

static void file_emit(const uint8_t *chunk, size_t size, void *context)
{
    struct file *file = context;
    assert_int_equal(write(file->fd, chunk, size), size);
    file->chunks++;
    file->last_size = size;
}

static struct file file_open(void)
{
    char path[256];
    static int number;
    snprintf(path, sizeof path, "%s/node%d.mpiw", root, number++);
    struct file file = {open(path, O_RDWR | O_CREAT | O_APPEND, 0600), 0, 0};
    assert_true(file.fd >= 0);
    return file;
}

static void chunk_put(struct file *file, unsigned type, uint64_t process, const void *payload,
                      size_t size)
{
    uint8_t header[MW_CHUNK_HEADER_SIZE];
    mw_chunk_frame(header, type, 0, process, payload, (uint32_t)size, (uint32_t)size);
    file_emit(header, sizeof header, file);
    file_emit(payload, size, file);
    file->chunks -= 2;
}

static void text_of(const struct mw_field *field, char *out, size_t capacity)
{
    size_t size = field->size < capacity - 1 ? field->size : capacity - 1;
    memcpy(out, field->data, size);
    out[size] = '\0';
}

/* The facts that a reader would give a process: written by the norm, apart from env_store.c. */
static void facts_read(int fd, uint64_t process, struct mw_fact_list *list, unsigned *removed,
                       int own)
{
    static uint8_t stored[1 << 20], raw[1 << 20];
    static char text[4][1 << 15];
    uint8_t bytes[MW_CHUNK_HEADER_SIZE];
    struct mw_chunk_header header;
    uint64_t base = 0;
    for (off_t at = 0; pread(fd, bytes, sizeof bytes, at) == sizeof bytes;
         at += MW_CHUNK_HEADER_SIZE + header.length) {
        assert_int_equal(mw_chunk_parse(bytes, &header), MW_OK);
        if (header.type != MW_CHUNK_ENVIRONMENT || header.process != process)
            continue;
        assert_int_equal(pread(fd, stored, header.length, at + MW_CHUNK_HEADER_SIZE),
                         header.length);
        assert_int_equal(mw_checksum(stored, header.length), header.check);
        const uint8_t *data = stored;
        if (header.flags & MW_CHUNK_FLAG_ZSTD) {
            assert_int_equal(ZSTD_decompress(raw, sizeof raw, stored, header.length),
                             header.raw_length);
            data = raw;
        }
        struct mw_reader reader = {data, data + header.raw_length}, first = reader;
        struct mw_field field;
        while (mw_field_next(&first, &field) == MW_OK)
            if (field.id == MW_F_ENVIRONMENT_base)
                base = field.value;
        if (base && own) {
            facts_read(fd, base, list, removed, 1);
            own = 0;
            at -= MW_CHUNK_HEADER_SIZE + header.length; /* again, on top of the base */
            continue;
        }
        while (mw_field_next(&reader, &field) == MW_OK) {
            if (field.id != MW_F_ENVIRONMENT_fact)
                continue;
            struct mw_reader record = {field.data, field.data + field.size};
            struct mw_field part;
            int gone = 0;
            memset(text, 0, sizeof text);
            while (mw_field_next(&record, &part) == MW_OK) {
                if (part.id == MW_F_FACT_removed)
                    gone = 1;
                else
                    text_of(&part, text[part.id - 1], sizeof text[0]);
            }
            *removed += (unsigned)gone;
            list->sink.fact(&list->sink, text[0], text[1], gone ? "(removed)" : text[2], text[3]);
        }
    }
}

static void same_facts(const struct mw_fact_list *expected, const struct mw_fact_list *found)
{
    struct mw_fact a;
    for (size_t at = 0; mw_fact_list_next(expected, &at, &a);)
        has_fact_at(found, a.section, a.key, a.value, __LINE__);
}

static unsigned remaining(const struct mw_fact_list *list)
{
    struct mw_fact fact;
    unsigned count = 0;
    for (size_t at = 0; mw_fact_list_next(list, &at, &fact);)
        count += strcmp(fact.value, "(removed)") != 0;
    return count;
}

static void test_store(void **state)
{
    struct file file = file_open();
    struct mw_fact_list read;
    unsigned removed = 0;
    chunk_put(&file, MW_CHUNK_FILE, 11, "x", 1);
    chunk_put(&file, MW_CHUNK_FILE, 22, "x", 1);
    assert_int_equal(mw_env_first_process(file.fd), 11);
    setenv("UCX_ONLY_FIRST", "1", 1);
    setenv("UCX_RANK", "0", 1);
    /* the second comes too early, and waits */
    assert_int_equal(mw_env_store(file.fd, 22, 1, file_emit, &file), MW_ERR_NOT_FOUND);
    assert_int_equal(file.chunks, 0);
    allocations = 0;
    assert_int_equal(mw_env_store(file.fd, 11, 1, file_emit, &file), MW_OK);
    assert_int_equal(allocations, 0);
    assert_int_equal(file.chunks, 3);
    mw_fact_list_init(&read, other_memory, LIST_SIZE);
    facts_read(file.fd, 11, &read, &removed, 1);
    assert_int_equal(removed, 0);
    assert_non_null(value_of(&read, "system", "kernel"));
    has_fact_at(&read, "env", "UCX_RANK", "0", __LINE__);
    /* a later chunk of the first is no part of what others compare with */
    uint8_t memory[256];
    struct mw_buffer buffer;
    mw_buffer_init(&buffer, memory, sizeof memory);
    size_t mark = mw_put_begin(&buffer, MW_F_ENVIRONMENT_fact);
    mw_put_text(&buffer, MW_F_FACT_section, "late");
    mw_put_text(&buffer, MW_F_FACT_key, "k");
    mw_put_end(&buffer, mark);
    chunk_put(&file, MW_CHUNK_ENVIRONMENT, 11, buffer.data, buffer.size);
    /* the second writes what differs */
    setenv("UCX_RANK", "1", 1);
    setenv("UCX_ONLY_SECOND", "1", 1);
    unsetenv("UCX_ONLY_FIRST");
    file.chunks = 0;
    assert_int_equal(mw_env_store(file.fd, 22, 1, file_emit, &file), MW_OK);
    assert_int_equal(file.chunks, 1);
    assert_true(file.last_size < 400);
    mw_fact_list_init(&read, other_memory, LIST_SIZE);
    facts_read(file.fd, 22, &read, &removed, 1);
    assert_int_equal(removed, 1);
    has_fact_at(&read, "env", "UCX_RANK", "1", __LINE__);
    has_fact_at(&read, "env", "UCX_ONLY_SECOND", "1", __LINE__);
    has_fact_at(&read, "env", "UCX_ONLY_FIRST", "(removed)", __LINE__);
    assert_non_null(value_of(&read, "system", "kernel"));
    mw_environment_collect_at(&fresh()->sink, MW_ENV_PROCESS, "", 5000000000u);
    same_facts(&facts, &read);
    /* one that differs in nothing still names its base */
    file.chunks = 0;
    setenv("UCX_RANK", "0", 1);
    setenv("UCX_ONLY_FIRST", "1", 1);
    unsetenv("UCX_ONLY_SECOND");
    assert_int_equal(mw_env_store(file.fd, 33, 0, file_emit, &file), MW_OK);
    assert_int_equal(file.chunks, 1);
    assert_true(file.last_size < 64);
    mw_fact_list_init(&read, other_memory, LIST_SIZE);
    facts_read(file.fd, 33, &read, &removed, 1);
    has_fact_at(&read, "env", "UCX_RANK", "0", __LINE__);
    unsetenv("UCX_RANK");
    unsetenv("UCX_ONLY_FIRST");
    close(file.fd);
}

/* The first has died before it wrote: another one writes all. */
static void test_store_without_first(void **state)
{
    struct file file = file_open();
    chunk_put(&file, MW_CHUNK_FILE, 11, "x", 1);
    assert_int_equal(mw_env_store(file.fd, 22, 1, file_emit, &file), MW_ERR_NOT_FOUND);
    assert_int_equal(mw_env_store(file.fd, 22, 0, file_emit, &file), MW_OK);
    assert_int_equal(file.chunks, 3);
    struct mw_env_base base;
    assert_int_equal(mw_env_base_find(file.fd, other_memory, LIST_SIZE, &base), MW_OK);
    assert_int_equal(base.process, 22);
    close(file.fd);
}

/* More facts than one chunk holds. */
static void test_store_much(void **state)
{
    struct file file = file_open();
    struct mw_fact_list read, node;
    static char node_memory[1024];
    unsigned removed = 0;
    char key[32], value[400];
    fresh();
    srand(3);
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof key, "UCX_%d", i);
        for (size_t k = 0; k < sizeof value - 1; k++)
            value[k] = (char)('a' + rand() % 26);
        value[sizeof value - 1] = '\0';
        facts.sink.fact(&facts.sink, "env", key, value, "environment");
    }
    mw_fact_list_init(&node, node_memory, sizeof node_memory);
    node.sink.fact(&node.sink, "system", "kernel", "6", "x");
    assert_int_equal(mw_env_emit_full(11, &facts, &node, file_emit, &file), MW_OK);
    assert_true(file.chunks > 3);
    mw_fact_list_init(&read, other_memory, LIST_SIZE);
    facts_read(file.fd, 11, &read, &removed, 1);
    same_facts(&facts, &read);
    assert_int_equal(remaining(&read), 2001);
    struct mw_env_base base;
    assert_int_equal(mw_env_base_find(file.fd, other_memory, LIST_SIZE, &base), MW_OK);
    assert_int_equal(remaining(&base.facts), 2000);
    close(file.fd);
}

/* A fact that fits in no chunk is left out, its neighbours are not. */
static void test_store_giant(void **state)
{
    struct file file = file_open();
    struct mw_fact_list read, node;
    static char node_memory[64];
    unsigned removed = 0;
    char *giant = malloc(300001);
    memset(giant, 'g', 300000);
    giant[300000] = '\0';
    fresh();
    facts.sink.fact(&facts.sink, "env", "A", "1", "environment");
    facts.sink.fact(&facts.sink, "env", "GIANT", giant, "environment");
    facts.sink.fact(&facts.sink, "env", "Z", "2", "environment");
    mw_fact_list_init(&node, node_memory, sizeof node_memory);
    mw_env_emit_full(11, &facts, &node, file_emit, &file);
    mw_fact_list_init(&read, other_memory, LIST_SIZE);
    facts_read(file.fd, 11, &read, &removed, 1);
    has_fact_at(&read, "env", "A", "1", __LINE__);
    has_fact_at(&read, "env", "Z", "2", __LINE__);
    assert_int_equal(remaining(&read), 2);
    free(giant);
    close(file.fd);
}

/* A file that others have damaged, or that ends in the middle of a write. */
static void test_hostile_file(void **state)
{
    struct file file = file_open();
    struct mw_env_base base;
    static uint8_t bytes[1 << 18], broken[1 << 18];
    assert_int_equal(mw_env_base_find(file.fd, other_memory, LIST_SIZE, &base), MW_ERR_NOT_FOUND);
    assert_int_equal(mw_env_base_find(-1, other_memory, LIST_SIZE, &base), MW_ERR_NOT_FOUND);
    chunk_put(&file, MW_CHUNK_FILE, 11, "x", 1);
    mw_env_store(file.fd, 11, 0, file_emit, &file);
    off_t size = lseek(file.fd, 0, SEEK_END);
    assert_int_equal(pread(file.fd, bytes, (size_t)size, 0), size);
    close(file.fd);
    struct file other = file_open();
    for (off_t cut = 0; cut < size; cut += cut < size - 50 ? 1 + size / 97 : 1) {
        assert_int_equal(ftruncate(other.fd, 0), 0);
        file_emit(bytes, (size_t)cut, &other);
        assert_int_equal(mw_env_base_find(other.fd, other_memory, LIST_SIZE, &base),
                         MW_ERR_NOT_FOUND);
    }
    srand(5);
    for (int round = 0; round < 3000; round++) {
        memcpy(broken, bytes, (size_t)size);
        /* headers are kept right, so that the payload's own checks are what is tried */
        size_t at = (size_t)rand() % (size_t)size;
        broken[at] ^= (uint8_t)(1 + rand() % 255);
        assert_int_equal(ftruncate(other.fd, 0), 0);
        file_emit(broken, (size_t)size, &other);
        enum mw_status status = mw_env_base_find(other.fd, other_memory, LIST_SIZE, &base);
        assert_true(status == MW_OK || status == MW_ERR_NOT_FOUND);
    }
    /* payloads of any content under right checksums */
    for (int round = 0; round < 3000; round++) {
        size_t length = (size_t)rand() % 300;
        uint8_t header[MW_CHUNK_HEADER_SIZE];
        for (size_t i = 0; i < length; i++)
            broken[i] = (uint8_t)(i < 2 ? "\x02\x01"[i] : rand() % (round % 2 ? 256 : 12));
        unsigned flags = round % 3 == 0 ? MW_CHUNK_FLAG_ZSTD : 0;
        assert_int_equal(ftruncate(other.fd, 0), 0);
        for (int copy = 0; copy < 2; copy++) {
            mw_chunk_frame(header, MW_CHUNK_ENVIRONMENT, flags, 7, broken, (uint32_t)length,
                           flags ? (uint32_t)rand() : (uint32_t)length);
            file_emit(header, sizeof header, &other);
            file_emit(broken, length, &other);
            broken[1] = 0; /* the first has node = 1, the second has not: no base before it */
        }
        mw_env_base_find(other.fd, other_memory, LIST_SIZE, &base);
    }
    close(other.fd);
}

/* A base that stands too far back is none: reading must stay short. */
static void test_far_base(void **state)
{
    struct file file = file_open();
    static uint8_t filler[700000];
    struct mw_env_base base;
    chunk_put(&file, MW_CHUNK_FILE, 11, "x", 1);
    chunk_put(&file, MW_CHUNK_EVENTS, 11, filler, sizeof filler);
    off_t near = lseek(file.fd, 0, SEEK_END);
    mw_env_store(file.fd, 11, 0, file_emit, &file);
    assert_int_equal(mw_env_base_find(file.fd, other_memory, LIST_SIZE, &base), MW_OK);
    assert_int_equal(ftruncate(file.fd, near), 0);
    chunk_put(&file, MW_CHUNK_EVENTS, 11, filler, sizeof filler);
    mw_env_store(file.fd, 11, 0, file_emit, &file);
    assert_int_equal(mw_env_base_find(file.fd, other_memory, LIST_SIZE, &base), MW_ERR_NOT_FOUND);
    close(file.fd);
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
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_store_without_first),
        cmocka_unit_test(test_store_much),
        cmocka_unit_test(test_store_giant),
        cmocka_unit_test(test_hostile_file),
        cmocka_unit_test(test_far_base),
    };
    return cmocka_run_group_tests_name("environment", tests, set_up, tear_down);
}
