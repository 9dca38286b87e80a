/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces of the store that its files share: the connection, statements, what went wrong. */
#ifndef MW_STORE_STORE_SQL_H
#define MW_STORE_STORE_SQL_H

#include <sqlite3.h>

#include "analyzer/store/store.h"

struct mw_store {
    sqlite3 *connection;
    char *path;
    char *error; /* the first one since the last mw_store_why; NULL none */
};

/* Notes what SQLite says of the last call, unless something was noted before. */
void mw_store_fail(struct mw_store *store);
/* Hands on what was noted; 0 when nothing was. */
int mw_store_why(struct mw_store *store, char **why);

/* A statement, or NULL. Its parameters are bound one after another: i a number, t a text (NULL:
 * null), r a real number. */
sqlite3_stmt *mw_store_prepare(struct mw_store *store, const char *sql);
void mw_store_bind(sqlite3_stmt *statement, const char *types, ...);
/* One row more of a statement: 1; 0 at its end or when it failed, which is noted. */
int mw_store_step(struct mw_store *store, sqlite3_stmt *statement);
/* Runs a statement that has been bound to its end, and makes it ready for the next values. */
int mw_store_run(struct mw_store *store, sqlite3_stmt *statement);
/* Statements without parameters: 0, or -1 (noted). */
int mw_store_exec(struct mw_store *store, const char *sql);
/* A column's text, "" for null; newly allocated. NULL for null with `absent`. */
char *mw_store_text(sqlite3_stmt *statement, int column, int absent);

#endif
