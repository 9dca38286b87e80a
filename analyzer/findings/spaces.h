/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What decides whether two processes of a node may look into each other's memory: read once from
 * the facts of each process, as rules ask for it by pair. Texts belong to the trace. Main thread
 * only.
 */
#ifndef MW_FINDINGS_SPACES_H
#define MW_FINDINGS_SPACES_H

#include "analyzer/model/model.h"

enum mw_space { MW_SPACE_USER, MW_SPACE_PID, MW_SPACE_IPC, MW_SPACE_MOUNT, MW_SPACES };

struct mw_spaces {             /* of one process; "" not known */
    const char *in[MW_SPACES]; /* "user:[4026531837]" */
    const char *seccomp, *ptrace_scope, *capabilities;
};

/* By number of process; free() it. */
struct mw_spaces *mw_spaces_read(const struct mw_model *model);
/* Known to be in different ones. */
int mw_spaces_differ(const struct mw_spaces *a, const struct mw_spaces *b, enum mw_space space);
/* Could they share memory, as far as is known? */
int mw_spaces_share(const struct mw_spaces *a, const struct mw_spaces *b);
const char *mw_space_word(enum mw_space space); /* "user", "pid", "ipc", "mount" */

#endif
