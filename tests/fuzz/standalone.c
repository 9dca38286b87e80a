/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drives a fuzz target without libFuzzer: runs each file of the corpus as it is, then changes them
 * at random for some seconds. Not guided by coverage, but it runs everywhere. On a crash the input
 * is in ./crash-input.
 *
 *     PROGRAM SECONDS SEED FILE-OR-FOLDER...
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

enum { INPUTS = 4096, INPUT_MAX = 1 << 17 };

struct input {
    uint8_t *data;
    size_t size;
};

static struct input corpus[INPUTS];
static size_t corpus_count;
static uint8_t current[INPUT_MAX];
static size_t current_size;
static uint64_t seed;

static uint64_t next_random(void)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t below(size_t limit)
{
    return limit ? (size_t)(next_random() % limit) : 0;
}

static void crashed(int signal)
{
    int fd = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0) {
        ssize_t written = write(fd, current, current_size);
        (void)written;
        close(fd);
    }
    static const char text[] = "the input is in crash-input\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    raise(signal); /* SA_RESETHAND: now for good */
}

#if defined(__SANITIZE_ADDRESS__)
void __asan_set_death_callback(void (*callback)(void));
static void died(void)
{
    crashed(SIGABRT);
}
#endif

static void corpus_add(const char *path)
{
    FILE *file = fopen(path, "r");
    uint8_t *data = malloc(INPUT_MAX);
    if (!file || !data || corpus_count == INPUTS) {
        fprintf(stderr, "%s: cannot be used\n", path);
        exit(2);
    }
    corpus[corpus_count++] = (struct input){data, fread(data, 1, INPUT_MAX, file)};
    fclose(file);
}

static void corpus_add_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        corpus_add(path);
        return;
    }
    struct dirent **names;
    int count = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char full[4096];
        snprintf(full, sizeof full, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            corpus_add_path(full);
        free(names[i]);
    }
    free(names);
}

static void insert(size_t at, const uint8_t *data, size_t size)
{
    if (size > INPUT_MAX - current_size)
        return;
    memmove(current + at + size, current + at, current_size - at);
    memcpy(current + at, data, size);
    current_size += size;
}

static void change(void)
{
    static const uint8_t odd[] = {0, 1, 2, 3, 0x7f, 0x80, 0x81, 0xfe, 0xff};
    static uint8_t part[256];
    size_t at = below(current_size + 1), size = below(8) + 1;
    const struct input *other = &corpus[below(corpus_count)];
    switch (below(7)) {
    case 0:
        if (at < current_size)
            current[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        if (at < current_size)
            current[at] = odd[below(sizeof odd)];
        break;
    case 2:
        if (at < current_size)
            current[at] = (uint8_t)next_random();
        break;
    case 3: /* remove */
        if (size <= current_size - at) {
            memmove(current + at, current + at + size, current_size - at - size);
            current_size -= size;
        }
        break;
    case 4: /* double a piece of itself */
        size = below(sizeof part) + 1;
        if (size <= current_size - at) {
            memcpy(part, current + at, size);
            insert(below(current_size + 1), part, size);
        }
        break;
    case 5: /* a piece of another one */
        if (other->size) {
            size_t from = below(other->size), most = other->size - from;
            insert(at, other->data + from, below(most < 512 ? most : 512) + 1);
        }
        break;
    default: /* cut */
        if (below(8) == 0)
            current_size = at;
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void run_input(const struct input *input)
{
    memcpy(current, input->data, input->size);
    current_size = input->size;
    LLVMFuzzerTestOneInput(current, current_size);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s SECONDS SEED FILE-OR-FOLDER...\n", argv[0]);
        return 2;
    }
    LLVMFuzzerInitialize(&argc, &argv);
    double end = now() + atof(argv[1]), slowest = 0;
    unsigned long runs = 0;
    seed = strtoull(argv[2], NULL, 0);
    for (int i = 3; i < argc; i++)
        corpus_add_path(argv[i]);
    if (corpus_count == 0)
        return 2;
    struct sigaction action = {.sa_handler = crashed, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGABRT, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
#if defined(__SANITIZE_ADDRESS__)
    __asan_set_death_callback(died);
#else
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
#endif
    for (size_t i = 0; i < corpus_count; i++, runs++)
        run_input(&corpus[i]);
    for (double before = now(); before < end; runs++) {
        const struct input *input = &corpus[below(corpus_count)];
        memcpy(current, input->data, input->size);
        current_size = input->size;
        for (size_t changes = below(12) + 1; changes; changes--)
            change();
        LLVMFuzzerTestOneInput(current, current_size);
        double after = now();
        slowest = after - before > slowest ? after - before : slowest;
        before = after;
    }
    printf("%zu files, %lu runs, the slowest took %.3f s\n", corpus_count, runs, slowest);
    for (size_t i = 0; i < corpus_count; i++)
        free(corpus[i].data);
    return 0;
}
