/* SPDX-License-Identifier: BSD-3-Clause */
/* Scrubs single texts (scrub.h): one walk from left to right; at each place the longest thing that
 * must go. */
#include "analyzer/anonymize/scrub.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/anonymize/tokens.h"
#include "analyzer/render/labels.h"

struct scrubbing {
    struct mw_names *names;
    const char *text;
    size_t at;
    FILE *out;
    int settings; /* names before a "=" are settings, with dots in them, not hosts */
};

/* Names of files that say what software it is, not whose. */
static int is_public_name(const char *name)
{
    size_t length = strlen(name);
    return strstr(name, ".so.") || (length > 3 && !strcmp(name + length - 3, ".so")) ||
           (length > 5 && !strcmp(name + length - 5, ".conf"));
}

/* The kernel's own files and the files of devices are called the same everywhere; control groups
 * are named after jobs and users. */
static int is_kernel_path(const char *path)
{
    static const char *const starts[] = {
        "/proc/self/", "/proc/sys/",    "/proc/cpuinfo", "/proc/meminfo", "/proc/cmdline",
        "/sys/class/", "/sys/devices/", "/sys/kernel/",  "/sys/module/",  "/dev/infiniband/",
        "/dev/hfi1",   "/dev/cxi",      "/dev/kfd",      "/dev/dri/",     "/dev/nvidia",
        "/dev/knem",   "/dev/xpmem",    "/dev/gdrdrv",   "/dev/psm",      "/dev/efa"};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (!strncmp(path, starts[i], strlen(starts[i])))
            return 1;
    return 0;
}

/* Only the forbidden names of at least this length: for what has no paths in it. */
static char *scrub_names_from(struct mw_names *names, const char *text, size_t least)
{
    char *result = NULL;
    size_t size = 0, at = 0;
    FILE *out = mw_text_stream(&result, &size);
    while (text[at]) {
        const struct mw_literal *literal = mw_names_match(names, text, at);
        if (literal && literal->length < least)
            literal = NULL;
        if (literal)
            fputs(literal->stand_in, out);
        else
            fputc(text[at], out);
        at += literal ? literal->length : 1;
    }
    fclose(out);
    return result;
}

static char *scrub_names(struct mw_names *names, const char *text)
{
    return scrub_names_from(names, text, 0);
}

char *mw_scrub_key(struct mw_names *names, const char *key)
{
    return scrub_names_from(names, key, MW_NAMES_SHORT);
}

char *mw_scrub_folder(struct mw_names *names, const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length <= 1)
        return mw_text_copy(path);
    return mw_format("/%s", mw_names_stand_in(names, MW_NAME_FOLDER, path, length));
}

char *mw_scrub_path(struct mw_names *names, const char *path)
{
    const char *name = mw_basename(path);
    char *own = scrub_names(names, name);
    if (name == path)
        return own;
    size_t length = (size_t)(name - path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *result;
    if (length == 1) /* "/x" and "./x" name no folder */
        result = mw_format("%.*s%s", (int)(name - path), path, own);
    else
        result = mw_format("/%s/%s", mw_names_stand_in(names, MW_NAME_FOLDER, path, length), own);
    free(own);
    return result;
}

/* A path inside a text: nobody knows whether it is a folder, a program or data. */
static void scrub_inner_path(struct scrubbing *scrubbing, size_t length)
{
    char *path = mw_format("%.*s", (int)length, scrubbing->text + scrubbing->at);
    char *result;
    if (is_kernel_path(path))
        result = scrub_names_from(scrubbing->names, path, MW_NAMES_SHORT);
    else if (is_public_name(mw_basename(path)))
        result = mw_scrub_path(scrubbing->names, path);
    else
        result = mw_format("/%s", mw_names_stand_in(scrubbing->names, MW_NAME_PATH, path, length));
    fputs(result, scrubbing->out);
    free(result);
    free(path);
}

/* user@host */
static void scrub_account(struct scrubbing *scrubbing, size_t length)
{
    const char *text = scrubbing->text + scrubbing->at;
    size_t user = (size_t)((const char *)memchr(text, '@', length) - text);
    fprintf(scrubbing->out, "%s@%s", mw_names_stand_in(scrubbing->names, MW_NAME_USER, text, user),
            mw_names_stand_in(scrubbing->names, MW_NAME_NODE, text + user + 1, length - user - 1));
}

static const char *host_stand_in(struct mw_names *names, const char *text, size_t at, size_t length)
{
    const struct mw_literal *literal = mw_names_match(names, text, at);
    char next = literal ? text[at + literal->length] : 0;
    if (literal &&
        (literal->length == length || (literal->kind == MW_NAME_NODE && literal->length < length &&
                                       (next == '.' || next == '-'))))
        return literal->stand_in; /* "node17-ib0" is node17 */
    return mw_names_stand_in(names, mw_token_address(text, at) ? MW_NAME_ADDRESS : MW_NAME_NODE,
                             text + at, length);
}

/* The path and the query behind a host; returns their length. */
static size_t scrub_path_behind(struct scrubbing *scrubbing, size_t at)
{
    const char *text = scrubbing->text + at;
    size_t length = strchr("/?#", *text) ? strcspn(text, " \t\n,;'\"<>|()") : 0;
    if (length > 1)
        fprintf(scrubbing->out, "/%s",
                mw_names_stand_in(scrubbing->names, MW_NAME_PATH, text, length));
    return length > 1 ? length : 0;
}

/* ://user:password@host:port/path?query; only the port stays. */
static void scrub_url(struct scrubbing *scrubbing, size_t authority)
{
    const char *text = scrubbing->text;
    size_t at = scrubbing->at + 3, end = at + authority;
    for (size_t i = at; i < end; i++)
        if (text[i] == '@')
            at = i + 1;
    size_t port = end;
    while (port > at && isdigit((unsigned char)text[port - 1]))
        port--;
    port = port > at && port < end && text[port - 1] == ':' ? port - 1 : end;
    fprintf(scrubbing->out, "://%s%.*s", host_stand_in(scrubbing->names, text, at, port - at),
            (int)(end - port), text + port);
    scrubbing->at = end + scrub_path_behind(scrubbing, end);
}

/* How long the host's name here is: one with a domain, or one that begins like a known host. */
static size_t host_length(const struct scrubbing *scrubbing)
{
    const char *text = scrubbing->text;
    size_t at = scrubbing->at, length = mw_token_host(text, at);
    if (!length)
        return 0;
    const struct mw_literal *literal = mw_names_match(scrubbing->names, text, at);
    if (literal && literal->kind == MW_NAME_NODE && literal->length >= MW_NAMES_SHORT &&
        literal->length <= length)
        return length;
    length = mw_token_domain(text, at);
    return scrubbing->settings && text[at + length] == '=' ? 0 : length;
}

/* Scrubs what stands at the current place and goes past it. */
static void scrub_step(struct scrubbing *scrubbing)
{
    const char *text = scrubbing->text;
    size_t at = scrubbing->at, length;
    const struct mw_literal *literal;
    if ((length = mw_token_authority(text, at))) {
        scrub_url(scrubbing, length);
        return;
    }
    if ((length = mw_token_path(text, at))) {
        scrub_inner_path(scrubbing, length);
    } else if ((length = mw_token_account(text, at))) {
        scrub_account(scrubbing, length);
        length += scrub_path_behind(scrubbing, at + length);
    } else if ((length = host_length(scrubbing))) {
        fputs(host_stand_in(scrubbing->names, text, at, length), scrubbing->out);
        length += scrub_path_behind(scrubbing, at + length);
    } else if ((literal = mw_names_match(scrubbing->names, text, at))) {
        fputs(literal->stand_in, scrubbing->out);
        length = literal->length;
    } else if ((length = mw_token_address(text, at))) {
        fputs(mw_names_stand_in(scrubbing->names, MW_NAME_ADDRESS, text + at, length),
              scrubbing->out);
    } else {
        fputc(text[at], scrubbing->out);
        length = 1;
    }
    scrubbing->at += length;
}

static char *scrub_text(struct mw_names *names, const char *text, int settings)
{
    char *result = NULL;
    size_t size = 0;
    struct scrubbing scrubbing = {.names = names, .text = text, .settings = settings};
    scrubbing.out = mw_text_stream(&result, &size);
    while (text[scrubbing.at])
        scrub_step(&scrubbing);
    fclose(scrubbing.out);
    return result;
}

char *mw_scrub_text(struct mw_names *names, const char *text)
{
    return scrub_text(names, text, 0);
}

char *mw_scrub_host(struct mw_names *names, const char *host)
{
    char *text = scrub_names(names, host);
    size_t short_length = strcspn(host, ".");
    if (!strcmp(text, host) &&
        host[0]) { /* one that is not forbidden: localhost, or never learned */
        free(text);
        return mw_text_copy(mw_names_stand_in(names, MW_NAME_NODE, host, short_length));
    }
    return text;
}

/* Four numbers with dots between them are an address, three still a version. */
static int is_number(const char *text)
{
    size_t dots = 0;
    for (const char *at = text; *at; at++) {
        dots = *at == '.' ? dots + 1 : isdigit((unsigned char)*at) ? dots : 0;
        if (dots == 3)
            return 0;
    }
    return *text && strspn(text, "0123456789.,-+xe") == strlen(text) && strpbrk(text, "0123456789");
}

/* Words of MPI's own language on command lines of launchers. */
static int is_vocabulary(const char *word)
{
    static const char *const words[] = {
        "pml",  "btl",   "mtl",     "osc",      "coll", "ob1",    "cm",      "ucx",  "ofi",
        "tcp",  "self",  "vader",   "sm",       "uct",  "core",   "socket",  "numa", "node",
        "slot", "none",  "l3cache", "hwthread", "ppr",  "mpirun", "mpiexec", "srun", ":",
        "true", "false", "yes",     "no",       "all",  "auto",   "on",      "off",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strcmp(word, words[i]))
            return 1;
    return 0;
}

static int is_plain_list(const char *text)
{
    char word[32];
    while (*text) {
        size_t length = strcspn(text, ",");
        if (length >= sizeof(word))
            return 0;
        memcpy(word, text, length);
        word[length] = 0;
        if (!is_vocabulary(word[0] == '^' ? word + 1 : word) && !is_number(word))
            return 0;
        text += length + (text[length] != 0);
    }
    return 1;
}

static char *stand_in_argument(struct mw_names *names, const char *text)
{
    return mw_text_copy(mw_names_stand_in(names, MW_NAME_ARGUMENT, text, strlen(text)));
}

/* The length of an option's name. After one dash only options of launchers are known to be longer
 * than a letter: the rest may be a value ("-hnode17"). */
static size_t option_length(const char *argument)
{
    static const char *const known[] = {
        "np",       "host",     "hosts",   "hostfile", "machinefile", "genv",    "env",
        "genvlist", "genvall",  "wd",      "wdir",     "mca",         "gmca",    "ppn",
        "iface",    "launcher", "bind-to", "map-by",   "am",          "tune",    "prefix",
        "output",   "quiet",    "verbose", "help",     "version",     "perhost",
    };
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t dashes = strspn(argument, "-");
    size_t length = strspn(argument + dashes, letters);
    if (dashes == 2 || length == 1)
        return dashes + length;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strlen(known[i]) == length && !strncmp(known[i], argument + 1, length))
            return 1 + length;
    return 2;
}

char *mw_scrub_argument(struct mw_names *names, const char *argument, int first)
{
    size_t dashes = strspn(argument, "-");
    if (first || mw_names_is_program(names, argument))
        return mw_scrub_path(names, argument);
    if (is_number(argument) || is_vocabulary(argument) || (*argument && is_plain_list(argument)))
        return mw_text_copy(argument);
    if (!dashes || dashes > 2 || !isalpha((unsigned char)argument[dashes]))
        return stand_in_argument(names, argument);
    size_t name = option_length(argument);
    char *option = mw_format("%.*s", (int)name, argument), *safe = scrub_names(names, option);
    const char *rest = argument + name;
    if (*rest) {
        const char *value = rest + (*rest == '=');
        char *hidden = is_plain_list(value) ? mw_text_copy(value) : stand_in_argument(names, value);
        char *whole = mw_format("%s%s%s", safe, *rest == '=' ? "=" : "", hidden);
        free(hidden);
        free(safe);
        safe = whole;
    }
    free(option);
    return safe;
}

/* The next word of a command line, without its quotes; NULL at the end. */
static char *shell_word(const char **text)
{
    const char *at = *text + strspn(*text, " \t\n");
    char *word = mw_alloc(strlen(at) + 1, 1), *to = word, quote = 0;
    if (!*at) {
        free(word);
        return NULL;
    }
    for (; *at && (quote || !strchr(" \t\n", *at)); at++) {
        if (quote && *at == quote)
            quote = 0;
        else if (!quote && (*at == '\'' || *at == '"'))
            quote = *at;
        else if (*at == '\\' && quote != '\'' && at[1])
            *to++ = *++at;
        else
            *to++ = *at;
    }
    *text = at;
    return word;
}

static char *scrub_words(struct mw_names *names, const char *command, int program_first)
{
    char *result = mw_text_copy(""), *word;
    for (int i = 0; (word = shell_word(&command)); i++) {
        char *safe = mw_scrub_argument(names, word, i == 0 && program_first);
        char *longer = mw_format("%s%s%s", result, i ? " " : "", safe);
        free(word);
        free(safe);
        free(result);
        result = longer;
    }
    return result;
}

char *mw_scrub_command(struct mw_names *names, const char *command)
{
    return scrub_words(names, command, 1);
}

/* Whether the name of a setting says that its value names users, hosts, places or jobs. */
static int hides(const char *key)
{
    /* Paths are taken out of any value: these are for names that stand alone. */
    static const char *const parts[] = {
        "HOST",         "NODELIST", "NODE_LIST", "NODEFILE", "NODENAME",   "NODE_NAME",
        "USER",         "LOGNAME",  "ACCOUNT",   "PROJECT",  "JOB_NAME",   "JOBNAME",
        "JOBID",        "JOB_ID",   "NAMESPACE", "UUID",     "GUID",       "SERIAL",
        "ADDR",         "MAIL",     "SUBMIT",    "CLUSTER",  "PARTITION",  "QUEUE",
        "RESERVATION",  "COMMENT",  "_URI",      "_uri",     "JOB_GID",    "JOB_UID",
        "CONTAINER_ID", "jobid",    "hostname",  "nodename", "machine_id",
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(key, parts[i]))
            return 1;
    return 0;
}

char *mw_scrub_value(struct mw_names *names, const char *key, const char *value)
{
    /* OMPI_ARGV, MPIWATCH_COMMAND: what the program was told */
    if (strstr(key, "ARGV"))
        return scrub_words(names, value, 0);
    if (strstr(key, "COMMAND"))
        return scrub_words(names, value, 1);
    if (!value[0] || !hides(key))
        return scrub_text(names, value, !strcmp(key, "boot_parameters"));
    return mw_text_copy(mw_names_stand_in(names, MW_NAME_VALUE, value, strlen(value)));
}
