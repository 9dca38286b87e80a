/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded objects: paths, build ids, roles, symbols from the image, unloading, readers beside a
 * writer. STUBS is the folder of the stub libraries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/modules.h"

static char stubs[PATH_MAX];

static const char *stub_path(const char *name)
{
    static char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", stubs, name);
    return path;
}

static void *stub_open(const char *name)
{
    void *handle = dlopen(stub_path(name), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    return handle;
}

static const struct mw_module_entry *module_named(const char *name)
{
    const struct mw_module_entry *found = NULL;
    for (unsigned i = 0; i < mw_modules_count(); i++) {
        const struct mw_module_entry *entry = mw_modules_at(i);
        const char *base = strrchr(entry->path, '/');
        if (!entry->gone && strcmp(base ? base + 1 : entry->path, name) == 0)
            found = entry;
    }
    return found;
}

static const struct mw_module_entry *module_of_stub(const char *name)
{
    assert_true(mw_modules_refresh() >= 0);
    const struct mw_module_entry *entry = module_named(name);
    if (!entry)
        fail_msg("%s is not in the table", name);
    return entry;
}

static void test_program(void **state)
{
    char exe[PATH_MAX] = "";
    assert_true(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
    mw_modules_refresh();
    const struct mw_module_entry *own = mw_modules_find((const void *)test_program);
    assert_non_null(own);
    assert_int_equal(own->id, 1);
    assert_int_equal(own->role, MW_MODULE_PROGRAM);
    assert_string_equal(own->path, exe);
    assert_int_equal(own->build_id_size, 20);
    int local = 0;
    assert_null(mw_modules_find(&local));
    assert_null(mw_modules_find(NULL));
    assert_null(mw_modules_find((const void *)UINTPTR_MAX));
    assert_int_equal(mw_modules_refresh(), MW_MODULES_SAME);
}

static void test_bounds(void **state)
{
    mw_modules_refresh();
    for (unsigned i = 0; i < mw_modules_count(); i++) {
        const struct mw_module_entry *entry = mw_modules_at(i);
        assert_int_equal(entry->id, i + 1);
        if (entry->gone)
            continue;
        assert_ptr_equal(mw_modules_find((const void *)entry->start), entry);
        assert_ptr_equal(mw_modules_find((const void *)(entry->end - 1)), entry);
        assert_ptr_not_equal(mw_modules_find((const void *)entry->end), entry);
        assert_ptr_not_equal(mw_modules_find((const void *)(entry->start - 1)), entry);
    }
    assert_null(mw_modules_at(mw_modules_count()));
}

/* The build id was given to the linker. */
static void test_build_id(void **state)
{
    static const uint8_t expected[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    void *handle = stub_open("libmpi_vendor.so");
    const struct mw_module_entry *entry = module_of_stub("libmpi_vendor.so");
    assert_int_equal(entry->build_id_size, sizeof expected);
    assert_memory_equal(entry->build_id, expected, sizeof expected);
    dlclose(handle);
    handle = stub_open("libplugin_noid.so");
    assert_int_equal(module_of_stub("libplugin_noid.so")->build_id_size, 0);
    dlclose(handle);
}

static void test_roles(void **state)
{
    static const struct {
        const char *name;
        enum mw_module_role role;
    } cases[] = {
        {"libmpi_vendor.so", MW_MODULE_MPI},       {"libvendor_sysv.so", MW_MODULE_MPI},
        {"libtool_plain.so", MW_MODULE_TOOL},      {"libtool_pmpi.so", MW_MODULE_TOOL},
        {"libsome_binding.so", MW_MODULE_BINDING}, {"libfortran_tool.so", MW_MODULE_TOOL},
        {"libplugin.so", MW_MODULE_PROGRAM},       {"mca_btl_stub.so", MW_MODULE_MPI},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        void *handle = dlopen(stub_path(cases[i].name), RTLD_LAZY | RTLD_LOCAL);
        if (!handle)
            fail_msg("%s", dlerror());
        enum mw_module_role role = module_of_stub(cases[i].name)->role;
        if (role != cases[i].role)
            fail_msg("%s: role %d, not %d", cases[i].name, (int)role, (int)cases[i].role);
        dlclose(handle);
    }
    mw_modules_refresh();
    assert_int_equal(mw_modules_find((const void *)puts)->role, MW_MODULE_PROGRAM);
}

/* Every installed MPI, by what it defines. */
static void test_roles_of_real_mpis(void **state)
{
    static const struct {
        const char *library;
        enum mw_module_role role;
    } cases[] = {
        {"libmpi.so.40", MW_MODULE_MPI},
        {"libmpich.so.12", MW_MODULE_MPI},
        {"libmpi_mpifh.so.40", MW_MODULE_BINDING},
        {"libmpi_usempif08.so.40", MW_MODULE_BINDING},
        {"libmpi_usempi_ignore_tkr.so.40", MW_MODULE_BINDING},
        {"libmpi_cxx.so.40", MW_MODULE_BINDING},
        {"libmpichfort.so.12", MW_MODULE_BINDING},
        {"libmpichcxx.so.12", MW_MODULE_BINDING},
        {"libompitrace.so.40", MW_MODULE_TOOL},
        {"libopen-pal.so.40", MW_MODULE_MPI},
        {"libucp.so.0", MW_MODULE_PROGRAM},
        {"libfabric.so.1", MW_MODULE_PROGRAM},
    };
    unsigned seen = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        void *handle = dlopen(cases[i].library, RTLD_LAZY | RTLD_LOCAL);
        struct link_map *map = NULL;
        if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
            continue;
        seen++;
        mw_modules_refresh();
        const struct mw_module_entry *entry = mw_modules_find(map->l_ld);
        assert_non_null(entry);
        if (entry->role != cases[i].role)
            fail_msg("%s: role %d, not %d", cases[i].library, (int)entry->role, (int)cases[i].role);
        if (strncmp(cases[i].library, "libmpi.so", 9) == 0) {
            assert_ptr_equal(mw_elf_symbol(entry, "PMPI_Send"), dlsym(handle, "PMPI_Send"));
            assert_ptr_equal(mw_modules_first(MW_MODULE_MPI, "ompi_mpi_comm_world"), entry);
        }
    }
    if (!seen)
        skip();
}

static void symbols_of(const char *name)
{
    void *handle = stub_open(name);
    const struct mw_module_entry *entry = module_of_stub(name);
    int *ran = dlsym(handle, "stub_resolver_ran");
    int before = *ran;
    assert_ptr_equal(mw_elf_symbol(entry, "PMPI_Init"), dlsym(handle, "PMPI_Init"));
    assert_ptr_equal(mw_elf_symbol(entry, "stub_object"), dlsym(handle, "stub_object"));
    assert_null(mw_elf_symbol(entry, "stub_ifunc"));
    assert_int_equal(*ran, before); /* ours did not run the resolver; dlsym does */
    assert_non_null(dlsym(handle, "stub_ifunc"));
    assert_true(*ran > before);
    assert_null(mw_elf_symbol(entry, "stub_thread_local"));
    assert_null(mw_elf_symbol(entry, "PMPI_Ini"));
    assert_null(mw_elf_symbol(entry, "PMPI_Init_"));
    assert_null(mw_elf_symbol(entry, ""));
    assert_int_equal(((int (*)(int *, char ***))mw_elf_symbol(entry, "MPI_Init"))(NULL, NULL), 40);
    dlclose(handle);
}

static void test_symbols(void **state)
{
    symbols_of("libmpi_vendor.so");
    symbols_of("libvendor_sysv.so");
}

/* Against the loader itself, on a library with versions and IFUNCs. */
static void test_symbols_of_libc(void **state)
{
    static const char *const names[] = {"qsort",  "open",         "malloc", "environ",
                                        "puts",   "memfd_create", "fopen",  "pthread_create",
                                        "stdout", "nothing"};
    void *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    assert_non_null(handle);
    mw_modules_refresh();
    const struct mw_module_entry *libc = mw_modules_find(dlsym(handle, "qsort"));
    assert_non_null(libc);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_ptr_equal(mw_elf_symbol(libc, names[i]), dlsym(handle, names[i]));
    assert_null(mw_elf_symbol(libc, "memcpy")); /* an IFUNC here */
    /* an undefined reference is no definition */
    const struct mw_module_entry *own = mw_modules_find((const void *)test_program);
    assert_null(mw_elf_symbol(own, "dlopen"));
    dlclose(handle);
}

static void test_unload(void **state)
{
    void *handle = stub_open("libplugin.so");
    const struct mw_module_entry *first = module_of_stub("libplugin.so");
    const void *inside = dlsym(handle, "stub_call");
    uint32_t generation = mw_modules_generation();
    assert_ptr_equal(mw_modules_find(inside), first);
    dlclose(handle);
    assert_int_equal(mw_modules_refresh(), MW_MODULES_CHANGED);
    assert_null(mw_modules_find(inside));
    assert_true(first->gone);
    assert_null(mw_elf_symbol(first, "stub_call"));
    assert_int_not_equal(mw_modules_generation(), generation);
    handle = stub_open("libplugin.so");
    const struct mw_module_entry *second = module_of_stub("libplugin.so");
    assert_true(second->id > first->id);
    assert_ptr_equal(mw_modules_find(dlsym(handle, "stub_call")), second);
    dlclose(handle);
}

/* Another object at the very address of an unloaded one, with no refresh in between. */
static void test_replaced_unseen(void **state)
{
    void *handle = stub_open("libplugin.so");
    const struct mw_module_entry *first = module_of_stub("libplugin.so");
    dlclose(handle);
    handle = stub_open("libplugin_noid.so");
    const struct mw_module_entry *second = module_of_stub("libplugin_noid.so");
    if (second->start != first->start) {
        dlclose(handle);
        skip(); /* the kernel put it elsewhere */
    }
    assert_true(second->id > first->id);
    assert_true(first->gone);
    assert_ptr_equal(mw_modules_find(dlsym(handle, "stub_call")), second);
    dlclose(handle);
}

static void test_paths(void **state)
{
    char folder[] = "/tmp/mw-modules-XXXXXX", link[PATH_MAX], was[PATH_MAX];
    assert_non_null(mkdtemp(folder));
    assert_non_null(getcwd(was, sizeof was));
    snprintf(link, sizeof link, "%s/alias.so", folder);
    assert_int_equal(symlink(stub_path("libplugin.so"), link), 0);
    assert_int_equal(chdir(folder), 0);
    void *handle = dlopen("./alias.so", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    assert_string_equal(module_of_stub("libplugin.so")->path, stub_path("libplugin.so"));
    dlclose(handle);
    assert_int_equal(chdir(was), 0);
    unlink(link);
    rmdir(folder);
}

struct told {
    unsigned calls, next;
};

static void on_new(unsigned first, unsigned count, void *context)
{
    struct told *told = context;
    assert_int_equal(first, told->next);
    told->next = first + count;
    told->calls++;
}

static void test_notify(void **state)
{
    struct told told = {0, 0};
    mw_modules_notify(on_new, &told);
    mw_modules_refresh(); /* nothing changed, but the old ones are news to this listener */
    assert_int_equal(told.next, mw_modules_count());
    void *handle = stub_open("libplugin.so");
    mw_modules_refresh();
    mw_modules_refresh();
    assert_int_equal(told.calls, 2);
    assert_int_equal(told.next, mw_modules_count());
    assert_string_equal(strrchr(mw_modules_at(told.next - 1)->path, '/'), "/libplugin.so");
    mw_modules_notify(NULL, NULL);
    dlclose(handle);
}

static _Atomic int stop;
static _Atomic unsigned long wrong, looked;

static void *reader(void *argument)
{
    const struct mw_module_entry *libc = argument;
    while (!atomic_load(&stop)) {
        if (mw_modules_find((const void *)puts) != libc ||
            mw_modules_find((const void *)reader)->id != 1)
            atomic_fetch_add(&wrong, 1);
        atomic_fetch_add(&looked, 1);
    }
    return NULL;
}

static void *refresher(void *argument)
{
    while (!atomic_load(&stop))
        mw_modules_refresh();
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[3];
    mw_modules_refresh();
    const struct mw_module_entry *libc = mw_modules_find((const void *)puts);
    pthread_create(&threads[0], NULL, reader, (void *)libc);
    pthread_create(&threads[1], NULL, reader, (void *)libc);
    pthread_create(&threads[2], NULL, refresher, NULL);
    for (int i = 0; i < 300; i++) {
        void *a = stub_open("libplugin.so"), *b = stub_open("libsome_binding.so");
        mw_modules_refresh();
        dlclose(a);
        mw_modules_refresh();
        dlclose(b);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_true(atomic_load(&looked) > 1000);
}

/* Must come last: fills the table. */
static void test_full(void **state)
{
    for (int i = 0; i < 6000 && mw_modules_lost() == 0; i++) {
        void *handle = stub_open("libplugin.so");
        mw_modules_refresh();
        dlclose(handle);
        mw_modules_refresh();
    }
    assert_true(mw_modules_lost() > 0);
    assert_int_equal(mw_modules_count(), MW_MODULES_MAX);
    assert_int_equal(mw_modules_find((const void *)test_full)->id, 1);
    assert_non_null(mw_modules_find((const void *)puts));
}

int main(int argc, char **argv)
{
    const char *folder = getenv("STUBS");
    if (!folder || !realpath(folder, stubs)) {
        fputs("STUBS is not set to the folder of the stub libraries\n", stderr);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notify),          cmocka_unit_test(test_program),
        cmocka_unit_test(test_bounds),          cmocka_unit_test(test_build_id),
        cmocka_unit_test(test_roles),           cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_symbols_of_libc), cmocka_unit_test(test_unload),
        cmocka_unit_test(test_replaced_unseen), cmocka_unit_test(test_paths),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_roles_of_real_mpis),
        cmocka_unit_test(test_bounds),          cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
