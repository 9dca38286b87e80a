/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening a history, its tables and their version; statements (store.h). The journal is SQLite's
 * plain one, not a write-ahead log: that needs memory that all users share, which file systems of
 * clusters do not give. One thread; prints nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/store_sql.h"

#define VERSION     1          /* of the tables: PRAGMA user_version */
#define APPLICATION 0x4d574849 /* "MWHI": PRAGMA application_id */
#define WAIT_MS     60000      /* for others that write */

/* Facts are kept once, however many runs have them. */
static const char tables[] =
    "CREATE TABLE run(id INTEGER PRIMARY KEY AUTOINCREMENT, added INTEGER NOT NULL,"
    " benchmark TEXT NOT NULL, stack TEXT NOT NULL, identity TEXT NOT NULL,"
    " began INTEGER NOT NULL, path TEXT, program TEXT, arguments TEXT, executable_id TEXT,"
    " ranks INTEGER, recorded_ranks INTEGER, nodes INTEGER, crashed TEXT, incomplete TEXT,"
    " disturbed TEXT, messages INTEGER, bytes INTEGER, calls INTEGER, collective_calls INTEGER,"
    " UNIQUE(identity, began));"
    "CREATE INDEX run_benchmark ON run(benchmark);"
    "CREATE TABLE tag(run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, key TEXT NOT NULL,"
    " value TEXT NOT NULL, PRIMARY KEY(run, key)) WITHOUT ROWID;"
    "CREATE TABLE fact(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL,"
    " value TEXT NOT NULL, detail TEXT NOT NULL, ranks INTEGER NOT NULL,"
    " UNIQUE(kind, name, value, detail, ranks));"
    "CREATE TABLE run_fact(run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    " fact INTEGER NOT NULL REFERENCES fact, PRIMARY KEY(run, fact)) WITHOUT ROWID;"
    "CREATE TABLE way(run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, distance TEXT,"
    " buffer TEXT, transport TEXT, layer TEXT, device TEXT, first_class INTEGER,"
    " last_class INTEGER, pairs INTEGER, messages INTEGER, bytes INTEGER);"
    "CREATE INDEX way_run ON way(run);"
    "CREATE TABLE figure(run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, scope TEXT,"
    " metric TEXT, distance TEXT, transport TEXT, buffer TEXT, name TEXT, size_class INTEGER,"
    " value REAL, samples INTEGER);"
    "CREATE INDEX figure_run ON figure(run);";

/* --- statements ------------------------------------------------------------------------------- */

void mw_store_fail(struct mw_store *store)
{
    int code = sqlite3_errcode(store->connection);
    if (store->error)
        return;
    if (code == SQLITE_BUSY)
        store->error = mw_format("%s: others have been writing for %d s: try again", store->path,
                                 WAIT_MS / 1000);
    else if (code == SQLITE_NOTADB)
        store->error = mw_format("%s: not a history of mpiwatch", store->path);
    else if (code == SQLITE_CORRUPT || code == SQLITE_ERROR)
        store->error = mw_format("%s: this history is damaged (%s)", store->path,
                                 sqlite3_errmsg(store->connection));
    else
        store->error = mw_format("%s: %s", store->path, sqlite3_errmsg(store->connection));
}

int mw_store_why(struct mw_store *store, char **why)
{
    *why = store->error;
    store->error = NULL;
    return *why != NULL;
}

sqlite3_stmt *mw_store_prepare(struct mw_store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (store->error)
        return NULL;
    if (sqlite3_prepare_v2(store->connection, sql, -1, &statement, NULL) != SQLITE_OK)
        mw_store_fail(store);
    return statement;
}

void mw_store_bind(sqlite3_stmt *statement, const char *types, ...)
{
    va_list arguments;
    if (!statement)
        return;
    va_start(arguments, types);
    for (int i = 0; types[i]; i++) {
        if (types[i] == 'i')
            sqlite3_bind_int64(statement, i + 1, va_arg(arguments, int64_t));
        else if (types[i] == 'r')
            sqlite3_bind_double(statement, i + 1, va_arg(arguments, double));
        else
            sqlite3_bind_text(statement, i + 1, va_arg(arguments, const char *), -1,
                              SQLITE_TRANSIENT);
    }
    va_end(arguments);
}

int mw_store_step(struct mw_store *store, sqlite3_stmt *statement)
{
    if (!statement || store->error)
        return 0;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        mw_store_fail(store);
    return code == SQLITE_ROW;
}

int mw_store_run(struct mw_store *store, sqlite3_stmt *statement)
{
    while (mw_store_step(store, statement))
        ;
    if (statement)
        sqlite3_reset(statement);
    return store->error ? -1 : 0;
}

int mw_store_exec(struct mw_store *store, const char *sql)
{
    if (store->error)
        return -1;
    if (sqlite3_exec(store->connection, sql, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    mw_store_fail(store);
    return -1;
}

char *mw_store_text(sqlite3_stmt *statement, int column, int absent)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (!text && absent)
        return NULL;
    return mw_text_copy(text ? text : "");
}

/* The one number that a statement gives. */
static int64_t store_number(struct mw_store *store, const char *sql)
{
    sqlite3_stmt *statement = mw_store_prepare(store, sql);
    int64_t number = mw_store_step(store, statement) ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return number;
}

/* --- opening ---------------------------------------------------------------------------------- */

static void refuse(struct mw_store *store, const char *reason)
{
    if (!store->error)
        store->error = mw_format("%s: %s", store->path, reason);
}

/* Makes the tables of a new file, once however many try at the same time. */
static void store_make(struct mw_store *store)
{
    if (mw_store_exec(store, "BEGIN IMMEDIATE"))
        return;
    if (!store_number(store, "PRAGMA user_version")) {
        char *version =
            mw_format("PRAGMA user_version=%d; PRAGMA application_id=%d", VERSION, APPLICATION);
        mw_store_exec(store, tables);
        mw_store_exec(store, version);
        free(version);
    }
    if (!mw_store_exec(store, "COMMIT"))
        return;
    sqlite3_exec(store->connection, "ROLLBACK", NULL, NULL, NULL);
}

static void store_check(struct mw_store *store, int create)
{
    int64_t version = store_number(store, "PRAGMA user_version");
    int64_t objects = store_number(store, "SELECT count(*) FROM sqlite_master");
    if (!store->error && create && !version && !objects) {
        store_make(store);
        version = store_number(store, "PRAGMA user_version");
    }
    if (!store->error && store_number(store, "PRAGMA application_id") != APPLICATION)
        refuse(store, objects || version ? "a database of another program"
                                         : "empty: no run was added to it");
    else if (version > VERSION)
        refuse(store, "written by a newer mpiwatch");
    else if (version < 1)
        refuse(store, "this history is damaged (it has no version)");
}

/* What is there must be a file: SQLite would wait for a pipe. 0 when one can go on. */
static int store_file(struct mw_store *store, int create)
{
    struct stat state;
    if (stat(store->path, &state)) {
        int missing = errno == ENOENT && create;
        /* SQLite's own mode leaves out what the umask would give a group. */
        int fd = missing ? open(store->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
        if (fd < 0)
            refuse(store, strerror(errno));
        else
            close(fd);
    } else if (!S_ISREG(state.st_mode)) {
        refuse(store, S_ISDIR(state.st_mode) ? "is a folder" : "is no file");
    }
    return store->error ? -1 : 0;
}

static void store_connect(struct mw_store *store)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    /* ":memory:" and "file:x?mode=memory" are names of files, which SQLite takes for others. */
    char *name = mw_format("%s%s", store->path[0] == '/' ? "" : "./", store->path);
    int code = sqlite3_open_v2(name, &store->connection, flags, NULL);
    free(name);
    if (code != SQLITE_OK) {
        mw_store_fail(store);
        return;
    }
    sqlite3_busy_timeout(store->connection, WAIT_MS);
    /* The file may come from anybody. */
    sqlite3_db_config(store->connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(store->connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    mw_store_exec(store, "PRAGMA foreign_keys=ON; PRAGMA cell_size_check=ON");
}

struct mw_store *mw_store_open(const char *path, int create, char **why)
{
    struct mw_store *store = mw_alloc(1, sizeof(*store));
    store->path = mw_text_copy(path);
    if (!store_file(store, create))
        store_connect(store);
    if (!store->error)
        store_check(store, create);
    if (mw_store_why(store, why)) {
        mw_store_close(store);
        return NULL;
    }
    return store;
}

void mw_store_close(struct mw_store *store)
{
    if (!store)
        return;
    sqlite3_close(store->connection);
    free(store->error);
    free(store->path);
    free(store);
}
