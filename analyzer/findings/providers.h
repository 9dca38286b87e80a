/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings by which MPI libraries choose libfabric's provider. libfabric's own, FI_PROVIDER,
 * is none of them: mw_setting_excludes knows its grammar. Main thread only.
 */
#ifndef MW_FINDINGS_PROVIDERS_H
#define MW_FINDINGS_PROVIDERS_H

struct mw_provider_list {
    const char *name;
    int use; /* 1: names those to use, 0: those not to use */
};
/* Of one library the list that wins comes first. A name NULL ends it. */
extern const struct mw_provider_list mw_provider_lists[];

#endif
