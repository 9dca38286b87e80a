/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the words for enum mw_status. Both halves; any thread; static text only.
 */
#include "mpiwatch/status.h"

const char *mw_status_text(enum mw_status status)
{
    switch (status) {
#define MW_STATUS_CASE(id, text)                                                                   \
    case id:                                                                                       \
        return text;
        MW_STATUS_LIST(MW_STATUS_CASE)
#undef MW_STATUS_CASE
    }
    return "unknown error";
}
