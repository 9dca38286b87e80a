/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hwloc's XML made anonymous (scrub.h). It is not parsed: tags are copied one by one, notes that
 * are not on the list and data of programs are left out. Of XML that is no XML little stays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/anonymize/scrub.h"

static const char *const kept[] = {
    "Architecture",
    "Backend",
    "CPUFamilyNumber",
    "CPUModel",
    "CPUModelNumber",
    "CPURevision",
    "CPUStepping",
    "CPUVendor",
    "ClusterMode",
    "DMIBIOSDate",
    "DMIBIOSVendor",
    "DMIBIOSVersion",
    "DMIBoardName",
    "DMIBoardVendor",
    "DMIProductName",
    "DMISysVendor",
    "GPUModel",
    "GPUVendor",
    "Inclusive",
    "MemoryMode",
    "OSName",
    "OSRelease",
    "OSVersion",
    "PCIDevice",
    "PCISlot",
    "PCIVendor",
    "PlatformModel",
    "PlatformName",
    "Port1State",
    "Port2State",
    "SectorSize",
    "Size",
    "SoCFamily",
    "SyntheticDescription",
    "Type",
    "hwlocVersion",
};

/* The value of an attribute of the tag from `tag` on, of `length` bytes. */
static const char *attribute(const char *tag, size_t length, const char *name, size_t *size)
{
    char wanted[32];
    int wide = snprintf(wanted, sizeof(wanted), " %s=\"", name);
    const char *at = memmem(tag, length, wanted, (size_t)wide);
    if (!at)
        return NULL;
    at += wide;
    const char *end = memchr(at, '"', length - (size_t)(at - tag));
    *size = end ? (size_t)(end - at) : 0;
    return end ? at : NULL;
}

static int is_tag(const char *tag, size_t length, const char *name)
{
    size_t size = strlen(name);
    return length > size + 1 && !strncmp(tag + 1, name, size) && strchr(" />", tag[size + 1]);
}

static int is_kept(const char *name, size_t size)
{
    for (size_t i = 0; name && i < sizeof(kept) / sizeof(kept[0]); i++)
        if (strlen(kept[i]) == size && !memcmp(kept[i], name, size))
            return 1;
    return 0;
}

static void copy_info(struct mw_names *names, const char *tag, size_t length, FILE *out)
{
    size_t name_size = 0, value_size = 0;
    const char *name = attribute(tag, length, "name", &name_size);
    const char *value = attribute(tag, length, "value", &value_size);
    if (!value || !is_kept(name, name_size))
        return;
    char *text = mw_format("%.*s", (int)value_size, value), *safe = mw_scrub_text(names, text);
    fprintf(out, "<info name=\"%.*s\" value=\"%s\"/>", (int)name_size, name, safe);
    free(safe);
    free(text);
}

char *mw_scrub_xml(struct mw_names *names, const char *xml)
{
    char *safe = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&safe, &size);
    if (!out)
        return mw_text_copy("");
    for (const char *at = strchr(xml, '<'); at; at = strchr(at, '<')) {
        const char *end = strchr(at, '>');
        if (!end)
            break;
        size_t length = (size_t)(end - at) + 1;
        if (is_tag(at, length, "userdata")) {
            const char *close = at[length - 2] == '/' ? NULL : strstr(end, "</userdata>");
            end = close ? close + strlen("</userdata>") - 1 : end;
        } else if (is_tag(at, length, "info")) {
            copy_info(names, at, length, out);
        } else if (strncmp(at, "<!--", 4) != 0) {
            fwrite(at, 1, length, out);
            fputc('\n', out);
        }
        at = end;
    }
    fclose(out);
    return safe;
}
