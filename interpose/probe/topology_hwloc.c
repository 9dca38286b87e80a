/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hwloc's view of the node, as XML; see topology.h. hwloc is never linked: it is loaded, asked and
 * let go, on the thread that initialises MPI, or what of it the process has is used, by a topology
 * of our own beside MPI's. Its parts that load drivers are switched off by its own interface, as
 * the program's environment is not ours to change. It cannot be stopped once it has begun, so what
 * would make it slow, or print, is looked for before.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "probe/cpus.h"
#include "probe/env_run.h"
#include "probe/fpstate.h"
#include "probe/sysfile.h"
#include "probe/topology.h"
#include "trace/clock.h"

#define XML_MOST      (8u << 20)
#define CPUS_ASKED    4096u /* of more than these hwloc is not asked */
#define DEVICES_ASKED 512u  /* of more PCI devices than these it is asked about none */

/* hwloc's binary interface, the same in all of 2.x. */
typedef struct hwloc_topology *topology_t;
enum {
    FLAG_INCLUDE_DISALLOWED = 1 << 0,
    FLAG_DONT_CHANGE_BINDING = 1 << 6, /* from 2.5 on; others refuse it */
    BLACKLIST = 1 << 0,
    KEEP_NONE = 1,
    KEEP_IMPORTANT = 3,
    EXPORT_AS_2 = 1 << 1, /* of 3.x */
};

static struct api {
    unsigned (*get_api_version)(void);
    int (*topology_init)(topology_t *);
    int (*topology_set_flags)(topology_t, unsigned long);
    int (*topology_set_components)(topology_t, unsigned long, const char *);
    int (*topology_set_io_types_filter)(topology_t, int);
    int (*topology_load)(topology_t);
    int (*topology_export_xmlbuffer)(topology_t, char **, int *, unsigned long);
    void (*free_xmlbuffer)(topology_t, char *);
    void (*topology_destroy)(topology_t);
} api;

static const struct {
    const char *name;
    size_t at;
} functions[] = {
#define FUNCTION(name)                                                                             \
    {                                                                                              \
        "hwloc_" #name, offsetof(struct api, name)                                                 \
    }
    FUNCTION(topology_init),    FUNCTION(topology_set_flags),
    FUNCTION(topology_load),    FUNCTION(topology_set_components),
    FUNCTION(free_xmlbuffer),   FUNCTION(topology_set_io_types_filter),
    FUNCTION(topology_destroy), FUNCTION(topology_export_xmlbuffer),
};

static const char *const drivers[] = {"opencl", "gl", "cuda", "nvml", "rsmi", "levelzero"};

const char *mw_hwloc_library;
uint64_t mw_hwloc_most_ns = 200000000;

static void fail(struct mw_hwloc *hwloc, const char *why, const char *what)
{
    if (!hwloc->failure[0])
        mw_join(hwloc->failure, sizeof hwloc->failure, why, what, NULL);
}

/* --- what is in the way --- */

/* A setting of hwloc's by which it prints; its name ends with "=". */
static const char *prints(void)
{
    extern char **environ;
    for (int i = 0; environ && environ[i] && i < MW_ENV_VARIABLES_MAX; i++) {
        if (strncmp(environ[i], "HWLOC_", 6) != 0)
            continue;
        const char *end = environ[i] + strcspn(environ[i], "=");
        const char *verbose = strstr(environ[i], "VERBOSE"), *debug = strstr(environ[i], "DEBUG");
        if ((verbose && verbose < end) || (debug && debug < end))
            return environ[i];
    }
    return NULL;
}

/* What of a user's settings makes hwloc tell of something else than this machine. */
static const char *misleads(void)
{
    static const char *const names[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT",
                                        "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mw_env_variable(names[i]))
            return names[i];
    return NULL;
}

/* Plug-ins are loaded with what they need, whether they are switched off or not. */
static const char *driver_in(const char *folder)
{
    struct mw_dir dir;
    const char *found = NULL;
    if (mw_dir_open(&dir, folder) != 0)
        return NULL;
    for (const char *name; !found && (name = mw_dir_next(&dir));)
        for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
            size_t length = strlen(drivers[i]);
            if (strncmp(name, "hwloc_", 6) == 0 && strncmp(name + 6, drivers[i], length) == 0 &&
                name[6 + length] == '.')
                found = drivers[i];
        }
    mw_dir_close(&dir);
    return found;
}

static const char *plugin_of_a_driver(void)
{
    Dl_info info;
    char folder[512];
    const char *path = mw_env_variable("HWLOC_PLUGINS_PATH");
    const char *slash;
    if (path) {
        const char *found = NULL;
        for (const char *at = path; *at && !found; at += *at == ':') {
            struct mw_text text;
            mw_text_init(&text, folder, sizeof folder);
            mw_text_add_some(&text, at, strcspn(at, ":"));
            at += strcspn(at, ":");
            found = driver_in(folder);
        }
        return found;
    }
    if (!dladdr((void *)api.topology_init, &info) || !info.dli_fname ||
        !(slash = strrchr(info.dli_fname, '/')))
        return NULL;
    struct mw_text text;
    mw_text_init(&text, folder, sizeof folder);
    mw_text_add_some(&text, info.dli_fname, (size_t)(slash - info.dli_fname));
    mw_text_add(&text, "/hwloc");
    return driver_in(folder);
}

/* `price`: what the CPUs take. */
static int is_too_large(struct mw_hwloc *hwloc, uint64_t *price)
{
    char list[4096];
    struct mw_cpus cpus;
    if (mw_sys_line("/sys/devices/system/cpu/online", list, sizeof list) <= 0)
        return 0;
    mw_cpus_of_list(&cpus, list);
    *price = mw_hwloc_price((unsigned)mw_cpus_total(&cpus));
    if (mw_cpus_total(&cpus) > CPUS_ASKED)
        fail(hwloc, "so many CPUs that hwloc would take too long: ", list);
    else if (*price > mw_hwloc_most_ns)
        fail(hwloc, "the kernel tells of its CPUs so slowly that hwloc would take too long: ", list);
    return hwloc->failure[0] != '\0';
}

/* --- hwloc --- */

/* The library that the process has, else one that the system has. */
static void *library_open(int *had)
{
    static const char *const names[] = {"libhwloc.so.15", "libhwloc.so.16", "libhwloc.so.17",
                                        "libhwloc.so.18"};
    const char *const *list = mw_hwloc_library ? &mw_hwloc_library : names;
    size_t count = mw_hwloc_library ? 1 : sizeof names / sizeof *names;
    void *handle = NULL;
    for (size_t i = 0; i < count && !handle; i++)
        handle = dlopen(list[i], RTLD_NOLOAD | RTLD_NOW | RTLD_LOCAL);
    *had = handle != NULL;
    for (size_t i = 0; i < count && !handle; i++)
        handle = dlopen(list[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

/* The function that lacks; NULL: none. */
static const char *functions_find(void *handle)
{
    *(void **)&api.get_api_version = dlsym(handle, "hwloc_get_api_version");
    if (!api.get_api_version || api.get_api_version() < 0x20000)
        return "hwloc_get_api_version of 2.0 or later";
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(handle, functions[i].name);
        if (!found)
            return functions[i].name;
        memcpy((char *)&api + functions[i].at, &found, sizeof found);
    }
    return NULL;
}

static void keep(struct mw_hwloc *hwloc, const char *xml, size_t size)
{
    hwloc->capacity = size + 1;
    hwloc->xml =
        mmap(NULL, hwloc->capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (hwloc->xml == MAP_FAILED) {
        hwloc->xml = NULL;
        fail(hwloc, "no memory", "");
        return;
    }
    memcpy(hwloc->xml, xml, size);
    hwloc->size = size;
}

static void export(struct mw_hwloc *hwloc, topology_t topology)
{
    char *xml = NULL;
    int size = 0;
    unsigned long flags = api.get_api_version() >= 0x30000 ? EXPORT_AS_2 : 0;
    if (api.topology_export_xmlbuffer(topology, &xml, &size, flags) != 0 || !xml) {
        fail(hwloc, "hwloc could not export what it found", "");
        return;
    }
    size_t length = strnlen(xml, size > 0 ? (size_t)size : 0);
    if (length <= XML_MOST)
        keep(hwloc, xml, length);
    else
        fail(hwloc, "hwloc's description is longer than 8 MiB", "");
    api.free_xmlbuffer(topology, xml);
}

/* Why it is not asked about devices; NULL: it is. */
static const char *too_many_devices(unsigned devices, uint64_t price)
{
    if (devices > DEVICES_ASKED)
        return "the node has more than 512";
    if (price + mw_hwloc_price_of_devices(devices) > mw_hwloc_most_ns)
        return "the kernel tells of them so slowly that hwloc would take too long";
    return NULL;
}

static void load(struct mw_hwloc *hwloc, const char *without_devices)
{
    topology_t topology;
    if (api.topology_init(&topology) != 0) {
        fail(hwloc, "hwloc could not begin", "");
        return;
    }
    if (api.topology_set_flags(topology, FLAG_INCLUDE_DISALLOWED | FLAG_DONT_CHANGE_BINDING) != 0)
        api.topology_set_flags(topology, FLAG_INCLUDE_DISALLOWED);
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        api.topology_set_components(topology, BLACKLIST, drivers[i]);
    api.topology_set_components(topology, BLACKLIST, "x86"); /* it moves from CPU to CPU */
    api.topology_set_io_types_filter(topology, without_devices ? KEEP_NONE : KEEP_IMPORTANT);
    if (api.topology_load(topology) == 0)
        export(hwloc, topology);
    else
        fail(hwloc, "hwloc could not read the machine", "");
    api.topology_destroy(topology);
    if (without_devices)
        fail(hwloc, "without I/O devices: ", without_devices);
}

static void version_add(struct mw_hwloc *hwloc)
{
    unsigned version = api.get_api_version();
    const char *setting = misleads();
    struct mw_text text;
    mw_text_init(&text, hwloc->source, sizeof hwloc->source);
    mw_text_add(&text, "hwloc, interface ");
    mw_text_add_u64(&text, version >> 16);
    mw_text_add(&text, ".");
    mw_text_add_u64(&text, version >> 8 & 0xff);
    mw_text_add(&text, ".");
    mw_text_add_u64(&text, version & 0xff);
    mw_text_add(&text, setting ? " as told by " : "");
    mw_text_add(&text, setting ? setting : "");
}

static void ask(struct mw_hwloc *hwloc, unsigned devices)
{
    int had;
    uint64_t price = 0;
    const char *setting = prints(), *plugin;
    if (setting) {
        char name[64];
        struct mw_text text;
        mw_text_init(&text, name, sizeof name);
        mw_text_add_some(&text, setting, strcspn(setting, "="));
        fail(hwloc, "hwloc would print, by the setting ", name);
        return;
    }
    if (is_too_large(hwloc, &price))
        return;
    void *handle = library_open(&had);
    if (!handle) {
        fail(hwloc, "hwloc is not installed", "");
        return;
    }
    const char *lacks = functions_find(handle);
    if (lacks)
        fail(hwloc, "hwloc is too old: it has no ", lacks);
    else if (!had && (plugin = plugin_of_a_driver()))
        fail(hwloc, "hwloc would load the libraries of a driver, by its plug-in ", plugin);
    if (!hwloc->failure[0]) {
        version_add(hwloc);
        load(hwloc, too_many_devices(devices, price));
    }
    dlclose(handle);
}

void mw_hwloc_ask(struct mw_hwloc *hwloc, unsigned devices)
{
    int saved = errno;
    uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    struct mw_fpstate floats; /* hwloc divides by zero, which programs may have made a trap */
    mw_fpstate_begin(&floats);
    ask(hwloc, devices);
    mw_fpstate_end(&floats);
    hwloc->took_ns = mw_clock_ns(CLOCK_MONOTONIC_RAW) - began;
    errno = saved;
}

void mw_hwloc_file(struct mw_hwloc *hwloc, const char *path)
{
    uint64_t began = mw_clock_ns(CLOCK_MONOTONIC_RAW);
    mw_join(hwloc->source, sizeof hwloc->source, "file ", path, NULL);
    char *room = mmap(NULL, XML_MOST + 2, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    long size = room == MAP_FAILED ? -1 : mw_sys_slurp(path, room, XML_MOST + 2);
    if (size < 0)
        fail(hwloc, "cannot read the file of MPIWATCH_HWLOC_XML", "");
    else if (size > (long)XML_MOST || !memmem(room, (size_t)size, "<topology", 9))
        fail(hwloc, "the file of MPIWATCH_HWLOC_XML is none of hwloc's, or longer than 8 MiB", "");
    else
        keep(hwloc, room, (size_t)size);
    if (room != MAP_FAILED)
        munmap(room, XML_MOST + 2);
    hwloc->took_ns = mw_clock_ns(CLOCK_MONOTONIC_RAW) - began;
}

void mw_hwloc_free(struct mw_hwloc *hwloc)
{
    if (hwloc->xml)
        munmap(hwloc->xml, hwloc->capacity);
    hwloc->xml = NULL;
}
