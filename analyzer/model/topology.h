/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hardware of a node: which processors form which core, L3 cache, NUMA node and package, how
 * far memory is from memory, where on the PCI tree network cards and GPUs sit and how GPUs are
 * linked. Joined from what one process of the node recorded (TOPOLOGY): hwloc's XML for the
 * processors and caches, the firmware's and the kernel's own tables for the rest, which win where
 * both speak. A trace is hostile input: sizes are bounded and what makes no sense is left out and
 * named. Built once, then read-only. Texts of records belong to the trace.
 */
#ifndef MW_MODEL_TOPOLOGY_H
#define MW_MODEL_TOPOLOGY_H

#include "analyzer/base/cpus.h"
#include "analyzer/base/memory.h"
#include "mpiwatch/trace.h"

/* What processors are parts of, innermost first. */
enum mw_level { MW_LEVEL_CORE, MW_LEVEL_L3, MW_LEVEL_NUMA, MW_LEVEL_PACKAGE, MW_LEVELS };

#define MW_NO_PART (-1)

struct mw_part {
    uint64_t number; /* as the kernel counts them; caches and cores: as they come */
    struct mw_cpus cpus;
    uint64_t memory; /* bytes, of a NUMA node; 0 not known */
    int wide; /* memory of CPUs that are in several other NUMA nodes, or of more than another's: being
                 near it tells nothing */
};
typedef MW_VECTOR(struct mw_part) mw_parts;

enum mw_device_kind { MW_DEVICE_OTHER, MW_DEVICE_BRIDGE, MW_DEVICE_NIC, MW_DEVICE_GPU };

/* A device on PCI, or a bridge above one. */
struct mw_hw_device {
    uint64_t address; /* domain, bus, device and function: mw_pci_address */
    enum mw_device_kind kind;
    unsigned class; /* PCI class and subclass, 0x0207 */
    int64_t bridge; /* number of the device above; MW_NO_PART: the root, or not known */
    int64_t host;   /* number of the host bridge as hwloc counts them here; MW_NO_PART not known */
    int64_t numa;   /* number of the part; MW_NO_PART not known */
    struct mw_cpus cpus; /* near it; empty: not known */
    char *names;         /* "mlx5_0 ib0"; "" none */
    const char *driver;
    uint64_t speed, speed_max; /* MT/s of its link; 0 not known */
    uint64_t width, width_max; /* lanes */
};

enum mw_link_kind { MW_LINK_XGMI, MW_LINK_NVLINK, MW_LINK_OTHER };

/* What joins two GPUs other than PCI, as the kernel or the GPUs' runtime says. */
struct mw_hw_link {
    int64_t from, to; /* numbers of devices */
    enum mw_link_kind kind;
    unsigned links;     /* parallel ones; 0 not known */
    unsigned hops;      /* 1: a link between the two; 0 not known */
    uint64_t bandwidth; /* MB/s, each way, of all of them; 0 not known */
};

struct mw_hardware {
    const struct mw_topology *source; /* NULL: nothing was recorded */
    char *problem;                    /* why it is not known, or not all of it; NULL */
    struct mw_cpus cpus;              /* all */
    mw_parts parts[MW_LEVELS];
    uint32_t
        *slit; /* firmware's distances by number of NUMA part, from × count + to; 0 not known */
    size_t slit_nodes; /* how many: as many as there are NUMA parts, once all is read */
    MW_VECTOR(struct mw_hw_device) devices;
    MW_VECTOR(struct mw_hw_link) links;
};

struct mw_hardware *mw_hardware_create(const struct mw_topology *topology);
/* Adds what a process of the node learned of GPUs from their runtime. */
void mw_hardware_add_gpus(struct mw_hardware *hardware, const struct mw_process *process);
void mw_hardware_free(struct mw_hardware *hardware);

/* "0000:c1:00.0" as a number, also in the spelling of CUDA ("00000000:C1:00.0"); -1 where it is
 * none. Its text, newly allocated. */
int mw_pci_address(const char *text, uint64_t *address);
char *mw_pci_text(uint64_t address);

/* The part of a level in which all these processors are, and the first that has one of them;
 * MW_NO_PART where there is none. */
int64_t mw_part_around(const struct mw_hardware *hardware, enum mw_level level,
                       const struct mw_cpus *cpus);
int64_t mw_part_first(const struct mw_hardware *hardware, enum mw_level level,
                      const struct mw_cpus *cpus);
/* The package of a NUMA node (by number of part); MW_NO_PART not known. */
int64_t mw_numa_package(const struct mw_hardware *hardware, int64_t numa);
/* What the firmware says about two NUMA nodes (by number of part); 0 not known. */
uint32_t mw_slit(const struct mw_hardware *hardware, int64_t from, int64_t to);
/* Does the firmware's table tell one NUMA node's neighbours from its far ones? 0: all others are
 * equally far though there are several packages, so that it says nothing. */
int mw_slit_tells(const struct mw_hardware *hardware);

/* The number of a device by its address or by one of its names ("mlx5_0", "ib0"; what stands
 * behind it, as in "mlx5_0:1" or in a list, does not count); MW_NO_PART where there is none. */
int64_t mw_device_at(const struct mw_hardware *hardware, uint64_t address);
int64_t mw_device_named(const struct mw_hardware *hardware, const char *name);
/* Its first name, else its address. Newly allocated. */
char *mw_device_label(const struct mw_hw_device *device);

/* For those who fill it in: a device by its address, which is added where it is new (NULL: there
 * are more than any machine has); what its PCI class (0x0207) and vendor make of it; a name more.
 */
struct mw_hw_device *mw_device_put(struct mw_hardware *hardware, uint64_t address);
void mw_device_classify(struct mw_hw_device *device, unsigned class, unsigned vendor);
void mw_device_name(struct mw_hw_device *device, const char *names, int first);
/* The number of the NUMA part that the kernel numbers so; MW_NO_PART. */
int64_t mw_numa_numbered(const struct mw_hardware *hardware, uint64_t number);

#endif
