/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port under a public name: opened, published, looked up, withdrawn, closed. Each call is written down (expect.h). One
 * rank. 77 where no server of names is there.
 */
#include <string.h>

#include "expect.h"

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect_open(rank);
    expect("MPI_Init");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int failed = MPI_Open_port(MPI_INFO_NULL, port);
    expect("MPI_Open_port");
    failed = failed || MPI_Publish_name("mwtest soup", MPI_INFO_NULL, port);
    expect("MPI_Publish_name");
    if (failed) {
        MPI_Finalize();
        return 77;
    }
    MPI_Lookup_name("mwtest soup", MPI_INFO_NULL, found);
    expect("MPI_Lookup_name");
    CHECK(strcmp(port, found) == 0);
    MPI_Unpublish_name("mwtest soup", MPI_INFO_NULL, port);
    expect("MPI_Unpublish_name");
    CHECK(MPI_Lookup_name("mwtest soup", MPI_INFO_NULL, found) != MPI_SUCCESS);
    expect("MPI_Lookup_name error");
    MPI_Close_port(port);
    expect("MPI_Close_port");
    puts("done");
    MPI_Finalize();
    expect("MPI_Finalize");
    return 0;
}
