/* SPDX-License-Identifier: BSD-3-Clause */
/* Words for addresses (address.h). Numbers in them are as the recording machine had them:
 * little-endian, but for ports and IP addresses. */
#include "analyzer/render/address.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "analyzer/base/memory.h"

enum { FAMILY_IB = 27 };

static unsigned big16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static uint64_t little(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    while (size-- > 0)
        value = value << 8 | at[size];
    return value;
}

static char *hex_text(const uint8_t *bytes, size_t size)
{
    char *text = mw_alloc(2 * size + 1, 1);
    for (size_t i = 0; i < size; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
    return text;
}

static char *ipv4_text(const uint8_t *address, unsigned port)
{
    char text[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, address, text, sizeof text);
    return mw_format("%s:%u", text, port);
}

/* `scope` is the number of the interface that a link-local address belongs to. */
static char *ipv6_text(const uint8_t *address, unsigned port, unsigned scope)
{
    char text[INET6_ADDRSTRLEN] = "", suffix[16] = "";
    inet_ntop(AF_INET6, address, text, sizeof text);
    if (scope)
        snprintf(suffix, sizeof suffix, "%%%u", scope);
    return mw_format("[%s%s]:%u", text, suffix, port);
}

char *mw_socket_address_text(const uint8_t *address, size_t size)
{
    if (size == 6)
        return ipv4_text(address, big16(address + 4));
    if (size == 18)
        return ipv6_text(address, big16(address + 16), 0);
    return mw_text_copy("");
}

/* struct sockaddr_in, _in6 and _ib as Linux has them: family, then port or P_Key. */
static char *sockaddr_text(const uint8_t *address, size_t size)
{
    uint64_t family = size >= 2 ? little(address, 2) : 0;
    if (family == AF_INET && size >= 8)
        return ipv4_text(address + 4, big16(address + 2));
    if (family == AF_INET6 && size >= 24)
        return ipv6_text(address + 8, big16(address + 2),
                         size >= 28 ? (unsigned)little(address + 24, 4) : 0);
    if (family == FAMILY_IB && size >= 32) {
        char text[INET6_ADDRSTRLEN] = "";
        inet_ntop(AF_INET6, address + 8, text, sizeof text);
        char *service = hex_text(address + 24, 8);
        char *whole = mw_format("gid %s pkey 0x%x service 0x%s", text, big16(address + 2), service);
        free(service);
        return whole;
    }
    return hex_text(address, size);
}

static char *efa_text(const uint8_t *address)
{
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(AF_INET6, address, text, sizeof text);
    return mw_format("gid %s qp %" PRIu64 " connection %" PRIu64, text, little(address + 16, 2),
                     little(address + 20, 4));
}

static char *cxi_text(const uint8_t *address)
{
    uint64_t word = little(address, 4);
    return mw_format("nic 0x%" PRIx64 " pid %" PRIu64, word >> 9 & 0xfffff, word & 0x1ff);
}

char *mw_fabric_address_text(const char *library, uint64_t format, const uint8_t *address,
                             size_t size)
{
    if (size == 0)
        return mw_text_copy("");
    if (strcmp(library, "ucx") == 0)
        return size == 8 ? mw_format("uid 0x%016" PRIx64, little(address, 8))
                         : hex_text(address, size);
    if (strcmp(library, "libfabric") != 0)
        return hex_text(address, size);
    switch (format) {
    case MW_FORMAT_SOCKADDR:
    case MW_FORMAT_SOCKADDR_IN:
    case MW_FORMAT_SOCKADDR_IN6:
    case MW_FORMAT_SOCKADDR_IB:
    case MW_FORMAT_SOCKADDR_IP:
        return sockaddr_text(address, size);
    case MW_FORMAT_STR:
        return mw_format("%.*s", (int)strnlen((const char *)address, size), address);
    case MW_FORMAT_EFA:
        return size >= 24 ? efa_text(address) : hex_text(address, size);
    case MW_FORMAT_CXI:
        return size >= 4 ? cxi_text(address) : hex_text(address, size);
    default:
        return hex_text(address, size);
    }
}
