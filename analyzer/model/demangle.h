/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols as people write them: C++ by the C++ runtime where there is one, procedures of Fortran
 * modules as gfortran names them. One table, one thread.
 */
#ifndef MW_MODEL_DEMANGLE_H
#define MW_MODEL_DEMANGLE_H

struct mw_demangler;

struct mw_demangler *mw_demangler_create(void);
void mw_demangler_free(struct mw_demangler *demangler);
/* "solver::step", without arguments. NULL where the symbol is no such name. Newly allocated. */
char *mw_demangle(const struct mw_demangler *demangler, const char *symbol);

#endif
