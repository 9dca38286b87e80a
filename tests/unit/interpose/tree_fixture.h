/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A made-up tree of /proc and /sys below a folder of the test's own. For cmocka tests only; a test
 * includes it once.
 */
#ifndef MW_TEST_TREE_FIXTURE_H
#define MW_TEST_TREE_FIXTURE_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* The full path, with the folders on its way made. */
static inline const char *tree_path(const char *path)
{
    static char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    return full;
}

static inline void file_put(const char *path, const char *text)
{
    int fd = open(tree_path(path), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static inline void link_put(const char *path, const char *target)
{
    assert_int_equal(symlink(target, tree_path(path)), 0);
}

static inline int tree_begin(void **state)
{
    strcpy(root, "/tmp/mw-tree-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static inline int tree_end(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

#endif
