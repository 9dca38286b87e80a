/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See redact.h. A text is read as words with what stands between them; each word is judged by
 * itself and by the word that names it ("password=x", "--password x", "Bearer x"). What is not a
 * secret is copied as it stands.
 */
#include "probe/redact.h"

#include <stdint.h>
#include <string.h>

#include "probe/sysfile.h"

#define LENGTH_MAX (128u << 10) /* the kernel's own limit for one string */
#define CUT        "[...]"

struct word {
    const char *text;
    size_t size;
};

/* Where the reading stands. */
struct scan {
    struct mw_text *out;
    struct word previous; /* the word before this one */
    char joint;           /* '=' or ' ': what stands between the two; 0 something else */
    int hashes;           /* random-looking values are expected here */
    int list;             /* the value is a list of paths or modules, where "a:b@c" is no login */
    int redacted;
};

static int equals(struct word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.text, text, word.size) == 0;
}

static int equals_nocase(struct word word, const char *text)
{
    size_t i = 0;
    for (; i < word.size && text[i]; i++)
        if ((word.text[i] | 0x20) != (text[i] | 0x20))
            return 0;
    return i == word.size && !text[i];
}

static int has(struct word word, char c)
{
    return memchr(word.text, c, word.size) != NULL;
}

static int harmless(struct word word)
{
    return mw_plain_value(word.text, word.size) || mw_path_value(word.text, word.size);
}

/* Would this name make that value a secret? */
static int named_secret(struct word name, struct word value)
{
    enum mw_secrecy secrecy = mw_secret_name(name.text, name.size);
    if (value.size == 0 || secrecy == MW_SECRECY_NONE)
        return 0;
    return secrecy == MW_SECRECY_CERTAIN || !harmless(value);
}

/* NAME VALUE as two arguments (-genv NAME VALUE), not any two words in a row. */
static int is_setting_name(struct word word)
{
    if (!has(word, '_'))
        return 0;
    for (size_t i = 0; i < word.size; i++) {
        char c = word.text[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
            return memmem(word.text, word.size, "precondition_transports", 23) != NULL;
    }
    return 1;
}

/* -p is a password to some programs and a number, a size or a file to others. */
static int looks_like_password(struct word word)
{
    if (harmless(word) || has(word, '/') || has(word, '=') || has(word, ',') || has(word, ':'))
        return 0;
    const char *dot = memrchr(word.text, '.', word.size);
    size_t tail = dot ? (size_t)(word.text + word.size - dot - 1) : 0;
    return !(tail >= 1 && tail <= 4 && dot != word.text);
}

/* --user NAME:PASSWORD, not numbers as in --user 1000:100 */
static int is_login_option(struct word option, struct word value)
{
    const char *colon = memchr(value.text, ':', value.size);
    if (!option.size || option.text[0] != '-' || !colon || colon == value.text ||
        colon + 1 == value.text + value.size || harmless(value))
        return 0;
    while (option.size && option.text[0] == '-')
        option.text++, option.size--;
    return equals_nocase(option, "user") || equals_nocase(option, "login") ||
           equals_nocase(option, "credentials");
}

/* Options of one dash that begin with p, and are no -p. */
static int is_other_option(struct word word)
{
    static const char *const known[] = {
        "part", "pro",  "prec",   "pre",   "port", "path", "par",  "phase", "print", "pin",
        "plat", "plot", "poi",    "poly",  "pres", "psm",  "per",  "pml",   "ppn",   "pc_",
        "pthr", "pmi",  "pencil", "patch", "pool", "perc", "pack", "page",  "pair",  "pid"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (word.size > strlen(known[i]) && memcmp(word.text + 1, known[i], strlen(known[i])) == 0)
            return 1;
    return 0;
}

/* -pPASSWORD in one word: only where hardly anything else can be meant. */
static int is_attached_password(struct word word)
{
    size_t letters = 0, digits = 0;
    if (word.size < 8 || memcmp(word.text, "-p", 2) != 0 || is_other_option(word))
        return 0;
    for (size_t i = 2; i < word.size; i++) {
        char c = word.text[i];
        letters += (size_t)((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        digits += (size_t)(c >= '0' && c <= '9');
    }
    return letters && digits && looks_like_password((struct word){word.text + 2, word.size - 2});
}

/* Does the word before this one say that it is a secret? */
static int announced(const struct scan *scan, struct word word)
{
    struct word previous = scan->previous;
    if (previous.size == 0 || word.size == 0 || equals_nocase(word, "bearer") ||
        equals_nocase(word, "basic"))
        return 0;
    if (scan->joint && is_login_option(previous, word))
        return 1;
    if (scan->joint == '=')
        return named_secret(previous, word);
    if (scan->joint != ' ' || word.text[0] == '-')
        return 0;
    if (equals_nocase(previous, "bearer"))
        return 1;
    if (equals_nocase(previous, "basic"))
        return word.size >= 8 && !harmless(word);
    if (equals(previous, "-p"))
        return looks_like_password(word);
    if (previous.text[0] == '-' || is_setting_name(previous))
        return named_secret(previous, word);
    return 0;
}

static void redact(struct scan *scan)
{
    mw_text_add(scan->out, MW_REDACTED);
    scan->redacted = 1;
}

static int is_host(struct word word)
{
    size_t letters = 0, dots = 0;
    if (!word.size || word.text[0] == '.' || word.text[0] == '-')
        return 0;
    for (size_t i = 0; i < word.size && word.text[i] != ':' && word.text[i] != '/'; i++) {
        char c = word.text[i];
        letters += (size_t)((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        dots += c == '.';
        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') &&
            !strchr(".-_", c))
            return 0;
    }
    return letters > 0 || dots == 3;
}

/* user:password@host. 1 when it was one and has been written. */
static int login(struct scan *scan, struct word word)
{
    const char *at = memrchr(word.text, '@', word.size);
    if (!at || scan->list)
        return 0;
    struct word user = {word.text, (size_t)(at - word.text)};
    struct word host = {at + 1, word.size - user.size - 1};
    const char *colon = memchr(user.text, ':', user.size);
    if (!colon || colon == user.text || colon + 1 == at || has(user, '/') || has(user, '@') ||
        !is_host(host))
        return 0;
    redact(scan);
    mw_text_add_some(scan->out, at, host.size + 1);
    return 1;
}

/* The part of a URL up to its path: scheme://user:password@host. Returns how much was written. */
static size_t url(struct scan *scan, struct word word)
{
    const char *mark = memmem(word.text, word.size, "://", 3);
    if (!mark || mark == word.text)
        return 0;
    for (const char *c = word.text; c < mark; c++)
        if (!((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') && !(*c >= '0' && *c <= '9') &&
            !strchr("+.-", *c))
            return 0;
    size_t start = (size_t)(mark + 3 - word.text), end = start;
    while (end < word.size && word.text[end] != '/')
        end++;
    const char *at = memrchr(word.text + start, '@', end - start);
    mw_text_add_some(scan->out, word.text, start);
    if (at) {
        struct word user = {word.text + start, (size_t)(at - word.text) - start};
        if (has(user, ':') || mw_token_value(user.text, user.size) ||
            mw_random_value(user.text, user.size) || user.size >= 32)
            redact(scan);
        else
            mw_text_add_some(scan->out, user.text, user.size);
        start += user.size;
    }
    mw_text_add_some(scan->out, word.text + start, end - start);
    return end;
}

/* A word that nothing announces: its parts between colons. */
static void parts(struct scan *scan, struct word word)
{
    int expected = scan->hashes ||
                   (scan->joint == '=' && mw_hash_name(scan->previous.text, scan->previous.size));
    while (word.size) {
        const char *colon = memchr(word.text, ':', word.size);
        size_t size = colon ? (size_t)(colon - word.text) : word.size;
        if (mw_token_value(word.text, size) || (!expected && mw_random_value(word.text, size)))
            redact(scan);
        else
            mw_text_add_some(scan->out, word.text, size);
        if (colon)
            mw_text_add_some(scan->out, ":", 1);
        size += colon != NULL;
        word.text += size;
        word.size -= size;
    }
}

static void judge(struct scan *scan, struct word word)
{
    if (announced(scan, word)) {
        redact(scan);
        return;
    }
    if (is_attached_password(word)) {
        mw_text_add(scan->out, "-p");
        redact(scan);
        return;
    }
    size_t done = url(scan, word);
    if (!done && login(scan, word))
        return;
    parts(scan, (struct word){word.text + done, word.size - done});
}

static int ends_word(char c)
{
    return c == '\0' || strchr(" \t\r\n\"'`,;|()[]{}<>=&?#", c) != NULL;
}

/* Signs of base64 at the end of a word belong to it. */
static size_t word_end(const char *text, size_t at, size_t length)
{
    while (at < length && !ends_word(text[at]))
        at++;
    size_t padded = at;
    while (padded < length && text[padded] == '=' && padded < at + 2)
        padded++;
    return padded > at && (padded == length || (ends_word(text[padded]) && text[padded] != '='))
               ? padded
               : at;
}

/* The word just read may name the next one: "name=", "name: " and "name": do so like "name ". */
static void name_take(struct scan *scan, struct word word, int assigns)
{
    if (!equals(word, ":"))
        scan->previous = word;
    if (word.size && word.text[word.size - 1] == ':') {
        assigns = 1;
        if (word.size > 1)
            scan->previous.size--;
    }
    scan->joint = assigns ? '=' : 0;
}

static void scan_text(struct scan *scan, const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        size_t end = word_end(text, at, length);
        struct word word = {text + at, end - at};
        while (word.size && word.text[word.size - 1] == '=')
            word.size--;
        if (end > at) {
            if (word.size >= 10 && memcmp(word.text, "-----BEGIN", 10) == 0) {
                redact(scan); /* a key in PEM form, and whatever follows it */
                return;
            }
            judge(scan, word);
            mw_text_add_some(scan->out, word.text + word.size, end - at - word.size);
            name_take(scan, word, end - at > word.size);
        }
        at = end;
        while (at < length && ends_word(text[at])) {
            char c = text[at++];
            mw_text_add_some(scan->out, &c, 1);
            if (c == '=')
                scan->joint = '=';
            else if (c == ' ' || c == '\t' || c == '"' || c == '\'')
                scan->joint = scan->joint ? scan->joint : ' ';
            else
                scan->joint = 0, scan->previous.size = 0;
        }
    }
}

/* A text that did not fit says so, without half a character. */
static void cut_mark(struct mw_text *out, size_t wanted)
{
    const size_t mark = sizeof CUT - 1;
    if (wanted <= out->capacity - 1 || out->size < out->capacity - 1 || out->capacity <= mark + 8)
        return;
    out->size -= mark;
    while (out->size && ((unsigned char)out->data[out->size] & 0xc0) == 0x80)
        out->size--;
    out->data[out->size] = '\0';
    mw_text_add(out, CUT);
}

static size_t length_of(const char *text)
{
    return strnlen(text, LENGTH_MAX);
}

int mw_redact_value(const char *key, const char *value, char *out, size_t capacity)
{
    struct mw_text text;
    struct scan scan = {.out = &text};
    struct word whole = {value, length_of(value)};
    struct word name = {key ? key : "", key ? length_of(key) : 0};
    mw_text_init(&text, out, capacity);
    if (named_secret(name, whole)) {
        redact(&scan);
        return 1;
    }
    scan.hashes = mw_hash_name(name.text, name.size);
    scan.list = memmem(name.text, name.size, "PATH", 4) ||
                memmem(name.text, name.size, "LOADED", 6) ||
                memmem(name.text, name.size, "_LMFILES_", 9);
    scan_text(&scan, value, whole.size);
    cut_mark(&text, whole.size);
    return scan.redacted;
}

int mw_redact_argument(const char *previous, const char *argument, char *out, size_t capacity)
{
    struct mw_text text;
    struct scan scan = {.out = &text, .joint = ' '};
    size_t length = length_of(argument);
    mw_text_init(&text, out, capacity);
    if (previous) {
        scan.previous = (struct word){previous, length_of(previous)};
        /* "-H 'Authorization: Bearer x'" is one argument; "--header=x y" names nothing behind it */
        if (has(scan.previous, ' ') || has(scan.previous, '='))
            scan.previous.size = 0;
        struct word whole = {argument, length};
        if (announced(&scan, whole)) { /* a password may have blanks and signs in it */
            redact(&scan);
            return 1;
        }
    }
    scan_text(&scan, argument, length);
    cut_mark(&text, length);
    return scan.redacted;
}
