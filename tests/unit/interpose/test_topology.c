/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probe of the node on made-up trees of /sys: NUMA nodes with and without distances, cards and
 * GPUs with the bridges above them, amdgpu's list, damaged files; and hwloc: absent, too old, for
 * real, and that it leaves nothing behind.
 */
#include "probe_fixture.h"
#include "tree_fixture.h"

#include <dirent.h>
#include <fenv.h>
#include <sys/mman.h>

#include "probe/env_run.h"
#include "probe/env_store.h"
#include "probe/topology.h"

static int is_writer = 1;

int mw_env_is_writer(void)
{
    return is_writer;
}

void mw_output_packed(unsigned type, const void *payload, size_t size)
{
    mw_output_chunk(type, payload, size);
}

const char *mw_env_variable(const char *name)
{
    return getenv(name);
}

static uint8_t memory[65536];
static struct mw_buffer buffer;

static void begin(void)
{
    forget();
    mw_buffer_init(&buffer, memory, sizeof memory);
}

static void end(void)
{
    assert_false(buffer.overflow);
    mw_output_chunk(MW_CHUNK_TOPOLOGY, buffer.data, buffer.size);
}

static struct mw_reader record(unsigned id, unsigned index)
{
    struct walk walk = {.type = MW_CHUNK_TOPOLOGY, .id = id};
    struct mw_reader found;
    for (unsigned i = 0; record_next(&walk, &found); i++)
        if (i == index)
            return found;
    fail_msg("no record %u of field %u", index, id);
    return found;
}

static unsigned records(unsigned id)
{
    struct walk walk = {.type = MW_CHUNK_TOPOLOGY, .id = id};
    struct mw_reader found;
    unsigned count = 0;
    while (record_next(&walk, &found))
        count++;
    return count;
}

static void expect_numbers(struct mw_reader list, unsigned id, const char *expected)
{
    struct mw_field field = bytes_in(list, id);
    struct mw_reader numbers = {field.data, field.data + field.size};
    char text[256] = "";
    uint64_t value;
    while (mw_read_varint(&numbers, &value) == MW_OK)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%llu", *text ? " " : "",
                 (unsigned long long)value);
    assert_string_equal(text, expected);
}

#define NODE "/sys/devices/system/node/"

static void test_numa_nodes(void **state)
{
    file_put(NODE "online", "0,2\n");
    file_put(NODE "node0/distance", "10 32\n");
    file_put(NODE "node0/cpulist", "0-3,64-67\n");
    file_put(NODE "node0/meminfo", "Node 0 MemTotal:       131072 kB\nNode 0 MemFree: 5 kB\n");
    file_put(NODE "node2/distance", " 32  10 \n");
    file_put(NODE "node2/cpulist", "\n"); /* memory alone */
    file_put(NODE "node2x/cpulist", "5\n");
    file_put(NODE "power/control", "auto\n");
    begin();
    mw_topology_slit(&buffer, root);
    end();
    assert_int_equal(records(MW_F_TOPOLOGY_slit), 2);
    unsigned first = number_in(record(MW_F_TOPOLOGY_slit, 0), MW_F_SLIT_node) == 0 ? 0 : 1;
    struct mw_reader zero = record(MW_F_TOPOLOGY_slit, first);
    struct mw_reader two = record(MW_F_TOPOLOGY_slit, !first);
    expect_numbers(zero, MW_F_SLIT_distance, "10 32");
    expect_numbers(zero, MW_F_SLIT_cpus, "0 4 64 4");
    assert_int_equal(number_in(zero, MW_F_SLIT_memory), 131072 * 1024);
    assert_int_equal(number_in(two, MW_F_SLIT_node), 2);
    expect_numbers(two, MW_F_SLIT_distance, "32 10");
    expect_numbers(two, MW_F_SLIT_cpus, "");
}

#define PCI "/sys/devices/pci0000:c0/"

static void card(const char *folder, const char *address, const char *class)
{
    char path[256], link[256];
    snprintf(path, sizeof path, "%s/class", folder);
    file_put(path, class);
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s", address);
    snprintf(link, sizeof link, "../../../..%s", folder);
    link_put(path, link);
}

static void test_cards_and_bridges(void **state)
{
    char nic[] = PCI "0000:c0:01.1/0000:c1:00.0";
    card(PCI "0000:c0:01.1", "0000:c0:01.1", "0x060400\n");
    card(nic, "0000:c1:00.0", "0x020700\n");
    card(PCI "0000:c0:01.1/0000:c1:00.1", "0000:c1:00.1", "0x020000\n");
    card(PCI "0000:c0:02.0", "0000:c0:02.0", "0x010802\n"); /* a disk */
    card("/sys/devices/pci10000:00/10000:00:00.0", "10000:00:00.0", "0x120000\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.0/vendor", "0x15b3\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.0/device", "0x101b\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.0/numa_node", "6\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.0/current_link_speed", "8.0 GT/s PCIe\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.0/max_link_speed", "2.5 GT/s\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.0/current_link_width", "8\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.0/max_link_width", "16\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.0/local_cpulist", "48-55\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.0/infiniband/mlx5_0/x", "");
    file_put(PCI "0000:c0:01.1/0000:c1:00.0/net/ib0/x", "");
    link_put(PCI "0000:c0:01.1/0000:c1:00.0/driver", "../../../../bus/pci/drivers/mlx5_core");
    file_put(PCI "0000:c0:01.1/0000:c1:00.1/numa_node", "-1\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.1/current_link_speed", "Unknown\n");
    file_put(PCI "0000:c0:01.1/0000:c1:00.1/virtio3/net/eth9/x", "");
    link_put(PCI "0000:c0:01.1/0000:c1:00.1/driver", "../drivers/virtio-pci");
    begin();
    assert_int_equal(mw_topology_pci(&buffer, root), 5);
    end();
    assert_int_equal(records(MW_F_TOPOLOGY_pci), 4); /* the bridge once, the disk not */
    struct mw_reader found[3] = {{0}};
    for (unsigned i = 0; i < 4; i++) {
        struct mw_reader at = record(MW_F_TOPOLOGY_pci, i);
        if (text_is(at, MW_F_PCI_address, "0000:c0:01.1"))
            found[0] = at;
        else if (text_is(at, MW_F_PCI_address, "0000:c1:00.0"))
            found[1] = at;
        else if (text_is(at, MW_F_PCI_address, "0000:c1:00.1"))
            found[2] = at;
        else
            assert_true(text_is(at, MW_F_PCI_address, "10000:00:00.0"));
    }
    assert_true(text_is(found[0], MW_F_PCI_parent, ""));
    assert_int_equal(number_in(found[0], MW_F_PCI_class), 0x060400);
    assert_true(text_is(found[1], MW_F_PCI_parent, "0000:c0:01.1"));
    assert_int_equal(number_in(found[1], MW_F_PCI_vendor), 0x15b3);
    assert_int_equal(number_in(found[1], MW_F_PCI_device), 0x101b);
    assert_int_equal(number_in(found[1], MW_F_PCI_node), 7);
    assert_int_equal(number_in(found[1], MW_F_PCI_speed), 8000);
    assert_int_equal(number_in(found[1], MW_F_PCI_speed_max), 2500);
    assert_int_equal(number_in(found[1], MW_F_PCI_width), 8);
    assert_int_equal(number_in(found[1], MW_F_PCI_width_max), 16);
    assert_true(text_is(found[1], MW_F_PCI_driver, "mlx5_core"));
    assert_true(text_is(found[1], MW_F_PCI_names, "mlx5_0 ib0"));
    expect_numbers(found[1], MW_F_PCI_cpus, "48 8");
    assert_int_equal(number_in(found[2], MW_F_PCI_node), 0);
    assert_int_equal(number_in(found[2], MW_F_PCI_speed), 0);
    assert_true(text_is(found[2], MW_F_PCI_names, "eth9"));
}

static void test_too_many_cards(void **state)
{
    char folder[128], address[32];
    for (unsigned i = 0; i < 300; i++) {
        snprintf(address, sizeof address, "0000:%02x:%02x.0", i / 32, i % 32);
        snprintf(folder, sizeof folder, "/sys/devices/pci0000:00/%s", address);
        card(folder, address, "0x020000\n");
    }
    begin();
    assert_int_equal(mw_topology_pci(&buffer, root), 300);
    end();
    assert_int_equal(records(MW_F_TOPOLOGY_pci), 256);
}

#define KFD "/sys/class/kfd/kfd/topology/nodes/"

static void test_gpus_and_links(void **state)
{
    file_put(KFD "0/gpu_id", "0\n");
    file_put(KFD "0/properties", "cpu_cores_count 64\nsimd_count 0\n");
    file_put(KFD "0/io_links/0/properties",
             "type 2\nversion_major 0\nnode_from 0\nnode_to 4\nweight 20\nmin_bandwidth 0\n");
    file_put(KFD "4/gpu_id", "51234\n");
    file_put(KFD "4/name", "gfx90a\n");
    file_put(KFD "4/properties", "simd_count 440\nlocation_id 53504\ndomain 0\n"
                                 "unique_id 11400714819323198485\nhive_id 42\n");
    file_put(KFD "4/io_links/0/properties", "type 11\nnode_from 4\nnode_to 5\nweight 15\n"
                                            "min_bandwidth 50000\nmax_bandwidth 200000\n");
    file_put(KFD "4/p2p_links/0/properties", "type 2\nnode_from 4\nnode_to 6\nweight 40\n");
    file_put(KFD "5/gpu_id", "51235\n"); /* not for us: no properties */
    begin();
    mw_topology_kfd(&buffer, root);
    end();
    assert_int_equal(records(MW_F_TOPOLOGY_gpu), 1);
    struct mw_reader gpu = record(MW_F_TOPOLOGY_gpu, 0);
    assert_int_equal(number_in(gpu, MW_F_GPU_node), 4);
    assert_true(text_is(gpu, MW_F_GPU_pci, "0000:d1:00.0"));
    assert_int_equal(number_in(gpu, MW_F_GPU_gpu_id), 51234);
    assert_true(number_in(gpu, MW_F_GPU_unique_id) == UINT64_C(11400714819323198485));
    assert_int_equal(number_in(gpu, MW_F_GPU_hive), 42);
    assert_true(text_is(gpu, MW_F_GPU_name, "gfx90a"));
    assert_int_equal(records(MW_F_TOPOLOGY_link), 3);
    unsigned xgmi = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct mw_reader link = record(MW_F_TOPOLOGY_link, i);
        if (number_in(link, MW_F_GPULINK_type) != 11)
            continue;
        xgmi++;
        assert_int_equal(number_in(link, MW_F_GPULINK_from), 4);
        assert_int_equal(number_in(link, MW_F_GPULINK_to), 5);
        assert_int_equal(number_in(link, MW_F_GPULINK_weight), 15);
        assert_int_equal(number_in(link, MW_F_GPULINK_min_bandwidth), 50000);
        assert_int_equal(number_in(link, MW_F_GPULINK_max_bandwidth), 200000);
    }
    assert_int_equal(xgmi, 1);
}

static void test_a_machine_without_any(void **state)
{
    begin();
    mw_topology_slit(&buffer, root);
    assert_int_equal(mw_topology_pci(&buffer, root), 0);
    mw_topology_kfd(&buffer, root);
    assert_int_equal(buffer.size, 0);
}

static void test_late_is_said(void **state)
{
    card(PCI "0000:c0:02.0", "0000:c0:02.0", "0x020000\n");
    file_put("/machine.xml", "<topology version=\"2.0\"></topology>\n");
    forget();
    late_after = 0;
    char path[128];
    snprintf(path, sizeof path, "%s/machine.xml", root);
    mw_topology_write(root, path);
    assert_choice("probe", "topology", "partly");
    assert_int_equal(kept_count, 2);
}

static void expect_failure(const char *words)
{
    struct mw_reader last = fields_of(kept_count - 1);
    struct mw_field failure = bytes_in(last, MW_F_TOPOLOGY_failure);
    if (!memmem(failure.data, failure.size, words, strlen(words)))
        fail_msg("\"%.*s\" is not \"%s\"", (int)failure.size, (const char *)failure.data, words);
    assert_int_equal(bytes_in(last, MW_F_TOPOLOGY_xml).size, 0);
}

static void test_a_file_instead(void **state)
{
    char path[128];
    snprintf(path, sizeof path, "%s/machine.xml", root);
    static const char xml[] = "<?xml version=\"1.0\"?>\n<topology version=\"2.0\"></topology>\n";
    file_put("/machine.xml", xml);
    forget();
    mw_topology_write(root, path);
    struct mw_reader last = fields_of(kept_count - 1);
    assert_true(text_is(last, MW_F_TOPOLOGY_xml, xml));
    assert_int_equal(bytes_in(last, MW_F_TOPOLOGY_failure).size, 0);
    file_put("/machine.xml", "nothing of hwloc's\n");
    mw_topology_write(root, path);
    expect_failure("none of hwloc's");
    mw_topology_write(root, "/nonexistent/machine.xml");
    expect_failure("cannot read");
}

static void test_without_hwloc(void **state)
{
    mw_hwloc_library = "libhwloc-that-nobody-has.so.0";
    forget();
    mw_topology_write(root, NULL);
    expect_failure("not installed");
    mw_hwloc_library = "libm.so.6"; /* has none of its functions */
    mw_topology_write(root, NULL);
    expect_failure("too old");
    setenv("HWLOC_COMPONENTS_VERBOSE", "1", 1);
    mw_hwloc_library = NULL;
    mw_topology_write(root, NULL);
    expect_failure("would print, by the setting HWLOC_COMPONENTS_VERBOSE");
    unsetenv("HWLOC_COMPONENTS_VERBOSE");
}

static void test_no_driver_by_a_plugin(void **state)
{
    char path[128];
    file_put("/plugins/hwloc_opencl.so", "");
    snprintf(path, sizeof path, "/nonexistent:%s/plugins", root);
    setenv("HWLOC_PLUGINS_PATH", path, 1);
    forget();
    mw_topology_write(root, NULL);
    unsetenv("HWLOC_PLUGINS_PATH");
    struct mw_field failure = bytes_in(fields_of(kept_count - 1), MW_F_TOPOLOGY_failure);
    if (memmem(failure.data, failure.size, "not installed", 13))
        skip();
    expect_failure("by its plug-in opencl");
}

/* What a process has that a library could have changed: descriptors, mappings of libraries, where
 * it may run, its environment. */
static void belongings(char *text, size_t size)
{
    extern char **environ;
    char line[1024];
    size_t used = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        used += (size_t)snprintf(text + used, size - used, "fd %s\n", entry->d_name);
    closedir(folder);
    for (int i = 0; environ[i]; i++)
        used += (size_t)snprintf(text + used, size - used, "%s\n", environ[i]);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (strstr(line, ".so"))
            used += (size_t)snprintf(text + used, size - used, "%s", strchr(line, '/'));
    fclose(maps);
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status))
        if (strstr(line, "allowed_list") ||
            (strncmp(line, "Sig", 3) == 0 && line[3] != 'Q') || /* that counts all of a user's */
            strncmp(line, "Threads", 7) == 0)
            used += (size_t)snprintf(text + used, size - used, "%s", line);
    fclose(status);
    assert_true(used < size);
}

static void test_hwloc_leaves_nothing_behind(void **state)
{
    static char before[1 << 17], after[1 << 17], printed[4096];
    static struct mw_hwloc hwloc;
    int pipes[2], saved = dup(2);
    /* A program of Fortran that wants to stop at the first NaN. */
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_OVERFLOW);
    fesetround(FE_DOWNWARD);
    assert_int_not_equal(feenableexcept(FE_DIVBYZERO | FE_INVALID), -1);
    assert_int_equal(pipe2(pipes, O_CLOEXEC | O_NONBLOCK), 0);
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
    belongings(before, sizeof before);
    dup2(pipes[1], 2);
    mw_hwloc_ask(&hwloc, 5);
    dup2(saved, 2);
    belongings(after, sizeof after);
    unsetenv("HWLOC_PLUGINS_PATH");
    assert_int_equal(fetestexcept(FE_ALL_EXCEPT), FE_OVERFLOW);
    assert_int_equal(fegetexcept(), FE_DIVBYZERO | FE_INVALID);
    assert_int_equal(fegetround(), FE_DOWNWARD);
    fesetenv(FE_DFL_ENV);
    assert_int_equal(read(pipes[0], printed, sizeof printed), -1);
    close(pipes[0]);
    close(pipes[1]);
    close(saved);
    assert_string_equal(before, after);
    if (strcmp(hwloc.failure, "hwloc is not installed") == 0)
        skip();
    assert_string_equal(hwloc.failure, "");
    assert_non_null(memmem(hwloc.xml, hwloc.size, "type=\"PU\"", 9));
    assert_memory_equal(hwloc.source, "hwloc", 5);
    mw_hwloc_free(&hwloc);
}

static void test_many_devices_are_left_out(void **state)
{
    static struct mw_hwloc hwloc;
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
    mw_hwloc_ask(&hwloc, 513);
    unsetenv("HWLOC_PLUGINS_PATH");
    if (strcmp(hwloc.failure, "hwloc is not installed") == 0)
        skip();
    assert_non_null(strstr(hwloc.failure, "without I/O devices"));
    assert_non_null(hwloc.xml);
    assert_null(memmem(hwloc.xml, hwloc.size, "PCIDev", 6));
    mw_hwloc_free(&hwloc);
}

/* What it will take is estimated before. Where reading is fast, none of this is too slow. */
static void test_time_is_bounded(void **state)
{
    static struct mw_hwloc hwloc;
    uint64_t usual = mw_hwloc_most_ns, one = mw_hwloc_price(1);
    (void)state;
    assert_true(one > 0 && mw_hwloc_price(0) == 0);
    mw_hwloc_most_ns = 1;
    mw_hwloc_ask(&hwloc, 5);
    assert_non_null(strstr(hwloc.failure, "so slowly that hwloc would take too long"));
    assert_null(hwloc.xml);
    hwloc = (struct mw_hwloc){0};
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
    mw_hwloc_most_ns = UINT64_MAX;
    mw_hwloc_ask(&hwloc, 5);
    unsetenv("HWLOC_PLUGINS_PATH");
    mw_hwloc_most_ns = usual;
    if (strcmp(hwloc.failure, "hwloc is not installed") == 0)
        skip();
    assert_string_equal(hwloc.failure, "");
    mw_hwloc_free(&hwloc);
}

static void test_one_process_of_a_node(void **state)
{
    forget();
    is_writer = 0;
    mw_probe_topology.ready();
    assert_int_equal(kept_count, 0);
    is_writer = 1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_begin, tree_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_numa_nodes),
        TEST(test_cards_and_bridges),
        TEST(test_too_many_cards),
        TEST(test_gpus_and_links),
        TEST(test_a_machine_without_any),
        TEST(test_late_is_said),
        TEST(test_a_file_instead),
        TEST(test_without_hwloc),
        TEST(test_no_driver_by_a_plugin),
        TEST(test_hwloc_leaves_nothing_behind),
        TEST(test_many_devices_are_left_out),
        TEST(test_time_is_bounded),
        TEST(test_one_process_of_a_node),
    };
    return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
