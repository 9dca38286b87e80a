! SPDX-License-Identifier: BSD-3-Clause
!
! Windows and files through use mpi_f08; every call is written down with what it moves, in the form
! of expect.h. MWTEST_EXPECT: prefix of the file to write it to, MWTEST_FILE: the file to use.
!
module recorded
    implicit none
    integer :: unit = 20
contains
    subroutine expect(text)
        character(*), intent(in) :: text
        write (unit, '(a)') text
        flush (unit)
    end subroutine
    function with(text, value) result(joined)
        character(*), intent(in) :: text
        integer, intent(in) :: value
        character(4200) :: joined
        character(20) :: digits
        write (digits, '(i0)') value
        joined = trim(text) // trim(digits)
    end function
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (.not. good) then
            write (0, *) 'not so: ', what
            stop 91
        end if
    end subroutine
end module

subroutine windows(rank, right, left)
    use mpi_f08
    use recorded
    use, intrinsic :: iso_c_binding
    implicit none
    integer, intent(in) :: rank, right, left
    integer, asynchronous, save :: memory(32), values(32), got(32)
    integer(MPI_ADDRESS_KIND), parameter :: none = 0, second = 4
    type(MPI_Win) :: window
    type(MPI_Request) :: request
    character(60), parameter :: place = ' window=0 comm=world'
    integer :: i
    values = [(100 * rank + i, i = 1, 32)]
    memory = -1
    call MPI_Win_create(memory, 128_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    call expect('MPI_Win_create | COLL root=-1 out=0 in=0 comm=world')
    call MPI_Win_fence(0, window)
    call expect('MPI_Win_fence | EPOCH collective peer=-1' // place)
    call MPI_Put(values, 4, MPI_INTEGER, right, none, 4, MPI_INTEGER, window)
    call expect(with('MPI_Put | RMA out=16 in=0 peer=', right))
    call MPI_Accumulate(values, 2, MPI_INTEGER, right, second, 2, MPI_INTEGER, MPI_REPLACE, window)
    call expect(with('MPI_Accumulate | RMA out=8 in=0 peer=', right))
    call MPI_Win_fence(0, window)
    call expect('MPI_Win_fence | EPOCH collective peer=-1' // place)
    call check(memory(4) == 100 * left + 4, 'what was put')
    call MPI_Win_lock_all(0, window)
    call expect('MPI_Win_lock_all | EPOCH peer=-1' // place)
    call MPI_Get(got, 3, MPI_INTEGER, right, none, 3, MPI_INTEGER, window)
    call expect(with('MPI_Get | RMA out=0 in=12 peer=', right))
    call MPI_Win_flush(right, window)
    call expect(with('MPI_Win_flush | EPOCH peer=', right))
    call check(got(3) == 100 * rank + 3, 'what was got')
    call MPI_Rput(values, 6, MPI_INTEGER, right, 8_MPI_ADDRESS_KIND, 6, MPI_INTEGER, window, request)
    call expect(with('MPI_Rput | RMA request out=24 in=0 peer=', right))
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect('MPI_Wait | DONE of=MPI_Rput')
    call MPI_Fetch_and_op(values, got, MPI_INTEGER, right, 20_MPI_ADDRESS_KIND, MPI_SUM, window)
    call expect(with('MPI_Fetch_and_op | RMA out=4 in=4 peer=', right))
    call MPI_Fetch_and_op(values, got, MPI_INTEGER, right, 20_MPI_ADDRESS_KIND, MPI_NO_OP, window)
    call expect(with('MPI_Fetch_and_op | RMA out=0 in=4 peer=', right))
    call MPI_Win_unlock_all(window)
    call expect('MPI_Win_unlock_all | EPOCH peer=-1' // place)
    call MPI_Win_free(window)
    call expect('MPI_Win_free | EPOCH collective peer=-1' // place)
end subroutine

subroutine files(rank, name)
    use mpi_f08
    use recorded
    implicit none
    integer, intent(in) :: rank
    character(*), intent(in) :: name
    integer, asynchronous, save :: values(16), got(16)
    integer(MPI_OFFSET_KIND) :: mine
    type(MPI_File) :: file
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status
    character(60), parameter :: place = ' file=0 comm=world'
    integer :: i
    values = [(100 * rank + i, i = 1, 16)]
    mine = 64 * rank
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR + MPI_MODE_CREATE, MPI_INFO_NULL, file)
    call expect('MPI_File_open | COLL root=-1 out=0 in=0 comm=world')
    call MPI_File_write_at_all(file, mine, values, 16, MPI_INTEGER, status)
    call expect(with('MPI_File_write_at_all | WRITE collective bytes=64' // trim(place) // ' offset=', &
                     64 * rank))
    call MPI_File_sync(file)
    call expect('MPI_File_sync | FILE collective' // place)
    call MPI_Barrier(MPI_COMM_WORLD)
    call expect('MPI_Barrier | COLL root=-1 out=0 in=0 comm=world')
    call MPI_File_sync(file)
    call expect('MPI_File_sync | FILE collective' // place)
    call MPI_File_read_at(file, mine, got, 5, MPI_INTEGER, MPI_STATUS_IGNORE)
    call expect(with('MPI_File_read_at | READ status bytes=20' // trim(place) // ' offset=', 64 * rank))
    call check(got(5) == 100 * rank + 5, 'what was read')
    call MPI_File_iwrite_at(file, mine, values, 2, MPI_INTEGER, requests(1))
    call expect(with('MPI_File_iwrite_at | WRITE request bytes=8' // trim(place) // ' offset=', &
                     64 * rank))
    call MPI_File_iread_at(file, mine + 32, got, 3, MPI_INTEGER, requests(2))
    call expect(with('MPI_File_iread_at | READ request bytes=12' // trim(place) // ' offset=', &
                     64 * rank + 32))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call expect('MPI_Waitall | DONE of=MPI_File_iwrite_at | DONE of=MPI_File_iread_at in!=12')
    call MPI_File_write_all_begin(file, values, 4, MPI_INTEGER)
    call expect('MPI_File_write_all_begin | WRITE request collective bytes=16' // place)
    call MPI_File_write_all_end(file, values, status)
    call expect('MPI_File_write_all_end | DONE collective of=MPI_File_write_all_begin')
    call MPI_File_close(file)
    call expect('MPI_File_close | FILE collective' // place)
end subroutine

program rma_io
    use mpi_f08
    use recorded
    implicit none
    integer :: rank, ranks
    character(4096) :: prefix, name
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call get_environment_variable('MWTEST_EXPECT', prefix)
    call get_environment_variable('MWTEST_FILE', name)
    open (unit, file=trim(with(trim(prefix) // '.', rank)))
    call expect('MPI_Init')
    call windows(rank, mod(rank + 1, ranks), mod(rank + ranks - 1, ranks))
    call files(rank, trim(name))
    call MPI_Finalize()
    call expect('MPI_Finalize')
    if (rank == 0) write (*, '(a)') 'done'
end program
