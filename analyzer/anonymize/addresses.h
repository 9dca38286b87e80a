/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stand-ins for addresses of networks that are bytes: of the same length and shape, the same for
 * the same address wherever it is, so that what belonged together (one rank's peer and the other
 * rank's own address, both ends of a connection) still does. Main thread only; results are newly
 * allocated.
 */
#ifndef MW_ANONYMIZE_ADDRESSES_H
#define MW_ANONYMIZE_ADDRESSES_H

#include "analyzer/anonymize/names.h"
#include "mpiwatch/trace.h"

/* The form of an endpoint's addresses, from the whole trace: a chunk need not say it again. */
void mw_address_form_learn(struct mw_names *names, uint64_t process,
                           const struct mw_endpoint *endpoint);
/* NULL where it was not learned. */
const struct mw_address_form *mw_address_form_find(const struct mw_names *names, uint64_t process,
                                                   uint64_t endpoint);

/* An IP address and a port, 6 or 18 bytes; of any other size nothing is left. IPv4 becomes
 * 240.0.0.N, IPv6 fe80::N where it is link-local, else 2001:db8::N, with the N of the stand-in
 * "addressN" in texts. Addresses of the machine itself stay. */
uint8_t *mw_address_socket(struct mw_names *names, const uint8_t *address, size_t *size);
/* An address of a fabric; without a form, or in one that is not known, as a whole. */
uint8_t *mw_address_fabric(struct mw_names *names, const struct mw_address_form *form,
                           const uint8_t *address, size_t *size);
/* A text that is one address of hardware; without digits other than 0 it stays. */
char *mw_address_text(struct mw_names *names, const char *text);

#endif
