/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace holds, from its metadata alone: files, chunks, processes, damage. Main thread only.
 */
#ifndef MW_RENDER_INFO_H
#define MW_RENDER_INFO_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/model/comms.h"

json_t *mw_info_document(const struct mw_comms *comms, const char *const *paths, size_t count);
void mw_info_text(const json_t *info, FILE *out);

#endif
