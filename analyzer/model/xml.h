/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tags of an XML text, one after the other: a scanner for untrusted input. It allocates nothing,
 * keeps the limits of its caller and expands no entities but the five of XML. Any thread.
 */
#ifndef MW_MODEL_XML_H
#define MW_MODEL_XML_H

#include <stddef.h>

enum mw_xml_kind { MW_XML_OPEN, MW_XML_CLOSE, MW_XML_EMPTY /* <a/> */, MW_XML_END, MW_XML_BAD };

struct mw_xml {
    const char *at, *end;
    const char *wrong; /* static: why it is MW_XML_BAD */
};

struct mw_xml_tag {
    const char *name;
    size_t name_size;
    const char *attributes, *attributes_end;
};

struct mw_xml mw_xml_begin(const char *text, size_t size);
/* The next tag; comments, declarations and a DOCTYPE without definitions of its own are skipped. */
enum mw_xml_kind mw_xml_next(struct mw_xml *xml, struct mw_xml_tag *tag);
int mw_xml_is(const struct mw_xml_tag *tag, const char *name);
/* An attribute, as text in `value`, cut where it does not fit; 0 and "" where there is none. */
int mw_xml_attribute(const struct mw_xml_tag *tag, const char *name, char *value, size_t size);
/* What stands between this place and the next tag. Not terminated. */
const char *mw_xml_text(const struct mw_xml *xml, size_t *size);

#endif
