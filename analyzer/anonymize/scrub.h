/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes out of a text what tells who and where: forbidden names, paths, addresses, user@host. What
 * MPI, the fabric and the machine are stays. Main thread only; results are newly allocated.
 */
#ifndef MW_ANONYMIZE_SCRUB_H
#define MW_ANONYMIZE_SCRUB_H

#include "analyzer/anonymize/names.h"

/* Any text. */
char *mw_scrub_text(struct mw_names *names, const char *text);
/* The path of a program or library: its folder goes, its own name stays. */
char *mw_scrub_path(struct mw_names *names, const char *path);
char *mw_scrub_folder(struct mw_names *names, const char *path);
char *mw_scrub_host(struct mw_names *names, const char *host);
/* One argument of a command line: options and numbers stay, anything else may be anything. first:
 * the program itself. */
char *mw_scrub_argument(struct mw_names *names, const char *argument, int first);
/* A command line as a shell reads it, word by word. */
char *mw_scrub_command(struct mw_names *names, const char *command);
/* The name of a setting. Short names of hosts ("vm") are not looked for: they are words of the
 * language there. */
char *mw_scrub_key(struct mw_names *names, const char *key);
/* hwloc's XML: of what it notes about objects only what is known to say nothing of people and
 * places stays. */
char *mw_scrub_xml(struct mw_names *names, const char *xml);
/* The value of a setting, judged by its name. */
char *mw_scrub_value(struct mw_names *names, const char *key, const char *value);

#endif
