/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stub of an MPI library with the standard ABI (libmpi_abi.so.0): messages between at most eight
 * processes over local stream sockets. MPI_STUB_RANK, MPI_STUB_SIZE and MPI_STUB_DIR (a folder for
 * the sockets) tell a process its place; without them it is alone. One thread only. Sends are
 * eager: they are complete at once, and all share one completed request, as in real libraries;
 * receives are matched in the order of arrival. Not fast, not complete, but right in what it does.
 */
#include "stub.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct head {
    int context, tag;
    size_t length;
};

struct message {
    struct message *next;
    int source; /* world rank */
    struct head head;
    char data[];
};

struct MPI_ABI_Request {
    struct MPI_ABI_Request *next; /* posted receives */
    void *buffer;
    size_t room;
    int source, tag, context; /* source: world rank or MPI_ANY_SOURCE */
    struct MPI_ABI_Comm *comm;
    int done, cancelled, error;
    struct message *message;
};

int stub_rank, stub_size = 1;
static int peers[STUB_RANKS];
static struct message *unexpected;
static struct MPI_ABI_Request *posted;
static struct MPI_ABI_Request completed_send = {.done = 1};
static int initialized, finalized, level;

static void die(const char *what)
{
    fprintf(stderr, "libmpi_abi stub: %s: %s\n", what, strerror(errno));
    _exit(98);
}

/* ---- Sockets */

static void address_of(struct sockaddr_un *address, int rank)
{
    const char *folder = getenv("MPI_STUB_DIR");
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    snprintf(address->sun_path, sizeof address->sun_path, "%s/%d", folder ? folder : ".", rank);
}

static int connect_to(int rank)
{
    struct sockaddr_un address;
    address_of(&address, rank);
    for (int tries = 0; tries < 1000; tries++) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
            if (write(fd, &stub_rank, sizeof stub_rank) != sizeof stub_rank)
                die("greeting");
            return fd;
        }
        close(fd);
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    die("connect");
    return -1;
}

void stub_connect(void)
{
    struct sockaddr_un address;
    if (getenv("MPI_STUB_SIZE")) {
        stub_size = atoi(getenv("MPI_STUB_SIZE"));
        stub_rank = getenv("MPI_STUB_RANK") ? atoi(getenv("MPI_STUB_RANK")) : 0;
    }
    if (stub_size < 1 || stub_size > STUB_RANKS || stub_rank < 0 || stub_rank >= stub_size)
        die("MPI_STUB_SIZE or MPI_STUB_RANK");
    for (int i = 0; i < STUB_RANKS; i++)
        peers[i] = -1;
    if (stub_size == 1)
        return;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_of(&address, stub_rank);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, STUB_RANKS))
        die("bind");
    for (int rank = 0; rank < stub_rank; rank++)
        peers[rank] = connect_to(rank);
    for (int i = stub_rank + 1; i < stub_size; i++) {
        int rank, fd = accept(listener, NULL, NULL);
        if (fd < 0 || read(fd, &rank, sizeof rank) != sizeof rank)
            die("accept");
        peers[rank] = fd;
    }
    close(listener);
    unlink(address.sun_path);
}

void stub_disconnect(void)
{
    for (int i = 0; i < STUB_RANKS; i++)
        if (peers[i] >= 0)
            close(peers[i]);
}

/* ---- Matching */

static int matches(const struct MPI_ABI_Request *request, const struct message *message)
{
    return request->context == message->head.context &&
           (request->source == MPI_ANY_SOURCE || request->source == message->source) &&
           (request->tag == MPI_ANY_TAG || request->tag == message->head.tag);
}

static void complete(struct MPI_ABI_Request *request, struct message *message)
{
    size_t length = message->head.length;
    if (length > request->room) {
        length = request->room;
        request->error = MPI_ERR_TRUNCATE;
    }
    if (length)
        memcpy(request->buffer, message->data, length);
    message->head.length = length;
    request->message = message;
    request->done = 1;
}

static void deliver(struct message *message)
{
    for (struct MPI_ABI_Request **at = &posted; *at; at = &(*at)->next)
        if (matches(*at, message)) {
            struct MPI_ABI_Request *request = *at;
            *at = request->next;
            complete(request, message);
            return;
        }
    struct message **end = &unexpected;
    while (*end)
        end = &(*end)->next;
    *end = message;
}

static struct message *find_unexpected(const struct MPI_ABI_Request *request, int take)
{
    for (struct message **at = &unexpected; *at; at = &(*at)->next)
        if (matches(request, *at)) {
            struct message *message = *at;
            if (take) {
                *at = message->next;
                message->next = NULL;
            }
            return message;
        }
    return NULL;
}

static void read_all(int fd, void *data, size_t length)
{
    for (char *at = data; length;) {
        ssize_t got = read(fd, at, length);
        if (got <= 0)
            die("a peer is gone");
        at += got;
        length -= got;
    }
}

/* Takes what has arrived; waits for something when `wait`. */
static void progress(int wait)
{
    struct pollfd polls[STUB_RANKS];
    for (int i = 0; i < STUB_RANKS; i++)
        polls[i] = (struct pollfd){.fd = peers[i], .events = POLLIN};
    if (poll(polls, STUB_RANKS, wait ? -1 : 0) <= 0)
        return;
    for (int i = 0; i < STUB_RANKS; i++) {
        struct head head;
        char first;
        if (!(polls[i].revents & (POLLIN | POLLHUP)))
            continue;
        if (recv(peers[i], &first, 1, MSG_PEEK) == 0) { /* it has finalized */
            close(peers[i]);
            peers[i] = -1;
            continue;
        }
        read_all(peers[i], &head, sizeof head);
        struct message *message = calloc(1, sizeof *message + head.length);
        if (!message)
            die("memory");
        message->source = i;
        message->head = head;
        read_all(peers[i], message->data, head.length);
        deliver(message);
    }
}

static void write_all(int fd, const void *data, size_t length)
{
    for (const char *at = data; length;) {
        ssize_t put = send(fd, at, length, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put > 0) {
            at += put;
            length -= put;
        } else if (errno == EAGAIN) {
            progress(0); /* or two that send to each other would wait for ever */
        } else {
            die("send");
        }
    }
}

void stub_send(const void *data, size_t length, int world_rank, int tag, int context)
{
    struct head head = {context, tag, length};
    if (world_rank == stub_rank) {
        struct message *message = calloc(1, sizeof *message + length);
        if (!message)
            die("memory");
        message->source = stub_rank;
        message->head = head;
        memcpy(message->data, data, length);
        deliver(message);
        return;
    }
    write_all(peers[world_rank], &head, sizeof head);
    write_all(peers[world_rank], data, length);
}

static void post(struct MPI_ABI_Request *request)
{
    struct message *message = find_unexpected(request, 1);
    if (message) {
        complete(request, message);
        return;
    }
    struct MPI_ABI_Request **end = &posted;
    while (*end)
        end = &(*end)->next;
    *end = request;
}

static void finish(struct MPI_ABI_Request *request)
{
    while (!request->done)
        progress(1);
}

void stub_receive(void *data, size_t length, int world_rank, int tag, int context)
{
    struct MPI_ABI_Request request = {
        .buffer = data, .room = length, .source = world_rank, .tag = tag, .context = context};
    post(&request);
    finish(&request);
    free(request.message);
}

/* ---- Statuses and requests */

static void status_set(MPI_Status *status, int source, int tag, size_t bytes, int cancelled)
{
    if (!status)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->MPI_internal[0] = (int)(bytes & 0x7fffffff);
    status->MPI_internal[1] = (int)(bytes >> 31);
    status->MPI_internal[2] = cancelled;
}

static int64_t status_bytes(const MPI_Status *status)
{
    return (int64_t)status->MPI_internal[1] << 31 | status->MPI_internal[0];
}

static int local_rank(const struct MPI_ABI_Comm *comm, int world_rank)
{
    for (int i = 0; i < comm->size; i++)
        if (comm->members[i] == world_rank)
            return i;
    return MPI_UNDEFINED;
}

/* Gives back what a completed request holds and makes the handle null. */
static int release(MPI_Request *handle, MPI_Status *status)
{
    struct MPI_ABI_Request *request = *handle;
    int error = request->error;
    *handle = MPI_REQUEST_NULL;
    if (request == &completed_send) {
        status_set(status, MPI_UNDEFINED, MPI_UNDEFINED, 0, 0);
        return MPI_SUCCESS;
    }
    if (request->message)
        status_set(status, local_rank(request->comm, request->message->source),
                   request->message->head.tag, request->message->head.length, 0);
    else
        status_set(status, request->cancelled ? MPI_UNDEFINED : MPI_PROC_NULL, MPI_ANY_TAG, 0,
                   request->cancelled);
    free(request->message);
    free(request);
    return error;
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (*request == MPI_REQUEST_NULL) {
        status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
        return MPI_SUCCESS;
    }
    struct MPI_ABI_Comm *comm = (*request)->comm;
    finish(*request);
    int code = release(request, status);
    return code ? stub_error(comm, code, "MPI_Wait") : MPI_SUCCESS;
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    for (int i = 0; i < count; i++) {
        int code = PMPI_Wait(&requests[i], statuses ? &statuses[i] : NULL);
        if (code)
            return code;
    }
    return MPI_SUCCESS;
}

int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    for (;;) {
        int active = 0;
        for (int i = 0; i < count; i++) {
            if (requests[i] == MPI_REQUEST_NULL)
                continue;
            active = 1;
            if (requests[i]->done) {
                *index = i;
                return PMPI_Wait(&requests[i], status);
            }
        }
        if (!active) {
            *index = MPI_UNDEFINED;
            return MPI_SUCCESS;
        }
        progress(1);
    }
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    progress(0);
    *flag = *request == MPI_REQUEST_NULL || (*request)->done;
    return *flag ? PMPI_Wait(request, status) : MPI_SUCCESS;
}

int PMPI_Cancel(MPI_Request *request)
{
    for (struct MPI_ABI_Request **at = &posted; *at; at = &(*at)->next)
        if (*at == *request) {
            *at = (*request)->next;
            (*request)->cancelled = (*request)->done = 1;
            break;
        }
    return MPI_SUCCESS;
}

int PMPI_Request_free(MPI_Request *request)
{
    finish(*request);
    return release(request, NULL);
}

int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    size_t size = stub_type_size(type);
    *count = size ? status_bytes(status) / (int64_t)size : 0;
    return MPI_SUCCESS;
}

int PMPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    MPI_Count all;
    PMPI_Get_elements_x(status, type, &all);
    *count = (int)all;
    return MPI_SUCCESS;
}

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    *flag = status->MPI_internal[2];
    return MPI_SUCCESS;
}

/* ---- Point-to-point */

static int wrong(struct MPI_ABI_Comm *comm, int64_t count, MPI_Datatype type, int rank, int any)
{
    if (!comm)
        return MPI_ERR_COMM;
    if (count < 0)
        return MPI_ERR_COUNT;
    if (!stub_type_size(type))
        return MPI_ERR_TYPE;
    if (rank != MPI_PROC_NULL && !(any && rank == MPI_ANY_SOURCE) &&
        (rank < 0 || rank >= comm->size))
        return MPI_ERR_RANK;
    return MPI_SUCCESS;
}

int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                MPI_Comm handle)
{
    struct MPI_ABI_Comm *comm = stub_comm(handle);
    int code = wrong(comm, count, type, dest, 0);
    if (code)
        return stub_error(comm, code, "MPI_Send");
    if (dest != MPI_PROC_NULL)
        stub_send(buf, count * stub_type_size(type), comm->members[dest], tag, comm->context);
    return MPI_SUCCESS;
}

int PMPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return PMPI_Send_c(buf, count, type, dest, tag, comm);
}

int PMPI_Ssend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return PMPI_Send_c(buf, count, type, dest, tag, comm);
}

int PMPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    int code = PMPI_Send_c(buf, count, type, dest, tag, comm);
    if (!code)
        *request = &completed_send;
    return code;
}

int PMPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm handle,
               MPI_Request *result)
{
    struct MPI_ABI_Comm *comm = stub_comm(handle);
    int code = wrong(comm, count, type, source, 1);
    if (code)
        return stub_error(comm, code, "MPI_Irecv");
    struct MPI_ABI_Request *request = calloc(1, sizeof *request);
    if (!request)
        die("memory");
    request->buffer = buf;
    request->room = count * stub_type_size(type);
    request->source = source < 0 ? source : comm->members[source];
    request->tag = tag;
    request->context = comm->context;
    request->comm = comm;
    *result = request;
    if (source == MPI_PROC_NULL)
        request->done = 1;
    else
        post(request);
    return MPI_SUCCESS;
}

int PMPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    MPI_Request request;
    int code = PMPI_Irecv(buf, count, type, source, tag, comm, &request);
    return code ? code : PMPI_Wait(&request, status);
}

int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    int code = PMPI_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &request);
    if (!code)
        code = PMPI_Send_c(sendbuf, sendcount, sendtype, dest, sendtag, comm);
    return code ? code : PMPI_Wait(&request, status);
}

int PMPI_Iprobe(int source, int tag, MPI_Comm handle, int *flag, MPI_Status *status)
{
    struct MPI_ABI_Comm *comm = stub_comm(handle);
    int code = wrong(comm, 0, MPI_BYTE, source, 1);
    if (code)
        return stub_error(comm, code, "MPI_Iprobe");
    struct MPI_ABI_Request asked = {.source = source < 0 ? source : comm->members[source],
                                    .tag = tag,
                                    .context = comm->context};
    progress(0);
    struct message *message = find_unexpected(&asked, 0);
    *flag = message != NULL;
    if (message)
        status_set(status, local_rank(comm, message->source), message->head.tag,
                   message->head.length, 0);
    return MPI_SUCCESS;
}

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    for (;;) {
        int flag, code = PMPI_Iprobe(source, tag, comm, &flag, status);
        if (code || flag)
            return code;
        progress(1);
    }
}

/* ---- Begin and end */

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc;
    (void)argv;
    stub_connect();
    initialized = 1;
    *provided = level = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
    return MPI_SUCCESS;
}

int PMPI_Init(int *argc, char ***argv)
{
    int provided;
    return PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int PMPI_Query_thread(int *provided)
{
    *provided = level;
    return MPI_SUCCESS;
}

int PMPI_Initialized(int *flag)
{
    *flag = initialized;
    return MPI_SUCCESS;
}

int PMPI_Finalized(int *flag)
{
    *flag = finalized;
    return MPI_SUCCESS;
}

int PMPI_Finalize(void)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    stub_disconnect();
    finalized = 1;
    return MPI_SUCCESS;
}

int PMPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    _exit(code);
}

double PMPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

/* ---- The MPI_ names */

STUB_ALIAS(int, Init, (int *argc, char ***argv))
STUB_ALIAS(int, Init_thread, (int *argc, char ***argv, int required, int *provided))
STUB_ALIAS(int, Initialized, (int *flag))
STUB_ALIAS(int, Finalize, (void))
STUB_ALIAS(int, Finalized, (int *flag))
STUB_ALIAS(int, Abort, (MPI_Comm comm, int code))
STUB_ALIAS(int, Query_thread, (int *provided))
STUB_ALIAS(double, Wtime, (void))
STUB_ALIAS(int, Get_count, (const MPI_Status *status, MPI_Datatype type, int *count))
STUB_ALIAS(int, Get_elements_x, (const MPI_Status *status, MPI_Datatype type, MPI_Count *count))
STUB_ALIAS(int, Test_cancelled, (const MPI_Status *status, int *flag))
STUB_ALIAS(int, Send,
           (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))
STUB_ALIAS(int, Send_c,
           (const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))
STUB_ALIAS(int, Ssend,
           (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))
STUB_ALIAS(int, Isend,
           (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
            MPI_Request *request))
STUB_ALIAS(int, Recv,
           (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
            MPI_Status *status))
STUB_ALIAS(int, Irecv,
           (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
            MPI_Request *request))
STUB_ALIAS(int, Sendrecv,
           (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
            void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
            MPI_Comm comm, MPI_Status *status))
STUB_ALIAS(int, Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
STUB_ALIAS(int, Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
STUB_ALIAS(int, Wait, (MPI_Request * request, MPI_Status *status))
STUB_ALIAS(int, Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]))
STUB_ALIAS(int, Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status))
STUB_ALIAS(int, Test, (MPI_Request * request, int *flag, MPI_Status *status))
STUB_ALIAS(int, Cancel, (MPI_Request * request))
STUB_ALIAS(int, Request_free, (MPI_Request * request))
