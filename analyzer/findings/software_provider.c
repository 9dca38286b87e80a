/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule "software-provider": libfabric moved messages by a provider that emulates a fabric over
 * sockets, while one that drives a NIC itself was there and was never tried.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/idle.h"
#include "analyzer/findings/providers.h"
#include "analyzer/findings/words.h"
#include "analyzer/model/labels.h"

static int emulates(const struct mw_way *way)
{
    return way->software && way->kind == MW_WAY_NETWORK;
}

static int say_setting(const struct mw_finding_input *in, const char *name, uint32_t process,
                       struct mw_finding *finding)
{
    const struct mw_setting *setting = in->settings ? mw_settings_find(in->settings, name) : NULL;
    const struct mw_setting_variant *on = setting ? mw_setting_on(setting, process) : NULL;
    if (!on)
        return 0;
    char *words = mw_setting_words(setting, on);
    mw_finding_evidence(
        finding, mw_format("the choice is set %s: %s", mw_place_words(&on->in_force), words));
    free(words);
    return 1;
}

/* What chooses the provider, where it is set. */
static int say_settings(const struct mw_finding_input *in, uint32_t process,
                        struct mw_finding *finding)
{
    int said = say_setting(in, "FI_PROVIDER", process, finding);
    for (const struct mw_provider_list *list = mw_provider_lists; list->name; list++)
        said += say_setting(in, list->name, process, finding);
    return said;
}

static void report(const struct mw_finding_input *in, const struct mw_crowd *crowd,
                   const struct mw_fast *fast, struct mw_findings *out)
{
    struct mw_used used;
    mw_used_begin(&used, in, crowd, MW_ANYWHERE);
    const struct mw_use *use = mw_used_first(&used, emulates);
    const struct mw_way *way = &in->transports->ways.at[use->way];
    const struct mw_idle *idle = fast->devices.at[0];
    char *share = mw_crowd_share(crowd);
    struct mw_finding *finding = mw_finding_add(
        out, "software-provider", MW_WARNING,
        mw_format("libfabric used %s, which emulates a fabric over sockets, on %s, though %s was "
                  "there",
                  way->name, share, mw_idle_name(idle)));
    mw_finding_evidence(finding, mw_use_words(&used, use));
    for (size_t i = 0; i < fast->devices.count; i++) {
        char *words = mw_idle_words(fast->devices.at[i]);
        mw_finding_evidence(finding, mw_format("there, and not used: %s", words));
        free(words);
    }
    char *speed = mw_speed_words(&used, use, idle->speed, mw_idle_name(idle));
    if (speed)
        mw_finding_evidence(finding, speed);
    int set = say_settings(in, (uint32_t)mw_crowd_first(crowd), finding);
    const char *provider = idle->library[0] && idle->provider[0] ? idle->provider : NULL;
    finding->advice =
        provider ? mw_format("%s: FI_PROVIDER=%s, or for Open MPI mpirun --mca pml cm --mca mtl "
                             "ofi --mca mtl_ofi_provider_include %s.",
                             set ? "Set it to the native provider" : "Name the native provider",
                             provider, provider)
                 : mw_format("%sCheck with fi_info that libfabric has a provider for %s.",
                             set ? "Remove that setting. " : "", mw_idle_name(idle));
    mw_crowd_give(crowd, finding);
    free(share);
    mw_used_end(&used);
}

/* The name in "libcxi-fi.so", where it is that of a provider that drives NICs; else NULL. */
static char *native_library(const char *path)
{
    const char *file = mw_basename(path), *end = strstr(file, "-fi.so");
    if (strncmp(file, "lib", 3) || !end)
        return NULL;
    char *name = mw_format("%.*s", (int)(end - file - 3), file + 3);
    if (mw_fabric_native("libfabric", name))
        return name;
    free(name);
    return NULL;
}

/* FI_PROVIDER hides the others, so whether one of them has a device here is not known; but that
 * the library of a native one was put there is. */
static void find_hidden(const struct mw_finding_input *in, const struct mw_crowd *crowd,
                        struct mw_findings *out)
{
    const struct mw_process *process = mw_trace_process(in->model->trace, mw_crowd_first(crowd));
    struct mw_exclusion how;
    struct mw_used used;
    for (size_t i = 0; in->settings && i < process->module_count; i++) {
        char *name = native_library(process->modules[i].path);
        if (!name || mw_setting_excludes(in->settings, "FI_PROVIDER", name, &how) <= 0) {
            free(name);
            continue;
        }
        mw_used_begin(&used, in, crowd, MW_ANYWHERE);
        const struct mw_use *use = mw_used_first(&used, emulates);
        char *share = mw_crowd_share(crowd), *words = mw_setting_words(how.setting, how.variant);
        struct mw_finding *finding = mw_finding_add(
            out, "software-provider", MW_NOTICE,
            mw_format("libfabric used %s, which emulates a fabric over sockets, on %s, and was not "
                      "allowed to look at %s",
                      in->transports->ways.at[use->way].name, share, name));
        mw_finding_evidence(finding, mw_use_words(&used, use));
        mw_finding_evidence(finding, mw_format("the choice is set %s: %s",
                                               mw_place_words(&how.variant->in_force), words));
        mw_finding_evidence(finding, mw_format("%s was loaded; whether it has a device here is not "
                                               "known",
                                               process->modules[i].path));
        finding->advice =
            mw_format("Run once without FI_PROVIDER, or look with fi_info -p %s.", name);
        mw_crowd_give(crowd, finding);
        free(share);
        free(words);
        free(name);
        mw_used_end(&used);
        return;
    }
}

static void find(const struct mw_finding_input *in, struct mw_findings *out)
{
    struct mw_crowd crowd;
    struct mw_used used;
    struct mw_fast fast;
    mw_crowd_begin(&crowd, in->model);
    mw_crowd_of_ways(&crowd, in, MW_ANYWHERE, emulates);
    mw_fast_begin(&fast, in, &crowd);
    mw_used_begin(&used, in, &crowd, MW_ANYWHERE);
    int matters = mw_used_first(&used, emulates) != NULL;
    mw_used_end(&used);
    if (matters && fast.devices.count && !mw_findings_concern(out, "fallback", &crowd))
        report(in, &crowd, &fast, out);
    else if (matters && !mw_findings_concern(out, "fallback", &crowd))
        find_hidden(in, &crowd, out);
    mw_fast_end(&fast);
    mw_crowd_end(&crowd);
}

const struct mw_rule mw_rule_software_provider = {
    "software-provider", "a fabric emulated over sockets was used though a native one was there",
    find};
