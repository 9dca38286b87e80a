/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks libfabric once what there is, as an accelerator's communication library beside MPI does, and then
 * sends messages like pairs.c: MPI itself leaves libfabric alone.
 */
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

static int ask(void)
{
    struct fi_info *hints = fi_allocinfo(), *info = NULL;
    hints->caps = FI_TAGGED;
    hints->ep_attr->type = FI_EP_RDM;
    int rc = fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &info);
    fi_freeinfo(info);
    fi_freeinfo(hints);
    return rc;
}

#define ASK ask
#include "pairs.c"
