/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Things that can be told by their shape: paths, addresses, accounts. Each function gives the
 * length of such a thing that begins at text[at], 0 where none does. Pure; any thread.
 */
#ifndef MW_ANONYMIZE_TOKENS_H
#define MW_ANONYMIZE_TOKENS_H

#include <stddef.h>

/* /a/b, ~/a, ./a, ../a */
size_t mw_token_path(const char *text, size_t at);
/* IPv4 and IPv6 addresses, MAC addresses, GUIDs, UUIDs and long hexadecimal numbers; not PCI
 * addresses, times or versions. */
size_t mw_token_address(const char *text, size_t at);
/* A host name with its domain: dots, and letters behind the last one that are no ending of files.
 */
size_t mw_token_domain(const char *text, size_t at);
/* Letters, digits, dots and dashes, from the beginning of a word on: it may be a host's name. */
size_t mw_token_host(const char *text, size_t at);
/* What stands between "://" and the path of a URL; text[at] is the colon. */
size_t mw_token_authority(const char *text, size_t at);
/* user@host */
size_t mw_token_account(const char *text, size_t at);

#endif
