/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes of things (tokens.h). */
#include "analyzer/anonymize/tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LONG_NUMBER 24

static int is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

size_t mw_token_path(const char *text, size_t at)
{
    const char *from = text + at;
    if (at && (is_word(from[-1]) || strchr("/.~)]}", from[-1])))
        return 0;
    size_t dots = strspn(from, ".");
    /* only then the rest is looked at: a text may be long and have a path nowhere */
    if (*from != '/' && *from != '~' && !(dots > 0 && dots <= 2 && from[dots] == '/'))
        return 0;
    size_t length = strcspn(from, " \t\n:;,'\"()<>|&=");
    return length > 1 ? length : 0;
}

static size_t ipv4_length(const char *from)
{
    const char *at = from;
    for (int part = 0; part < 4; part++) {
        char *end;
        if (!isdigit((unsigned char)*at))
            return 0;
        unsigned long value = strtoul(at, &end, 10);
        if (value > 255 || end - at > 3 || (part < 3 && *end != '.'))
            return 0;
        at = end + (part < 3);
    }
    if (isalnum((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1])))
        return 0;
    return (size_t)(at - from);
}

/* Is text[at] behind a dot that belongs to a word? "1.2" goes on, "..." does not. */
static int continues_dots(const char *text, size_t at)
{
    return at >= 2 && text[at - 1] == '.' && is_word(text[at - 2]);
}

/* Addresses of this machine say nothing. */
static int is_local_ipv4(const char *from)
{
    return !strncmp(from, "127.", 4) || !strncmp(from, "0.0.0.0", 7);
}

/* Hexadecimal groups between colons: how many, how long, whether "::" is in it. */
static size_t groups_length(const char *from, int *groups, size_t *longest, size_t *shortest,
                            int *gap)
{
    const char *at = from;
    *groups = *gap = 0;
    *longest = 0;
    *shortest = 99;
    for (;;) {
        size_t length = strspn(at, "0123456789abcdefABCDEF");
        if (length) {
            ++*groups;
            *longest = length > *longest ? length : *longest;
            *shortest = length < *shortest ? length : *shortest;
        }
        at += length;
        if (*at != ':')
            break;
        *gap |= at[1] == ':';
        at++;
        if (at[0] != ':' && !isxdigit((unsigned char)at[0]))
            break;
    }
    while (at > from && at[-1] == ':' && !*gap)
        at--;
    return is_word(*at) ? 0 : (size_t)(at - from);
}

static size_t colons_length(const char *from)
{
    int groups, gap;
    size_t longest, shortest, length = groups_length(from, &groups, &longest, &shortest, &gap);
    if (!length || longest > 4)
        return 0;
    if (gap && groups >= 2 && memchr(from, ':', length)) /* fe80::1 */
        return length;
    if (groups == 6 && longest == 2 && shortest == 2) /* a MAC address */
        return length;
    if (groups == 8 || (groups == 4 && longest == 4 && shortest == 4)) /* IPv6, GUID */
        return length;
    if (groups > 8 && longest == 2 &&
        shortest == 2) /* the hardware address of an InfiniBand port */
        return length;
    return 0;
}

/* 8-4-4-4-12 digits, or at least LONG_NUMBER without a break: the number of one machine, disk or
 * job. */
static size_t uuid_length(const char *from)
{
    static const size_t parts[] = {8, 4, 4, 4, 12};
    const char *digits = "0123456789abcdefABCDEF";
    size_t plain = strspn(from, digits), length = 0;
    if (plain >= LONG_NUMBER && !is_word(from[plain]))
        return plain;
    for (size_t i = 0; i < 5; i++) {
        if (strspn(from + length, digits) != parts[i] || (i < 4 && from[length + parts[i]] != '-'))
            return 0;
        length += parts[i] + (i < 4);
    }
    return is_word(from[length]) ? 0 : length;
}

size_t mw_token_address(const char *text, size_t at)
{
    const char *from = text + at;
    if (at && (isalnum((unsigned char)from[-1]) || continues_dots(text, at)))
        return 0;
    size_t length = ipv4_length(from);
    if (length)
        return is_local_ipv4(from) ? 0 : length;
    if (at && (is_word(from[-1]) || from[-1] == '.' || from[-1] == ':'))
        return 0;
    length = uuid_length(from);
    if (!length)
        length = colons_length(from);
    if (length && from[length] == '.') { /* ::ffff:10.0.0.1 */
        size_t last = length;
        while (last > 0 && from[last - 1] != ':')
            last--;
        length = last ? last + ipv4_length(from + last) : length;
    }
    return length;
}

static int is_one_of(const char *const *list, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length && !strncasecmp(list[i], text, length))
            return 1;
    return 0;
}

/* Endings of files and of units of the system. Those that are countries, too, say "file" behind a
 * single dot only: "run.sh", but "login.uni.sh". */
static int ends_a_file(const char *ending, size_t length, size_t dots)
{
    static const char *const files[] = {
        "so",    "conf", "cfg", "ini",  "xml",  "json", "yaml", "yml",  "toml",  "txt",
        "log",   "dat",  "csv", "out",  "err",  "inp",  "nml",  "cpp",  "cxx",   "hpp",
        "hxx",   "for",  "mod", "lua",  "tcl",  "exe",  "bin",  "html", "tar",   "tgz",
        "zst",   "zip",  "xyz", "mpiw", "lock", "sock", "pid",  "tmp",  "bak",   "slice",
        "scope", "ko",   "img", "sif",  "sqsh", "bash", "jar",  "hdf",  "cmake",
    };
    static const char *const countries[] = {"cc", "cu", "gz", "in", "la", "md", "nc",
                                            "pc", "pl", "ps", "py", "rs", "sh", "xz"};
    return is_one_of(files, sizeof(files) / sizeof(files[0]), ending, length) ||
           (dots == 1 &&
            is_one_of(countries, sizeof(countries) / sizeof(countries[0]), ending, length));
}

size_t mw_token_host(const char *text, size_t at)
{
    const char *from = text + at;
    size_t length = 0;
    if (at && (is_word(from[-1]) || from[-1] == '-' || continues_dots(text, at)))
        return 0;
    while (isalnum((unsigned char)from[length]) || from[length] == '-' || from[length] == '_' ||
           (from[length] == '.' && length && from[length - 1] != '.'))
        length++;
    return length && from[length - 1] == '.' ? length - 1 : length; /* the end of a sentence */
}

size_t mw_token_domain(const char *text, size_t at)
{
    const char *from = text + at;
    size_t length = mw_token_host(text, at), last = length, dots = 0;
    while (last > 0 && isalpha((unsigned char)from[last - 1]))
        last--;
    if (last < 2 || from[last - 1] != '.' || length - last < 2)
        return 0;
    for (size_t i = 0; i < last; i++)
        dots += from[i] == '.';
    return ends_a_file(from + last, length - last, dots) ? 0 : length;
}

size_t mw_token_authority(const char *text, size_t at)
{
    const char *from = text + at;
    if (!at || !isalnum((unsigned char)from[-1]) || strncmp(from, "://", 3))
        return 0;
    /* A password may have any sign in it: up to the last "@" before the path. */
    size_t whole = strcspn(from + 3, "/ \t\n"), user = 0;
    for (size_t i = 0; i < whole; i++)
        if (from[3 + i] == '@')
            user = i + 1;
    return user + strcspn(from + 3 + user, "/ \t\n,;'\"<>|()?#");
}

static size_t account_part(const char *from)
{
    size_t length = 0;
    while (is_word(from[length]) || (from[length] && strchr(".-", from[length])))
        length++;
    return length;
}

size_t mw_token_account(const char *text, size_t at)
{
    const char *from = text + at;
    if (at && (is_word(from[-1]) || strchr(".-@", from[-1])))
        return 0;
    size_t user = account_part(from);
    if (!user || from[user] != '@')
        return 0;
    size_t host = account_part(from + user + 1);
    return host ? user + 1 + host : 0;
}
