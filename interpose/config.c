/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings from the environment; see config.h. Runs once, in the initialising call. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpiwatch/format.h"

static const char *text(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* Which of several words, from 1 on; 0 when not set, or not understood (config->wrong says so). */
static int choice(struct mw_config *config, const char *name, const char *const *words,
                  const char *wrong)
{
    const char *value = text(name);
    if (!value)
        return 0;
    for (int i = 1; words[i]; i++)
        if (strcmp(value, words[i]) == 0)
            return i;
    config->wrong = wrong;
    return 0;
}

#define BUDGET_DEFAULT ((uint64_t)256 << 20)

/* A number of bytes with K, M or G; 0 where it is none, and *wrong. */
static uint64_t bytes(const char *value, int *wrong)
{
    static const char units[] = "kKmMgG";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)((unit - units) / 2 + 1) : 0;
    *wrong = *value < '0' || *value > '9' || errno || (*end && (!unit || end[1])) ||
             number > UINT64_MAX >> shift;
    return *wrong ? 0 : number << shift;
}

static uint64_t budget(struct mw_config *config)
{
    const char *value = text("MPIWATCH_BUDGET");
    int wrong = 0;
    uint64_t size = value ? bytes(value, &wrong) : BUDGET_DEFAULT;
    if (!wrong)
        return size;
    config->wrong = "MPIWATCH_BUDGET is no number of bytes with K, M or G: 256M is taken";
    return BUDGET_DEFAULT;
}

void mw_config_read(struct mw_config *config)
{
    static const char *const switches[] = {"", "off", "on", NULL};
    static const char *const files[] = {"", "process", "node", NULL};
    static const char *const clocks[] = {"", "tsc", "cntvct", "monotonic", NULL};
    static const char *const modes[] = {"", "full", "summary", NULL};

    *config = (struct mw_config){.stack = 8};
    config->off = choice(config, "MPIWATCH", switches, "MPIWATCH is neither on nor off: on is taken") == 1;
    config->out = text("MPIWATCH_OUT");
    config->job = text("MPIWATCH_JOB");
    config->command = text("MPIWATCH_COMMAND");
    config->probes = text("MPIWATCH_PROBES");
    config->hwloc_xml = text("MPIWATCH_HWLOC_XML");
    config->file_per_process = choice(config, "MPIWATCH_FILES", files,
                                      "MPIWATCH_FILES is neither node nor process: node is taken") == 1;
    /* the words are in the order of mw_clock_kind */
    config->clock = choice(config, "MPIWATCH_CLOCK", clocks,
                           "MPIWATCH_CLOCK is not tsc, cntvct or monotonic: the best is taken");
    config->summary = choice(config, "MPIWATCH_MODE", modes,
                             "MPIWATCH_MODE is neither full nor summary: full is taken") == 2;
    config->budget = budget(config);
    config->tmp = text("TMPDIR");
    if (!config->tmp)
        config->tmp = "/tmp";
    config->shm = text("MPIWATCH_SHM");
    if (!config->shm)
        config->shm = "/dev/shm";

    const char *stack = text("MPIWATCH_STACK");
    if (stack) {
        char *end;
        long value = strtol(stack, &end, 10);
        if (*end || value < 0 || value > 32)
            config->wrong = "MPIWATCH_STACK is no number from 0 to 32: 8 is taken";
        else
            config->stack = (unsigned)value;
    }
}
