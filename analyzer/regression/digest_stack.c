/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job ran on, as facts that may differ between runs (digest.h). Left out is what differs
 * between any two runs: names of sessions and namespaces, ports, the launcher's own settings.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/placement.h"
#include "analyzer/analysis/settings.h"
#include "analyzer/model/labels.h"
#include "analyzer/regression/digest_build.h"

/* One fact while processes are added. */
struct entry {
    enum mw_fact_kind kind;
    char *name, *value, *detail;
    size_t processes, last; /* last: number of the process + 1 that was counted last */
};

struct gathering {
    struct mw_index index;
    MW_VECTOR(struct entry) entries;
    size_t process; /* whose facts are being added */
};

static void add(struct gathering *all, enum mw_fact_kind kind, const char *name, const char *value,
                const char *detail)
{
    uint64_t key = mw_hash_text(mw_hash_text((uint64_t)kind + 1, name), value);
    size_t at = mw_index_put(&all->index, key);
    if (at == all->entries.count)
        *mw_vector_add(&all->entries) = (struct entry){.kind = kind,
                                                       .name = mw_text_copy(name),
                                                       .value = mw_text_copy(value),
                                                       .detail = mw_text_copy(detail)};
    struct entry *entry = &all->entries.at[at];
    entry->processes += entry->last != all->process + 1;
    entry->last = all->process + 1;
}

static void add_taken(struct gathering *all, enum mw_fact_kind kind, const char *name, char *value)
{
    add(all, kind, name, value, "");
    free(value);
}

/* --- MPI and libraries ------------------------------------------------------------------------ */

/* On one line, and without the host and the user that Open MPI names behind its version. */
static char *version_line(const char *version)
{
    char *line = mw_text_copy(version);
    line[strcspn(line, "\r\n")] = '\0';
    char *package = strstr(line, ", package:"), *ident = strstr(line, ", ident:");
    if (package && ident && ident > package)
        memmove(package, ident, strlen(ident) + 1);
    return line;
}

/* "libmpi.so.40.30.4" is "libmpi.so" of version "40.30.4". */
static void library_name(const char *base, char **name, const char **version)
{
    const char *end = strstr(base, ".so");
    if (end && (end[3] == '.' || !end[3])) {
        *name = mw_format("%.*s", (int)(end + 3 - base), base);
        *version = end[3] ? end + 4 : "";
    } else {
        *name = mw_text_copy(base);
        *version = "";
    }
}

static char *library_value(const struct mw_module *module, const char *version)
{
    char *text;
    size_t size;
    FILE *out = mw_text_stream(&text, &size);
    fputs(version, out);
    if (module->build_id_size)
        fprintf(out, "%sbuild-id ", *version ? ", " : "");
    for (size_t i = 0; i < module->build_id_size; i++)
        fprintf(out, "%02x", module->build_id[i]);
    if (!*version && !module->build_id_size) /* nothing but its place tells it from another */
        fputs(module->path, out);
    fclose(out);
    return text;
}

static void add_libraries(struct gathering *all, const struct mw_process *process)
{
    for (size_t i = 0; i < process->module_count; i++) {
        const struct mw_module *module = &process->modules[i];
        char *name;
        const char *version;
        if (module->role == MW_MODULE_MPIWATCH || !strcmp(module->path, process->exe) ||
            module->path[0] != '/')
            continue;
        library_name(mw_basename(module->path), &name, &version);
        char *value = library_value(module, version);
        add(all, MW_FACT_LIBRARY, name, value, module->path);
        free(name);
        free(value);
    }
}

/* --- parameters ------------------------------------------------------------------------------- */

static void add_settings(struct gathering *all, const struct mw_settings *settings)
{
    for (size_t i = 0; i < mw_settings_count(settings); i++) {
        const struct mw_setting *setting = mw_settings_at(settings, i);
        const struct mw_setting_variant *variant = mw_setting_on(setting, (uint32_t)all->process);
        if (variant && !setting->by_launcher && variant->in_force.origin != MW_ORIGIN_PERHAPS)
            add(all, MW_FACT_PARAMETER, setting->name, variant->in_force.value,
                variant->in_force.source);
    }
}

/* Variables of others that change how fast a program is. */
static int steers(const char *variable)
{
    static const char *const prefixes[] = {"OMP_",          "KMP_",    "GOMP_",
                                           "HSA_",          "HIP_",    "ROCR_",
                                           "CUDA_VISIBLE_", "MALLOC_", "GLIBC_TUNABLES"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
            return 1;
    return 0;
}

/* --- the machine ------------------------------------------------------------------------------ */

/* What tells nothing about speed, or is told elsewhere. */
static int is_told(const struct mw_fact *fact)
{
    static const char *const sections[] = {"env",       "parameter", "launcher",
                                           "namespace", "cgroup",    "scheduler"};
    static const char *const keys[] = {"cpus_allowed", "memory_nodes_allowed", "capabilities"};
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (!strncmp(fact->section, sections[i], strlen(sections[i])))
            return 1;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!strcmp(fact->key, keys[i]))
            return 1;
    return 0;
}

static void add_facts(struct gathering *all, const struct mw_process *process)
{
    for (size_t i = 0; i < process->fact_count; i++) {
        const struct mw_fact *fact = &process->facts[i];
        if (!strcmp(fact->section, "env") && steers(fact->key))
            add(all, MW_FACT_PARAMETER, fact->key, fact->value, fact->source);
        if (is_told(fact))
            continue;
        char *name = mw_format("%s.%s", fact->section, fact->key);
        add(all, MW_FACT_MACHINE, name, fact->value, fact->source);
        free(name);
    }
    add(all, MW_FACT_MACHINE, "host", process->host, "");
}

/* --- placement -------------------------------------------------------------------------------- */

static const char *bound_to(const struct mw_seat *seat)
{
    static const char *const words[MW_LEVELS] = {"core", "L3 cache", "NUMA node", "socket"};
    size_t cpus = mw_cpus_count(&seat->cpus);
    if (!cpus)
        return "not known";
    if (cpus == 1)
        return "CPU";
    for (int level = 0; level < MW_LEVELS; level++)
        if (seat->around[level] != MW_NO_PART)
            return words[level];
    return "node";
}

static void add_placement(struct gathering *all, const struct mw_analysis *analysis)
{
    uint32_t process = (uint32_t)all->process;
    const struct mw_placements *placements = analysis->placements;
    const struct mw_rank_place *place = &placements->places[process];
    const struct mw_hardware *hardware = mw_place_hardware(placements, process);
    int64_t numa = mw_place_numa(placements, process);
    const struct mw_near *nic = mw_place_nic(placements, process),
                         *gpu = mw_place_gpu(placements, process);
    size_t mates = analysis->model->nodes[analysis->model->process_node[process]].process_count;
    add_taken(all, MW_FACT_PLACEMENT, "ranks_a_node", mw_format("%zu", mates));
    if (!place->first)
        return;
    add(all, MW_FACT_PLACEMENT, "bound_by", mw_mask_origin_word(place->origin), "");
    add(all, MW_FACT_PLACEMENT, "bound_to", bound_to(&place->seat), "");
    if (numa != MW_NO_PART && hardware)
        add_taken(all, MW_FACT_PLACEMENT, "numa_node",
                  mw_format("%" PRIu64, hardware->parts[MW_LEVEL_NUMA].at[numa].number));
    if (nic)
        add_taken(all, MW_FACT_PLACEMENT, "nic", mw_near_label(hardware, nic));
    if (nic)
        add(all, MW_FACT_PLACEMENT, "nic_distance", mw_locality_title(nic->reach.farthest), "");
    if (gpu)
        add(all, MW_FACT_PLACEMENT, "gpu_distance", mw_locality_title(gpu->reach.farthest), "");
}

void mw_digest_add_stack(struct mw_digest *digest, const struct mw_analysis *analysis)
{
    struct gathering all = {0};
    size_t count = analysis->model->process_count;
    for (all.process = 0; all.process < count; all.process++) {
        const struct mw_process *process = mw_trace_process(analysis->model->trace, all.process);
        if (process->library_version[0])
            add_taken(&all, MW_FACT_MPI, "version", version_line(process->library_version));
        add_libraries(&all, process);
        add_settings(&all, analysis->settings);
        add_facts(&all, process);
        add_placement(&all, analysis);
    }
    for (size_t i = 0; i < all.entries.count; i++) {
        struct entry *entry = &all.entries.at[i];
        mw_digest_put_fact(digest, entry->kind, entry->name, entry->value, entry->detail,
                           entry->processes == count ? 0 : (int64_t)entry->processes);
        free(entry->name);
        free(entry->value);
        free(entry->detail);
    }
    mw_index_free(&all.index);
    free(all.entries.at);
}
