/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real functions behind those of other libraries that we wrap: what the caller would have bound
 * had we not been there. Any thread; takes the loader's lock, so once a function and caller, never
 * a message.
 */
#ifndef MW_PROBE_REAL_H
#define MW_PROBE_REAL_H

/* The next definition after ours in the global scope, else the one that the caller's own
 * dependencies give (libraries that came in with RTLD_LOCAL). `version`: symbol version, NULL none.
 * `caller`: an address in the calling code. NULL: nobody has it. */
void *mw_real_find(const char *name, const char *version, const void *caller);

/* For a call that must go somewhere: the first object that has the function, whoever calls. An
 * address may mislead: a function that ends in the call leaves the address of its own caller, which
 * need not have that library, and code made at run time is in no object. */
void *mw_real_anywhere(const char *name, const char *version);

/* The module (MODULES id) that holds an address; 0 not known. */
unsigned mw_real_module(const void *address);

#endif
