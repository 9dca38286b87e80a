/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the openmpi and mpich probes conclude: from objects laid out as Open MPI's libraries have
 * them (release and debug builds, damaged ones, wrong addresses), and from the texts in which
 * libraries of MPICH's family name their device.
 */
#include "probe_fixture.h"

#include <stdlib.h>

#include "probe/modules.h"
#include "probe/mpich.h"

/* --- what the probe finds the objects by --- */

static struct {
    const char *name;
    void *address;
} symbols[16];
static unsigned symbol_count;
static struct mw_module_entry libmpi = {
    .id = 1, .role = MW_MODULE_MPI, .path = "/lib/libmpi.so", .name = ""};
static struct mw_module_entry loaded[4];
static unsigned loaded_count;
static struct mw_libmpi library = {.object = &libmpi, .version = "Open MPI v4.1.4"};
static int library_version_fails;
static const char *library_version = "";

void *mw_elf_symbol(const struct mw_module_entry *module, const char *name)
{
    for (unsigned i = 0; module == &libmpi && i < symbol_count; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return symbols[i].address;
    return NULL;
}

unsigned mw_modules_count(void)
{
    return loaded_count;
}

const struct mw_module_entry *mw_modules_at(unsigned index)
{
    return &loaded[index];
}

static int get_library_version(char *text, int *length)
{
    strcpy(text, library_version);
    return library_version_fails;
}

void *mw_libmpi_own(struct mw_libmpi *lib, enum mw_function function)
{
    return function == MW_FN_Get_library_version ? (void *)get_library_version : NULL;
}

static void symbol_put(const char *name, void *address)
{
    symbols[symbol_count].name = name;
    symbols[symbol_count++].address = address;
}

static int begin(void **state)
{
    forget();
    symbol_count = loaded_count = 0;
    library.abi.kind = MW_ABI_OPENMPI;
    mw_recorder.lib = &library;
    mw_recorder.abi = &library.abi;
    strcpy(library.version, "Open MPI v4.1.4, package");
    return 0;
}

/* --- Open MPI's objects --- */

struct component {
    int mca[3];
    char project[16];
    int project_version[3];
    char type[32];
    int type_version[3];
    char name[64];
};

static struct component component(const char *type, const char *name)
{
    struct component made = {.mca = {2, 1, 0}, .project = "ompi"};
    strcpy(made.type, type);
    strcpy(made.name, name);
    return made;
}

struct class
{
    const char *name;
    void *parent;
};
static struct class list_class = {"opal_list_t", NULL};
static struct class item_class = {"mca_btl_base_selected_module_t", NULL};

/* Release build. */
struct item {
    struct class *class;
    int references;
    struct item *next, *previous;
    int free;
    struct component *component;
    void *module;
};
struct list {
    struct class *class;
    int references;
    struct {
        struct class *class;
        int references;
        struct item *next, *previous;
        int free;
    } sentinel;
    size_t length;
};
/* With --enable-debug. */
struct debug_object {
    uint64_t magic;
    struct class *class;
    int references;
    const char *file;
    int line;
};
struct debug_item {
    struct debug_object object;
    struct debug_item *next, *previous;
    int free, list_references;
    void *list;
    struct component *component;
    void *module;
};
struct debug_list {
    struct debug_object object;
    struct {
        struct debug_object object;
        struct debug_item *next, *previous;
        int free, list_references;
        void *list;
    } sentinel;
    size_t length;
};

static struct component self, vader, tcp;
static struct item items[4];
static struct list list;

/* self, vader, and two modules of tcp */
static void list_make(void)
{
    struct component *owners[4] = {&self, &vader, &tcp, &tcp};
    self = component("btl", "self");
    vader = component("btl", "vader");
    tcp = component("btl", "tcp");
    memset(&list, 0, sizeof list);
    list.class = &list_class;
    list.length = 4;
    list.sentinel.next = &items[0];
    for (int i = 0; i < 4; i++) {
        items[i] = (struct item){.class = &item_class, .component = owners[i]};
        items[i].next = i < 3 ? &items[i + 1] : (struct item *)&list.sentinel;
    }
    symbol_put("mca_btl_base_modules_initialized", &list);
}

static struct component pml, mtl;
static struct component *mtl_pointer;

static void pml_make(const char *name, const char *mtl_name)
{
    pml = component("pml", name);
    mtl = component("mtl", mtl_name ? mtl_name : "");
    mtl_pointer = mtl_name ? &mtl : NULL;
    symbol_put("mca_pml_base_selected_component", &pml);
    symbol_put("ompi_mtl_base_selected_component", &mtl_pointer);
}

static void the_healthy_case(void **state)
{
    pml_make("ob1", NULL);
    list_make();
    mw_probe_openmpi.ready();
    assert_choice("pml", "ob1", "selected");
    assert_choice("btl", "self", "selected");
    assert_choice("btl", "vader", "selected");
    assert_choice("btl", "tcp", "selected");
    assert_int_equal(choice_count, 4); /* tcp once, no MTL, no complaint */
}

static void a_debug_build(void **state)
{
    static struct debug_list debug_list;
    static struct debug_item debug_items[2];
    const uint64_t magic = UINT64_C(0xdeafbeeddeafbeed);
    self = component("btl", "self");
    tcp = component("btl", "tcp");
    debug_list.object = (struct debug_object){magic, &list_class, 1, "file", 3};
    debug_list.length = 2;
    debug_list.sentinel.next = &debug_items[0];
    for (int i = 0; i < 2; i++) {
        debug_items[i].object = (struct debug_object){magic, &item_class, 1, "file", 4};
        debug_items[i].component = i ? &tcp : &self;
    }
    debug_items[0].next = &debug_items[1];
    debug_items[1].next = (void *)&debug_list.sentinel;
    symbol_put("mca_btl_base_modules_initialized", &debug_list);
    pml_make("ob1", NULL);
    mw_probe_openmpi.ready();
    assert_choice("btl", "tcp", "selected");
    assert_choice("btl", "self", "selected");
    assert_int_equal(choice_count, 3);
}

static void an_mtl_counts_with_pml_cm_only(void **state)
{
    static struct list never;
    symbol_put("mca_btl_base_modules_initialized", &never); /* zeros: no BTL was asked for */
    pml_make("cm", "ofi");
    mw_probe_openmpi.ready();
    assert_choice("pml", "cm", "selected");
    assert_choice("mtl", "ofi", "selected");
    assert_int_equal(choice_count, 2);
    begin(NULL);
    symbol_put("mca_btl_base_modules_initialized", &never);
    pml_make("ob1", "ofi"); /* what is left of an attempt */
    mw_probe_openmpi.ready();
    assert_null(how_of("mtl", "ofi"));
}

/* Every way in which the list can be something else: nothing is said, nothing crashes, and that
 * is said. */
static void a_list_that_is_none(void **state)
{
    static struct class wrong = {"opal_hash_table_t", NULL}, broken = {(const char *)8, NULL};
    for (int fault = 0; fault < 10; fault++) {
        begin(NULL);
        pml_make("ob1", NULL);
        list_make();
        switch (fault) {
        case 0:
            list.class = &wrong;
            break;
        case 1:
            list.class = &broken;
            break;
        case 2:
            list.class = (struct class *)0x1000;
            break;
        case 3:
            list.length = 100000;
            break;
        case 4:
            list.length = 5;
            break; /* longer than it is */
        case 5:
            items[0].class = &wrong;
            break;
        case 6:
            items[0].next = (struct item *)0xdead0000;
            break;
        case 7:
            items[0].component = (struct component *)1;
            break;
        case 8:
            self.mca[0] = 3;
            break;
        case 9:
            strcpy(self.name, "a b");
            break;
        }
        mw_probe_openmpi.ready();
        assert_choice("probe", "openmpi", "partly");
        assert_choice("pml", "ob1", "selected");
    }
}

/* Then files are better than nothing, where components are files. */
static void loaded_components_instead(void **state)
{
    loaded[0] = (struct mw_module_entry){.path = "/usr/lib/openmpi/mca_btl_vader.so"};
    loaded[1] = (struct mw_module_entry){.path = "/usr/lib/openmpi/mca_pml_ob1.so"};
    loaded[2] = (struct mw_module_entry){.path = "/usr/lib/openmpi/mca_btl_openib.so", .gone = 1};
    loaded[3] = (struct mw_module_entry){.path = "/usr/lib/openmpi/mca_btl_self.so"};
    loaded_count = 4;
    pml_make("ob1", NULL);
    mw_probe_openmpi.ready();
    assert_choice("btl", "vader", "loaded");
    assert_choice("btl", "self", "loaded");
    assert_null(how_of("btl", "openib"));
    assert_null(how_of("probe", "openmpi"));
}

static void a_pml_that_is_none(void **state)
{
    for (int fault = 0; fault < 5; fault++) {
        begin(NULL);
        pml_make("ob1", NULL);
        switch (fault) {
        case 0:
            pml.mca[0] = 4;
            break;
        case 1:
            strcpy(pml.type, "mtl");
            break;
        case 2:
            pml.name[0] = '\0';
            break;
        case 3:
            memset(pml.name, 'x', sizeof pml.name);
            break; /* no end */
        case 4:
            symbols[0].address = (void *)0x10;
            break;
        }
        mw_probe_openmpi.ready();
        assert_choice("probe", "openmpi", "not covered");
        assert_int_equal(choice_count, 1);
    }
}

static void single_copies_of_version_5(void **state)
{
    static char cma_module, xpmem_module;
    static char *chosen = &cma_module;
    symbol_put("mca_smsc", &chosen);
    symbol_put("mca_smsc_cma_module", &cma_module);
    symbol_put("mca_smsc_xpmem_module", &xpmem_module);
    mw_probe_openmpi.ready();
    assert_choice("smsc", "cma", "selected");
    assert_null(how_of("smsc", "xpmem"));
    forget();
    chosen = NULL;
    mw_probe_openmpi.ready();
    assert_choice("smsc", "none", "selected");
    assert_null(how_of("smsc", "cma"));
}

static void another_mpi_is_absent(void **state)
{
    pml_make("ob1", NULL);
    library.abi.kind = MW_ABI_MPICH;
    strcpy(library.version, "MPICH Version: 4.0.2");
    mw_probe_openmpi.ready();
    assert_choice("probe", "openmpi", "absent");
    assert_int_equal(choice_count, 1);
    forget();
    library.abi.kind = MW_ABI_STANDARD; /* Open MPI has that, too */
    strcpy(library.version, "Open MPI v6.0.0");
    mw_probe_openmpi.ready();
    assert_choice("pml", "ob1", "selected");
}

/* --- MPICH --- */

static void mpich(const char *text)
{
    forget();
    library_version = text;
    library.abi.kind = MW_ABI_MPICH;
    mw_probe_mpich.ready();
}

#define MPICH(device, configure)                                                                   \
    "MPICH Version:\t4.0.2\nMPICH Release date:\tThu\nMPICH ABI:\t14:2:2\nMPICH Device:\t" device  \
    "\nMPICH configure:\t" configure "\nMPICH CC:\tgcc  -g -O2\n"

static void netmods(void **state)
{
    mpich(MPICH("ch4:ucx", "--prefix=/usr --with-device=ch4:ucx --with-pm=hydra"));
    assert_choice("netmod", "ucx", "selected");
    assert_choice("shm", "none", "default"); /* UCX has its own */
    assert_int_equal(choice_count, 2);
    mpich(MPICH("ch4:ofi", "--prefix=/usr"));
    assert_choice("netmod", "ofi", "selected");
    assert_choice("shm", "posix", "default");
    mpich(MPICH("ch4:ofi,ucx", "--with-device=ch4:ofi,ucx"));
    assert_choice("netmod", "ofi", "built in");
    assert_choice("netmod", "ucx", "built in");
    mpich(MPICH("ch3:nemesis", "--prefix=/usr"));
    assert_choice("netmod", "nemesis", "selected");
    assert_choice("shm", "nemesis", "selected");
    mpich(MPICH("ch3:sock", "--prefix=/usr"));
    assert_choice("netmod", "sock", "selected");
    assert_int_equal(choice_count, 1);
    mpich("MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Device       :\tch3:mrail\n");
    assert_choice("netmod", "mrail", "selected"); /* blanks before the colon */
    mpich("MVAPICH2 Version:\t2.3.7\nMVAPICH2 Device:\tch3:mrail\nMVAPICH2 CC:\tgcc\n");
    assert_choice("netmod", "mrail", "selected");
}

static void shared_memory_asked_for(void **state)
{
    mpich(MPICH("ch4:ucx", "--with-ch4-shmmods=posix,xpmem --x"));
    assert_choice("shm", "posix", "selected");
    assert_choice("shm", "xpmem", "selected");
    assert_null(how_of("shm", "none"));
    mpich(MPICH("ch4:ofi", "'--with-ch4-shmmods=none' '--prefix=/usr'"));
    assert_choice("shm", "none", "selected");
    mpich(MPICH("ch4:ofi", "--without-ch4-shmmods"));
    assert_choice("shm", "none", "selected");
    mpich(MPICH("ch4:ofi", "--with-ch4-shmmods=auto"));
    assert_choice("shm", "posix", "default");
    mpich("MPICH Device:\tch4:ofi\n"); /* nothing is known of its configuration */
    assert_choice("netmod", "ofi", "selected");
    assert_int_equal(choice_count, 1);
}

static void libraries_that_do_not_say(void **state)
{
    mpich("Intel(R) MPI Library 2021.9 for Linux* OS\n");
    assert_choice("probe", "mpich", "not covered");
    mpich("MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\nMPI BUILD INFO : Sun\n");
    assert_choice("probe", "mpich", "not covered");
    mpich("MPICH Device:\tch9:surprise\n");
    assert_choice("probe", "mpich", "not covered");
    mpich("MPICH Device:\t\n");
    assert_choice("probe", "mpich", "not covered");
    mpich("MPICH Device:");
    assert_choice("probe", "mpich", "not covered");
    mpich("");
    assert_choice("probe", "mpich", "not covered");
    mpich("Open MPI v6.0.0 Device: no\n"); /* with the standard ABI */
    assert_choice("probe", "mpich", "absent");
    library_version_fails = 1;
    mpich(MPICH("ch4:ucx", ""));
    assert_choice("probe", "mpich", "not covered");
    library_version_fails = 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(the_healthy_case),
        TEST(a_debug_build),
        TEST(an_mtl_counts_with_pml_cm_only),
        TEST(a_list_that_is_none),
        TEST(loaded_components_instead),
        TEST(a_pml_that_is_none),
        TEST(single_copies_of_version_5),
        TEST(another_mpi_is_absent),
        TEST(netmods),
        TEST(shared_memory_asked_for),
        TEST(libraries_that_do_not_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
