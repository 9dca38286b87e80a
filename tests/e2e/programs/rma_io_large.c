/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_io.c with the functions for large counts (MPI-4): the same records are expected, under these names. */
#include "expect.h"

#define DISPLACEMENT_UNIT MPI_Aint
#define MPI_Put MPI_Put_c
#define MPI_Get MPI_Get_c
#define MPI_Accumulate MPI_Accumulate_c
#define MPI_Get_accumulate MPI_Get_accumulate_c
#define MPI_Rput MPI_Rput_c
#define MPI_Rget MPI_Rget_c
#define MPI_Raccumulate MPI_Raccumulate_c
#define MPI_Rget_accumulate MPI_Rget_accumulate_c
#define MPI_Win_create MPI_Win_create_c
#define MPI_Win_allocate MPI_Win_allocate_c
#define MPI_Win_allocate_shared MPI_Win_allocate_shared_c
#define MPI_Win_shared_query MPI_Win_shared_query_c
#define MPI_File_write_at MPI_File_write_at_c
#define MPI_File_write_at_all MPI_File_write_at_all_c
#define MPI_File_read_at MPI_File_read_at_c
#define MPI_File_read_at_all MPI_File_read_at_all_c
#define MPI_File_read MPI_File_read_c
#define MPI_File_write MPI_File_write_c
#define MPI_File_read_all MPI_File_read_all_c
#define MPI_File_write_all MPI_File_write_all_c
#define MPI_File_iread_at MPI_File_iread_at_c
#define MPI_File_iwrite_at MPI_File_iwrite_at_c
#define MPI_File_iread MPI_File_iread_c
#define MPI_File_iwrite MPI_File_iwrite_c
#define MPI_File_write_at_all_begin MPI_File_write_at_all_begin_c
#define MPI_File_read_at_all_begin MPI_File_read_at_all_begin_c
#define MPI_File_read_all_begin MPI_File_read_all_begin_c
#define MPI_File_write_ordered MPI_File_write_ordered_c
#define MPI_File_write_shared MPI_File_write_shared_c
#define MPI_File_read_ordered MPI_File_read_ordered_c
#define MPI_File_read_shared MPI_File_read_shared_c

#include "rma_io.c"
