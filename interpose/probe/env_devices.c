/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts about network devices, from sysfs and, for Ethernet firmware, one ioctl on a socket of our
 * own: driver, firmware, where the card sits, state and rate of each port. See environment.h for
 * the rules of this code. Serial numbers and hardware addresses are left out on purpose.
 */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/env_run.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define DEVICES_MAX 64

/* Of any PCI device. */
static const struct mw_env_attribute pci[] = {
    {"driver", "driver", 1},
    {"numa_node", "numa_node", 0},
    {"pcie_speed", "current_link_speed", 0},
    {"pcie_width", "current_link_width", 0},
    {"pcie_speed_max", "max_link_speed", 0},
    {"pcie_width_max", "max_link_width", 0},
};

static void pci_facts(struct mw_env_run *run, const char *section, const char *name,
                      const char *class_folder)
{
    char folder[512], key[256];
    mw_join(folder, sizeof folder, class_folder, "/", name, "/device", NULL);
    if (mw_env_link(run, folder) > 0) {
        mw_join(key, sizeof key, name, ".pci", NULL);
        mw_env_fact(run, section, key, run->value, folder);
    }
    mw_env_attributes(run, section, name, folder, pci, COUNT(pci));
}

void mw_env_infiniband(struct mw_env_run *run)
{
    static const struct mw_env_attribute device[] = {{"firmware", "fw_ver", 0},
                                                     {"hca_type", "hca_type", 0},
                                                     {"board", "board_id", 0},
                                                     {"hardware_revision", "hw_rev", 0},
                                                     {"node_type", "node_type", 0}};
    static const struct mw_env_attribute port[] = {{"state", "state", 0},
                                                   {"phys_state", "phys_state", 0},
                                                   {"rate", "rate", 0},
                                                   {"link_layer", "link_layer", 0},
                                                   {"interface", "gid_attrs/ndevs/0", 0}};
    const char *folder = "/sys/class/infiniband";
    int left = DEVICES_MAX;
    if (mw_dir_open(&run->dir, mw_env_path(run, folder)) != 0)
        return;
    for (const char *name; left-- && (name = mw_dir_next(&run->dir)) && !mw_env_late(run);) {
        char here[512], prefix[256];
        mw_join(here, sizeof here, folder, "/", name, NULL);
        mw_env_attributes(run, "infiniband", name, here, device, COUNT(device));
        pci_facts(run, "infiniband", name, folder);
        mw_join(here, sizeof here, folder, "/", name, "/ports", NULL);
        if (mw_dir_open(&run->inner_dir, mw_env_path(run, here)) != 0)
            continue;
        for (const char *number; (number = mw_dir_next(&run->inner_dir)) && !mw_env_late(run);) {
            mw_join(here, sizeof here, folder, "/", name, "/ports/", number, NULL);
            mw_join(prefix, sizeof prefix, name, ".port", number, NULL);
            mw_env_attributes(run, "infiniband", prefix, here, port, COUNT(port));
        }
        mw_dir_close(&run->inner_dir);
    }
    mw_dir_close(&run->dir);
}

/* Slingshot. The two generations of cards lay their port files out differently. */
void mw_env_cxi(struct mw_env_run *run)
{
    static const struct mw_env_attribute device[] = {
        {"firmware", "uc/qspi_blob_version", 0},
        {"part", "fru/part_number", 0},
        {"description", "fru/description", 0},
        {"generation", "properties/cassini_version", 0},
        {"driver_revision", "properties/driver_rev", 0},
        {"esm_speed", "properties/current_esm_link_speed", 0},
        {"mtu", "properties/hpc_mtu", 0},
        {"rdzv_get_en", "properties/rdzv_get_en", 0},
        {"amo_remap_to_pcie_fadd", "properties/amo_remap_to_pcie_fadd", 0},
        {"port.state", "port/link", 0},
        {"port.state", "port/0/link/state", 0},
        {"port.speed", "port/speed", 0},
        {"port.speed", "port/0/link/speed", 0},
        {"port.media", "port/media", 0},
        {"port.media", "port/0/media/type", 0},
        {"port.link_layer_retry", "port/link_layer_retry", 0},
        {"port.link_layer_retry", "port/0/llr/state", 0},
        {"port.pause", "port/pause", 0},
        {"port.pause", "port/0/link/config/pause_map", 0}};
    const char *folder = "/sys/class/cxi";
    int left = DEVICES_MAX;
    if (mw_dir_open(&run->dir, mw_env_path(run, folder)) != 0)
        return;
    for (const char *name; left-- && (name = mw_dir_next(&run->dir)) && !mw_env_late(run);) {
        char here[512];
        mw_join(here, sizeof here, folder, "/", name, "/device", NULL);
        mw_env_attributes(run, "cxi", name, here, device, COUNT(device));
        pci_facts(run, "cxi", name, folder);
    }
    mw_dir_close(&run->dir);
}

/* Ends of container networks: many, and nothing that a message of ours crosses. */
static int uninteresting(const char *name)
{
    static const char *const prefixes[] = {
        "lo",    "veth", "docker", "br-", "virbr", "cali", "cni",          "flannel", "ifb",
        "dummy", "tun",  "tap",    "sit", "gre",   "ip6",  "nodelocaldns", "kube-"};
    for (size_t i = 0; i < COUNT(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return 1;
    return 0;
}

/* Driver and firmware versions as the driver gives them. */
static void driver_info(struct mw_env_run *run, int fd, const char *name)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq request;
    char key[256];
    memset(&request, 0, sizeof request);
    if (strlen(name) >= sizeof request.ifr_name)
        return;
    strcpy(request.ifr_name, name);
    request.ifr_data = (void *)&info;
    if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request) != 0)
        return;
    info.version[sizeof info.version - 1] = '\0';
    info.fw_version[sizeof info.fw_version - 1] = '\0';
    if (info.version[0]) {
        mw_join(key, sizeof key, name, ".driver_version", NULL);
        mw_env_fact(run, "network", key, info.version, "ethtool");
    }
    if (info.fw_version[0] && strcmp(info.fw_version, "N/A") != 0) {
        mw_join(key, sizeof key, name, ".firmware", NULL);
        mw_env_fact(run, "network", key, info.fw_version, "ethtool");
    }
}

/* Devices that are absent, asleep or virtual give nonsense or an error instead of a speed. */
static void speed(struct mw_env_run *run, const char *name)
{
    char key[256];
    struct mw_text text;
    mw_join(run->path, sizeof run->path, "/sys/class/net/", name, "/speed", NULL);
    if (mw_env_line(run, run->path) < 0 || run->value[0] == '-')
        return;
    text = (struct mw_text){run->value, strlen(run->value), sizeof run->value};
    mw_text_add(&text, " Mbit/s");
    mw_join(key, sizeof key, name, ".speed", NULL);
    mw_env_fact(run, "network", key, run->value, run->path);
}

void mw_env_network(struct mw_env_run *run)
{
    static const struct mw_env_attribute interface[] = {{"state", "operstate", 0},
                                                        {"mtu", "mtu", 0},
                                                        {"duplex", "duplex", 0},
                                                        {"bond_mode", "bonding/mode", 0},
                                                        {"bond_members", "bonding/slaves", 0}};
    const char *folder = "/sys/class/net";
    int left = DEVICES_MAX;
    if (mw_dir_open(&run->dir, mw_env_path(run, folder)) != 0)
        return;
    int fd = run->root[0] ? -1 : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (const char *name; left && (name = mw_dir_next(&run->dir)) && !mw_env_late(run);) {
        char here[512];
        if (uninteresting(name))
            continue;
        left--;
        mw_join(here, sizeof here, folder, "/", name, NULL);
        mw_env_attributes(run, "network", name, here, interface, COUNT(interface));
        speed(run, name);
        pci_facts(run, "network", name, folder);
        mw_join(here, sizeof here, folder, "/", name, "/device", NULL);
        if (mw_env_link(run, here) > 0)
            driver_info(run, fd, name);
    }
    mw_sys_close(fd);
    mw_dir_close(&run->dir);
}
