# SPDX-License-Identifier: BSD-3-Clause
#
# Makes a tool that counts every call of every function a libmpi exports, MPI_X and PMPI_X apart,
# and passes it on to the next object: what reaches the MPI library. Needs no prototypes, because
# each function is two instructions (x86-64 only). Counts are written at the exit of each process
# that called MPI: MWTOOL_OUT.PID, "name count" lines.
"""Generates an exact counter of all calls that reach libmpi."""

import re
import subprocess
import sys

HEAD = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
unsigned long mwcounter_counts[%(n)d];
void *mwcounter_real[%(n)d];
static const char *const names[%(n)d] = {%(names)s};
__attribute__((constructor)) static void look_up(void)
{
    for (int i = 0; i < %(n)d; i++)
        mwcounter_real[i] = dlsym(RTLD_NEXT, names[i]);
}
__attribute__((destructor)) static void report(void)
{
    const char *prefix = getenv("MWTOOL_OUT");
    unsigned long all = 0;
    char path[4096];
    for (int i = 0; i < %(n)d; i++)
        all += mwcounter_counts[i];
    if (!prefix || !all)
        return;
    snprintf(path, sizeof path, "%%s.%%d", prefix, (int)getpid());
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < %(n)d; i++)
        if (mwcounter_counts[i])
            fprintf(file, "%%s %%lu\n", names[i], mwcounter_counts[i]);
    if (file)
        fclose(file);
}
"""

ONE = r"""__asm__(".text\n.globl %(name)s\n.type %(name)s,@function\n%(name)s:\n"
    "lock incq mwcounter_counts+%(at)d(%%rip)\njmp *mwcounter_real+%(at)d(%%rip)\n"
    ".size %(name)s,.-%(name)s\n");
"""


def functions(library):
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, check=True
    )
    found = re.findall(r"^\S+ [TW] (P?MPI_[A-Z]\w*)(?:@.*)?$", listing.stdout.decode(), re.M)
    # Predefined callbacks are compared by address and are no calls of the program.
    return sorted(set(name for name in found if not name.endswith(("_FN", "_fn", "_NULL"))))


def source(library):
    names = functions(library)
    text = HEAD % {"n": len(names), "names": ", ".join('"%s"' % name for name in names)}
    # The arrays are hidden, so that the two instructions reach them without a GOT.
    text = text.replace(
        "unsigned long mwcounter_counts",
        '__attribute__((visibility("hidden"))) unsigned long mwcounter_counts',
    )
    text = text.replace(
        "void *mwcounter_real[", '__attribute__((visibility("hidden"))) void *mwcounter_real[', 1
    )
    return text + "".join(ONE % {"name": name, "at": 8 * i} for i, name in enumerate(names))


if __name__ == "__main__":
    sys.stdout.write(source(sys.argv[1]))
