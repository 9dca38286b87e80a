/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers, error classes of the program's own, info objects, statuses and handles across languages: what MPI
 * answers. Each call is written down (expect.h). Two ranks; rank 0 prints. MWTEST_FILE: a file to use.
 */
#include <string.h>

#include "expect.h"

static int rank, handled;
static const MPI_Comm world = MPI_COMM_WORLD;

static void of_comm(MPI_Comm *comm, int *code, ...)
{
    handled += comm && *code != MPI_SUCCESS;
}

static void of_window(MPI_Win *window, int *code, ...)
{
    handled += window && *code != MPI_SUCCESS;
}

static void of_file(MPI_File *file, int *code, ...)
{
    handled += file && *code != MPI_SUCCESS;
}

static void handlers(void)
{
    MPI_Errhandler handler, found;
    MPI_Win window;
    MPI_File file;
    MPI_Comm copy;
    int memory;
    MPI_Comm_dup(world, &copy);
    expect("MPI_Comm_dup");
    CALL(MPI_Comm_create_errhandler)(of_comm, &handler);
    CALL(MPI_Comm_set_errhandler)(copy, handler);
    CALL(MPI_Comm_get_errhandler)(copy, &found);
    CALL(MPI_Comm_call_errhandler)(copy, MPI_ERR_OTHER);
#ifndef MPI_Errhandler_c2f /* a macro in MPICH */
    CHECK(CALL(MPI_Errhandler_f2c)(CALL(MPI_Errhandler_c2f)(found)) == found);
#endif
    CALL(MPI_Errhandler_free)(&found);
    CALL(MPI_Errhandler_free)(&handler);
    CHECK(handled == 1);
    int code = MPI_Send(&memory, 1, MPI_INT, 99, 1, copy);
    expect_handled("MPI_Send", code);
    CHECK(handled == 2);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, copy, &window);
    expect("MPI_Win_create | COLL root=-1 out=0 in=0 comm=dup");
    CALL(MPI_Win_create_errhandler)(of_window, &handler);
    CALL(MPI_Win_set_errhandler)(window, handler);
    CALL(MPI_Win_get_errhandler)(window, &found);
    CALL(MPI_Win_call_errhandler)(window, MPI_ERR_OTHER);
    CALL(MPI_Errhandler_free)(&found);
    CALL(MPI_Errhandler_free)(&handler);
    CHECK(handled == 3);
    MPI_Win_free(&window);
    expect("MPI_Win_free | EPOCH collective peer=-1 window=0 comm=dup");
    MPI_File_open(world, getenv("MWTEST_FILE"), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    expect("MPI_File_open | COLL root=-1 out=0 in=0 comm=world");
    CALL(MPI_File_create_errhandler)(of_file, &handler);
    CALL(MPI_File_set_errhandler)(file, handler);
    CALL(MPI_File_get_errhandler)(file, &found);
    CALL(MPI_File_call_errhandler)(file, MPI_ERR_OTHER);
    MPI_File_close(&file);
    expect("MPI_File_close | FILE collective file=0 comm=world");
    CALL(MPI_Errhandler_free)(&found);
    CALL(MPI_Errhandler_free)(&handler);
    CHECK(handled == 4);
    MPI_Comm_free(&copy);
    expect("MPI_Comm_free");
}

static void errors(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int own_class, code, found, length;
    CALL(MPI_Add_error_class)(&own_class);
    CALL(MPI_Add_error_code)(own_class, &code);
    CALL(MPI_Add_error_string)(code, "the soup is cold");
    CALL(MPI_Error_string)(code, text, &length);
    CALL(MPI_Error_class)(code, &found);
    CHECK(found == own_class && strstr(text, "soup"));
    CALL(MPI_Error_string)(MPI_ERR_TAG, text, &length);
    if (rank == 0)
        printf("%s\n", text);
}

static void infos(void)
{
    MPI_Info info, copy;
    char value[32], key[MPI_MAX_INFO_KEY];
    int length, flag, keys;
    CALL(MPI_Info_create)(&info);
    CALL(MPI_Info_set)(info, "one", "1");
    CALL(MPI_Info_set)(info, "two", "22");
    CALL(MPI_Info_get_valuelen)(info, "two", &length, &flag);
    CALL(MPI_Info_get)(info, "two", sizeof value - 1, value, &flag);
    CHECK(flag && length == 2 && strcmp(value, "22") == 0);
    CALL(MPI_Info_dup)(info, &copy);
    CALL(MPI_Info_delete)(copy, "one");
    CALL(MPI_Info_get_nkeys)(copy, &keys);
    CALL(MPI_Info_get_nthkey)(copy, 0, key);
    CHECK(keys == 1 && strcmp(key, "two") == 0);
#ifndef MPI_Info_c2f /* a macro in MPICH */
    CHECK(CALL(MPI_Info_f2c)(CALL(MPI_Info_c2f)(info)) == info);
#endif
    CALL(MPI_Info_free)(&copy);
#if MPI_VERSION >= 4
    length = sizeof value;
    CALL(MPI_Info_get_string)(info, "two", &length, value, &flag);
    CHECK(flag && length == 3);
    CALL(MPI_Info_create_env)(0, NULL, &copy);
    CALL(MPI_Info_free)(&copy);
#endif
    CALL(MPI_Info_free)(&info);
}

static void across_languages(void)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Status status, again;
    MPI_Fint words[64];
    int value = 1, got;
    MPI_Isend(&value, 1, MPI_INT, rank, 2, world, &request);
    expect("MPI_Isend | SEND peer=%d tag=2 bytes=4 comm=world request", rank);
#ifndef MPI_Request_c2f /* a macro in MPICH */
    CHECK(CALL(MPI_Request_f2c)(CALL(MPI_Request_c2f)(request)) == request);
#endif
    MPI_Mprobe(rank, 2, world, &message, &status);
    expect("MPI_Mprobe");
#ifndef MPI_Message_c2f
    message = CALL(MPI_Message_f2c)(CALL(MPI_Message_c2f)(message));
#endif
    MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
    expect("MPI_Mrecv | RECV peer=%d tag=2 in!=4 comm=world", rank);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Isend peer=%d tag=2", rank);
    CALL(MPI_Status_c2f)(&status, words);
    CALL(MPI_Status_f2c)(words, &again);
    CHECK(again.MPI_TAG == 2 && got == 1);
#if MPI_VERSION >= 4
    MPI_F08_status modern;
    CALL(MPI_Status_c2f08)(&status, &modern);
    CALL(MPI_Status_f082c)(&modern, &again);
    CHECK(again.MPI_TAG == 2);
#endif
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    expect_open(rank);
    expect("MPI_Init");
    handlers();
    errors();
    infos();
    across_languages();
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    expect("MPI_Finalize");
    return 0;
}
