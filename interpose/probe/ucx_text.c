/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes apart what UCX prints of contexts and endpoints. The text is for people and changes between
 * versions: what is not understood is left out. Pure functions over memory, any thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/ucx.h"

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \t");
}

static const char *line_end(const char *at)
{
    return at + strcspn(at, "\n");
}

/* Where a text begins in a line; NULL nowhere. */
static const char *find_in_line(const char *at, const char *end, const char *what)
{
    size_t size = strlen(what);
    for (; at + size <= end; at++)
        if (memcmp(at, what, size) == 0)
            return at;
    return NULL;
}

/* "tcp/eth0" at `at`, up to a space. 0: it is none. */
static int transport_and_device(const char *at, const char *end, struct mw_ucx_word *transport,
                                struct mw_ucx_word *device)
{
    const char *stop = at;
    while (stop < end && *stop != ' ')
        stop++;
    const char *slash = memchr(at, '/', (size_t)(stop - at));
    if (!slash || slash == at || slash + 1 == stop)
        return 0;
    *transport = (struct mw_ucx_word){at, (size_t)(slash - at)};
    *device = (struct mw_ucx_word){slash + 1, (size_t)(stop - slash - 1)};
    return 1;
}

/* "mlx5_0:1.0" is path 0 of mlx5_0:1. */
static void drop_path(struct mw_ucx_word *device)
{
    size_t size = device->size;
    while (size && device->text[size - 1] >= '0' && device->text[size - 1] <= '9')
        size--;
    if (size > 1 && size < device->size && device->text[size - 1] == '.')
        device->size = size - 1;
}

/* "   lane[0]:  5:posix/memory.0 md[4]  -> md[4]/posix/sysdev[255] seg 8256 rma_bw#0 am
 * wireup{tcp/lo}": up to the arrow's target. 0: no lane, or one without a transport of its own. */
static int lane_line(struct mw_ucx_lane_walk *walk, const char *at, const char *end)
{
    at = find_in_line(at, end, "lane[");
    const char *colon = at ? find_in_line(at, end, "]:") : NULL;
    if (!colon)
        return 0;
    walk->number = (unsigned)strtoul(at + 5, NULL, 10);
    at = skip_spaces(colon + 2);
    at += strspn(at, "0123456789");
    if (*at != ':' || !transport_and_device(at + 1, end, &walk->transport, &walk->device))
        return 0;
    if (walk->version >= 1009) /* from then on with the number of a path */
        drop_path(&walk->device);
    const char *arrow = find_in_line(at, end, "-> ");
    walk->uses = arrow ? arrow + 3 : end;
    walk->any = walk->rma = 0;
    return 1;
}

/* From 1.11 on a lane does not say that it serves remote memory: lines further down do, "put[2]:
 * 0..<short>..". */
static int serves_put(const struct mw_ucx_lane_walk *walk)
{
    char line[24];
    snprintf(line, sizeof line, " put[%u]:", walk->number);
    return strstr(walk->at, line) != NULL;
}

/* Whether a word after the arrow is a use: "am", "rma_bw#0", "wireup{tcp/lo}". Gives its bare name.
 */
static int is_use(const char *at, size_t size, struct mw_ucx_word *use)
{
    size_t name = 0;
    while (name < size && ((at[name] >= 'a' && at[name] <= 'z') || at[name] == '_'))
        name++;
    if (!name || (name < size && at[name] != '#' && at[name] != '{'))
        return 0; /* md[4]/posix, addr[0].md[4], 8256 */
    if (name == 3 && memcmp(at, "seg", 3) == 0)
        return 0;
    *use = (struct mw_ucx_word){at, name};
    return 1;
}

static int next_use(struct mw_ucx_lane_walk *walk, struct mw_ucx_lane *lane)
{
    const char *end = line_end(walk->uses);
    *lane = (struct mw_ucx_lane){.transport = walk->transport, .device = walk->device};
    while (walk->uses < end) {
        const char *at = skip_spaces(walk->uses);
        size_t size = strcspn(at, " \t\n");
        walk->uses = at + size;
        if (size && is_use(at, size, &lane->use))
            return walk->any = 1;
    }
    /* Without the lines further down (its newer protocols have none) a lane that names no use has
     * this one. */
    if (!walk->rma && walk->version >= 1011 && (!walk->any || serves_put(walk))) {
        lane->use = (struct mw_ucx_word){"rma", 3};
        return walk->any = walk->rma = 1;
    }
    walk->uses = NULL;
    return !walk->any; /* a lane without any use is told once */
}

int mw_ucx_lane_next(struct mw_ucx_lane_walk *walk, struct mw_ucx_lane *lane)
{
    for (;;) {
        if (walk->uses && next_use(walk, lane))
            return 1;
        if (!*walk->at)
            return 0;
        const char *line = walk->at, *end = line_end(line);
        walk->at = end + (*end == '\n');
        lane_line(walk, line, end);
    }
}

/* "#      resource 3  :  md 3  dev 2  flags -- tcp/eth0" */
int mw_ucx_resource_next(const char **at, struct mw_ucx_word *transport, struct mw_ucx_word *device)
{
    while (**at) {
        const char *line = *at, *end = line_end(line);
        *at = end + (*end == '\n');
        if (!find_in_line(line, end, " resource "))
            continue;
        while (end > line && end[-1] == ' ')
            end--;
        const char *word = end;
        while (word > line && word[-1] != ' ')
            word--;
        if (transport_and_device(word, end, transport, device))
            return 1;
    }
    return 0;
}

void mw_ucx_features_text(uint64_t features, char *out, size_t size)
{
    static const char *const names[] = {"tag",    "rma", "amo32",         "amo64", "wakeup",
                                        "stream", "am",  "exported_memh", "device"};
    size_t used = 0;
    out[0] = '\0';
    for (unsigned bit = 0; bit < sizeof names / sizeof *names; bit++) {
        if (!(features >> bit & 1) || used >= size)
            continue;
        int wrote = snprintf(out + used, size - used, "%s%s", used ? " " : "", names[bit]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}
