/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of each field of a trace that is made anonymous: one table. What is not in it is
 * left out. Pure; any thread.
 */
#ifndef MW_ANONYMIZE_RULES_H
#define MW_ANONYMIZE_RULES_H

#include <stddef.h>

enum mw_rule_action {
    MW_RULE_KEEP, /* numbers, build-ids, names of MPI functions */
    MW_RULE_TEXT, /* scrubbed */
    MW_RULE_HOST,
    MW_RULE_PATH,
    MW_RULE_FOLDER,
    MW_RULE_DATA, /* the path of a file of the job's: its own name says something, too */
    MW_RULE_PROGRAM, /* argument 0 is the program, the others are arguments */
    MW_RULE_COMMAND, /* a whole command line in a text */
    MW_RULE_BOOT,
    MW_RULE_JOB,
    MW_RULE_ADDRESS, /* a text that is one address */
    MW_RULE_SOCKET,  /* bytes: IP address and port */
    MW_RULE_FABRIC,  /* bytes: an address in the format of its endpoint */
    MW_RULE_WORD,    /* the name of somebody else's program */
    MW_RULE_SERIAL,  /* a text or a number that one piece of hardware has */
    MW_RULE_XML,     /* hwloc's description of a machine */
    MW_RULE_PROCESS, /* the key of a process */
    MW_RULE_FACT,    /* a fact: its value is judged by its key */
    MW_RULE_RECORD,  /* a list of fields, by the rules of `inner` */
};

struct mw_rule {
    unsigned list; /* chunk type, or a list inside of chunks, numbered behind these */
    unsigned field;
    enum mw_rule_action action;
    unsigned inner;
};

/* NULL: the field is left out. */
const struct mw_rule *mw_rule_find(unsigned list, unsigned field);
/* Whether there are rules for chunks of this type. */
int mw_rules_know(unsigned type);

#endif
