! SPDX-License-Identifier: BSD-3-Clause
!
! The calls of calls.c in Fortran, in the same order, through the binding that BINDING names: 1
! mpif.h, 2 use mpi, 3 use mpi_f08. What ought to be recorded is what calls.c writes down.
!
#if BINDING == 3
#define COMM_T type(MPI_Comm)
#define GROUP_T type(MPI_Group)
#define REQUEST_T type(MPI_Request)
#define TYPE_T type(MPI_Datatype)
#define MESSAGE_T type(MPI_Message)
#define STATUS_T type(MPI_Status)
#define STATUSES_T(n) type(MPI_Status), dimension(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#else
#define COMM_T integer
#define GROUP_T integer
#define REQUEST_T integer
#define TYPE_T integer
#define MESSAGE_T integer
#define STATUS_T integer, dimension(MPI_STATUS_SIZE)
#define STATUSES_T(n) integer, dimension(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#if BINDING == 2
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#endif
#endif

module shared
    implicit none
    integer, parameter :: n = 10
    integer, asynchronous :: a(0:4*n-1), b(0:4*n-1), c(0:4*n-1)
    integer :: rank, nranks, right, left, err
    integer(8) :: total_sum = 0
contains
    subroutine fill(count, seed)
        integer, intent(in) :: count, seed
        integer :: i
        do i = 0, count - 1
            a(i) = seed * 1000 + i
        end do
    end subroutine
    subroutine add(count)
        integer, intent(in) :: count
        integer :: i
        do i = 0, count - 1
            total_sum = total_sum + b(i)
        end do
    end subroutine
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (.not. good) then
            write (0, *) 'not so: ', what
            stop 91
        end if
    end subroutine
end module

subroutine blocking_sends
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    STATUS_T :: status
    REQUEST_T :: request
    integer, asynchronous, save :: buffer(4 * n + 4 * 128)
    integer :: bytes
    call fill(n, rank)
#if BINDING == 3
    block
        use, intrinsic :: iso_c_binding
        type(c_ptr) :: detached
        call MPI_Buffer_attach(buffer, 4 * size(buffer), err)
        call work
        call MPI_Buffer_detach(detached, bytes, err)
    end block
#else
    call MPI_Buffer_attach(buffer, 4 * size(buffer), err)
    call work
    call MPI_Buffer_detach(buffer, bytes, err)
#endif
contains
    subroutine work
        if (mod(rank, 2) == 0) then
            call MPI_Send(a, n, MPI_INTEGER, right, 1, MPI_COMM_WORLD, err)
            call MPI_Bsend(a, n, MPI_INTEGER, right, 2, MPI_COMM_WORLD, err)
            call MPI_Ssend(a, n - 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, err)
            call MPI_Recv(b, 1, MPI_INTEGER, right, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, err)
            call MPI_Rsend(a, n, MPI_INTEGER, right, 4, MPI_COMM_WORLD, err)
        else
            call MPI_Recv(b, n, MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, err)
            call MPI_Recv(b, n, MPI_INTEGER, left, MPI_ANY_TAG, MPI_COMM_WORLD, &
                              MPI_STATUS_IGNORE, err)
            call MPI_Recv(b, n, MPI_INTEGER, left, 3, MPI_COMM_WORLD, status, err)
            call check(SOURCE_OF(status) == left .and. TAG_OF(status) == 3, 'status of tag 3')
            call MPI_Irecv(b, n, MPI_INTEGER, left, 4, MPI_COMM_WORLD, request, err)
            call MPI_Send(a, 1, MPI_INTEGER, left, 9, MPI_COMM_WORLD, err)
            call MPI_Wait(request, MPI_STATUS_IGNORE, err)
        end if
        call add(n)
    end subroutine
end subroutine

subroutine start_pair(request, tag)
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    REQUEST_T :: request(2)
    integer :: tag
    call MPI_Irecv(b(mod(tag, 4) * n), n, MPI_INTEGER, left, tag, MPI_COMM_WORLD, request(1), err)
    call MPI_Isend(a, n, MPI_INTEGER, right, tag, MPI_COMM_WORLD, request(2), err)
end subroutine

subroutine nonblocking
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    interface
        subroutine start_pair(request, tag)
            USE_MPI
            REQUEST_T :: request(2)
            integer :: tag
        end subroutine
    end interface
    REQUEST_T :: request(4)
    STATUS_T :: status
    STATUSES_T(4) :: statuses
    integer :: i, where, done, count, indices(4)
    logical :: flag

    call start_pair(request, 20)
    call MPI_Wait(request(1), status, err)
    call check(SOURCE_OF(status) == left .and. TAG_OF(status) == 20, 'status of tag 20')
    call MPI_Wait(request(2), MPI_STATUS_IGNORE, err)

    call start_pair(request, 21)
    call start_pair(request(3:4), 22)
    call MPI_Waitall(4, request, MPI_STATUSES_IGNORE, err)

    call start_pair(request, 23)
    call MPI_Waitall(2, request, statuses, err)
#if BINDING == 3
    call check(statuses(1)%MPI_SOURCE == left, 'status of tag 23')
#else
    call check(statuses(MPI_SOURCE, 1) == left, 'status of tag 23')
#endif

    call start_pair(request, 24)
    call start_pair(request(3:4), 25)
    do i = 1, 4
        call MPI_Waitany(4, request, where, MPI_STATUS_IGNORE, err)
    end do
    call MPI_Waitany(4, request, where, MPI_STATUS_IGNORE, err)
    call check(where < 1, 'no request left') ! MPICH 4.0's older bindings give MPI_UNDEFINED + 1

    call start_pair(request, 26)
    done = 0
    do while (done < 2)
        call MPI_Waitsome(2, request, count, indices, MPI_STATUSES_IGNORE, err)
        done = done + count
    end do

    call start_pair(request, 27)
    do i = 1, 2
        flag = .false.
        do while (.not. flag)
            call MPI_Test(request(i), flag, MPI_STATUS_IGNORE, err)
        end do
    end do

    call start_pair(request, 28)
    done = 0
    do while (done < 2)
        call MPI_Testany(2, request, where, flag, MPI_STATUS_IGNORE, err)
        if (flag) done = done + 1
    end do

    call start_pair(request, 29)
    done = 0
    do while (done < 2)
        call MPI_Testsome(2, request, count, indices, MPI_STATUSES_IGNORE, err)
        done = done + count
    end do

    call start_pair(request, 30)
    flag = .false.
    do while (.not. flag)
        call MPI_Testall(2, request, flag, MPI_STATUSES_IGNORE, err)
    end do

    call MPI_Irecv(b, n, MPI_INTEGER, left, 31, MPI_COMM_WORLD, request(1), err)
    call MPI_Ibsend(a, 0, MPI_INTEGER, MPI_PROC_NULL, 31, MPI_COMM_WORLD, request(2), err)
    call MPI_Issend(a, n, MPI_INTEGER, right, 31, MPI_COMM_WORLD, request(3), err)
    call MPI_Waitall(3, request, MPI_STATUSES_IGNORE, err)

    call MPI_Isend(a, n, MPI_INTEGER, right, 32, MPI_COMM_WORLD, request(1), err)
    call MPI_Request_free(request(1), err)
    call MPI_Recv(b, n, MPI_INTEGER, left, 32, MPI_COMM_WORLD, MPI_STATUS_IGNORE, err)

    call MPI_Irecv(c, n, MPI_INTEGER, left, 999, MPI_COMM_WORLD, request(1), err)
    call MPI_Cancel(request(1), err)
    call MPI_Wait(request(1), status, err)
    call MPI_Test_cancelled(status, flag, err)
    call check(flag, 'cancelled')
    call add(4 * n)
end subroutine

subroutine wildcards
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    REQUEST_T :: request(2)
    STATUS_T :: status
    logical :: flag

    call MPI_Isend(a, n, MPI_INTEGER, right, 40, MPI_COMM_WORLD, request(2), err)
    call MPI_Recv(b, 4 * n, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, err)
    call MPI_Wait(request(2), MPI_STATUS_IGNORE, err)
    call MPI_Barrier(MPI_COMM_WORLD, err)

    call MPI_Irecv(b, 4 * n, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                      request(1), err)
    call MPI_Isend(a, n, MPI_INTEGER, right, 41, MPI_COMM_WORLD, request(2), err)
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, err)
    call MPI_Barrier(MPI_COMM_WORLD, err)

    call MPI_Isend(a, n, MPI_INTEGER, right, 42, MPI_COMM_WORLD, request(2), err)
    call MPI_Probe(MPI_ANY_SOURCE, 42, MPI_COMM_WORLD, status, err)
    call check(SOURCE_OF(status) == left, 'probe')
    flag = .false.
    do while (.not. flag)
        call MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, flag, status, err)
    end do
    call MPI_Recv(b, n, MPI_INTEGER, left, 42, MPI_COMM_WORLD, status, err)
    call MPI_Wait(request(2), MPI_STATUS_IGNORE, err)
    call add(n)
end subroutine

subroutine matched_probes
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    REQUEST_T :: request(2)
    MESSAGE_T :: message
    logical :: flag
    integer :: tag

    do tag = 43, 44
        call MPI_Isend(a, n, MPI_INTEGER, right, tag, MPI_COMM_WORLD, request(2), err)
        if (tag == 43) then
            call MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, err)
            call MPI_Mrecv(b, n, MPI_INTEGER, message, MPI_STATUS_IGNORE, err)
        else
            flag = .false.
            do while (.not. flag)
                call MPI_Improbe(left, MPI_ANY_TAG, MPI_COMM_WORLD, flag, message, &
                                  MPI_STATUS_IGNORE, err)
            end do
            call MPI_Imrecv(b, n, MPI_INTEGER, message, request(1), err)
            call MPI_Wait(request(1), MPI_STATUS_IGNORE, err)
        end if
        call MPI_Wait(request(2), MPI_STATUS_IGNORE, err)
        call add(n)
    end do
end subroutine

subroutine exchanges
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    TYPE_T :: column
    STATUS_T :: status

    call MPI_Sendrecv(a, n, MPI_INTEGER, right, 50, b, n, MPI_INTEGER, left, 50, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, err)
    call MPI_Sendrecv(a, n - 2, MPI_INTEGER, right, 51, b, n, MPI_INTEGER, MPI_ANY_SOURCE, &
                      MPI_ANY_TAG, MPI_COMM_WORLD, &
                      status, err)
    call check(SOURCE_OF(status) == left, 'sendrecv')
    call MPI_Barrier(MPI_COMM_WORLD, err)
    call MPI_Sendrecv_replace(b, n, MPI_INTEGER, left, 52, right, 52, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, err)
    call add(n)

    call MPI_Type_vector(5, 1, 2, MPI_INTEGER, column, err)
    call MPI_Type_commit(column, err)
    call MPI_Sendrecv(a, 2, column, right, 53, b, n, MPI_INTEGER, left, 53, MPI_COMM_WORLD, &
                      status, err)
    call MPI_Type_free(column, err)
    call add(n)

    call MPI_Send(a, n, MPI_INTEGER, MPI_PROC_NULL, 54, MPI_COMM_WORLD, err)
    call MPI_Recv(b, n, MPI_INTEGER, MPI_PROC_NULL, 54, MPI_COMM_WORLD, MPI_STATUS_IGNORE, err)
end subroutine

subroutine persistent
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    REQUEST_T :: request(2)
    integer :: i

    call MPI_Recv_init(b, n, MPI_INTEGER, left, 60, MPI_COMM_WORLD, request(1), err)
    call MPI_Send_init(a, n, MPI_INTEGER, right, 60, MPI_COMM_WORLD, request(2), err)
    do i = 0, 2
        if (i < 2) then
            call MPI_Startall(2, request, err)
        else
            call MPI_Start(request(1), err)
            call MPI_Start(request(2), err)
        end if
        call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, err)
        call add(n)
    end do
    call MPI_Request_free(request(1), err)
    call MPI_Request_free(request(2), err)
end subroutine

subroutine collectives(comm)
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    COMM_T :: comm
    TYPE_T :: types(0:3)
    REQUEST_T :: request
    integer :: me, np, i, counts(0:3), displs(0:3), receive(0:3), where(0:3)
    integer, parameter :: root = 1

    call MPI_Comm_rank(comm, me, err)
    call MPI_Comm_size(comm, np, err)
    do i = 0, np - 1
        counts(i) = i + 1
        displs(i) = i * (i + 1) / 2
        types(i) = MPI_INTEGER
        receive(i) = me + 1
        where(i) = i * (me + 1)
    end do

    call MPI_Barrier(comm, err)
    call MPI_Bcast(b, n, MPI_INTEGER, root, comm, err)
    call MPI_Reduce(a, b, n, MPI_INTEGER, MPI_SUM, root, comm, err)
    call MPI_Allreduce(a, b, n, MPI_INTEGER, MPI_SUM, comm, err)
    call add(n)
    call MPI_Allreduce(MPI_IN_PLACE, b, n, MPI_INTEGER, MPI_MAX, comm, err)
    call MPI_Scan(a, b, n, MPI_INTEGER, MPI_SUM, comm, err)
    call MPI_Exscan(a, b, n, MPI_INTEGER, MPI_SUM, comm, err)
    call MPI_Gather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, root, comm, err)
    call MPI_Gatherv(a, me + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, root, comm, err)
    call MPI_Scatter(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, root, comm, err)
    call MPI_Scatterv(a, counts, displs, MPI_INTEGER, b, me + 1, MPI_INTEGER, root, comm, err)
    call MPI_Allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, comm, err)
    call MPI_Allgatherv(a, me + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, comm, err)
    call MPI_Alltoall(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, comm, err)
    call add(2 * np)
    call MPI_Alltoallv(a, counts, displs, MPI_INTEGER, b, receive, where, MPI_INTEGER, comm, err)
    displs = displs * 4
    where = where * 4
    call MPI_Alltoallw(a, counts, displs, types, b, receive, where, types, comm, err)
    call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, comm, err)
    call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, comm, err)
    call add(me + 1)

    call MPI_Ibarrier(comm, request, err)
    call MPI_Wait(request, MPI_STATUS_IGNORE, err)
    call MPI_Ibcast(b, n, MPI_INTEGER, root, comm, request, err)
    call MPI_Wait(request, MPI_STATUS_IGNORE, err)
    call MPI_Iallreduce(a, b, n, MPI_INTEGER, MPI_SUM, comm, request, err)
    call MPI_Wait(request, MPI_STATUS_IGNORE, err)
    call add(n)
    call MPI_Ialltoall(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, comm, request, err)
    call MPI_Wait(request, MPI_STATUS_IGNORE, err)
end subroutine

subroutine around(comm, tag)
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    COMM_T :: comm
    integer :: tag, me, np
    call MPI_Comm_rank(comm, me, err)
    call MPI_Comm_size(comm, np, err)
    call MPI_Sendrecv(a, n, MPI_INTEGER, mod(me + 1, np), tag, b, n, MPI_INTEGER, &
                      mod(me + np - 1, np), tag, comm, &
                      MPI_STATUS_IGNORE, err)
    call add(n)
end subroutine

subroutine communicators
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    interface
        subroutine around(comm, tag)
            USE_MPI
            COMM_T :: comm
            integer :: tag
        end subroutine
        subroutine collectives(comm)
            USE_MPI
            COMM_T :: comm
        end subroutine
    end interface
    COMM_T :: dup, split, sub, cart, row, graph, dist, half, inter, merged, other, node
    GROUP_T :: all, pair
    REQUEST_T :: request
    integer :: vertices(4), edges(4), key, colour, leader, sources(1), targets(1)
    logical :: swap

    call MPI_Comm_dup(MPI_COMM_WORLD, dup, err)
    call around(dup, 70)
    call MPI_Comm_idup(MPI_COMM_WORLD, other, request, err)
    call MPI_Wait(request, MPI_STATUS_IGNORE, err)
    call around(other, 71)
    call MPI_Comm_free(other, err)

    key = -rank
    call MPI_Comm_split(dup, mod(rank, 2), key, split, err)
    call around(split, 72)
    call collectives(split)
    call MPI_Comm_free(split, err)
    colour = 1
    if (rank == 3) colour = MPI_UNDEFINED
    call MPI_Comm_split(MPI_COMM_WORLD, colour, 0, split, err)
    if (rank == 3) then
        call check(split == MPI_COMM_NULL, 'no communicator')
    else
        call around(split, 73)
        call MPI_Comm_free(split, err)
    end if
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, err)
    call around(node, 74)
    call MPI_Comm_free(node, err)

    call MPI_Comm_group(MPI_COMM_WORLD, all, err)
    call MPI_Group_incl(all, 2, [0, 2], pair, err)
    call MPI_Comm_create(MPI_COMM_WORLD, pair, sub, err)
    if (mod(rank, 2) == 0) then
        call around(sub, 75)
        call MPI_Comm_free(sub, err)
        call MPI_Comm_create_group(MPI_COMM_WORLD, pair, 5, sub, err)
        call around(sub, 76)
        call MPI_Comm_free(sub, err)
    end if
    call MPI_Group_free(pair, err)
    call MPI_Group_free(all, err)

    call MPI_Cart_create(MPI_COMM_WORLD, 2, [2, 2], [.true., .true.], .false., cart, err)
    call around(cart, 77)
    call MPI_Cart_sub(cart, [.false., .true.], row, err)
    call around(row, 78)
    call MPI_Neighbor_allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, cart, err)
    call MPI_Neighbor_alltoall(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, cart, err)
    call MPI_Comm_free(row, err)
    call MPI_Comm_free(cart, err)

    vertices = [1, 2, 3, 4]
    edges = [1, 0, 3, 2]
    call MPI_Graph_create(MPI_COMM_WORLD, 4, vertices, edges, .false., graph, err)
    call around(graph, 79)
    call MPI_Comm_free(graph, err)
    sources(1) = left
    targets(1) = right
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, &
                      MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., dist, err)
    call MPI_Neighbor_allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, dist, err)
    call add(2)
    call MPI_Comm_free(dist, err)

    call MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, half, err)
    leader = 2
    if (rank >= 2) leader = 0
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, 80, inter, err)
    call MPI_Sendrecv(a, n, MPI_INTEGER, mod(rank, 2), 81, b, n, MPI_INTEGER, mod(rank, 2), 81, &
                      inter, &
                      MPI_STATUS_IGNORE, err)
    call add(n)
    swap = rank >= 2
    call MPI_Intercomm_merge(inter, swap, merged, err)
    call around(merged, 82)
    call MPI_Comm_free(merged, err)
    call MPI_Comm_free(inter, err)
    call MPI_Comm_free(half, err)

    call MPI_Sendrecv(a, n, MPI_INTEGER, 0, 83, b, n, MPI_INTEGER, 0, 83, MPI_COMM_SELF, &
                      MPI_STATUS_IGNORE, err)
    call MPI_Comm_free(dup, err)
end subroutine

program calls
    use shared
    USE_MPI
    implicit none
    INCLUDE_MPI
    interface
        subroutine collectives(comm)
            USE_MPI
            COMM_T :: comm
        end subroutine
    end interface
    integer(8) :: total

    call MPI_Init(err)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
    call MPI_Comm_size(MPI_COMM_WORLD, nranks, err)
    call check(nranks == 4, 'four ranks')
    right = mod(rank + 1, nranks)
    left = mod(rank + nranks - 1, nranks)
    call fill(4 * n, rank)

    call blocking_sends
    call nonblocking
    call wildcards
    call matched_probes
    call exchanges
    call persistent
    call collectives(MPI_COMM_WORLD)
    call communicators

    call MPI_Reduce(total_sum, total, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, err)
    if (rank == 0) write (*, '(a,i0)') 'checksum ', total
    call MPI_Finalize(err)
end program
