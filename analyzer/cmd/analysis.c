/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a trace for a subcommand (analysis.h). */
#include "analyzer/cmd/analysis.h"

#include "analyzer/render/progress.h"

struct mw_analysis *mw_analysis_open(const struct mw_paths *paths, unsigned parts)
{
    static const struct mw_analysis_watch watch = {mw_progress_begin, mw_progress_add,
                                                   mw_command_damage};
    mw_trace *trace = mw_command_open(paths, MW_OPEN_RESIDUE);
    return trace ? mw_analysis_build(trace, parts, &watch) : NULL;
}
