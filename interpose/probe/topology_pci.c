/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Network cards, GPUs and other accelerators with their links, and the bridges above them, from
 * sysfs; see topology.h. One thread, static memory. Which bridges are above a device is in the path
 * that its link in /sys/bus/pci/devices names.
 */
#include <string.h>

#include "mpiwatch/format.h"
#include "probe/cpus.h"
#include "probe/probe.h"
#include "probe/sysfile.h"
#include "probe/topology.h"

#define DEVICES_MOST 256u /* records, bridges included */
#define ADDRESS_ROOM 24u

static struct {
    const char *root;
    struct mw_buffer *buffer;
    char known[DEVICES_MOST][ADDRESS_ROOM];
    unsigned count;
    char folder[256], path[512], text[4096];
    struct mw_cpus cpus;
} run;

/* "0000:c1:00.0" */
static int is_address(const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);
    return length >= 12 && length < ADDRESS_ROOM && colon && length - (size_t)(colon - text) == 8 &&
           colon[3] == ':' && colon[6] == '.';
}

/* Networks, displays, processing accelerators, InfiniBand on a serial bus, coprocessors. */
static int is_wanted(uint64_t class)
{
    uint64_t base = class >> 16, sub = class >> 8;
    return base == 0x02 || base == 0x03 || base == 0x12 || sub == 0x0c06 || sub == 0x0b40;
}

static void folder_of(const char *address)
{
    mw_join(run.folder, sizeof run.folder, run.root, "/sys/bus/pci/devices/", address, NULL);
}

/* "16.0 GT/s PCIe": MT/s */
static uint64_t speed_of(const char *name)
{
    const char *end;
    mw_join(run.path, sizeof run.path, run.folder, "/", name, NULL);
    if (mw_sys_line(run.path, run.text, sizeof run.text) <= 0)
        return 0;
    uint64_t speed = mw_number(run.text, 10, &end) * 1000;
    if (*end == '.' && end[1] >= '0' && end[1] <= '9')
        speed += (uint64_t)(end[1] - '0') * 100;
    return strstr(end, "GT/s") ? speed : 0;
}

static void names_add(struct mw_text *names, const char *folder)
{
    struct mw_dir dir;
    if (mw_dir_open(&dir, folder) != 0)
        return;
    for (const char *name; (name = mw_dir_next(&dir));) {
        mw_text_add(names, names->size ? " " : "");
        mw_text_add(names, name);
    }
    mw_dir_close(&dir);
}

/* What the kernel calls a device: in a folder for each kind; virtio has one more between. */
static void names_put(const char *driver)
{
    static const char *const kinds[] = {"infiniband", "net", "cxi", "drm"};
    char memory[512];
    struct mw_text names;
    struct mw_dir dir;
    mw_text_init(&names, memory, sizeof memory);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        names_add(&names, mw_join(run.path, sizeof run.path, run.folder, "/", kinds[i], NULL));
    if (strcmp(driver, "virtio-pci") == 0 && mw_dir_open(&dir, run.folder) == 0) {
        for (const char *name; (name = mw_dir_next(&dir));)
            if (strncmp(name, "virtio", 6) == 0)
                names_add(&names,
                          mw_join(run.path, sizeof run.path, run.folder, "/", name, "/net", NULL));
        mw_dir_close(&dir);
    }
    mw_put_text(run.buffer, MW_F_PCI_names, names.data);
}

static void numbers_put(void)
{
    static const struct {
        unsigned field;
        const char *file;
        int base;
    } numbers[] = {{MW_F_PCI_class, "class", 16},
                   {MW_F_PCI_vendor, "vendor", 16},
                   {MW_F_PCI_device, "device", 16},
                   {MW_F_PCI_width, "current_link_width", 10},
                   {MW_F_PCI_width_max, "max_link_width", 10}};
    uint64_t value;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (mw_sys_number(run.folder, numbers[i].file, numbers[i].base, &value) && value < 1u << 24)
            mw_put_u64(run.buffer, numbers[i].field, value);
    if (mw_sys_number(run.folder, "numa_node", 10, &value)) /* -1 is none */
        mw_put_u64(run.buffer, MW_F_PCI_node, value + 1);
    mw_put_u64(run.buffer, MW_F_PCI_speed, speed_of("current_link_speed"));
    mw_put_u64(run.buffer, MW_F_PCI_speed_max, speed_of("max_link_speed"));
}

static void device_put(const char *address, const char *parent)
{
    char driver[64] = "";
    folder_of(address);
    size_t mark = mw_put_begin(run.buffer, MW_F_TOPOLOGY_pci);
    mw_put_text(run.buffer, MW_F_PCI_address, address);
    mw_put_text(run.buffer, MW_F_PCI_parent, parent);
    numbers_put();
    mw_join(run.path, sizeof run.path, run.folder, "/driver", NULL);
    if (mw_sys_link(run.path, run.text, sizeof run.text) > 0) {
        const char *slash = strrchr(run.text, '/');
        mw_join(driver, sizeof driver, slash ? slash + 1 : run.text, NULL);
        mw_put_text(run.buffer, MW_F_PCI_driver, driver);
    }
    names_put(driver);
    mw_join(run.path, sizeof run.path, run.folder, "/local_cpulist", NULL);
    if (mw_sys_line(run.path, run.text, sizeof run.text) > 0) {
        mw_cpus_of_list(&run.cpus, run.text);
        mw_cpus_put(run.buffer, MW_F_PCI_cpus, &run.cpus);
    }
    mw_put_end(run.buffer, mark);
}

/* 1 where it was not known yet and there is room. */
static int know(const char *address)
{
    for (unsigned i = 0; i < run.count; i++)
        if (strcmp(run.known[i], address) == 0)
            return 0;
    if (run.count == DEVICES_MOST)
        return 0;
    mw_join(run.known[run.count++], ADDRESS_ROOM, address, NULL);
    return 1;
}

/* "../../../devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0": the bridges first. */
static void chain_put(const char *link)
{
    char address[ADDRESS_ROOM], parent[ADDRESS_ROOM] = "";
    for (const char *at = link; *at;) {
        size_t length = strcspn(at, "/");
        if (is_address(at, length)) {
            struct mw_text text;
            mw_text_init(&text, address, sizeof address);
            mw_text_add_some(&text, at, length);
            if (know(address))
                device_put(address, parent);
            mw_join(parent, sizeof parent, address, NULL);
        }
        at += length + (at[length] == '/');
    }
}

unsigned mw_topology_pci(struct mw_buffer *buffer, const char *root)
{
    struct mw_dir dir;
    char link[1024];
    uint64_t class;
    unsigned devices = 0;
    run.root = root;
    run.buffer = buffer;
    run.count = 0;
    mw_join(run.path, sizeof run.path, root, "/sys/bus/pci/devices", NULL);
    if (mw_dir_open(&dir, run.path) != 0)
        return 0;
    for (const char *name; (name = mw_dir_next(&dir)); devices++) {
        if (!is_address(name, strlen(name)) || mw_probe_late())
            continue; /* they are counted all the same */
        folder_of(name);
        if (mw_sys_number(run.folder, "class", 16, &class) && is_wanted(class) &&
            mw_sys_link(run.folder, link, sizeof link) > 0)
            chain_put(link);
    }
    mw_dir_close(&dir);
    return devices;
}
