/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeping secrets out of traces: values of settings and arguments of command lines that look like
 * passwords, keys or tokens become "<redacted>", or the part of them that does. Judged by the name
 * and by the shape of the value; what MPI, schedulers and package managers set must come through
 * whole. Any thread, no allocation, no locale; time linear in the text.
 */
#ifndef MW_PROBE_REDACT_H
#define MW_PROBE_REDACT_H

#include <stddef.h>

#define MW_REDACTED "<redacted>"

/* Copies `value` of the setting `key` (NULL: unnamed) to `out` without its secrets; what is longer
 * than `capacity` is cut and ends in "[...]". 1 when something was redacted, else 0. */
int mw_redact_value(const char *key, const char *value, char *out, size_t capacity);

/* The same for one argument of a command line; `previous` is the one before it (NULL: none), as it
 * was. */
int mw_redact_argument(const char *previous, const char *argument, char *out, size_t capacity);

enum mw_secrecy {
    MW_SECRECY_NONE,
    MW_SECRECY_LIKELY, /* unless the value is a number, a switch or a path */
    MW_SECRECY_CERTAIN,
};
/* secrets.c: what a name says about its value, and whether it announces a hash. */
enum mw_secrecy mw_secret_name(const char *name, size_t length);
int mw_hash_name(const char *name, size_t length);
/* A number, a list of numbers, a switch (yes, off, auto …) or nothing. */
int mw_plain_value(const char *value, size_t length);
int mw_path_value(const char *value, size_t length);
/* The shape of a token of a known issuer, or of a long random hexadecimal or base64 text. */
int mw_token_value(const char *value, size_t length);
int mw_random_value(const char *value, size_t length);

#endif
