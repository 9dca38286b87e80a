/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the ABI descriptor with the MPI this is compiled for: handle widths, MPI_Status,
 * constants. Prints each value, "DIFFERENT" in front of those that disagree; exit status 1 when
 * there is one. With the argument "live" it also starts MPI (one rank) to see statuses and error
 * codes that MPI itself has filled in.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "abi/abi.h"

/* Open MPI 6 defines MPI_ABI_VERSION as -1 in its own interface. */
#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION > 0
#define DESCRIPTOR mw_abi_standard
#elif defined(OPEN_MPI)
#define DESCRIPTOR mw_abi_openmpi
#elif defined(MPICH_NUMVERSION)
#define DESCRIPTOR mw_abi_mpich
#else
#error "an MPI without a descriptor"
#endif

static const struct mw_abi *const abi = &DESCRIPTOR;
static int different;

static void compare(const char *what, long long real, long long expected)
{
    printf("%s%s = %lld (%#llx)", real == expected ? "" : "DIFFERENT: ", what, real,
           (unsigned long long)real);
    if (real != expected) {
        printf(", descriptor: %lld", expected);
        different = 1;
    }
    printf("\n");
}

/* A handle is a constant of the descriptor, or the address of the object that it names. */
static void compare_handle(const char *what, mw_handle real, mw_handle constant, const char *object)
{
    mw_handle expected = object ? (mw_handle)dlsym(RTLD_DEFAULT, object) : constant;
    if (object)
        printf("%s is the address of %s\n", what, object);
    if (object && expected == 0) {
        printf("DIFFERENT: no object %s\n", object);
        different = 1;
    }
    compare(what, (long long)real, (long long)expected);
}

#define WIDTH(type)             compare("sizeof(" #type ")", sizeof(type), abi->handle_width)
#define NUMBER(constant, field) compare(#constant, constant, abi->field)
#define POINTER(constant, field)                                                                   \
    compare(#constant, (long long)(intptr_t)(constant), (long long)(intptr_t)abi->field)
#define HANDLE(constant, field)                                                                    \
    compare_handle(#constant, (mw_handle)(constant), abi->field, abi->field##_object)

static void check_widths(void)
{
    WIDTH(MPI_Comm);
    WIDTH(MPI_Datatype);
    WIDTH(MPI_Errhandler);
    WIDTH(MPI_Group);
    WIDTH(MPI_Info);
    WIDTH(MPI_Message);
    WIDTH(MPI_Op);
    WIDTH(MPI_Request);
    WIDTH(MPI_Win);
#if MPI_VERSION >= 4
    WIDTH(MPI_Session);
#endif
    compare("sizeof(MPI_File)", sizeof(MPI_File), sizeof(void *));
}

static void check_status(void)
{
    compare("sizeof(MPI_Status)", sizeof(MPI_Status), (long long)abi->status_size);
    compare("offset of MPI_SOURCE", offsetof(MPI_Status, MPI_SOURCE),
            (long long)abi->status_source);
    compare("offset of MPI_TAG", offsetof(MPI_Status, MPI_TAG), (long long)abi->status_tag);
    compare("offset of MPI_ERROR", offsetof(MPI_Status, MPI_ERROR), (long long)abi->status_error);
}

static void check_constants(void)
{
    NUMBER(MPI_ANY_SOURCE, any_source);
    NUMBER(MPI_ANY_TAG, any_tag);
    NUMBER(MPI_PROC_NULL, proc_null);
    NUMBER(MPI_ROOT, root);
    NUMBER(MPI_UNDEFINED, undefined);
    NUMBER(MPI_ERR_IN_STATUS, err_in_status);
    NUMBER(MPI_ERR_UNSUPPORTED_OPERATION, err_unsupported);
    NUMBER(MPI_ERR_TRUNCATE, err_truncate);
    NUMBER(MPI_ERR_ARG, err_arg);
    compare("classes of wrong arguments", MPI_ERR_BUFFER == 1 && MPI_ERR_COMM <= abi->err_arg &&
            MPI_ERR_COUNT <= abi->err_arg && MPI_ERR_TYPE <= abi->err_arg &&
            MPI_ERR_ROOT <= abi->err_arg && MPI_ERR_OP <= abi->err_arg &&
            MPI_ERR_GROUP <= abi->err_arg && MPI_ERR_TOPOLOGY <= abi->err_arg &&
            MPI_ERR_DIMS <= abi->err_arg && MPI_ERR_TRUNCATE > abi->err_arg &&
            MPI_ERR_OTHER > abi->err_arg && MPI_ERR_INTERN > abi->err_arg, 1);
    POINTER(MPI_STATUS_IGNORE, status_ignore);
    POINTER(MPI_STATUSES_IGNORE, statuses_ignore);
    POINTER(MPI_IN_PLACE, in_place);
    HANDLE(MPI_COMM_WORLD, comm_world);
    HANDLE(MPI_COMM_SELF, comm_self);
    HANDLE(MPI_COMM_NULL, comm_null);
    HANDLE(MPI_REQUEST_NULL, request_null);
    HANDLE(MPI_BYTE, datatype_byte);
    HANDLE(MPI_DATATYPE_NULL, datatype_null);
#ifdef MPI_NO_OP
    HANDLE(MPI_NO_OP, op_no_op);
#endif
    compare("MPI_SUCCESS", MPI_SUCCESS, 0);
    compare("MPI_ERROR class of MPI_SUCCESS", abi->error_class(MPI_SUCCESS), MPI_SUCCESS);
}

/* What the descriptor reads out of a status against what MPI says of it. A descriptor may answer
 * -1, "only MPI can tell", to every status, but not to some. */
static void compare_status(const char *what, const MPI_Status *status, long long bytes,
                           int cancelled)
{
    char text[128];
    snprintf(text, sizeof text, "%s: bytes", what);
    if (abi->status_bytes(status) != -1)
        compare(text, abi->status_bytes(status), bytes);
    snprintf(text, sizeof text, "%s: cancelled", what);
    if (abi->status_cancelled(status) != -1)
        compare(text, abi->status_cancelled(status), cancelled);
}

static void check_received(int bytes)
{
    static char sent[100000], received[100000];
    char what[64];
    MPI_Status status;
    memset(&status, 0xff, sizeof status);
    MPI_Sendrecv(sent, bytes, MPI_BYTE, 0, 7, received, sizeof received, MPI_BYTE, MPI_ANY_SOURCE,
                 MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    snprintf(what, sizeof what, "status of %d bytes", bytes);
    compare_status(what, &status, bytes, 0);
    compare("  source", mw_abi_status_int(&status, abi->status_source), 0);
    compare("  tag", mw_abi_status_int(&status, abi->status_tag), 7);
}

static void check_live_statuses(void)
{
    const MPI_Count large = ((MPI_Count)5 << 30) + 3; /* needs more than 32 bits */
    MPI_Status status;
    check_received(0);
    check_received(1);
    check_received(99999);

    memset(&status, 0, sizeof status);
    MPI_Status_set_elements_x(&status, MPI_BYTE, large);
    MPI_Status_set_cancelled(&status, 0);
    compare_status("large status", &status, large, 0);
    MPI_Status_set_cancelled(&status, 1);
    compare_status("cancelled status", &status, large, 1);
}

static void compare_class(const char *what, int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    printf("%s returned %#x\n", what, (unsigned)code);
    compare("  its class", class, abi->error_class(code));
    if (code == MPI_SUCCESS) {
        printf("DIFFERENT: that call should have failed\n");
        different = 1;
    }
}

static void check_live_errors(void)
{
    char buffer[8] = "";
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    compare_class("a send to rank 99", MPI_Send(buffer, 1, MPI_BYTE, 99, 0, MPI_COMM_WORLD));
    compare_class("a send with tag -77", MPI_Send(buffer, 1, MPI_BYTE, 0, -77, MPI_COMM_WORLD));
    compare_class("a send of -5 bytes", MPI_Send(buffer, -5, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
    compare_class("a send of no type",
                  MPI_Send(buffer, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD));
    compare_class("a broadcast from rank 99", MPI_Bcast(buffer, 1, MPI_BYTE, 99, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    printf("descriptor: %s\n", abi->name);
    check_widths();
    check_status();
    check_constants();
    if (argc > 1 && strcmp(argv[1], "live") == 0) {
        MPI_Init(&argc, &argv);
        check_live_statuses();
        check_live_errors();
        MPI_Finalize();
    }
    return different;
}
