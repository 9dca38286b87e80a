/* SPDX-License-Identifier: BSD-3-Clause */
/* Binary addresses and their stand-ins (addresses.h). */
#include "analyzer/anonymize/addresses.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "analyzer/anonymize/tokens.h"
#include "analyzer/render/address.h"

enum { FAMILY_IB = 27 };

static uint64_t endpoint_key(uint64_t process, uint64_t endpoint)
{
    uint64_t both[] = {process, endpoint};
    return mw_hash_bytes(2, both, sizeof both);
}

void mw_address_form_learn(struct mw_names *names, uint64_t process,
                           const struct mw_endpoint *endpoint)
{
    size_t at = mw_index_put(&names->endpoints, endpoint_key(process, endpoint->id));
    if (at != names->forms.count)
        return;
    *mw_vector_add(&names->forms) =
        (struct mw_address_form){.format = endpoint->format,
                                 .libfabric = strcmp(endpoint->library, "libfabric") == 0,
                                 .ucx = strcmp(endpoint->library, "ucx") == 0};
}

const struct mw_address_form *mw_address_form_find(const struct mw_names *names, uint64_t process,
                                                   uint64_t endpoint)
{
    size_t at = mw_index_find(&names->endpoints, endpoint_key(process, endpoint));
    return at == MW_INDEX_NONE ? NULL : &names->forms.at[at];
}

static uint8_t *copy_bytes(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = mw_alloc(size + 1, 1);
    if (size)
        memcpy(copy, bytes, size);
    return copy;
}

static size_t number_of(struct mw_names *names, const char *text)
{
    return mw_names_number(names, MW_NAME_ADDRESS, text, strlen(text));
}

/* A number as the last bytes, as addresses of networks are written. */
static void put_big(uint8_t *end, size_t bytes, uint64_t number)
{
    for (; bytes > 0; bytes--, number >>= 8)
        *--end = (uint8_t)number;
}

/* 240.0.0.0 and up is never given to anybody. */
static void replace_ipv4(struct mw_names *names, uint8_t *address)
{
    static const uint8_t any[4];
    char text[INET_ADDRSTRLEN] = "";
    if (address[0] == 127 || memcmp(address, any, sizeof any) == 0)
        return;
    inet_ntop(AF_INET, address, text, sizeof text);
    put_big(address + 4, 4, UINT64_C(0xf0000000) | (number_of(names, text) & 0x0fffffff));
}

/* IPv6, and the GIDs of InfiniBand. 2001:db8:: is there for examples only. */
static void replace_ipv6(struct mw_names *names, uint8_t *address)
{
    static const uint8_t nothing[16], mapped[12] = {[10] = 0xff, [11] = 0xff};
    char text[INET6_ADDRSTRLEN] = "";
    if (memcmp(address, nothing, 15) == 0 && address[15] <= 1)
        return;
    if (memcmp(address, mapped, sizeof mapped) == 0) {
        replace_ipv4(names, address + 12);
        return;
    }
    inet_ntop(AF_INET6, address, text, sizeof text);
    size_t number = number_of(names, text);
    int link = address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
    memset(address, 0, 16);
    put_big(address + 4, 4, link ? 0xfe800000 : 0x20010db8);
    put_big(address + 16, 8, number);
}

uint8_t *mw_address_socket(struct mw_names *names, const uint8_t *address, size_t *size)
{
    uint8_t *safe = copy_bytes(address, *size);
    if (*size == 6)
        replace_ipv4(names, safe);
    else if (*size == 18)
        replace_ipv6(names, safe);
    else
        *size = 0;
    return safe;
}

/* Nobody knows what is in it. */
static void replace_all(struct mw_names *names, uint8_t *address, size_t size)
{
    char *text = mw_alloc(2 * size + 1, 1);
    for (size_t i = 0; i < size; i++)
        sprintf(text + 2 * i, "%02x", address[i]);
    size_t number = number_of(names, text);
    memset(address, 0, size);
    put_big(address + size, size < 8 ? size : 8, number);
    free(text);
}

/* As Linux has them on a little-endian machine; what only fills up is emptied. */
static void replace_sockaddr(struct mw_names *names, uint8_t *address, size_t size)
{
    unsigned family = size >= 2 ? address[0] | (unsigned)address[1] << 8 : 0;
    if (family == AF_INET && size >= 8) {
        replace_ipv4(names, address + 4);
        memset(address + 8, 0, size - 8);
    } else if (family == AF_INET6 && size >= 24) {
        memset(address + 4, 0, 4); /* flow */
        replace_ipv6(names, address + 8);
        if (size > 28)
            memset(address + 28, 0, size - 28);
    } else if (family == FAMILY_IB && size >= 24) {
        replace_ipv6(names, address + 8);
    } else {
        replace_all(names, address, size);
    }
}

/* 9 bits of endpoint, 20 of NIC, then the service; the NIC alone says where. */
static void replace_cxi(struct mw_names *names, uint8_t *address, size_t size)
{
    if (size < 4) {
        replace_all(names, address, size);
        return;
    }
    uint32_t word = address[0] | (uint32_t)address[1] << 8 | (uint32_t)address[2] << 16 |
                    (uint32_t)address[3] << 24;
    char text[32];
    snprintf(text, sizeof text, "nic 0x%x", (unsigned)(word >> 9 & 0xfffff));
    uint32_t nic = (uint32_t)number_of(names, text) & 0xfffff;
    word = (word & ~(UINT32_C(0xfffff) << 9)) | nic << 9;
    for (int i = 0; i < 4; i++)
        address[i] = (uint8_t)(word >> 8 * i);
}

/* "scheme://10.0.0.1:4000" keeps scheme and port, "fi_shm://1000:1" the scheme alone: there is the
 * number of a user in it. As many zero bytes follow as before. */
static uint8_t *replace_text(struct mw_names *names, const uint8_t *address, size_t *size)
{
    char *text = mw_alloc(*size + 1, 1);
    memcpy(text, address, *size);
    size_t length = strlen(text), zeros = *size - length;
    const char *scheme = strstr(text, "://");
    size_t head = scheme ? (size_t)(scheme - text) + 3 : 0;
    size_t known = mw_token_address(text, head);
    size_t whole = known ? known : length - head;
    const char *stand_in =
        whole ? mw_names_stand_in(names, MW_NAME_ADDRESS, text + head, whole) : "";
    size_t port =
        known && text[head + known] == ':' ? 1 + strspn(text + head + known + 1, "0123456789") : 0;
    char *safe = mw_format("%.*s%s%.*s", (int)head, text, stand_in, (int)port, text + head + whole);
    length = strlen(safe);
    uint8_t *result = mw_alloc(length + zeros + 1, 1);
    memcpy(result, safe, length);
    *size = length + zeros;
    free(safe);
    free(text);
    return result;
}

uint8_t *mw_address_fabric(struct mw_names *names, const struct mw_address_form *form,
                           const uint8_t *address, size_t *size)
{
    uint64_t format = form && form->libfabric ? form->format : 0;
    if (*size && format == MW_FORMAT_STR)
        return replace_text(names, address, size);
    uint8_t *safe = copy_bytes(address, *size);
    if (*size == 0 || (form && form->ucx && *size == 8)) /* a random number */
        return safe;
    if (format == MW_FORMAT_SOCKADDR_IP ||
        (format >= MW_FORMAT_SOCKADDR && format <= MW_FORMAT_SOCKADDR_IB))
        replace_sockaddr(names, safe, *size);
    else if (format == MW_FORMAT_EFA && *size >= 16)
        replace_ipv6(names, safe);
    else if (format == MW_FORMAT_CXI)
        replace_cxi(names, safe, *size);
    else
        replace_all(names, safe, *size);
    return safe;
}

char *mw_address_text(struct mw_names *names, const char *text)
{
    if (text[strspn(text, "0:.-x")] == 0)
        return mw_text_copy(text);
    return mw_text_copy(mw_names_stand_in(names, MW_NAME_ADDRESS, text, strlen(text)));
}
