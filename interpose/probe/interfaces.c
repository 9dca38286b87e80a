/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of this machine's interfaces; see interfaces.h. System calls of our own, no libc
 * lists. */
#include "probe/interfaces.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/sysfile.h"

#define INTERFACES_MAX 256u

static struct interface {
    uint8_t address[16];
    uint8_t size;
    uint32_t index; /* 0 not known */
    char name[IF_NAMESIZE];
} table[INTERFACES_MAX];
static unsigned count;
static int fresh; /* read since the last leave to do so */

static void add(const uint8_t *address, size_t size, uint32_t index, const char *name,
                size_t length)
{
    if (count == INTERFACES_MAX || length >= IF_NAMESIZE)
        return;
    struct interface *entry = &table[count++];
    memset(entry, 0, sizeof *entry);
    memcpy(entry->address, address, size);
    memcpy(entry->name, name, length);
    entry->size = (uint8_t)size;
    entry->index = index;
}

static void add_inet(void)
{
    static struct ifreq list[INTERFACES_MAX];
    struct ifconf ask = {.ifc_len = sizeof list, .ifc_req = list};
    int fd = (int)syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (syscall(SYS_ioctl, fd, SIOCGIFCONF, &ask) == 0)
        for (size_t i = 0; i < (size_t)ask.ifc_len / sizeof *list; i++) {
            const struct sockaddr_in *in = (const void *)&list[i].ifr_addr;
            if (in->sin_family == AF_INET)
                add((const uint8_t *)&in->sin_addr, 4, 0, list[i].ifr_name,
                    strnlen(list[i].ifr_name, IF_NAMESIZE));
        }
    mw_sys_close(fd);
}

/* Sixteen bytes in hexadecimal. */
static int parse_address(const char *text, uint8_t *out)
{
    for (int i = 0; i < 16; i++) {
        char digits[3] = {text[2 * i], 0, 0};
        const char *end;
        if (digits[0])
            digits[1] = text[2 * i + 1];
        out[i] = (uint8_t)mw_number(digits, 16, &end);
        if (end != digits + 2)
            return 0;
    }
    return 1;
}

/* Lines "address index prefix scope flags name", numbers hexadecimal. */
void mw_interfaces_add_inet6(const char *text)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        uint8_t address[16];
        const char *at = line;
        if (length > 33 && parse_address(line, address)) {
            uint32_t index = (uint32_t)mw_number(line + 32, 16, &at);
            for (int i = 0; i < 3; i++)
                mw_number(at, 16, &at);
            at += strspn(at, " \t");
            add(address, 16, index, at, strcspn(at, "\n"));
        }
        line += length + (line[length] != '\0');
    }
}

void mw_interfaces_clear(void)
{
    count = 0;
    fresh = 1;
}

void mw_interfaces_may_refresh(void)
{
    fresh = 0;
}

static void refresh(void)
{
    static char text[16384];
    int saved = errno;
    mw_interfaces_clear();
    add_inet();
    if (mw_sys_slurp("/proc/self/net/if_inet6", text, sizeof text) > 0)
        mw_interfaces_add_inet6(text);
    errno = saved;
}

static const struct interface *find(const uint8_t *address, size_t size, uint32_t scope)
{
    for (unsigned i = 0; i < count; i++)
        if (table[i].size == size && memcmp(table[i].address, address, size) == 0 &&
            (!scope || !table[i].index || table[i].index == scope))
            return &table[i];
    return NULL;
}

const char *mw_interface_of(const uint8_t *address, size_t size, uint32_t scope)
{
    static const uint8_t loopback[4] = {127, 0, 0, 1};
    const struct interface *found = find(address, size, scope);
    if (!found && !fresh) {
        refresh();
        found = find(address, size, scope);
    }
    if (!found && size == 4 && address[0] == 127) /* all of 127/8 is its */
        found = find(loopback, 4, 0);
    return found ? found->name : "";
}
