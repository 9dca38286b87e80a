/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for people (text.h). Writes to the stream it is given; main thread only. */
#include "analyzer/render/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/memory.h"
#include "analyzer/model/labels.h"

#define LABEL_WIDTH 14

size_t mw_text_decode(const char *text, uint32_t *character)
{
    const unsigned char *at = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] < 0x80       ? 1
                    : at[0] >> 5 == 6  ? 2
                    : at[0] >> 4 == 14 ? 3
                    : at[0] >> 3 == 30 ? 4
                                       : 0;
    if (!length)
        return 0;
    *character = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (at[i] >> 6 != 2)
            return 0;
        *character = *character << 6 | (at[i] & 0x3f);
    }
    if (*character < least[length] || *character > 0x10ffff || (*character >> 11) == 0x1b)
        return 0;
    return length;
}

int mw_text_is_dangerous(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x61c ||
           character == 0x200e || character == 0x200f ||
           (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069) || character == 0xfeff;
}

void mw_text_markup(FILE *out, const char *escaped)
{
    for (const char *at = escaped; *at; at++) {
        if (*at == '<')
            fputs("&lt;", out);
        else if (*at == '>')
            fputs("&gt;", out);
        else if (*at == '&')
            fputs("&amp;", out);
        else if (*at == '"')
            fputs("&quot;", out);
        else if (*at == '\'')
            fputs("&#39;", out);
        else
            fputc(*at, out);
    }
}

char *mw_text_escape(const char *text)
{
    char *out = mw_alloc(4 * strlen(text) + 1, 1), *to = out;
    for (const char *at = text; *at;) {
        uint32_t character = 0;
        size_t length = mw_text_decode(at, &character);
        int escape = !length || mw_text_is_dangerous(character);
        length = length ? length : 1;
        for (; length > 0; length--, at++) {
            if (escape)
                to += sprintf(to, "\\x%02x", (unsigned char)*at);
            else
                *to++ = *at;
        }
    }
    return out;
}

size_t mw_text_length(const char *text)
{
    size_t length = 0;
    for (; *text; text++)
        length += ((unsigned char)*text & 0xc0) != 0x80;
    return length;
}

char *mw_text_fit(const char *text, size_t width, int keep_end)
{
    char *escaped = mw_text_escape(text);
    size_t length = mw_text_length(escaped);
    if (length <= width || width < 4)
        return escaped;
    const char *cut = escaped;
    for (size_t skip = keep_end ? length - (width - 3) : width - 3; skip > 0; skip--)
        while ((*++cut & 0xc0) == 0x80)
            ;
    char *fit =
        keep_end ? mw_format("...%s", cut) : mw_format("%.*s...", (int)(cut - escaped), escaped);
    free(escaped);
    return fit;
}

char *mw_text_fit_list(const char *list, size_t width)
{
    char *cut = mw_rank_list_cut(list, width), *fit = mw_text_fit(cut, width, 0);
    free(cut);
    return fit;
}

int mw_text_colors(FILE *out)
{
    const char *term = getenv("TERM"), *never = getenv("NO_COLOR");
    return isatty(fileno(out)) && term && strcmp(term, "dumb") && (!never || !never[0]);
}

const char *mw_style_on(FILE *out, enum mw_style style)
{
    static const char *const codes[] = {"", "\033[1m", "\033[31m", "\033[2m"};
    return mw_text_colors(out) ? codes[style] : "";
}

const char *mw_style_off(FILE *out, enum mw_style style)
{
    return style != MW_STYLE_PLAIN && mw_text_colors(out) ? "\033[0m" : "";
}

void mw_text_heading(FILE *out, const char *format, ...)
{
    va_list arguments;
    fprintf(out, "\n%s", mw_style_on(out, MW_STYLE_HEAD));
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    fprintf(out, "%s\n", mw_style_off(out, MW_STYLE_HEAD));
}

/* How many bytes of a text fit in `width` characters, broken after a word where that is possible.
 */
static size_t text_break(const char *text, size_t width)
{
    size_t taken = 0, space = 0, characters = 0;
    while (text[taken] && characters < width) {
        if (text[taken] == ' ' && taken)
            space = taken;
        taken++;
        while (((unsigned char)text[taken] & 0xc0) == 0x80)
            taken++;
        characters++;
    }
    if (!text[taken] || text[taken] == ' ' || !space)
        return taken;
    return space;
}

static void text_wrapped(FILE *out, const char *text, size_t indent, size_t used)
{
    for (;;) {
        size_t taken = text_break(text, MW_TEXT_WIDTH - (used > indent ? used : indent));
        size_t shown = taken;
        while (shown && text[shown - 1] == ' ') /* columns are set apart by several */
            shown--;
        fprintf(out, "%.*s\n", (int)shown, text);
        text += taken;
        while (*text == ' ')
            text++;
        if (!*text)
            return;
        fprintf(out, "%*s", (int)indent, "");
        used = indent;
    }
}

void mw_text_entry(FILE *out, const char *label, const char *format, ...)
{
    va_list arguments;
    char *raw = NULL;
    va_start(arguments, format);
    if (vasprintf(&raw, format, arguments) < 0)
        raw = mw_text_copy("");
    va_end(arguments);
    char *escaped = mw_text_escape(raw);
    size_t length = mw_text_length(label);
    int padding = length < LABEL_WIDTH ? (int)(LABEL_WIDTH - length) : 1;
    fprintf(out, "  %s%*s", label, padding, "");
    text_wrapped(out, escaped, 2 + LABEL_WIDTH, 2 + length + (size_t)padding);
    free(escaped);
    free(raw);
}

void mw_text_paragraph(FILE *out, enum mw_style style, const char *format, ...)
{
    va_list arguments;
    char *raw = NULL;
    va_start(arguments, format);
    if (vasprintf(&raw, format, arguments) < 0)
        raw = mw_text_copy("");
    va_end(arguments);
    char *escaped = mw_text_escape(raw);
    size_t indent = 2 + strspn(escaped, " ");
    fprintf(out, "%*s%s", (int)indent, "", mw_style_on(out, style));
    text_wrapped(out, escaped + indent - 2, indent, indent);
    fputs(mw_style_off(out, style), out);
    free(escaped);
    free(raw);
}

void mw_text_item(FILE *out, const char *text)
{
    static const char dash[] = "    - ";
    char *escaped = mw_text_escape(text);
    fputs(dash, out);
    text_wrapped(out, escaped, sizeof(dash) - 1, sizeof(dash) - 1);
    free(escaped);
}

void mw_csv_text(const char *text, FILE *out)
{
    char *escaped = mw_text_escape(text);
    int quote = strpbrk(escaped, ",\" ") != NULL;
    if (quote)
        fputc('"', out);
    for (const char *at = escaped; *at; at++) {
        if (*at == '"')
            fputc('"', out);
        fputc(*at, out);
    }
    if (quote)
        fputc('"', out);
    free(escaped);
}

const char *mw_text_plural(double count)
{
    return count == 1 ? "" : "s";
}
