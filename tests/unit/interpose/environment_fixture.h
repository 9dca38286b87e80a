/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of environment facts share: a made-up machine below a folder, lists of facts, and
 * a count of what the code under test allocates. One test program, one thread.
 */
#ifndef MW_ENVIRONMENT_FIXTURE_H
#define MW_ENVIRONMENT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/environment.h"
#include "probe/facts.h"

#define MW_UNUSED __attribute__((unused)) /* not every test has a made-up machine */
#define LIST_SIZE (2u << 20)

/* The linker leads these calls of the code under test here (--wrap): there must be none. */
static unsigned allocations;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

static char root[] = "/tmp/mw-environment-XXXXXX";
static struct mw_fact_list facts;
static void *facts_memory, *other_memory;

static struct mw_fact_list *fresh(void)
{
    mw_fact_list_init(&facts, facts_memory, LIST_SIZE);
    return &facts;
}

static const char *value_of(const struct mw_fact_list *list, const char *section, const char *key)
{
    struct mw_fact fact;
    return mw_fact_list_find(list, section, key, &fact) ? fact.value : NULL;
}

#define has_fact(section, key, expected) has_fact_at(&facts, section, key, expected, __LINE__)
static void has_fact_at(const struct mw_fact_list *list, const char *section, const char *key,
                        const char *expected, int line)
{
    const char *value = value_of(list, section, key);
    if (!value || strcmp(value, expected) != 0)
        fail_msg("line %d: %s %s is %s, not %s", line, section, key, value ? value : "(absent)",
                 expected);
}

static void folders_make(char *path)
{
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

MW_UNUSED static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    folders_make(path);
    FILE *file = fopen(path, "w");
    if (!file)
        fail_msg("%s", path);
    fputs(text, file);
    fclose(file);
}

MW_UNUSED static void put_link(const char *name, const char *target)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    folders_make(path);
    assert_int_equal(symlink(target, path), 0);
}

static int set_up(void **state)
{
    facts_memory = aligned_alloc(64, LIST_SIZE);
    other_memory = aligned_alloc(64, LIST_SIZE);
    return facts_memory && other_memory && mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    free(facts_memory);
    free(other_memory);
    return system(command);
}

MW_UNUSED static void collect_made_up(unsigned what)
{
    mw_environment_collect_at(&fresh()->sink, what, root, 10000000000u);
}

#endif
