/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that no other program makes, of communicators, windows, memory and generalised requests; two ranks. Every call
 * is written down (expect.h).
 */
#include <string.h>

#include "expect.h"

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, other;
static MPI_Info info;

/* A message to the other one over a communicator tells how it came to be. */
static void say(MPI_Comm comm, const char *how)
{
    int value = 7 + rank, got;
    MPI_Sendrecv(&value, 1, MPI_INT, other, 1, &got, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv | SEND peer=%d tag=1 bytes=4 comm=%s | RECV peer=%d tag=1 in=4 comm=%s", other, how, other,
           how);
    CHECK(got == 7 + other);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free");
}

static void with_info(void)
{
    MPI_Comm comm;
    MPI_Info given;
    MPI_Comm_dup_with_info(world, info, &comm);
    expect("MPI_Comm_dup_with_info");
    MPI_Comm_set_info(comm, info);
    expect("MPI_Comm_set_info");
    CALL(MPI_Comm_get_info)(comm, &given);
    CALL(MPI_Info_free)(&given);
    say(comm, "dup");
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Comm_idup_with_info(world, info, &comm, &request);
    expect("MPI_Comm_idup_with_info");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("MPI_Wait | DONE of=MPI_Comm_idup_with_info");
    say(comm, "dup");
#endif
}

static void graph(void)
{
    MPI_Comm comm;
    int source = rank, degree = 1, to = other, in, out, weighted, sources[1], destinations[1];
    MPI_Dist_graph_create(world, 1, &source, &degree, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    expect("MPI_Dist_graph_create");
    CALL(MPI_Dist_graph_neighbors_count)(comm, &in, &out, &weighted);
    CHECK(in == 1 && out == 1);
    CALL(MPI_Dist_graph_neighbors)(comm, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED);
    CHECK(sources[0] == other && destinations[0] == other);
    int value = rank, got;
    MPI_Neighbor_alltoall(&value, 1, MPI_INT, &got, 1, MPI_INT, comm);
    expect("MPI_Neighbor_alltoall | COLL root=-1 out=4 in=4 comm=dist_graph");
    CHECK(got == other);
    say(comm, "dist_graph");
}

static void memory(void)
{
    MPI_Win window;
    MPI_Info given;
    MPI_Group group;
    MPI_Comm half;
    char name[MPI_MAX_OBJECT_NAME], *room;
    int length, size;
    MPI_Comm_split(world, 0, rank, &half); /* Open MPI makes no window of MPI_COMM_SELF */
    expect("MPI_Comm_split");
    MPI_Alloc_mem(64, info, &room);
    expect("MPI_Alloc_mem");
    memset(room, 1, 64);
    MPI_Win_create(room, 64, 1, MPI_INFO_NULL, half, &window);
    expect("MPI_Win_create | COLL root=-1 out=0 in=0 comm=split");
    MPI_Win_set_info(window, info);
    expect("MPI_Win_set_info");
    CALL(MPI_Win_set_name)(window, "room");
    CALL(MPI_Win_get_name)(window, name, &length);
    CALL(MPI_Win_get_info)(window, &given);
    CALL(MPI_Info_free)(&given);
    CALL(MPI_Win_get_group)(window, &group);
    CALL(MPI_Group_size)(group, &size);
    CALL(MPI_Group_free)(&group);
    CHECK(size == 2 && strcmp(name, "room") == 0);
#ifndef MPI_Win_c2f /* a macro in MPICH */
    CHECK(CALL(MPI_Win_f2c)(CALL(MPI_Win_c2f)(window)) == window);
#endif
    MPI_Win_free(&window);
    expect("MPI_Win_free | EPOCH collective peer=-1 window=0 comm=split");
    MPI_Free_mem(room);
    expect("MPI_Free_mem");
    MPI_Comm_free(&half);
    expect("MPI_Comm_free");
}

static int query(void *state, MPI_Status *status)
{
    CALL(MPI_Status_set_elements)(status, MPI_BYTE, *(int *)state);
    CALL(MPI_Status_set_elements_x)(status, MPI_BYTE, *(int *)state);
    CALL(MPI_Status_set_cancelled)(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int released(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    return state && complete ? MPI_SUCCESS : MPI_SUCCESS;
}

static void own_request(void)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Count many;
    int state = 12, count;
    MPI_Grequest_start(query, released, cancel, &state, &request);
    expect("MPI_Grequest_start");
    MPI_Grequest_complete(request);
    expect("MPI_Grequest_complete");
    MPI_Wait(&request, &status);
    expect("MPI_Wait");
    CHECK(state == -1);
    CALL(MPI_Get_elements)(&status, MPI_BYTE, &count);
    CALL(MPI_Get_elements_x)(&status, MPI_BYTE, &many);
    CHECK(count == 12 && many == 12);
#if MPI_VERSION >= 4
    CALL(MPI_Get_elements_c)(&status, MPI_BYTE, &many);
    CHECK(many == 12);
    CALL(MPI_Get_count_c)(&status, MPI_BYTE, &many);
    CHECK(many == 12);
#endif
}

#if MPI_VERSION >= 4
static int handled;

static void note(MPI_Session *session, int *code, ...)
{
    handled += session && *code != MPI_SUCCESS;
}

static void sessions(void)
{
    MPI_Session session;
    MPI_Group all, own, remote;
    MPI_Info given;
    MPI_Comm comm;
    MPI_Errhandler handler;
    char name[MPI_MAX_PSET_NAME_LEN];
    int sets, length = sizeof name, members[2] = {0, 1};
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    expect("MPI_Session_init");
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    expect("MPI_Session_get_num_psets");
    CHECK(sets >= 2);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    expect("MPI_Session_get_nth_pset");
    MPI_Session_get_pset_info(session, name, &given);
    expect("MPI_Session_get_pset_info");
    CALL(MPI_Info_free)(&given);
    CALL(MPI_Session_get_info)(session, &given);
    CALL(MPI_Info_free)(&given);
    CALL(MPI_Session_get_errhandler)(session, &handler);
    CALL(MPI_Session_set_errhandler)(session, handler);
    CALL(MPI_Errhandler_free)(&handler);
    CALL(MPI_Session_create_errhandler)(note, &handler);
    CALL(MPI_Session_set_errhandler)(session, handler);
    CALL(MPI_Session_call_errhandler)(session, MPI_ERR_OTHER);
    CALL(MPI_Errhandler_free)(&handler);
    CHECK(handled == 1);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    CALL(MPI_Group_incl)(all, 1, &members[rank], &own);
    CALL(MPI_Group_incl)(all, 1, &members[other], &remote);
    MPI_Intercomm_create_from_groups(own, 0, remote, 0, "mwtest", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    expect("MPI_Intercomm_create_from_groups");
    int value = rank, got;
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 2, &got, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
    expect("MPI_Sendrecv | SEND peer=%d tag=2 bytes=4 comm=from_group | RECV peer=%d tag=2 in=4 comm=from_group", other,
           other);
    CHECK(got == other);
    MPI_Comm_free(&comm);
    expect("MPI_Comm_free");
    CALL(MPI_Group_free)(&own);
    CALL(MPI_Group_free)(&remote);
    CALL(MPI_Group_free)(&all);
    MPI_Session_finalize(&session);
    expect("MPI_Session_finalize");
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    expect_open(rank);
    expect("MPI_Init");
    other = 1 - rank;
    CALL(MPI_Info_create)(&info);
    CALL(MPI_Info_set)(info, "no_locks", "false");
    with_info();
    graph();
    memory();
    own_request();
#if MPI_VERSION >= 4
    sessions();
#endif
    CALL(MPI_Info_free)(&info);
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    expect("MPI_Finalize");
    return 0;
}
