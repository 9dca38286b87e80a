/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of the rule "fallback". Main thread only. */
#ifndef MW_FINDINGS_FALLBACK_H
#define MW_FINDINGS_FALLBACK_H

#include "analyzer/findings/finding.h"

/* What UCX was asked for by name and does not have; where no call failed. */
void mw_fallback_ucx(const struct mw_finding_input *in, struct mw_findings *out);
/* Says which settings choose transports and devices of UCX; the first one's name, NULL: none. */
const char *mw_fallback_ucx_asked(const struct mw_finding_input *in, uint32_t process,
                                  struct mw_finding *finding);

#endif
