/* SPDX-License-Identifier: BSD-3-Clause */
/* Which settings choose a provider (providers.h). */
#include "analyzer/findings/providers.h"

#include <stddef.h>

const struct mw_provider_list mw_provider_lists[] = {
    {"OMPI_MCA_mtl_ofi_provider_include", 1},
    {"OMPI_MCA_opal_common_ofi_provider_include", 1},
    {"OMPI_MCA_mtl_ofi_provider_exclude", 0},
    {"OMPI_MCA_opal_common_ofi_provider_exclude", 0},
    {"MPIR_CVAR_OFI_USE_PROVIDER", 1},
    {"I_MPI_OFI_PROVIDER", 1},
    {NULL, 0},
};
