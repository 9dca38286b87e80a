/* SPDX-License-Identifier: BSD-3-Clause */
/* The scanner of xml.h. Every step moves forward, so that it ends on any input. */
#include "analyzer/model/xml.h"

#include <string.h>

struct mw_xml mw_xml_begin(const char *text, size_t size)
{
    return (struct mw_xml){text, text + size, NULL};
}

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int begins(const char *at, const char *end, const char *what)
{
    size_t size = strlen(what);
    return (size_t)(end - at) >= size && !memcmp(at, what, size);
}

static const char *find(const char *at, const char *end, const char *what)
{
    return memmem(at, (size_t)(end - at), what, strlen(what));
}

static enum mw_xml_kind bad(struct mw_xml *xml, const char *wrong)
{
    xml->wrong = wrong;
    return MW_XML_BAD;
}

/* Moves behind `what`; -1 where it does not come. */
static int skip_to(struct mw_xml *xml, const char *what)
{
    const char *found = find(xml->at, xml->end, what);
    xml->at = found ? found + strlen(what) : xml->end;
    return found ? 0 : -1;
}

/* Behind what is no element: 1 skipped, 0 there is nothing to skip, -1 wrong. */
static int skip_other(struct mw_xml *xml)
{
    if (begins(xml->at, xml->end, "<!--"))
        return skip_to(xml, "-->") ? -1 : 1;
    if (begins(xml->at, xml->end, "<?"))
        return skip_to(xml, "?>") ? -1 : 1;
    if (!begins(xml->at, xml->end, "<!"))
        return 0;
    const char *close = memchr(xml->at, '>', (size_t)(xml->end - xml->at));
    if (!close || !begins(xml->at, xml->end, "<!DOCTYPE") ||
        memchr(xml->at, '[', (size_t)(close - xml->at)))
        return -1;
    xml->at = close + 1;
    return 1;
}

/* The end of a tag, which no '>' within quotes is; NULL: it has none. */
static const char *tag_close(const char *at, const char *end)
{
    char quote = 0;
    for (; at < end; at++) {
        if (quote)
            quote = *at == quote ? 0 : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (*at == '>')
            return at;
        else if (*at == '<')
            return NULL;
    }
    return NULL;
}

enum mw_xml_kind mw_xml_next(struct mw_xml *xml, struct mw_xml_tag *tag)
{
    *tag = (struct mw_xml_tag){0};
    for (int skipped = 1; skipped;) {
        const char *open = memchr(xml->at, '<', (size_t)(xml->end - xml->at));
        xml->at = open ? open : xml->end;
        if (!open)
            return MW_XML_END;
        skipped = skip_other(xml);
        if (skipped < 0)
            return bad(xml, "it declares entities or sections of its own");
    }
    const char *at = xml->at + 1, *close = tag_close(at, xml->end);
    if (!close)
        return bad(xml, "a tag has no end");
    enum mw_xml_kind kind = MW_XML_OPEN;
    xml->at = close + 1;
    if (at < close && *at == '/') {
        kind = MW_XML_CLOSE;
        at++;
    } else if (close > at && close[-1] == '/') {
        kind = MW_XML_EMPTY;
        close--;
    }
    tag->name = at;
    while (at < close && !is_space(*at))
        at++;
    tag->name_size = (size_t)(at - tag->name);
    tag->attributes = at;
    tag->attributes_end = close;
    return tag->name_size ? kind : bad(xml, "a tag has no name");
}

int mw_xml_is(const struct mw_xml_tag *tag, const char *name)
{
    return tag->name_size == strlen(name) && !memcmp(tag->name, name, tag->name_size);
}

/* The character that stands at *at, which moves behind it; unknown entities are left as they are.
 */
static char character(const char **at, const char *end)
{
    static const struct {
        const char *entity;
        char is;
    } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; **at == '&' && i < sizeof(known) / sizeof(known[0]); i++) {
        if (!begins(*at, end, known[i].entity))
            continue;
        *at += strlen(known[i].entity);
        return known[i].is;
    }
    return *(*at)++;
}

int mw_xml_attribute(const struct mw_xml_tag *tag, const char *name, char *value, size_t size)
{
    const char *at = tag->attributes, *end = tag->attributes_end;
    *value = 0;
    while (at < end) {
        while (at < end && is_space(*at))
            at++;
        const char *word = at;
        while (at < end && *at != '=')
            at++;
        size_t word_size = (size_t)(at - word);
        const char *quote = at + 1;
        if (end - at < 2 || (*quote != '"' && *quote != '\''))
            return 0;
        const char *close = memchr(quote + 1, *quote, (size_t)(end - quote - 1));
        if (!close)
            return 0;
        at = quote + 1;
        if (word_size != strlen(name) || memcmp(word, name, word_size)) {
            at = close + 1;
            continue;
        }
        size_t used = 0;
        while (at < close && used + 1 < size)
            value[used++] = character(&at, close);
        value[used] = 0;
        return 1;
    }
    return 0;
}

const char *mw_xml_text(const struct mw_xml *xml, size_t *size)
{
    const char *tag = memchr(xml->at, '<', (size_t)(xml->end - xml->at));
    *size = (size_t)((tag ? tag : xml->end) - xml->at);
    return xml->at;
}
