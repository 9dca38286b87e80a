/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c with the functions for large counts (MPI-4): the same records are expected, under these names. */
#include "expect.h"

#define EXTENT MPI_Count
#define MPI_File_iread_all MPI_File_iread_all_c
#define MPI_File_iread_at_all MPI_File_iread_at_all_c
#define MPI_File_iread_shared MPI_File_iread_shared_c
#define MPI_File_read_ordered_begin MPI_File_read_ordered_begin_c
#define MPI_File_iwrite_all MPI_File_iwrite_all_c
#define MPI_File_iwrite_at_all MPI_File_iwrite_at_all_c
#define MPI_File_iwrite_shared MPI_File_iwrite_shared_c
#define MPI_File_write_ordered_begin MPI_File_write_ordered_begin_c
#define MPI_File_write_all_begin MPI_File_write_all_begin_c
#define MPI_File_get_type_extent MPI_File_get_type_extent_c

#include "files.c"
