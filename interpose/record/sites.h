/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call sites of the process: each different stack gets a number, for ever (docs/format.md, SITES).
 * The table only grows and has no lock. Any thread, on the miss path of the call-site caches; takes
 * no memory but one reservation at its first use.
 */
#ifndef MW_RECORD_SITES_H
#define MW_RECORD_SITES_H

#include <stdint.h>

#define MW_SITES_MAX 65536u
#define MW_SITES_ALWAYS 1024u /* have a number, whatever the budget */

struct mw_site_frame {
    uint32_t
        module; /* id; 0: in no known object (generated code), offset is then the address itself */
    uint64_t offset; /* of the return address from the module's start */
};

struct mw_site {
    uint32_t id; /* 1 or more */
    uint32_t hash, next;
    uint16_t count;
    uint16_t truncated;            /* the stack goes on */
    struct mw_site_frame frames[]; /* innermost first */
};

/* Told of each new site on the thread that found it, inside an MPI call, with no lock held. */
typedef void (*mw_site_new_fn)(const struct mw_site *site, void *context);
void mw_sites_notify(mw_site_new_fn tell, void *context);

/* The number of the site with these frames. When there is no room for it, that of its innermost
 * frame alone; 0 when there is no room even for that. */
uint32_t mw_site_intern(const struct mw_site_frame *frames, unsigned count, int truncated);

/* NULL: no such site (some numbers are never used). Numbers go up to mw_sites_last(). */
const struct mw_site *mw_site_at(uint32_t id);
uint32_t mw_sites_last(void);
/* How often a site found no room. */
void mw_sites_close(void); /* no new ones from now on: they are lost */
uint64_t mw_sites_lost(void);

#endif
