/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows nothing of MPI: loads plugin.c, built as a shared object, and calls it. With another argument it is loaded so
 * that its own libraries come first. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin =
        argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | (argc > 2 ? RTLD_DEEPBIND : 0)) : NULL;
    if (!plugin) {
        fprintf(stderr, "plugin_host: %s\n", argc > 1 ? dlerror() : "usage: plugin_host PLUGIN");
        return 1;
    }
    int (*run)(int *, char ***) = (int (*)(int *, char ***))dlsym(plugin, "plugin_run");
    if (!run)
        return 2;
    printf("sum %d\n", run(&argc, &argv));
    return 0;
}
