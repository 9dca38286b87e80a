/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which process of a node writes what holds for the node; see env_store.h. Nobody is asked: the
 * file and the launcher's environment tell.
 */
#include "output/output.h"
#include "probe/env_run.h"
#include "probe/env_store.h"

/* The number of this process among those of its node, as launchers give it; 0 where none does. */
static uint64_t local_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "PALS_LOCAL_RANKID",          "PMI_LOCAL_RANK",
                                        "MV2_COMM_WORLD_LOCAL_RANK",  "FLUX_TASK_LOCAL_ID",
                                        "JSM_NAMESPACE_LOCAL_RANK",   "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = mw_env_variable(names[i]);
        if (value && *value)
            return mw_number(value, 10, NULL);
    }
    return 0;
}

int mw_env_is_writer(void)
{
    int file = mw_output_file();
    if (file < 0 || mw_env_first_process(file) != mw_output_process())
        return 0;
    return !mw_output_file_is_own() || local_rank() == 0;
}
