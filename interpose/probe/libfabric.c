/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/probe.h"

const struct mw_probe mw_probe_libfabric = {.name = "libfabric", .limit_us = 1000};
