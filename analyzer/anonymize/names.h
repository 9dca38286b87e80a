/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stand-ins for what tells people, machines and places apart: the same text always gets the same
 * stand-in of its kind
 * ("node1", "user2", "dir7"), numbered in the order in which they come. Main thread only.
 */
#ifndef MW_ANONYMIZE_NAMES_H
#define MW_ANONYMIZE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/index.h"
#include "analyzer/base/memory.h"

enum mw_name_kind {
    MW_NAME_NODE,
    MW_NAME_DOMAIN,
    MW_NAME_USER,
    MW_NAME_FOLDER,
    MW_NAME_PATH,
    MW_NAME_ADDRESS,
    MW_NAME_BOOT,
    MW_NAME_JOB,
    MW_NAME_ARGUMENT,
    MW_NAME_VALUE,
    MW_NAME_WORD,
    MW_NAME_KINDS
};

/* A text that must not appear anywhere, whatever stands around it. */
struct mw_literal {
    char *text;
    size_t length;
    const char *stand_in;
    enum mw_name_kind kind;
};

/* How the addresses of an endpoint are to be read. */
struct mw_address_form {
    uint64_t format; /* addr_format of libfabric */
    int libfabric, ucx;
};

struct mw_names {
    struct mw_index index[MW_NAME_KINDS];
    MW_VECTOR(char *) stand_ins[MW_NAME_KINDS];
    MW_VECTOR(struct mw_literal) literals; /* the longest first, once sorted */
    struct mw_index programs;              /* base names of the job's programs, which stay */
    struct mw_index process_keys;
    MW_VECTOR(uint64_t) new_keys;
    struct mw_index endpoints; /* of (process, endpoint) */
    MW_VECTOR(struct mw_address_form) forms;
};

/* Lives as long as the names. */
const char *mw_names_stand_in(struct mw_names *names, enum mw_name_kind kind, const char *text,
                              size_t length);
/* The number in the stand-in, from 1 on. */
size_t mw_names_number(struct mw_names *names, enum mw_name_kind kind, const char *text,
                       size_t length);
/* Makes a text forbidden everywhere. Texts that say nothing ("root", "localhost") are let through.
 */
void mw_names_forbid(struct mw_names *names, enum mw_name_kind kind, const char *text,
                     size_t length);
/* A host name: with its domain, its short form and the domain alone. */
void mw_names_forbid_host(struct mw_names *names, const char *host);
/* Users whose home folders a path or a list of paths names. */
void mw_names_learn_paths(struct mw_names *names, const char *text);
/* The name of a program of the job: it stays where it is an argument. */
void mw_names_add_program(struct mw_names *names, const char *path);
int mw_names_is_program(const struct mw_names *names, const char *path);
/* After the last mw_names_forbid, before the first look-up. */
void mw_names_sort(struct mw_names *names);
/* The forbidden text that stands at text[at], or NULL. Short ones count as whole words only. */
const struct mw_literal *mw_names_match(const struct mw_names *names, const char *text, size_t at);
#define MW_NAMES_SHORT 4 /* texts with fewer characters are short */
/* A random key instead of a process's key; 0 stays 0. */
uint64_t mw_names_process_key(struct mw_names *names, uint64_t key);
void mw_names_free(struct mw_names *names);

#endif
