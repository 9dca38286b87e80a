/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What names and shapes give away (redact.h). All lists stand here. Pure functions over bytes, any
 * thread.
 */
#include <string.h>

#include "probe/redact.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define WORDS_MAX   24

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}
static int is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}
static int is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}
static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static int is_alnum(char c)
{
    return is_upper(c) || is_lower(c) || is_digit(c);
}
static int is_hex(char c)
{
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

/* A name in lower case, and where its words are: words end at anything but letters and digits, and
 * where a capital follows a small letter. */
struct name {
    char text[128]; /* letters and digits only */
    size_t size;
    struct {
        size_t at, size;
    } word[WORDS_MAX];
    size_t words;
};

static void name_read(struct name *name, const char *text, size_t length)
{
    int inside = 0;
    memset(name, 0, sizeof *name);
    for (size_t i = 0; i < length && name->size + 1 < sizeof name->text; i++) {
        char c = text[i];
        if (!is_alnum(c)) {
            inside = 0;
            continue;
        }
        if (!inside || (is_upper(c) && is_lower(text[i - 1]))) {
            if (name->words == WORDS_MAX)
                break;
            name->word[name->words++].at = name->size;
            inside = 1;
        }
        name->text[name->size++] = lower(c);
        name->word[name->words - 1].size++;
    }
}

static int word_is(const struct name *name, size_t i, const char *const *list, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (strlen(list[k]) == name->word[i].size &&
            memcmp(name->text + name->word[i].at, list[k], name->word[i].size) == 0)
            return 1;
    return 0;
}

static int contains(const struct name *name, const char *const *list, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (strstr(name->text, list[k]))
            return 1;
    return 0;
}

/* In the name with its separators taken out. */
static const char *const certain_parts[] = {"passw",     "passphrase", "secret",     "credential",
                                            "apikey",    "accesskey",  "privatekey", "jobcookie",
                                            "authtoken", "bearertoken"};
static const char *const certain_words[] = {"jwt", "creds"};
static const char *const likely_parts[] = {"token", "cookie", "preconditiontransports"};
static const char *const likely_words[] = {
    "auth",   "authorization", "oauth",   "authkey",  "pwd",        "pass",      "cred",
    "bearer", "sshkey",        "hmackey", "aeskey",   "signingkey", "hostkey",   "masterkey",
    "sslkey", "tlskey",        "enckey",  "cryptkey", "sessionkey", "licensekey"};
static const char *const key_words[] = {"key", "keys"};
/* Keys that open nothing: partition keys of InfiniBand, keys of tables. */
static const char *const harmless_before_key[] = {"p",   "partition", "sort", "group",
                                                  "map", "primary",   "hot",  "rkey"};
static const char *const harmless_after_key[] = {"val",  "value", "size",   "length",   "len",
                                                 "type", "count", "format", "interval", "map"};
static const char *const own_folders[] = {"pwd", "oldpwd"};
static const char *const hash_words[] = {"hash",        "hashes",   "sha",    "sha1",     "sha256",
                                         "sha512",      "md5",      "digest", "checksum", "buildid",
                                         "commit",      "revision", "rev",    "uuid",     "uuids",
                                         "fingerprint", "guid",     "guids"};

static int has_key_word(const struct name *name)
{
    for (size_t i = 0; i < name->words; i++) {
        if (!word_is(name, i, key_words, COUNT(key_words)))
            continue;
        if (i > 0 && word_is(name, i - 1, harmless_before_key, COUNT(harmless_before_key)))
            continue;
        if (i + 1 < name->words &&
            word_is(name, i + 1, harmless_after_key, COUNT(harmless_after_key)))
            continue;
        return 1;
    }
    return 0;
}

enum mw_secrecy mw_secret_name(const char *text, size_t length)
{
    struct name name;
    name_read(&name, text, length);
    if (contains(&name, certain_parts, COUNT(certain_parts)))
        return MW_SECRECY_CERTAIN;
    for (size_t i = 0; i < name.words; i++)
        if (word_is(&name, i, certain_words, COUNT(certain_words)))
            return MW_SECRECY_CERTAIN;
    if (name.words == 1 && word_is(&name, 0, own_folders, COUNT(own_folders)))
        return MW_SECRECY_NONE;
    if (contains(&name, likely_parts, COUNT(likely_parts)) || has_key_word(&name))
        return MW_SECRECY_LIKELY;
    for (size_t i = 0; i < name.words; i++)
        if (word_is(&name, i, likely_words, COUNT(likely_words)))
            return MW_SECRECY_LIKELY;
    return MW_SECRECY_NONE;
}

int mw_hash_name(const char *text, size_t length)
{
    struct name name;
    name_read(&name, text, length);
    if (strstr(name.text, "buildid"))
        return 1;
    for (size_t i = 0; i < name.words; i++)
        if (word_is(&name, i, hash_words, COUNT(hash_words)))
            return 1;
    return 0;
}

int mw_plain_value(const char *value, size_t length)
{
    static const char *const switches[] = {
        "",      "y",      "n",    "yes",    "no",      "on",      "off",
        "true",  "false",  "none", "null",   "auto",    "default", "try",
        "any",   "all",    "inf",  "enable", "disable", "enabled", "disabled",
        "never", "always", "warn", "error",  "info",    "debug",   "trace"};
    size_t digits = 0, letters = 0;
    for (size_t i = 0; i < COUNT(switches); i++) {
        size_t k = 0;
        while (k < length && switches[i][k] && lower(value[k]) == switches[i][k])
            k++;
        if (k == length && !switches[i][k])
            return 1;
    }
    for (size_t i = 0; i < length; i++) {
        digits += (size_t)is_digit(value[i]);
        letters += (size_t)(is_upper(value[i]) || is_lower(value[i]));
        if (!is_digit(value[i]) && !strchr(".,:;+-x*eEkKmMgGtTbBsiu", value[i]))
            return 0;
    }
    return digits > 0 && letters <= 1 + length / 4 && length <= 40;
}

int mw_path_value(const char *value, size_t length)
{
    size_t at = 0;
    if (length && value[0] == '~')
        at = 1;
    else if (length && value[0] == '.')
        at = length > 1 && value[1] == '.' ? 2 : 1;
    return at < length && value[at] == '/' && !memchr(value, ' ', length) &&
           !mw_random_value(value + at + 1, length - at - 1);
}

static int starts(const char *value, size_t length, const char *prefix)
{
    size_t size = strlen(prefix);
    return length >= size && memcmp(value, prefix, size) == 0;
}

/* How often the class of character changes, in per cent: a fifth in names, two thirds in random
 * text. */
static unsigned restlessness(const char *value, size_t length)
{
    unsigned changes = 0;
    for (size_t i = 1; i < length; i++) {
        char a = value[i - 1], b = value[i];
        changes +=
            is_upper(a) != is_upper(b) || is_lower(a) != is_lower(b) || is_digit(a) != is_digit(b);
    }
    return length > 1 ? (unsigned)(100 * changes / (length - 1)) : 0;
}

/* A prefix that says it all, with enough behind it. Some prefixes are words, too ("hf_cache_dir"):
 * there the rest must be unbroken somewhere. */
static int issued_token(const char *value, size_t length)
{
    static const struct {
        const char *prefix;
        int is_word;
    } issuers[] = {{"ghp_", 0},  {"gho_", 0},  {"ghs_", 0},  {"github_pat_", 0}, {"glpat-", 0},
                   {"xoxb-", 0}, {"xoxp-", 0}, {"xoxa-", 0}, {"sk-", 1},         {"AKIA", 1},
                   {"hf_", 1},   {"npm_", 1},  {"pypi-", 1}};
    for (size_t i = 0; i < COUNT(issuers); i++) {
        if (!starts(value, length, issuers[i].prefix))
            continue;
        size_t run = 0;
        for (size_t k = strlen(issuers[i].prefix); k < length && run < 16; k++) {
            int joint = value[k] == '-' || value[k] == '_';
            if (is_alnum(value[k]) || (joint && !issuers[i].is_word))
                run++;
            else if (joint)
                run = 0;
            else
                break;
        }
        return run >= 16;
    }
    return 0;
}

int mw_token_value(const char *value, size_t length)
{
    if (issued_token(value, length))
        return 1;
    /* what issuers put in front, and how long the whole is at least */
    static const struct {
        const char *prefix;
        size_t least;
    } issued[] = {{"ghp_", 36},     {"gho_", 36},      {"ghs_", 36},        {"ghu_", 36},
                  {"ghr_", 36},     {"glpat-", 20},    {"github_pat_", 40}, {"xoxb-", 20},
                  {"xoxp-", 20},    {"xoxa-", 20},     {"AIza", 35},        {"npm_", 36},
                  {"pypi-AgE", 40}, {"dckr_pat_", 25}, {"sk-", 30},         {"hf_", 30},
                  {"ya29.", 30},    {"SG.", 50},       {"glsa_", 30}};
    size_t digits = 0;
    for (size_t i = 0; i < length; i++)
        digits += (size_t)is_digit(value[i]);
    for (size_t i = 0; i < COUNT(issued); i++)
        if (length >= issued[i].least && starts(value, length, issued[i].prefix) && digits >= 2 &&
            restlessness(value, length) >= 25)
            return 1;
    if (length == 20 && (starts(value, length, "AKIA") || starts(value, length, "ASIA"))) {
        size_t i = 4;
        while (i < length && (is_upper(value[i]) || is_digit(value[i])))
            i++;
        return i == length;
    }
    /* a JSON web token: two or three parts of base64, the first begins with {" */
    return length >= 30 && starts(value, length, "eyJ") && memchr(value, '.', length) != NULL;
}

static int random_hex(const char *value, size_t length)
{
    unsigned seen = 0, different = 0, digits = 0;
    if (length < 32)
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (!is_hex(value[i]))
            return 0;
        unsigned bit = 1u << (is_digit(value[i]) ? value[i] - '0' : lower(value[i]) - 'a' + 10);
        different += !(seen & bit);
        digits += (unsigned)is_digit(value[i]);
        seen |= bit;
    }
    return different >= 9 && digits >= 2 &&
           digits + 2 <= length; /* masks of CPUs repeat a few digits */
}

static int random_base64(const char *value, size_t length)
{
    size_t uppers = 0, lowers = 0, digits = 0, joints = 0;
    if (length < 40 || value[0] == '/')
        return 0;
    for (size_t i = 0; i < length; i++) {
        char c = value[i];
        uppers += (size_t)is_upper(c);
        lowers += (size_t)is_lower(c);
        digits += (size_t)is_digit(c);
        joints += c == '-' || c == '_';
        if (!is_alnum(c) && !strchr("+/-_", c))
            return 0;
    }
    /* names and UUIDs are joined from short words */
    return uppers >= 3 && lowers >= 3 && digits >= 2 && joints <= length / 12 &&
           restlessness(value, length) >= 35;
}

int mw_random_value(const char *value, size_t length)
{
    return random_hex(value, length) || random_base64(value, length);
}
