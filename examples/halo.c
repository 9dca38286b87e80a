/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A two-dimensional halo exchange, the commonest pattern of MPI programs: a square grid is divided
 * among the ranks, each step trades the borders with the four neighbours and averages (Jacobi), and
 * every tenth step all ranks agree on the change. Usage: halo [STEPS [CELLS_A_SIDE]], the latter
 * for each rank. Prints a checksum that depends on neither time nor tools.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NORTH, SOUTH, WEST, EAST, SIDES };

struct grid {
    int cells, width; /* inner cells a side; with the halo */
    double *now, *next;
    double *out[SIDES], *in[SIDES]; /* borders, packed */
    int neighbour[SIDES];
    MPI_Comm comm;
};

static double *cells_new(size_t count)
{
    double *cells = calloc(count, sizeof *cells);
    if (!cells) {
        fprintf(stderr, "halo: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return cells;
}

static void grid_make(struct grid *grid, int cells)
{
    int size, rank, dims[2] = {0, 0}, periods[2] = {1, 1};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid->comm);
    MPI_Comm_rank(grid->comm, &rank);
    MPI_Cart_shift(grid->comm, 0, 1, &grid->neighbour[NORTH], &grid->neighbour[SOUTH]);
    MPI_Cart_shift(grid->comm, 1, 1, &grid->neighbour[WEST], &grid->neighbour[EAST]);
    grid->cells = cells;
    grid->width = cells + 2;
    grid->now = cells_new((size_t)grid->width * grid->width);
    grid->next = cells_new((size_t)grid->width * grid->width);
    for (int side = 0; side < SIDES; side++) {
        grid->out[side] = cells_new(cells);
        grid->in[side] = cells_new(cells);
    }
    for (int y = 1; y <= cells; y++)
        for (int x = 1; x <= cells; x++)
            grid->now[y * grid->width + x] = (rank * 31 + y * 7 + x * 3) % 17;
}

static double *border(struct grid *grid, int side, int i, int halo)
{
    int edge = halo ? 0 : 1, far = halo ? grid->cells + 1 : grid->cells;
    int y = side == NORTH ? edge : side == SOUTH ? far : i + 1;
    int x = side == WEST ? edge : side == EAST ? far : i + 1;
    return &grid->now[y * grid->width + x];
}

static void grid_exchange(struct grid *grid)
{
    static const int opposite[SIDES] = {SOUTH, NORTH, EAST, WEST};
    MPI_Request requests[2 * SIDES];
    for (int side = 0; side < SIDES; side++)
        MPI_Irecv(grid->in[side], grid->cells, MPI_DOUBLE, grid->neighbour[side], opposite[side],
                  grid->comm, &requests[side]);
    for (int side = 0; side < SIDES; side++) {
        for (int i = 0; i < grid->cells; i++)
            grid->out[side][i] = *border(grid, side, i, 0);
        MPI_Isend(grid->out[side], grid->cells, MPI_DOUBLE, grid->neighbour[side], side, grid->comm,
                  &requests[SIDES + side]);
    }
    MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < grid->cells; i++)
            *border(grid, side, i, 1) = grid->in[side][i];
}

static double grid_step(struct grid *grid)
{
    double change = 0, *swap;
    int width = grid->width;
    for (int y = 1; y <= grid->cells; y++)
        for (int x = 1; x <= grid->cells; x++) {
            const double *cell = &grid->now[y * width + x];
            double mean = 0.2 * (cell[0] + cell[-1] + cell[1] + cell[-width] + cell[width]);
            grid->next[y * width + x] = mean;
            change = fmax(change, fabs(mean - cell[0]));
        }
    swap = grid->now;
    grid->now = grid->next;
    grid->next = swap;
    return change;
}

static double grid_sum(const struct grid *grid)
{
    double sum = 0, total;
    for (int y = 1; y <= grid->cells; y++)
        for (int x = 1; x <= grid->cells; x++)
            sum += grid->now[y * grid->width + x] * ((x + y) % 5 + 1);
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, grid->comm);
    return total;
}

int main(int argc, char **argv)
{
    struct grid grid;
    double change = 0, largest = 0;
    int rank, size;
    MPI_Init(&argc, &argv);
    int steps = argc > 1 ? atoi(argv[1]) : 200, cells = argc > 2 ? atoi(argv[2]) : 256;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (steps < 1 || cells < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: halo [STEPS [CELLS_A_SIDE]]\n");
        MPI_Finalize();
        return 2;
    }
    grid_make(&grid, cells);
    for (int step = 1; step <= steps; step++) {
        grid_exchange(&grid);
        change = grid_step(&grid);
        if (step % 10 == 0)
            MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, grid.comm);
    }
    double sum = grid_sum(&grid);
    if (rank == 0)
        printf("halo: %d ranks, %d steps of %d x %d cells, last change %.3e, checksum %.6f\n", size,
               steps, cells, cells, largest, sum);
    MPI_Comm_free(&grid.comm);
    MPI_Finalize();
    return 0;
}
