/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows nothing of MPI: loads two plug-ins (plugin.c) that are linked with different MPI libraries,
 * and calls first the one, then the other, each of which initialises, uses and finalizes its MPI.
 */
#include <dlfcn.h>
#include <stdio.h>

static int run_one(const char *path, int *argc, char ***argv)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*run)(int *, char ***) =
        plugin ? (int (*)(int *, char ***))dlsym(plugin, "plugin_run") : NULL;
    if (!run) {
        fprintf(stderr, "two_libraries: %s\n", dlerror());
        return -1;
    }
    return run(argc, argv);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    int first = run_one(argv[1], &argc, &argv);
    printf("first %d\n", first);
    int second = run_one(argv[2], &argc, &argv);
    printf("second %d\n", second);
    return first < 0 || second < 0;
}
