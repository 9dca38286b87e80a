/* SPDX-License-Identifier: BSD-3-Clause */
/* All commands, in the order of --help (command.h). Constant; any thread. */
#include <string.h>

#include "analyzer/cmd/command.h"

const struct mw_command *const mw_commands[] = {
    &mw_command_run,
    &mw_command_report,
    &mw_command_check,
    &mw_command_compare,
    &mw_command_history,
    &mw_command_transports,
    &mw_command_placement,
    &mw_command_matrix,
    &mw_command_waits,
    &mw_command_info,
    &mw_command_dump,
    &mw_command_collect,
    &mw_command_pack,
    &mw_command_anonymize,
    NULL,
};

const struct mw_command *mw_command_find(const char *name)
{
    for (const struct mw_command *const *at = mw_commands; *at; at++)
        if (!strcmp((*at)->name, name))
            return *at;
    return NULL;
}
