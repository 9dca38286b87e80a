/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What asking hwloc will take; see topology.h. hwloc cannot be stopped once it has begun, so its
 * time is estimated before, from what this kernel takes to answer a few questions of the kinds that
 * hwloc asks of each CPU and of each PCI device. On the thread that initialises MPI; reads some
 * files of sysfs.
 */
#include <string.h>
#include <time.h>

#include "probe/env_run.h"
#include "probe/sysfile.h"
#include "probe/topology.h"
#include "trace/clock.h"

#define ASKED 4 /* of each kind */

struct kind {
    const char *folder, *prefix; /* prefix: of the names that count, before a digit */
    const char *files[3];
    unsigned times; /* so many times as many files are read */
};
/* Some thirty files of a CPU; the configuration of a device, which virtual machines answer slowly. */
static const struct kind a_cpu = {"/sys/devices/system/cpu",
                                  "cpu",
                                  {"topology/core_id", "topology/core_cpus",
                                   "cache/index0/shared_cpu_map"},
                                  10};
static const struct kind a_device = {"/sys/bus/pci/devices", "", {"config"}, 1};

static void read_all(const struct kind *kind, const char *name)
{
    char path[512], content[256];
    for (size_t i = 0; i < sizeof kind->files / sizeof *kind->files && kind->files[i]; i++) {
        mw_join(path, sizeof path, kind->folder, "/", name, "/", kind->files[i], NULL);
        int fd = mw_sys_open(path);
        if (fd < 0)
            continue;
        mw_sys_read(fd, content, sizeof content);
        mw_sys_close(fd);
    }
}

/* Nanoseconds that one of a kind takes; 0 where there is none. */
static uint64_t price_of(const struct kind *kind)
{
    struct mw_dir dir;
    unsigned asked = 0;
    uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    size_t length = strlen(kind->prefix);
    if (mw_dir_open(&dir, kind->folder) != 0)
        return 0;
    for (const char *name; (name = mw_dir_next(&dir));) {
        int counts = strncmp(name, kind->prefix, length) == 0 && name[length] >= '0' &&
                     name[length] <= '9';
        if (!counts || asked == ASKED)
            continue;
        read_all(kind, name);
        asked++;
    }
    mw_dir_close(&dir);
    return asked ? (mw_clock_ns(CLOCK_MONOTONIC_RAW) - began) / asked * kind->times : 0;
}

uint64_t mw_hwloc_price(unsigned cpus)
{
    return cpus * price_of(&a_cpu);
}

uint64_t mw_hwloc_price_of_devices(unsigned devices)
{
    return devices * price_of(&a_device);
}
