/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which network interface has a local address: IPv4 from the kernel (SIOCGIFCONF), IPv6 from
 * /proc/self/net/if_inet6. One table of the process; callers take turns (steps of probes do).
 */
#ifndef MW_PROBE_INTERFACES_H
#define MW_PROBE_INTERFACES_H

#include <stddef.h>
#include <stdint.h>

/* The name of the interface with this address (4 or 16 bytes), "" unknown. `scope`: number of the
 * interface of a link-local address, 0 none. The table is read when the address is not in it, but
 * only once between two calls of mw_interfaces_may_refresh. */
const char *mw_interface_of(const uint8_t *address, size_t size, uint32_t scope);
void mw_interfaces_may_refresh(void);

/* The parts, for tests: adds the lines of an if_inet6 file. */
void mw_interfaces_add_inet6(const char *text);
void mw_interfaces_clear(void);

#endif
