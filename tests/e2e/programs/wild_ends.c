/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends that nobody would choose. "atexit": MPI_Finalize in a handler of exit(). "destructor": in a destructor of the
 * program. "operation", "errhandler", "attribute": exit() in a callback of MPI. "thread": _exit() in a thread while
 * others are in MPI. "race": exit() in a thread meanwhile. "main": the first thread ends by pthread_exit, another one
 * finalizes. "cancel": threads are cancelled in MPI calls. "library PATH", "global PATH": a library that calls MPI in
 * its constructor and finalizes in its destructor, at the end of the program. One rank.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 3 };

static const char *mode = "";
static int in_destructor;

static void exchange(int tag)
{
    int from = tag, to = -1;
    MPI_Sendrecv(&from, 1, MPI_INT, 0, tag, &to, 1, MPI_INT, 0, tag, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    if (to != tag)
        _exit(90);
}

static void at_exit(void)
{
    int done = 0;
    MPI_Finalized(&done);
    if (!done) {
        exchange(5);
        MPI_Finalize();
    }
    puts("at exit");
    fflush(stdout);
}

__attribute__((destructor)) static void at_end(void)
{
    if (in_destructor)
        at_exit();
}

static void leave_operation(void *in, void *inout, int *length, MPI_Datatype *type)
{
    exit(11);
}

static void leave_handler(MPI_Comm *comm, int *code, ...)
{
    exit(12);
}

static int leave_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    exchange(6);
    exit(13);
}

static void *talk(void *unused)
{
    for (;;) {
        exchange(7);
        usleep(20);
    }
    return unused;
}

static void *ask(void *unused)
{
    int flag;
    for (;;) {
        MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        pthread_testcancel();
    }
    return unused;
}

static void *leave(void *how)
{
    usleep(30000);
    if (how)
        exit(14);
    _exit(15);
}

static void *finalize(void *first)
{
    pthread_join(*(pthread_t *)first, NULL);
    exchange(8);
    MPI_Finalize();
    puts("finalized");
    exit(16);
}

static void callbacks(void)
{
    int key, value = 1, sum;
    MPI_Op op;
    MPI_Errhandler handler;
    if (strcmp(mode, "operation") == 0) {
        MPI_Op_create(leave_operation, 1, &op);
        MPI_Reduce_local(&value, &sum, 1, MPI_INT, op);
    } else if (strcmp(mode, "errhandler") == 0) {
        MPI_Comm_create_errhandler(leave_handler, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Send(&value, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
    } else {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave_attribute, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);
        MPI_Finalize(); /* frees the attributes of MPI_COMM_SELF first */
    }
}

static void threads(void)
{
    static pthread_t first;
    pthread_t thread[THREADS], other;
    if (strcmp(mode, "main") == 0) {
        first = pthread_self();
        pthread_create(&other, NULL, finalize, &first);
        exchange(9);
        pthread_exit(NULL);
    }
    if (strcmp(mode, "cancel") == 0) {
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < THREADS; i++)
                pthread_create(&thread[i], NULL, ask, NULL);
            usleep(2000);
            for (int i = 0; i < THREADS; i++) {
                pthread_cancel(thread[i]);
                pthread_join(thread[i], NULL);
            }
        }
        return;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, talk, NULL);
    pthread_create(&other, NULL, leave, strcmp(mode, "race") == 0 ? "exit" : NULL);
    pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
    int provided, done = 0;
    mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "library") == 0 || strcmp(mode, "global") == 0) {
        int flags = mode[0] == 'g' ? RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE : RTLD_NOW;
        void *library = dlopen(argv[2], flags);
        if (!library) {
            puts(dlerror());
            return 91;
        }
        MPI_Initialized(&done);
        printf("initialised: %d\n", done);
        exchange(3);
        return 17;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    exchange(4);
    in_destructor = strcmp(mode, "destructor") == 0;
    if (strcmp(mode, "atexit") == 0)
        atexit(at_exit);
    else if (strcmp(mode, "operation") == 0 || strcmp(mode, "errhandler") == 0 ||
             strcmp(mode, "attribute") == 0)
        callbacks();
    else if (!in_destructor)
        threads();
    MPI_Finalized(&done);
    if (strcmp(mode, "cancel") == 0)
        MPI_Finalize();
    printf("main ends, finalized: %d\n", done);
    return 18;
}
