/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts of the node as a whole: kernel, distribution, CPUs and how they save power, memory, kernel
 * settings that MPI feels, loaded drivers, container. See environment.h for the rules of this code.
 */
#include <gnu/libc-version.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "probe/env_run.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define CPU         "/sys/devices/system/cpu/"

/* NAME="value" of os-release. */
static void distribution(struct mw_env_run *run)
{
    const char *path = "/etc/os-release";
    if (mw_env_slurp(run, path) <= 0) {
        path = "/usr/lib/os-release";
        if (mw_env_slurp(run, path) <= 0)
            return;
    }
    const char *at = strstr(run->file, "PRETTY_NAME=");
    if (!at)
        return;
    at += strlen("PRETTY_NAME=");
    size_t length = strcspn(at, "\n");
    if (length >= 2 && (at[0] == '"' || at[0] == '\'') && at[length - 1] == at[0]) {
        at++;
        length -= 2;
    }
    struct mw_text text;
    mw_text_init(&text, run->value, sizeof run->value);
    mw_text_add_some(&text, at, length);
    mw_env_fact(run, "system", "distribution", run->value, path);
}

/* Only what is known to matter: other words on that line may be nobody's business. */
static void boot_parameters(struct mw_env_run *run)
{
    static const char *const wanted[] = {"mitigations=",
                                         "isolcpus=",
                                         "nohz",
                                         "nosmt",
                                         "idle=",
                                         "processor.max_cstate=",
                                         "intel_idle.",
                                         "cpuidle",
                                         "intel_pstate=",
                                         "amd_pstate=",
                                         "iommu",
                                         "intel_iommu=",
                                         "amd_iommu=",
                                         "hugepages",
                                         "default_hugepagesz=",
                                         "transparent_hugepage=",
                                         "numa_balancing=",
                                         "numa=",
                                         "pci=",
                                         "pcie_aspm",
                                         "tsc=",
                                         "clocksource=",
                                         "skew_tick=",
                                         "rcu_nocbs=",
                                         "nmi_watchdog=",
                                         "nowatchdog",
                                         "preempt=",
                                         "cgroup",
                                         "systemd.unified",
                                         "swiotlb=",
                                         "spectre",
                                         "pti=",
                                         "nopti",
                                         "mds=",
                                         "retbleed=",
                                         "srbds=",
                                         "tsx="};
    struct mw_text text;
    if (mw_env_slurp(run, "/proc/cmdline") <= 0)
        return;
    mw_text_init(&text, run->value, sizeof run->value);
    for (const char *at = run->file; *at; at += strspn(at, " \n")) {
        size_t length = strcspn(at, " \n");
        for (size_t i = 0; i < COUNT(wanted); i++)
            if (strncmp(at, wanted[i], strlen(wanted[i])) == 0) {
                mw_text_add(&text, text.size ? " " : "");
                mw_text_add_some(&text, at, length);
                break;
            }
        at += length;
    }
    if (text.size)
        mw_env_fact(run, "system", "boot_parameters", run->value, "/proc/cmdline");
}

void mw_env_system(struct mw_env_run *run)
{
    static const struct mw_env_attribute hardware[] = {{"vendor", "sys_vendor", 0},
                                                       {"product", "product_name", 0},
                                                       {"board", "board_name", 0},
                                                       {"bios_version", "bios_version", 0},
                                                       {"bios_date", "bios_date", 0},
                                                       {"bios_release", "bios_release", 0},
                                                       {"firmware", "ec_firmware_release", 0}};
    struct utsname name;
    mw_env_file(run, "system", "kernel", "/proc/sys/kernel/osrelease");
    mw_env_file(run, "system", "kernel_build", "/proc/sys/kernel/version");
    if (uname(&name) == 0)
        mw_env_fact(run, "system", "machine", name.machine, "uname");
    distribution(run);
    mw_env_fact(run, "system", "libc", gnu_get_libc_version(), "glibc");
    mw_env_file(run, "system", "clocksource",
                "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    mw_env_file(run, "system", "hypervisor", "/sys/hypervisor/type");
    mw_env_attributes(run, "system", "", "/sys/class/dmi/id", hardware, COUNT(hardware));
    boot_parameters(run);
}

/* Different values of one setting over many CPUs: "performance", or "performance (120), powersave
 * (8)". */
#define VALUES_MAX 8
struct tally {
    char value[VALUES_MAX][64];
    unsigned count[VALUES_MAX], used;
};

static void tally_add(struct tally *tally, const char *value)
{
    unsigned i = 0;
    while (i < tally->used && strncmp(tally->value[i], value, sizeof tally->value[i] - 1) != 0)
        i++;
    if (i == VALUES_MAX)
        return;
    if (i == tally->used) {
        tally->used++;
        mw_join(tally->value[i], sizeof tally->value[i], value, NULL);
    }
    tally->count[i]++;
}

static void tally_fact(struct mw_env_run *run, const struct tally *tally, const char *key,
                       const char *source)
{
    struct mw_text text;
    mw_text_init(&text, run->value, sizeof run->value);
    for (unsigned i = 0; i < tally->used; i++) {
        mw_text_add(&text, i ? ", " : "");
        mw_text_add(&text, tally->value[i]);
        if (tally->used > 1) {
            mw_text_add(&text, " (");
            mw_text_add_u64(&text, tally->count[i]);
            mw_text_add(&text, ")");
        }
    }
    if (tally->used)
        mw_env_fact(run, "cpu", key, run->value, source);
}

/* One folder a frequency domain: /sys/devices/system/cpu/cpufreq/policyN. */
static void frequencies(struct mw_env_run *run)
{
    static const struct {
        const char *key, *file;
    } settings[] = {{"governor", "scaling_governor"},
                    {"frequency_driver", "scaling_driver"},
                    {"energy_preference", "energy_performance_preference"},
                    {"frequency_max_khz", "cpuinfo_max_freq"},
                    {"frequency_limit_khz", "scaling_max_freq"},
                    {"frequency_floor_khz", "scaling_min_freq"}};
    struct tally tally[COUNT(settings)];
    memset(tally, 0, sizeof tally);
    if (mw_dir_open(&run->dir, mw_env_path(run, CPU "cpufreq")) != 0)
        return;
    for (const char *name; (name = mw_dir_next(&run->dir)) && !mw_env_late(run);) {
        if (strncmp(name, "policy", 6) != 0)
            continue;
        for (size_t i = 0; i < COUNT(settings); i++) {
            mw_join(run->path, sizeof run->path, CPU "cpufreq/", name, "/", settings[i].file, NULL);
            if (mw_env_line(run, run->path) > 0)
                tally_add(&tally[i], run->value);
        }
    }
    mw_dir_close(&run->dir);
    for (size_t i = 0; i < COUNT(settings); i++) {
        mw_join(run->path, sizeof run->path, CPU "cpufreq/policy*/", settings[i].file, NULL);
        tally_fact(run, &tally[i], settings[i].key, run->path);
    }
}

/* Sleep states of the first CPU: how long it takes to wake up from each. */
static void idle_states(struct mw_env_run *run)
{
    static const char digits[] = "0123456789";
    char folder[128], path[160], key[128], latency[32];
    struct mw_text text;
    for (int i = 0; i < 10; i++) {
        char number[2] = {digits[i], '\0'};
        mw_join(folder, sizeof folder, CPU "cpu0/cpuidle/state", number, NULL);
        if (mw_env_line(run, mw_join(path, sizeof path, folder, "/name", NULL)) < 0)
            break;
        mw_join(key, sizeof key, "idle_state.", run->value, NULL);
        if (mw_env_line(run, mw_join(path, sizeof path, folder, "/latency", NULL)) < 0)
            continue;
        mw_join(latency, sizeof latency, run->value, NULL);
        mw_join(path, sizeof path, folder, "/disable", NULL);
        int disabled = mw_env_line(run, path) > 0 && strcmp(run->value, "0") != 0;
        mw_text_init(&text, run->value, sizeof run->value);
        mw_text_add(&text, latency);
        mw_text_add(&text, disabled ? " us, disabled" : " us");
        mw_env_fact(run, "cpu", key, run->value, folder);
    }
}

/* What a CPU is exposed to, and what is done against it and costs time. */
static void vulnerabilities(struct mw_env_run *run)
{
    char key[128];
    if (mw_dir_open(&run->dir, mw_env_path(run, CPU "vulnerabilities")) != 0)
        return;
    for (const char *name; (name = mw_dir_next(&run->dir)) && !mw_env_late(run);) {
        mw_join(run->path, sizeof run->path, CPU "vulnerabilities/", name, NULL);
        mw_join(key, sizeof key, "vulnerability.", name, NULL);
        if (mw_env_line(run, run->path) > 0 && strcmp(run->value, "Not affected") != 0)
            mw_env_fact(run, "cpu", key, run->value, run->path);
    }
    mw_dir_close(&run->dir);
}

#ifdef __x86_64__

/* Asked of the CPU itself: reading /proc/cpuinfo makes some kernels (4.15 to 5.17) measure every
 * CPU's frequency first, which takes 10 ms. */
static void model(struct mw_env_run *run)
{
    unsigned brand[13] = {0}, a, b, c, d;
    struct mw_text text;
    if (__get_cpuid(0x80000000u, &a, &b, &c, &d) && a >= 0x80000004u) {
        for (unsigned i = 0; i < 3; i++)
            __get_cpuid(0x80000002u + i, &brand[4 * i], &brand[4 * i + 1], &brand[4 * i + 2],
                        &brand[4 * i + 3]);
        const char *name = (const char *)brand;
        size_t length = strlen(name);
        while (length && name[length - 1] == ' ')
            length--;
        size_t blanks = strspn(name, " ");
        mw_text_init(&text, run->value, sizeof run->value);
        mw_text_add_some(&text, name + blanks, length > blanks ? length - blanks : 0);
        if (text.size)
            mw_env_fact(run, "cpu", "model", run->value, "cpuid");
    }
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return;
    unsigned family = (a >> 8) & 15, number = (a >> 4) & 15;
    if (family == 6 || family == 15)
        number += ((a >> 16) & 15) << 4;
    if (family == 15)
        family += (a >> 20) & 255;
    mw_text_init(&text, run->value, sizeof run->value);
    mw_text_add_u64(&text, family);
    mw_text_add(&text, "/");
    mw_text_add_u64(&text, number);
    mw_text_add(&text, "/");
    mw_text_add_u64(&text, a & 15);
    mw_env_fact(run, "cpu", "family_model_stepping", run->value, "cpuid");
    if (c >> 31)
        mw_env_fact(run, "system", "virtual_machine", "yes", "cpuid");
}

#else

static void model(struct mw_env_run *run)
{
    static const struct {
        const char *key, *name;
    } fields[] = {{"model", "model name"},
                  {"implementer", "CPU implementer"},
                  {"part", "CPU part"},
                  {"variant", "CPU variant"},
                  {"revision", "CPU revision"}};
    if (mw_env_slurp(run, "/proc/cpuinfo") <= 0)
        return;
    char *second = strstr(run->file, "\n\n");
    if (second)
        *second = '\0';
    for (size_t i = 0; i < COUNT(fields); i++)
        if (mw_env_field(run, fields[i].name) > 0)
            mw_env_fact(run, "cpu", fields[i].key, run->value, "/proc/cpuinfo");
}

#endif

void mw_env_cpu(struct mw_env_run *run)
{
    static const struct mw_env_attribute settings[] = {
        {"microcode", "cpu0/microcode/version", 0},
        {"online", "online", 0},
        {"possible", "possible", 0},
        {"isolated", "isolated", 0},
        {"nohz_full", "nohz_full", 0},
        {"smt", "smt/control", 0},
        {"smt_active", "smt/active", 0},
        {"boost", "cpufreq/boost", 0},
        {"no_turbo", "intel_pstate/no_turbo", 0},
        {"intel_pstate", "intel_pstate/status", 0},
        {"amd_pstate", "amd_pstate/status", 0},
        {"idle_driver", "cpuidle/current_driver", 0},
        {"idle_governor", "cpuidle/current_governor", 0}};
    model(run);
    mw_env_attributes(run, "cpu", "", "/sys/devices/system/cpu", settings, COUNT(settings));
    mw_env_file(run, "cpu", "intel_idle.max_cstate",
                "/sys/module/intel_idle/parameters/max_cstate");
    mw_env_file(run, "cpu", "processor.max_cstate", "/sys/module/processor/parameters/max_cstate");
    idle_states(run);
    frequencies(run);
    vulnerabilities(run);
}

/* The word in brackets is the one in force: "always [madvise] never". */
static void chosen(struct mw_env_run *run, const char *section, const char *key, const char *path)
{
    if (mw_env_line(run, path) < 0)
        return;
    char *open = strchr(run->value, '['), *close = open ? strchr(open, ']') : NULL;
    if (close) {
        *close = '\0';
        memmove(run->value, open + 1, strlen(open + 1) + 1);
    }
    mw_env_fact(run, section, key, run->value, path);
}

/* How memory is interleaved within a package: "4", or "1, 2" where packages differ. By the first
 * CPU of each node; nodes of memory alone belong to none. */
static void nodes_per_package(struct mw_env_run *run)
{
    enum { PACKAGES = 64 };
    static const char folder[] = "/sys/devices/system/node";
    uint64_t nodes[PACKAGES] = {0}, package;
    char number[24];
    struct mw_text text;
    if (mw_dir_open(&run->dir, mw_env_path(run, folder)) != 0)
        return;
    for (const char *name; (name = mw_dir_next(&run->dir)) && !mw_env_late(run);) {
        mw_join(run->path, sizeof run->path, folder, "/", name, "/cpulist", NULL);
        if (strncmp(name, "node", 4) != 0 || mw_env_line(run, run->path) <= 0)
            continue;
        mw_text_init(&text, number, sizeof number);
        mw_text_add_u64(&text, mw_number(run->value, 10, NULL));
        mw_join(run->path, sizeof run->path, CPU "cpu", number, "/topology", NULL);
        if (mw_sys_number(mw_env_path(run, run->path), "physical_package_id", 10, &package) &&
            package < PACKAGES)
            nodes[package]++;
    }
    mw_dir_close(&run->dir);
    mw_text_init(&text, run->value, sizeof run->value);
    uint64_t last = 0;
    for (size_t i = 0; i < PACKAGES; i++) {
        if (!nodes[i] || nodes[i] == last)
            continue;
        mw_text_add(&text, last ? ", " : "");
        mw_text_add_u64(&text, nodes[i]);
        last = nodes[i];
    }
    if (last)
        mw_env_fact(run, "memory", "nodes_per_package", run->value, folder);
}

static void shared_memory(struct mw_env_run *run)
{
    struct statfs info;
    struct mw_text text;
    if (statfs(mw_env_path(run, "/dev/shm"), &info) != 0)
        return;
    mw_text_init(&text, run->value, sizeof run->value);
    mw_text_add_u64(&text, (uint64_t)info.f_blocks * (uint64_t)info.f_bsize / 1024);
    mw_text_add(&text, " kB");
    mw_env_fact(run, "memory", "dev_shm", run->value, "/dev/shm");
}

static void huge_page_pools(struct mw_env_run *run)
{
    const char *folder = "/sys/kernel/mm/hugepages";
    char key[128];
    if (mw_dir_open(&run->dir, mw_env_path(run, folder)) != 0)
        return;
    for (const char *name; (name = mw_dir_next(&run->dir));) {
        mw_join(run->path, sizeof run->path, folder, "/", name, "/nr_hugepages", NULL);
        mw_join(key, sizeof key, "pool.", name, NULL);
        if (mw_env_line(run, run->path) > 0 && strcmp(run->value, "0") != 0)
            mw_env_fact(run, "memory", key, run->value, run->path);
    }
    mw_dir_close(&run->dir);
}

void mw_env_memory(struct mw_env_run *run)
{
    static const char *const totals[] = {"MemTotal", "SwapTotal", "HugePages_Total",
                                         "Hugepagesize"};
    if (mw_env_slurp(run, "/proc/meminfo") > 0)
        for (size_t i = 0; i < COUNT(totals); i++)
            if (mw_env_field(run, totals[i]) > 0)
                mw_env_fact(run, "memory", totals[i], run->value, "/proc/meminfo");
    mw_env_file(run, "memory", "numa_nodes", "/sys/devices/system/node/online");
    mw_env_file(run, "memory", "numa_nodes_with_memory", "/sys/devices/system/node/has_memory");
    mw_env_file(run, "memory", "numa_balancing", "/proc/sys/kernel/numa_balancing");
    nodes_per_package(run);
    chosen(run, "memory", "transparent_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled");
    chosen(run, "memory", "transparent_hugepages_defrag",
           "/sys/kernel/mm/transparent_hugepage/defrag");
    chosen(run, "memory", "transparent_hugepages_shmem",
           "/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    huge_page_pools(run);
    shared_memory(run);
}

void mw_env_kernel(struct mw_env_run *run)
{
    static const struct mw_env_attribute settings[] = {
        {"yama.ptrace_scope", "kernel/yama/ptrace_scope", 0},
        {"vm.overcommit_memory", "vm/overcommit_memory", 0},
        {"vm.swappiness", "vm/swappiness", 0},
        {"vm.zone_reclaim_mode", "vm/zone_reclaim_mode", 0},
        {"vm.max_map_count", "vm/max_map_count", 0},
        {"kernel.nmi_watchdog", "kernel/nmi_watchdog", 0},
        {"kernel.sched_autogroup_enabled", "kernel/sched_autogroup_enabled", 0},
        {"kernel.sched_rt_runtime_us", "kernel/sched_rt_runtime_us", 0},
        {"kernel.perf_event_paranoid", "kernel/perf_event_paranoid", 0},
        {"kernel.shmmax", "kernel/shmmax", 0},
        {"net.core.rmem_max", "net/core/rmem_max", 0},
        {"net.core.wmem_max", "net/core/wmem_max", 0},
        {"net.core.rmem_default", "net/core/rmem_default", 0},
        {"net.core.wmem_default", "net/core/wmem_default", 0},
        {"net.core.busy_poll", "net/core/busy_poll", 0},
        {"net.core.busy_read", "net/core/busy_read", 0},
        {"net.core.default_qdisc", "net/core/default_qdisc", 0},
        {"net.ipv4.tcp_rmem", "net/ipv4/tcp_rmem", 0},
        {"net.ipv4.tcp_wmem", "net/ipv4/tcp_wmem", 0},
        {"net.ipv4.tcp_congestion_control", "net/ipv4/tcp_congestion_control", 0},
        {"net.ipv4.tcp_mtu_probing", "net/ipv4/tcp_mtu_probing", 0}};
    mw_env_attributes(run, "kernel", "", "/proc/sys", settings, COUNT(settings));
    chosen(run, "kernel", "pcie_aspm", "/sys/module/pcie_aspm/parameters/policy");
    mw_env_file(run, "kernel", "ksm", "/sys/kernel/mm/ksm/run");
}

/* Drivers of networks, GPUs and single-copy shared memory that are loaded, with their versions. */
void mw_env_modules(struct mw_env_run *run)
{
    static const char *const wanted[] = {"mlx5_core",   "mlx5_ib",   "mlx4_core", "mlx4_ib",
                                         "ib_core",     "ib_uverbs", "hfi1",      "irdma",
                                         "bnxt_re",     "bnxt_en",   "efa",       "qedr",
                                         "rdma_rxe",    "siw",       "cxi_core",  "cxi_ss1",
                                         "cxi_user",    "cxi_eth",   "cxi_sl",    "usnic_verbs",
                                         "opa_vnic",    "psm2",      "xpmem",     "knem",
                                         "kgdrcopy",    "gdrdrv",    "nvidia",    "nvidia_peermem",
                                         "nv_peer_mem", "nvidia_fs", "amdgpu",    "amd_peer_direct",
                                         "i915",        "xe",        "lustre",    "lnet",
                                         "gpfs",        "beegfs",    "ice",       "i40e",
                                         "ixgbe",       "ena",       "virtio_net"};
    static const struct mw_env_attribute version[] = {{"version", "version", 0},
                                                      {"srcversion", "srcversion", 0}};
    for (size_t i = 0; i < COUNT(wanted) && !mw_env_late(run); i++) {
        char folder[128];
        mw_join(folder, sizeof folder, "/sys/module/", wanted[i], NULL);
        if (mw_dir_open(&run->dir, mw_env_path(run, folder)) != 0)
            continue;
        mw_dir_close(&run->dir);
        mw_env_fact(run, "driver", wanted[i], "present", folder);
        mw_env_attributes(run, "driver", wanted[i], folder, version, COUNT(version));
    }
}

static const char *file_system(uint64_t type)
{
    static const struct {
        uint64_t type;
        const char *name;
    } known[] = {{0x794c7630, "overlay"}, {0x73717368, "squashfs"}, {0x65735546, "fuse"},
                 {0x01021994, "tmpfs"},   {0xef53, "ext4"},         {0x58465342, "xfs"},
                 {0x9123683e, "btrfs"},   {0x6969, "nfs"},          {0x0bd00bd0, "lustre"},
                 {0x47504653, "gpfs"},    {0x858458f6, "ramfs"},    {0x19830326, "beegfs"},
                 {0x2fc12fc1, "zfs"},     {0x00c36400, "ceph"}};
    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i].type == type)
            return known[i].name;
    return NULL;
}

void mw_env_container(struct mw_env_run *run)
{
    static const struct {
        const char *path, *kind;
    } signs[] = {{"/.dockerenv", "docker"},
                 {"/run/.containerenv", "podman"},
                 {"/.singularity.d", "apptainer"},
                 {"/run/systemd/container", "systemd-nspawn"}};
    struct statfs info;
    for (size_t i = 0; i < COUNT(signs); i++)
        if (statfs(mw_env_path(run, signs[i].path), &info) == 0)
            mw_env_fact(run, "container", "kind", signs[i].kind, signs[i].path);
    if (statfs(mw_env_path(run, "/"), &info) == 0) {
        struct mw_text text;
        const char *name = file_system((uint64_t)info.f_type & 0xffffffffu);
        mw_text_init(&text, run->value, sizeof run->value);
        mw_text_add(&text, name ? name : "0x");
        if (!name)
            mw_text_add_hex(&text, (uint64_t)info.f_type & 0xffffffffu);
        mw_env_fact(run, "container", "root_file_system", run->value, "/");
    }
}
