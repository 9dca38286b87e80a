/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses of sockets and of fabrics in the words of the field. Pure; results are newly allocated
 * and not escaped.
 */
#ifndef MW_RENDER_ADDRESS_H
#define MW_RENDER_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

/* How libfabric's addresses look (addr_format), as far as they are taken apart here. */
enum mw_fabric_format {
    MW_FORMAT_SOCKADDR = 1, /* struct sockaddr: its family tells */
    MW_FORMAT_SOCKADDR_IN = 2,
    MW_FORMAT_SOCKADDR_IN6 = 3,
    MW_FORMAT_SOCKADDR_IB = 4,
    MW_FORMAT_STR = 9, /* text */
    MW_FORMAT_EFA = 12,
    MW_FORMAT_CXI = 15,
    MW_FORMAT_SOCKADDR_IP = 17, /* IPv4 or IPv6: its family tells */
};

/* "10.0.0.1:4000", "[fe80::1]:4000": an end of a connection, 6 or 18 bytes; "" of any other length.
 */
char *mw_socket_address_text(const uint8_t *address, size_t size);
/* An address of an endpoint of `library`: "10.0.0.1:4000", "nic 0x12 pid 3", "uid 0x8c1f..." of
 * UCX; in hexadecimal digits where its format is not known or it is not as long as that says. ""
 * when empty. */
char *mw_fabric_address_text(const char *library, uint64_t format, const uint8_t *address,
                             size_t size);

#endif
