/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON helpers (json.h). Main thread only. */
#include "analyzer/render/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"
#include "analyzer/base/number.h"
#include "analyzer/render/text.h"

/* jansson refuses what is not UTF-8: every such byte is written as \xNN, the rest stays. */
static json_t *json_text_repaired(const char *text)
{
    size_t length = strlen(text);
    char *repaired = mw_alloc(4 * length + 1, 1), *to = repaired;
    for (size_t i = 0; i < length;) {
        size_t take = 0;
        for (size_t try = 1; try <= 4 && i + try <= length && !take; try++) {
            json_t *probe = json_stringn(text + i, try);
            take = probe ?
            try:
                0;
            json_decref(probe);
        }
        if (take)
            to = mempcpy(to, text + i, take);
        else
            to += sprintf(to, "\\x%02x", (unsigned char)text[i]);
        i += take ? take : 1;
    }
    json_t *value = json_string(repaired);
    free(repaired);
    return value;
}

json_t *mw_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *value = json_string(text);
    return value ? value : json_text_repaired(text);
}

json_t *mw_json_take(char *text)
{
    json_t *value = mw_json_text(text);
    free(text);
    return value;
}

json_t *mw_json_known(const char *text)
{
    return text && text[0] ? mw_json_text(text) : json_null();
}

json_t *mw_json_known_count(uint64_t count)
{
    return count ? mw_json_count(count) : json_null();
}

json_t *mw_json_count(uint64_t count)
{
    return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

json_t *mw_json_number(int64_t value, int64_t unknown)
{
    return value == unknown ? json_null() : json_integer(value);
}

json_t *mw_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *mw_json_ns(uint64_t ns)
{
    return json_real((double)ns / 1e9);
}

json_t *mw_json_time(double seconds)
{
    return mw_json_take(mw_number_time(seconds));
}

json_t *mw_json_share(double part, double whole)
{
    return whole > 0 ? mw_json_real(part / whole) : json_null();
}

json_t *mw_json_build_id(const uint8_t *data, size_t size)
{
    if (!size)
        return json_null();
    char *hex = mw_alloc(2 * size + 1, 1);
    for (size_t i = 0; i < size; i++)
        sprintf(hex + 2 * i, "%02x", data[i]);
    return mw_json_take(hex);
}

json_t *mw_json_document(const char *kind)
{
    return json_pack("{s:s, s:i, s:s}", "mpiwatch", MW_VERSION, "schema", 1, "document", kind);
}

/* jansson escapes control characters up to U+001F. Others that terminals obey, and those that turn
 * text around, are left to us: none of them is beyond U+FFFF. Pieces are whole characters. */
static int put_piece(const char *piece, size_t size, void *out)
{
    size_t done = 0, length;
    for (size_t i = 0; i < size; i += length) {
        uint32_t character = 0;
        length = mw_text_decode(piece + i, &character);
        length = length ? length : 1;
        if (character < 0x7f || !mw_text_is_dangerous(character))
            continue;
        if (fwrite(piece + done, 1, i - done, out) != i - done ||
            fprintf(out, "\\u%04x", character) < 0)
            return -1;
        done = i + length;
    }
    return fwrite(piece + done, 1, size - done, out) == size - done ? 0 : -1;
}

int mw_json_put(const json_t *value, size_t flags, FILE *out)
{
    return json_dump_callback(value, put_piece, out, flags);
}

int mw_json_write(const json_t *document, FILE *out)
{
    return mw_json_put(document, MW_JSON_FLAGS, out) || fputc('\n', out) == EOF;
}

const char *mw_json_string(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double mw_json_real_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

double mw_json_count_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : 0;
}

int mw_json_is_null(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return !value || json_is_null(value);
}
