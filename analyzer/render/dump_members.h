/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of the dump's lines that are nothing but texts and counts (dump_fabric.c,
 * dump_placement.c). Main thread only. */
#ifndef MW_RENDER_DUMP_MEMBERS_H
#define MW_RENDER_DUMP_MEMBERS_H

#include "analyzer/render/json.h"

struct mw_text_member {
    const char *name, *text;
};
struct mw_count_member {
    const char *name;
    uint64_t count;
};

static inline void mw_set_texts(json_t *object, const struct mw_text_member *members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, members[i].name, mw_json_text(members[i].text));
}

static inline void mw_set_counts(json_t *object, const struct mw_count_member *members,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, members[i].name, mw_json_count(members[i].count));
}

#define SET_TEXTS(object, ...)                                                                     \
    mw_set_texts(object, (const struct mw_text_member[]){__VA_ARGS__},                             \
                 sizeof((const struct mw_text_member[]){__VA_ARGS__}) /                            \
                     sizeof(struct mw_text_member))
#define SET_COUNTS(object, ...)                                                                    \
    mw_set_counts(object, (const struct mw_count_member[]){__VA_ARGS__},                           \
                  sizeof((const struct mw_count_member[]){__VA_ARGS__}) /                          \
                      sizeof(struct mw_count_member))

#endif
