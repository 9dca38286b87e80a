/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints what the analyzer makes of XML files of hwloc's, a fact a line, for test_topology.py. A file
 * that cannot be used gives one line "problem ...".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/model/locality.h"

static void show_parts(const struct mw_hardware *hardware, enum mw_level level, const char *name)
{
    for (size_t i = 0; i < hardware->parts[level].count; i++) {
        char *cpus = mw_cpus_text(&hardware->parts[level].at[i].cpus);
        printf("%s %" PRIu64 " %s\n", name, hardware->parts[level].at[i].number, cpus);
        free(cpus);
    }
}

static void show_slit(const struct mw_hardware *hardware)
{
    size_t count = hardware->parts[MW_LEVEL_NUMA].count;
    for (size_t i = 0; hardware->slit && i < count; i++) {
        printf("slit %zu", i);
        for (size_t j = 0; j < count; j++)
            printf(" %u", mw_slit(hardware, (int64_t)i, (int64_t)j));
        putchar('\n');
    }
    printf("tells %d\n", mw_slit_tells(hardware));
}

static void show_devices(const struct mw_hardware *hardware)
{
    static const char *const kinds[] = {"other", "bridge", "nic", "gpu"};
    for (size_t i = 0; i < hardware->devices.count; i++) {
        const struct mw_hw_device *device = &hardware->devices.at[i];
        char *address = mw_pci_text(device->address);
        printf("device %s %s %" PRId64 " %s\n", address, kinds[device->kind],
               device->numa < 0
                   ? device->numa
                   : (int64_t)hardware->parts[MW_LEVEL_NUMA].at[device->numa].number,
               device->names);
        free(address);
        for (size_t j = 0; j < hardware->devices.count; j++) {
            struct mw_path path = mw_path_between(hardware, (int64_t)i, (int64_t)j);
            char *title = mw_path_title(&path), *from = mw_pci_text(device->address),
                 *to = mw_pci_text(hardware->devices.at[j].address);
            printf("path %s %s %s\n", from, to, title);
            free(title);
            free(from);
            free(to);
        }
    }
}

static void show(const char *xml, size_t size)
{
    struct mw_topology topology = {
        .xml = (const uint8_t *)xml, .xml_size = size, .source = "test", .failure = ""};
    struct mw_hardware *hardware = mw_hardware_create(&topology);
    char *cpus = mw_cpus_text(&hardware->cpus);
    if (hardware->problem)
        printf("problem %s\n", hardware->problem);
    printf("cpus %s\n", cpus);
    show_parts(hardware, MW_LEVEL_CORE, "core");
    show_parts(hardware, MW_LEVEL_L3, "l3");
    show_parts(hardware, MW_LEVEL_NUMA, "numa");
    show_parts(hardware, MW_LEVEL_PACKAGE, "package");
    show_slit(hardware);
    show_devices(hardware);
    free(cpus);
    mw_hardware_free(hardware);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "r");
        char *xml = NULL;
        size_t size = 0;
        if (!file || getdelim(&xml, &size, EOF, file) < 0)
            return 1;
        show(xml, (size_t)ftell(file));
        free(xml);
        fclose(file);
    }
    return 0;
}
