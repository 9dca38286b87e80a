/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readable names (demangle.h). The C++ runtime is loaded when there is one; nothing depends on it.
 */
#include "analyzer/model/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/memory.h"

struct mw_demangler {
    char *(*demangle)(const char *, char *, size_t *, int *); /* __cxa_demangle */
    void *runtime;
};

struct mw_demangler *mw_demangler_create(void)
{
    struct mw_demangler *demangler = mw_alloc(1, sizeof(*demangler));
    demangler->runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (demangler->runtime)
        *(void **)&demangler->demangle = dlsym(demangler->runtime, "__cxa_demangle");
    return demangler;
}

void mw_demangler_free(struct mw_demangler *demangler)
{
    if (demangler->runtime)
        dlclose(demangler->runtime);
    free(demangler);
}

/* "solver::step(int, double)" becomes "solver::step": arguments take more room than they tell. */
static void name_shorten(char *name)
{
    int depth = 0;
    for (char *at = name; *at; at++) {
        if (*at == '<')
            depth++;
        else if (*at == '>' && depth && (at == name || at[-1] != '-'))
            depth--;
        else if (*at == '(' && !depth && at > name && strncmp(at, "(anonymous", 10) &&
                 strncmp(at - 1, "r()", 3)) {
            *at = 0;
            return;
        }
    }
}

/* "__halo_MOD_exchange": gfortran's lower-case names cannot hold "_MOD_" themselves. */
static char *fortran_name(const char *symbol)
{
    const char *middle = strncmp(symbol, "__", 2) ? NULL : strstr(symbol + 2, "_MOD_");
    if (!middle || middle == symbol + 2 || !middle[5])
        return NULL;
    return mw_format("%.*s::%s", (int)(middle - symbol - 2), symbol + 2, middle + 5);
}

char *mw_demangle(const struct mw_demangler *demangler, const char *symbol)
{
    int status = -1;
    if (strncmp(symbol, "_Z", 2))
        return fortran_name(symbol);
    char *name = demangler->demangle ? demangler->demangle(symbol, NULL, NULL, &status) : NULL;
    if (name)
        name_shorten(name);
    return name;
}
