/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One file of parameters, line by line from its end: of two lines for one name the later counts,
 * and places are told from the strongest on (env_params.h). Bounded: 64 KiB and 5000 lines of a
 * file. See environment.h for the rules of this code.
 */
#include <string.h>

#include "probe/env_params.h"
#include "probe/redact.h"

#define LINES_MAX 5000
#define NAME_MAX_ 128

static const char *blanks(const char *at)
{
    return at + strspn(at, " \t\r");
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 1469598103934665603u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash ? hash : 1;
}

/* How many places for this name came before; -1 where there is no room to know. */
static long seen_before(struct mw_params *params, const char *section, const char *key)
{
    uint64_t hash = hash_of(section) ^ hash_of(key) * 31;
    size_t size = sizeof params->seen / sizeof *params->seen;
    for (size_t i = 0, at = hash % size; i < size; i++, at = (at + 1) % size) {
        if (params->seen[at].hash == hash)
            return ++params->seen[at].weaker;
        if (params->seen[at].hash)
            continue;
        if (params->seen_count == MW_PARAMS_SEEN)
            return -1;
        params->seen_count++;
        params->seen[at].hash = hash;
        return 0;
    }
    return -1;
}

/* 1 when the environment has it so: then that is where it came from. */
static int told(struct mw_params *params, const char *key, const char *value, const char *source)
{
    struct mw_env_run *run = params->run;
    const char *here = mw_env_variable(key);
    char longer[1400];
    if (!here || strcmp(here, value) != 0)
        return 0;
    mw_redact_value(key, value, run->value, sizeof run->value);
    mw_env_fact(run, "env", key, run->value,
                mw_join(longer, sizeof longer, "environment, from ", source, NULL));
    return 1;
}

void mw_params_place(struct mw_params *params, const char *key, const char *value,
                     const char *source, enum mw_params_rank rank)
{
    static const char *const sections[] = {"parameter", "parameter.override", "parameter.perhaps"};
    struct mw_env_run *run = params->run;
    char numbered[NAME_MAX_ + 64];
    struct mw_text text;
    if (rank == MW_PARAMS_TOLD) {
        if (told(params, key, value, source))
            return;
        rank = MW_PARAMS_PERHAPS;
    }
    const char *section = sections[rank];
    long before = seen_before(params, section, key);
    if (before < 0) {
        params->left_out++;
        return;
    }
    mw_redact_value(key, value, run->value, sizeof run->value);
    if (!before && rank != MW_PARAMS_PERHAPS) {
        mw_env_fact(run, section, key, run->value, source);
        return;
    }
    mw_text_init(&text, numbered, sizeof numbered);
    mw_text_add(&text, key);
    mw_text_add(&text, "#");
    mw_text_add_u64(&text, (uint64_t)before + (rank == MW_PARAMS_PERHAPS));
    mw_env_fact(run, rank == MW_PARAMS_PERHAPS ? section : "parameter.weaker", numbered, run->value,
                source);
}

struct place {
    const char *path, *prefix;
    unsigned line;
    enum mw_params_rank rank;
};

static void place_take(struct mw_params *params, const struct place *place, const char *key,
                       const char *value)
{
    char source[1200];
    struct mw_text text;
    mw_text_init(&text, source, sizeof source);
    mw_text_add(&text, place->path);
    mw_text_add(&text, ":");
    mw_text_add_u64(&text, place->line);
    mw_text_add(&text, params->words);
    mw_params_place(params, key, value, source, place->rank);
}

/* Cuts blanks and the line's end off. */
static char *trimmed(char *at)
{
    size_t length = strlen(at);
    while (length && strchr(" \t\r", at[length - 1]))
        at[--length] = '\0';
    return at + strspn(at, " \t\r");
}

/* A line of options, as mpirun takes them: "-mca btl tcp -x A=B". */
static void options_take(struct mw_params *params, const struct place *place, char *line)
{
    const char *words[66];
    char key[NAME_MAX_ + 16];
    int count = 0;
    for (char *at = line; *at && count < 64;) {
        size_t length = strcspn(at, " \t\r");
        char *next = at[length] ? at + length + 1 : at + length;
        at[length] = '\0';
        if (length)
            words[count++] = at;
        at = next;
    }
    words[count] = words[count + 1] = NULL;
    for (int i = 0; i < count;) {
        const char *at[3] = {words[i], words[i + 1], words[i + 1] ? words[i + 2] : NULL}, *value;
        int used = mw_params_option(at, key, sizeof key, &value);
        if (used)
            place_take(params, place, key, value);
        i += used ? used : 1;
    }
}

/* "name = value", a comment, or nothing. */
static void line_take(struct mw_params *params, const struct place *place, char *line,
                      enum mw_params_format format)
{
    char key[NAME_MAX_ + 32], name[NAME_MAX_];
    const char *at = format == MW_PARAMS_PLAIN ? line : blanks(line);
    if (format == MW_PARAMS_OPENMPI && *at == '-') {
        options_take(params, place, trimmed(line));
        return;
    }
    size_t length = strcspn(at, format == MW_PARAMS_PLAIN ? "=" : " \t=#;\r");
    const char *equals = format == MW_PARAMS_PLAIN ? at + length : blanks(at + length);
    if (!length || length >= sizeof name || *equals != '=' || *at == '#' || *at == '[')
        return;
    memcpy(name, at, length);
    name[length] = '\0';
    char *value = line + (equals + 1 - line);
    if (format == MW_PARAMS_INI && strstr(value, " ;"))
        *strstr(value, " ;") = '\0';
    if (format != MW_PARAMS_PLAIN)
        value = trimmed(value);
    size_t size = strlen(value);
    if (format == MW_PARAMS_OPENMPI && size >= 2 && strchr("\"'", value[0]) &&
        value[size - 1] == value[0]) {
        value[size - 1] = '\0';
        value++;
    }
    place_take(params, place, mw_join(key, sizeof key, place->prefix, name, NULL), value);
}

void mw_params_file(struct mw_params *params, const char *prefix, const char *path,
                    enum mw_params_format format, enum mw_params_rank rank)
{
    struct place place = {path, prefix, 1, rank};
    char *text = params->run->file, *section = NULL;
    long size = mw_env_slurp(params->run, path);
    if (size <= 0)
        return;
    size = (long)strlen(text); /* a zero byte ends it */
    for (char *at = text; at < text + size; at++) {
        if (format == MW_PARAMS_INI && !section && (at == text || at[-1] == '\0') && *at == '[')
            section = at;
        if (*at == '\n' && place.line < LINES_MAX) {
            *at = '\0';
            place.line++;
        } else if (*at == '\n') {
            *at = '\0';
            size = at - text; /* the rest is left out */
        }
    }
    for (char *at = text + size; at >= text && !mw_env_late(params->run); at--) {
        if (at != text && at[-1] != '\0')
            continue;
        if (*at) {
            struct place here = place;
            /* sections of UCX hold on some machines only */
            here.rank = section && at >= section ? MW_PARAMS_PERHAPS : rank;
            line_take(params, &here, at, format);
        }
        place.line--;
    }
}
