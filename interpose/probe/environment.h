/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process can see of the machine and the settings it runs with. Collected on the thread that
 * initialises MPI, inside that call: no allocation but pages of our own for the time being, no
 * stdio, no locale, no thread, every loop and read bounded. What cannot be read is left out.
 */
#ifndef MW_PROBE_ENVIRONMENT_H
#define MW_PROBE_ENVIRONMENT_H

#include <stdint.h>

#include "probe/facts.h"

/* Facts common to the node: kernel, distribution, CPUs and their power settings, memory, network
 * devices with driver, firmware, state and rate, container. At most about MW_ENV_BUDGET_NS (timelimit.h); the
 * groups that were left out for that are named in a fact (mpiwatch, environment.left_out). */
#define MW_ENV_NODE 1u
/* Facts of this process: settings in its environment (redacted) and in Open MPI's parameter files,
 * limits, binding, cgroup, namespaces, seccomp, job of the scheduler. */
#define MW_ENV_PROCESS 2u

#define MW_ENV_BUDGET_NS 20000000u

void mw_environment_collect(struct mw_fact_sink *sink, unsigned what);
/* The same below another root folder ("" is the real one) and with another limit, for tests. */
void mw_environment_collect_at(struct mw_fact_sink *sink, unsigned what, const char *root,
                               uint64_t budget_ns);

/* Does a variable belong in a trace? The list stands in env_process.c. */
int mw_environment_wants(const char *name, size_t length);

#endif
