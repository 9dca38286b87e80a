/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of endpoints.h share: a table from names to the one process that has them. Main
 * thread. */
#ifndef MW_MODEL_ENDPOINTS_JOIN_H
#define MW_MODEL_ENDPOINTS_JOIN_H

#include "analyzer/model/endpoints.h"

#define MW_NOBODY  UINT32_MAX
#define MW_SEVERAL (UINT32_MAX - 1)

struct mw_owner_names {
    struct mw_index index;
    MW_VECTOR(uint32_t) owner; /* process, or MW_SEVERAL */
};

void mw_owner_names_add(struct mw_owner_names *names, uint64_t key, uint32_t process);
uint32_t mw_owner_names_find(const struct mw_owner_names *names, uint64_t key);
void mw_owner_names_free(struct mw_owner_names *names);

struct mw_flow *mw_flow_add(struct mw_endpoints *endpoints, enum mw_flow_kind kind,
                            uint32_t process, int64_t src, int64_t dst);

/* endpoints_sockets.c */
void mw_join_sockets(struct mw_endpoints *endpoints);

#endif
