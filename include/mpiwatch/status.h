/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one list of things that can go wrong, shared by the recording library, the reader and the
 * command. Functions return enum mw_status; outputs are set only on MW_OK. The first function that
 * knows which error it is says it, callers pass it on.
 */
#ifndef MPIWATCH_STATUS_H
#define MPIWATCH_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define MW_STATUS_LIST(X)                                          \
    X(MW_OK, "no error")                                           \
    X(MW_END, "no more")                                           \
    X(MW_ERR_MEMORY, "out of memory")                              \
    X(MW_ERR_SYSTEM, "system call failed (see errno)")             \
    X(MW_ERR_NOT_FOUND, "not found")                               \
    X(MW_ERR_NOT_TRACE, "not an mpiwatch trace")                   \
    X(MW_ERR_TRUNCATED, "cut short")                               \
    X(MW_ERR_CORRUPT, "damaged")                                   \
    X(MW_ERR_NEWER, "written by a newer format version")           \
    X(MW_ERR_ARGUMENT, "invalid argument")                         \
    X(MW_ERR_LIMIT, "over a limit of the format")                  \
    X(MW_ERR_FULL, "no room")

enum mw_status {
#define MW_STATUS_ENUM(id, text) id,
    MW_STATUS_LIST(MW_STATUS_ENUM)
#undef MW_STATUS_ENUM
};

/* A short English text for a status, never NULL. Static storage. */
const char *mw_status_text(enum mw_status status);

#ifdef __cplusplus
}
#endif
#endif
