/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tools information interface, as a tool in the program uses it: all variables, categories and enumerations are
 * listed, some read. Each call is written down (expect.h); how many variables there are may differ between runs, but not
 * what the program sees of one. One rank.
 */
#include <string.h>

#include "expect.h"

enum { TEXT = 1024 };

static char name[TEXT], description[TEXT];

static void enumeration(MPI_T_enum type)
{
    int items, length = TEXT, value;
    if (type == MPI_T_ENUM_NULL)
        return;
    CALL(MPI_T_enum_get_info)(type, &items, name, &length);
    length = TEXT;
    if (items > 0)
        CALL(MPI_T_enum_get_item)(type, 0, &value, name, &length);
}

static void control_variables(void)
{
    int count, length, other, verbosity, binding, scope, index, elements;
    MPI_Datatype type;
    MPI_T_enum values;
    MPI_T_cvar_handle handle;
    union {
        int number;
        char bytes[65536];
    } value;
    CALL(MPI_T_cvar_get_num)(&count);
    for (int i = 0; i < count && i < 50; i++) {
        length = other = TEXT;
        if (CALL(MPI_T_cvar_get_info)(i, name, &length, &verbosity, &type, &values, description, &other, &binding,
                                      &scope) != MPI_SUCCESS)
            continue;
        CHECK(CALL(MPI_T_cvar_get_index)(name, &index) == MPI_SUCCESS);
        if (type == MPI_INT)
            enumeration(values);
        if (type != MPI_INT || binding != MPI_T_BIND_NO_OBJECT)
            continue;
        if (CALL(MPI_T_cvar_handle_alloc)(i, NULL, &handle, &elements) != MPI_SUCCESS)
            continue;
        if (CALL(MPI_T_cvar_read)(handle, &value) == MPI_SUCCESS && scope == MPI_T_SCOPE_LOCAL)
            CALL(MPI_T_cvar_write)(handle, &value);
        CALL(MPI_T_cvar_handle_free)(&handle);
    }
    CHECK(count > 0);
}

static void performance_variables(void)
{
    int count, length, other, verbosity, class, binding, readonly, continuous, atomic, index, elements;
    MPI_Datatype type;
    MPI_T_enum values;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    static char value[65536];
    CALL(MPI_T_pvar_get_num)(&count);
    CALL(MPI_T_pvar_session_create)(&session);
    for (int i = 0; i < count && i < 20; i++) {
        length = other = TEXT;
        if (CALL(MPI_T_pvar_get_info)(i, name, &length, &verbosity, &class, &type, &values, description, &other,
                                      &binding, &readonly, &continuous, &atomic) != MPI_SUCCESS)
            continue;
        CALL(MPI_T_pvar_get_index)(name, class, &index);
        if (binding != MPI_T_BIND_NO_OBJECT ||
            CALL(MPI_T_pvar_handle_alloc)(session, i, NULL, &handle, &elements) != MPI_SUCCESS)
            continue;
        if (!continuous) {
            CALL(MPI_T_pvar_start)(session, handle);
            CALL(MPI_T_pvar_stop)(session, handle);
        }
        if (elements <= 64)
            CALL(MPI_T_pvar_read)(session, handle, value);
        CALL(MPI_T_pvar_reset)(session, handle);
        CALL(MPI_T_pvar_handle_free)(session, &handle);
    }
    CALL(MPI_T_pvar_session_free)(&session);
}

static void categories(void)
{
    int count, length, other, variables, measures, inner, stamp, index, list[8];
    CALL(MPI_T_category_get_num)(&count);
    CALL(MPI_T_category_changed)(&stamp);
    for (int i = 0; i < count && i < 20; i++) {
        length = other = TEXT;
        CALL(MPI_T_category_get_info)(i, name, &length, description, &other, &variables, &measures, &inner);
        CALL(MPI_T_category_get_index)(name, &index);
        CALL(MPI_T_category_get_cvars)(i, 8, list);
        CALL(MPI_T_category_get_pvars)(i, 8, list);
        CALL(MPI_T_category_get_categories)(i, 8, list);
    }
}

#if MPI_VERSION >= 4
static void events(void)
{
    int count, length, other;
    MPI_T_source_order order;
    MPI_Count ticks, most;
    MPI_Info info;
    CALL(MPI_T_source_get_num)(&count);
    for (int i = 0; i < count && i < 5; i++) {
        length = other = TEXT;
        if (CALL(MPI_T_source_get_info)(i, name, &length, description, &other, &order, &ticks, &most, &info) ==
            MPI_SUCCESS)
            CALL(MPI_T_source_get_timestamp)(i, &ticks);
    }
    CALL(MPI_T_event_get_num)(&count);
    if (CALL(MPI_T_category_get_num)(&count) == MPI_SUCCESS && count > 0) {
        CALL(MPI_T_category_get_num_events)(0, &count);
        CALL(MPI_T_category_get_events)(0, 1, &other);
    }
}
#endif

int main(int argc, char **argv)
{
    int rank, provided;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect_open(rank);
    expect("MPI_Init");
    CHECK(CALL(MPI_T_init_thread)(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    control_variables();
    performance_variables();
    categories();
#if MPI_VERSION >= 4
    events();
#endif
    CALL(MPI_T_finalize)();
    puts("done");
    MPI_Finalize();
    expect("MPI_Finalize");
    return 0;
}
