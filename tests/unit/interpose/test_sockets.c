/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sockets probe on connections that the test makes itself: what it reports and what it leaves
 * out, its bounds, and that it changes nothing. Without a network but the loopback interface.
 */
#include "probe_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/interfaces.h"
#include "sandbox.h"

struct pair {
    int listener, client, server;
    uint16_t client_port, server_port; /* network order */
};

static uint16_t port_of(int fd)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    return name.ss_family == AF_INET ? ((struct sockaddr_in *)&name)->sin_port
                                     : ((struct sockaddr_in6 *)&name)->sin6_port;
}

/* A connection over the loopback interface to this address ("127.0.0.1", "::1",
 * "::ffff:127.0.0.1"); 0: the machine has no such family. */
static int pair_make(const char *address, struct pair *pair)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    int v6 = strchr(address, ':') != NULL;
    struct sockaddr *name = v6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in;
    socklen_t size = v6 ? sizeof in6 : sizeof in;
    inet_pton(v6 ? AF_INET6 : AF_INET, address, v6 ? (void *)&in6.sin6_addr : (void *)&in.sin_addr);
    pair->listener = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    if (pair->listener < 0 || bind(pair->listener, name, size) != 0)
        return 0;
    assert_int_equal(listen(pair->listener, 4), 0);
    assert_int_equal(getsockname(pair->listener, name, &size), 0);
    pair->client = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(pair->client, name, size), 0);
    pair->server = accept(pair->listener, NULL, NULL);
    assert_true(pair->server >= 0);
    pair->client_port = port_of(pair->client);
    pair->server_port = port_of(pair->server);
    return 1;
}

static void pair_close(struct pair *pair)
{
    close(pair->listener);
    close(pair->client);
    close(pair->server);
}

static void transfer(struct pair *pair, size_t bytes)
{
    static char data[65536];
    while (bytes) {
        size_t part = bytes < sizeof data ? bytes : sizeof data;
        assert_int_equal(write(pair->client, data, part), part);
        for (size_t got = 0; got < part;) {
            ssize_t more = read(pair->server, data, part - got);
            assert_true(more > 0);
            got += (size_t)more;
        }
        bytes -= part;
    }
}

/* The connection with this descriptor in the kept chunks; 0 not there. */
static int find(int fd, struct mw_reader *record)
{
    struct walk walk = {.type = MW_CHUNK_SOCKETS, .id = MW_F_SOCKETS_connection};
    while (record_next(&walk, record))
        if (number_in(*record, MW_F_CONNECTION_fd) == (uint64_t)fd)
            return 1;
    return 0;
}

static void assert_side(struct mw_reader record, unsigned id, const char *address, uint16_t port)
{
    uint8_t expected[18];
    int v6 = strchr(address, ':') != NULL;
    size_t size = v6 ? 16 : 4;
    assert_int_equal(inet_pton(v6 ? AF_INET6 : AF_INET, address, expected), 1);
    memcpy(expected + size, &port, 2);
    struct mw_field side = bytes_in(record, id);
    assert_int_equal(side.size, size + 2);
    assert_memory_equal(side.data, expected, size + 2);
}

static void look(void)
{
    forget();
    mw_probe_sockets.ready();
}

/* Both ends of one connection: the addresses mirror each other, and bytes sent are bytes
 * received. */
static void check_pair(const char *address, const char *shown)
{
    struct pair pair;
    struct mw_reader client, server;
    if (!pair_make(address, &pair))
        skip();
    transfer(&pair, 1000000);
    errno = 77;
    look();
    assert_int_equal(errno, 77);
    assert_true(find(pair.client, &client));
    assert_true(find(pair.server, &server));
    assert_false(find(pair.listener, &server));
    assert_true(find(pair.server, &server));
    assert_side(client, MW_F_CONNECTION_local, shown, pair.client_port);
    assert_side(client, MW_F_CONNECTION_remote, shown, pair.server_port);
    assert_side(server, MW_F_CONNECTION_local, shown, pair.server_port);
    assert_side(server, MW_F_CONNECTION_remote, shown, pair.client_port);
    uint64_t sent = number_in(client, MW_F_CONNECTION_sent);
    uint64_t received = number_in(server, MW_F_CONNECTION_received);
    assert_in_range(sent, 1000000, 1000001); /* the first segment counts as a byte */
    assert_in_range(received, 1000000, 1000001);
    assert_int_equal(number_in(client, MW_F_CONNECTION_received), 0);
    assert_true(text_is(client, MW_F_CONNECTION_interface, "lo"));
    assert_int_equal(number_in(client, MW_F_CONNECTION_state), 1);
    assert_true(number_in(client, MW_F_CONNECTION_cookie) != 0);
    assert_true(number_in(client, MW_F_CONNECTION_cookie) !=
                number_in(server, MW_F_CONNECTION_cookie));
    assert_true(number_in(client, MW_F_CONNECTION_rtt) > 0);
    assert_true(number_in(client, MW_F_CONNECTION_min_rtt) < 1000000);
    assert_int_equal(number_in(fields_of(0), MW_F_SOCKETS_when), MW_WHEN_INIT);
    assert_int_equal(number_in(fields_of(0), MW_F_SOCKETS_unseen), 0);
    pair_close(&pair);
}

static void an_ipv4_connection(void **state)
{
    check_pair("127.0.0.1", "127.0.0.1");
}

static void another_address_of_the_loopback_interface(void **state)
{
    struct pair pair;
    struct mw_reader record;
    assert_true(pair_make("127.3.2.1", &pair));
    look();
    assert_true(find(pair.server, &record));
    assert_side(record, MW_F_CONNECTION_local, "127.3.2.1", pair.server_port);
    assert_true(text_is(record, MW_F_CONNECTION_interface, "lo"));
    pair_close(&pair);
}

static void an_ipv6_connection(void **state)
{
    check_pair("::1", "::1");
}

static void a_mapped_address_is_shown_as_ipv4(void **state)
{
    check_pair("::ffff:127.0.0.1", "127.0.0.1");
}

static void what_waits_is_counted(void **state)
{
    struct pair pair;
    struct mw_reader record;
    static char data[1 << 20];
    ssize_t put, total = 0;
    assert_true(pair_make("127.0.0.1", &pair));
    fcntl(pair.client, F_SETFL, O_NONBLOCK);
    while ((put = write(pair.client, data, sizeof data)) > 0)
        total += put;
    usleep(20000);
    look();
    assert_true(find(pair.client, &record));
    uint64_t sent = number_in(record, MW_F_CONNECTION_sent);
    uint64_t waiting = number_in(record, MW_F_CONNECTION_waiting);
    assert_true(waiting > 0);
    assert_in_range(sent + waiting, (uint64_t)total, (uint64_t)total + 1);
    pair_close(&pair);
}

static void other_descriptors_are_no_connections(void **state)
{
    int udp = socket(AF_INET, SOCK_DGRAM, 0), fresh = socket(AF_INET, SOCK_STREAM, 0), local[2],
        pipes[2];
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(9)};
    inet_pton(AF_INET, "127.0.0.1", &name.sin_addr);
    assert_int_equal(connect(udp, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, local), 0);
    assert_int_equal(pipe(pipes), 0);
    int file = open("/proc/self/status", O_RDONLY);
    char first, second;
    assert_int_equal(read(file, &first, 1), 1);
    struct mw_reader record;
    look();
    struct walk walk = {.type = MW_CHUNK_SOCKETS, .id = MW_F_SOCKETS_connection};
    while (record_next(&walk, &record)) {
        int fd = (int)number_in(record, MW_F_CONNECTION_fd);
        assert_true(fd != udp && fd != fresh && fd != local[0] && fd != pipes[0] && fd != file);
    }
    assert_int_equal(read(file, &second, 1), 1); /* nobody moved its position */
    assert_true(first == 'N' && second == 'a');
    close(udp), close(fresh), close(local[0]), close(local[1]), close(pipes[0]), close(pipes[1]),
        close(file);
}

static void descriptors_are_left_as_they_were(void **state)
{
    struct pair pair;
    assert_true(pair_make("127.0.0.1", &pair));
    int flags = fcntl(pair.client, F_GETFL), next = dup(0);
    close(next);
    look();
    assert_int_equal(fcntl(pair.client, F_GETFL), flags);
    int after = dup(0);
    assert_int_equal(after, next); /* none of ours stays open */
    close(after);
    pair_close(&pair);
}

static void a_pending_error_stays_for_the_program(void **state)
{
    struct pair pair;
    struct linger hard = {1, 0};
    int error = 0;
    socklen_t size = sizeof error;
    assert_true(pair_make("127.0.0.1", &pair));
    setsockopt(pair.server, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(pair.server); /* resets the connection */
    usleep(20000);
    look();
    assert_int_equal(getsockopt(pair.client, SOL_SOCKET, SO_ERROR, &error, &size), 0);
    assert_int_equal(error, ECONNRESET);
    close(pair.client), close(pair.listener);
}

#define MANY 600

static void many_connections_are_split_over_chunks(void **state)
{
    static struct pair pairs[MANY];
    struct rlimit limit = {.rlim_cur = 3 * MANY + 100, .rlim_max = 3 * MANY + 100};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 3 * MANY + 100) {
        limit.rlim_cur = 3 * MANY + 100;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            skip();
    }
    for (int i = 0; i < MANY; i++)
        assert_true(pair_make("127.0.0.1", &pairs[i]));
    look();
    assert_true(kept_count > 1);
    struct mw_reader record;
    unsigned found = 0;
    struct walk walk = {.type = MW_CHUNK_SOCKETS, .id = MW_F_SOCKETS_connection};
    while (record_next(&walk, &record))
        found++;
    assert_int_equal(found, 2 * MANY);
    for (unsigned i = 0; i < kept_count; i++) { /* they belong to one look */
        assert_int_equal(number_in(fields_of(i), MW_F_SOCKETS_time),
                         number_in(fields_of(0), MW_F_SOCKETS_time));
        assert_int_equal(number_in(fields_of(i), MW_F_SOCKETS_when), MW_WHEN_INIT);
    }

    /* a flush looks at some, again and again others, and comes round to all that it knows */
    static unsigned seen[4 * MANY];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 80; i++) {
        forget();
        mw_probe_sockets.flush();
        unsigned rows = 0;
        struct walk again = {.type = MW_CHUNK_SOCKETS, .id = MW_F_SOCKETS_connection};
        while (record_next(&again, &record)) {
            rows++;
            uint64_t fd = number_in(record, MW_F_CONNECTION_fd);
            if (fd < 4 * MANY)
                seen[fd]++;
            assert_int_equal(number_in(fields_of(0), MW_F_SOCKETS_when), MW_WHEN_DURING);
        }
        assert_in_range(rows, 1, 24 + 256);
    }
    unsigned unseen = 0;
    for (int i = 0; i < MANY; i++)
        unseen += !seen[pairs[i].client];
    assert_int_equal(unseen, 0);
    for (int i = 0; i < MANY; i++)
        pair_close(&pairs[i]);
    forget();
    for (int i = 0; i < 60; i++) /* all gone: forgotten */
        mw_probe_sockets.flush();
    struct walk gone = {.type = MW_CHUNK_SOCKETS, .id = MW_F_SOCKETS_connection};
    assert_false(record_next(&gone, &record));
}

static void what_the_time_does_not_allow_is_counted_and_comes_later(void **state)
{
    struct pair pairs[40];
    struct mw_reader record;
    for (int i = 0; i < 40; i++)
        assert_true(pair_make("127.0.0.1", &pairs[i]));
    forget();
    late_after = 20;
    mw_probe_sockets.ready();
    late_after = -1;
    assert_int_equal(kept_count, 1);
    uint64_t unseen = number_in(fields_of(0), MW_F_SOCKETS_unseen);
    assert_in_range(unseen, 3 * 40 + 3 - 20, 3 * 40 + 60); /* and what the test runner has open */
    assert_false(find(pairs[39].server, &record));
    for (int i = 0; i < 5; i++)
        mw_probe_sockets.flush();
    assert_true(find(pairs[39].server, &record));
    for (int i = 0; i < 40; i++)
        pair_close(&pairs[i]);
}

static void a_new_connection_is_found_in_between(void **state)
{
    struct pair pair;
    struct mw_reader record;
    look();
    assert_true(pair_make("127.0.0.1", &pair));
    for (int i = 0; i < 5; i++)
        mw_probe_sockets.flush();
    assert_true(find(pair.client, &record));
    pair_close(&pair);
}

static void the_last_look_says_so(void **state)
{
    forget();
    mw_probe_sockets.finish(MW_END_EXIT);
    assert_int_equal(kept_count, 1); /* also without connections */
    assert_int_equal(kept[0].type, MW_CHUNK_SOCKETS);
    assert_int_equal(number_in(fields_of(0), MW_F_SOCKETS_when), MW_WHEN_END);
}

/* What a sandbox does. Of no other effect: in a child. */
static void a_sandbox_is_no_machine_without_connections(void **state)
{
    struct pair pair;
    assert_true(pair_make("127.0.0.1", &pair));
    pid_t child = fork();
    if (child == 0) {
        forget();
        if (!refuse_call(SYS_getsockopt, EPERM))
            _exit(77);
        errno = 5;
        mw_probe_sockets.ready();
        _exit(errno != 5 || !choice_is("probe", "sockets", "not covered"));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    pair_close(&pair);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void link_local_addresses_are_told_apart_by_interface(void **state)
{
    static const uint8_t address[16] = {0xfe, 0x80, [15] = 1}, other[16] = {0xfd, [15] = 2};
    mw_interfaces_clear();
    mw_interfaces_add_inet6("fe800000000000000000000000000001 02 40 20 80     ib0\n"
                            "fe800000000000000000000000000001 0a 40 20 80     eth1\n"
                            "short line\n"
                            "zz800000000000000000000000000001 02 40 20 80     bad\n"
                            "fd000000000000000000000000000002 03 40 00 82 eth2");
    assert_string_equal(mw_interface_of(address, 16, 2), "ib0");
    assert_string_equal(mw_interface_of(address, 16, 10), "eth1");
    assert_string_equal(mw_interface_of(address, 16, 11), "");
    assert_string_equal(mw_interface_of(other, 16, 0), "eth2");
    mw_interfaces_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ipv4_connection),
        cmocka_unit_test(another_address_of_the_loopback_interface),
        cmocka_unit_test(an_ipv6_connection),
        cmocka_unit_test(a_mapped_address_is_shown_as_ipv4),
        cmocka_unit_test(what_waits_is_counted),
        cmocka_unit_test(other_descriptors_are_no_connections),
        cmocka_unit_test(descriptors_are_left_as_they_were),
        cmocka_unit_test(a_pending_error_stays_for_the_program),
        cmocka_unit_test(many_connections_are_split_over_chunks),
        cmocka_unit_test(what_the_time_does_not_allow_is_counted_and_comes_later),
        cmocka_unit_test(a_new_connection_is_found_in_between),
        cmocka_unit_test(the_last_look_says_so),
        cmocka_unit_test(a_sandbox_is_no_machine_without_connections),
        cmocka_unit_test(link_local_addresses_are_told_apart_by_interface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
