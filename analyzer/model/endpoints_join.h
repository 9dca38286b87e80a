/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of endpoints.h share. Main thread. */
#ifndef MW_MODEL_ENDPOINTS_JOIN_H
#define MW_MODEL_ENDPOINTS_JOIN_H

#include "analyzer/model/endpoints.h"

/* In place of the number of a process. */
#define MW_NOBODY  UINT32_MAX
#define MW_SEVERAL (UINT32_MAX - 1)

struct mw_flow *mw_flow_add(struct mw_endpoints *endpoints, enum mw_flow_kind kind,
                            uint32_t process, int64_t src, int64_t dst);

/* endpoints_sockets.c */
void mw_join_sockets(struct mw_endpoints *endpoints);

#endif
