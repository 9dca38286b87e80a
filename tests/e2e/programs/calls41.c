/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that came with MPI-4.1 and MPI-5.0, on two ranks, each written down (expect.h): buffers of a communicator and of a
 * session, questions about several requests, parts of a status, handles as integers. 77 where the MPI is older.
 */
#include "expect.h"

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
enum { N = 10, BYTES = 4 * N, ROOM = 4096 };

static int rank, other, a[N], b[N];
static char buffer[ROOM];
static MPI_Request request;

/* A buffered send and its receive, over a communicator. */
static void buffered(MPI_Comm comm, const char *how)
{
    MPI_Bsend(a, N, MPI_INT, other, 1, comm);
    expect("MPI_Bsend | SEND peer=%d tag=1 bytes=%d comm=%s mode=BUFFERED", other, BYTES, how);
    MPI_Recv(b, N, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE);
    expect("MPI_Recv | RECV peer=%d tag=1 in=%d comm=%s", other, BYTES, how);
    CHECK(b[1] == 1);
}

/* The end of what an MPI_*_iflush_buffer began. */
static void flushed(const char *name)
{
    expect("%s", name);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait any-effects");
}

static void of_all(void)
{
    void *place;
    int size;
    MPI_Buffer_attach(buffer, ROOM);
    buffered(MPI_COMM_WORLD, "world");
    MPI_Buffer_flush();
    expect("MPI_Buffer_flush");
    MPI_Buffer_iflush(&request);
    flushed("MPI_Buffer_iflush");
    MPI_Buffer_detach(&place, &size);
    CHECK(place == buffer && size == ROOM);
}

static void of_communicator(void)
{
    MPI_Comm comm;
    void *place;
    int size;
    MPI_Count large;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect("MPI_Comm_dup");
    CALL(MPI_Comm_attach_buffer)(comm, buffer, ROOM);
    buffered(comm, "dup");
    MPI_Comm_flush_buffer(comm);
    expect("MPI_Comm_flush_buffer");
    MPI_Comm_iflush_buffer(comm, &request);
    flushed("MPI_Comm_iflush_buffer");
    MPI_Comm_detach_buffer(comm, &place, &size);
    expect("MPI_Comm_detach_buffer");
    CHECK(place == buffer && size == ROOM);
    CALL(MPI_Comm_attach_buffer_c)(comm, buffer, ROOM);
    MPI_Comm_detach_buffer_c(comm, &place, &large);
    expect("MPI_Comm_detach_buffer_c");
    CHECK(large == ROOM);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free");
}

static void of_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    void *place;
    int size;
    MPI_Count large;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    expect("MPI_Session_init");
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "mwtest", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    expect("MPI_Comm_create_from_group");
    MPI_Group_free(&group);
    CALL(MPI_Session_attach_buffer)(session, buffer, ROOM);
    buffered(comm, "from_group");
    MPI_Session_flush_buffer(session);
    expect("MPI_Session_flush_buffer");
    MPI_Session_iflush_buffer(session, &request);
    flushed("MPI_Session_iflush_buffer");
    MPI_Session_detach_buffer(session, &place, &size);
    expect("MPI_Session_detach_buffer");
    CALL(MPI_Session_attach_buffer_c)(session, buffer, ROOM);
    MPI_Session_detach_buffer_c(session, &place, &large);
    expect("MPI_Session_detach_buffer_c");
    CHECK(size == ROOM && large == ROOM);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free");
    MPI_Session_finalize(&session);
    expect("MPI_Session_finalize");
}

static void several_requests(void)
{
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    int flag = 0, index, count = 0, indices[2], source, tag, code;
    MPI_Irecv(b, N, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[0]);
    expect("MPI_Irecv | RECV peer=%d tag=2 in=%d comm=world request", other, BYTES);
    MPI_Isend(a, N, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[1]);
    expect("MPI_Isend | SEND peer=%d tag=2 bytes=%d comm=world request", other, BYTES);
    while (!flag)
        CALL(MPI_Request_get_status_all)(2, requests, &flag, statuses);
    CALL(MPI_Request_get_status_any)(2, requests, &index, &flag, &status);
    CALL(MPI_Request_get_status_some)(2, requests, &count, indices, statuses);
    CHECK(flag && count == 2);
    MPI_Waitall(2, requests, statuses);
    expect("MPI_Waitall | DONE of=MPI_Irecv peer=%d tag=2 in!=%d | DONE of=MPI_Isend peer=%d tag=2", other, BYTES, other);
    CALL(MPI_Status_get_source)(&statuses[0], &source);
    CALL(MPI_Status_get_tag)(&statuses[0], &tag);
    CALL(MPI_Status_get_error)(&statuses[0], &code);
    CHECK(source == other && tag == 2);
    CALL(MPI_Status_set_source)(&statuses[0], 5);
    CALL(MPI_Status_set_tag)(&statuses[0], 6);
    CALL(MPI_Status_set_error)(&statuses[0], MPI_SUCCESS);
    CHECK(statuses[0].MPI_SOURCE == 5 && statuses[0].MPI_TAG == 6);
}

static void answers(void)
{
    MPI_Datatype pair;
    MPI_Info info;
    int class, code;
    CALL(MPI_Type_get_value_index)(MPI_DOUBLE, MPI_INT, &pair);
    CHECK(pair == MPI_DOUBLE_INT);
    CALL(MPI_Get_hw_resource_info)(&info);
    CALL(MPI_Info_free)(&info);
    CALL(MPI_Add_error_class)(&class);
    CALL(MPI_Add_error_code)(class, &code);
    CALL(MPI_Add_error_string)(code, "soup");
    CALL(MPI_Remove_error_string)(code);
    CALL(MPI_Remove_error_code)(code);
    CALL(MPI_Remove_error_class)(class);
}

#if MPI_VERSION >= 5
static void integers(void)
{
    int major, minor;
    CALL(MPI_Abi_get_version)(&major, &minor);
    CHECK(CALL(MPI_Comm_fromint)(CALL(MPI_Comm_toint)(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(CALL(MPI_Type_fromint)(CALL(MPI_Type_toint)(MPI_INT)) == MPI_INT);
    CHECK(CALL(MPI_Op_fromint)(CALL(MPI_Op_toint)(MPI_SUM)) == MPI_SUM);
    CHECK(CALL(MPI_Group_fromint)(CALL(MPI_Group_toint)(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
    CHECK(CALL(MPI_Info_fromint)(CALL(MPI_Info_toint)(MPI_INFO_NULL)) == MPI_INFO_NULL);
    CHECK(CALL(MPI_Request_fromint)(CALL(MPI_Request_toint)(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(CALL(MPI_Message_fromint)(CALL(MPI_Message_toint)(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
    CHECK(CALL(MPI_Session_fromint)(CALL(MPI_Session_toint)(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    CHECK(CALL(MPI_Win_fromint)(CALL(MPI_Win_toint)(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(CALL(MPI_File_fromint)(CALL(MPI_File_toint)(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(CALL(MPI_Errhandler_fromint)(CALL(MPI_Errhandler_toint)(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect_open(rank);
    expect("MPI_Init");
    other = 1 - rank;
    for (int i = 0; i < N; i++)
        a[i] = i;
    of_all();
    of_communicator();
    of_session();
    several_requests();
    answers();
#if MPI_VERSION >= 5
    integers();
#endif
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    expect("MPI_Finalize");
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
