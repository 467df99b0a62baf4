/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection to SQLite with one statement, through the C API, called directly. */
#ifndef SQLITE_SESSION_H
#define SQLITE_SESSION_H

#include "lab_kit.h"
#include "question.h"

#include <sqlite3.h>
#include <stdio.h>

/* A connection, and the statement of the case. */
typedef struct session {
    sqlite3 *db;             /* NULL between the operations of connect */
    char text[96];           /* the statement */
    bool prepared;           /* prepared once; otherwise prepared again for each operation */
    sqlite3_stmt *statement; /* NULL while it is not prepared */
    const inputs *inputs;
} session;

/* Flags of every connection, in addition to the flags for reading and writing. */
static int threading_flags = 0;

static inline bool failed(lab *lab, const session *session)
{
    return lab_fail(lab, LAB_FAILED, "%s", sqlite3_errmsg(session->db));
}

static inline bool connect(session *session, const char *path)
{
    return sqlite3_open_v2(path, &session->db, SQLITE_OPEN_READWRITE | threading_flags, NULL) == SQLITE_OK;
}

static inline bool disconnect(session *session)
{
    bool closed = sqlite3_close(session->db) == SQLITE_OK;
    if (closed)
        session->db = NULL;
    return closed;
}

static inline bool prepare(const session *session, const char *text, sqlite3_stmt **statement)
{
    return sqlite3_prepare_v2(session->db, text, -1, statement, NULL) == SQLITE_OK;
}

/* Begins an operation: afterwards the statement can be bound and stepped. */
static inline bool begin(session *session)
{
    return session->statement != NULL || prepare(session, session->text, &session->statement);
}

/* Ends an operation; returns false if its last step failed. */
static inline bool end(session *session)
{
    if (session->prepared)
        return sqlite3_reset(session->statement) == SQLITE_OK;
    int result = sqlite3_finalize(session->statement);
    session->statement = NULL;
    return result == SQLITE_OK;
}

static inline void finish_session(session *session)
{
    sqlite3_finalize(session->statement);
    sqlite3_close(session->db);
}

/* Reports the text that a query returns as a setting. */
static inline bool read_setting(lab *lab, const session *session, const char *key, const char *query)
{
    sqlite3_stmt *statement;
    if (!prepare(session, query, &statement))
        return failed(lab, session);
    bool found = sqlite3_step(statement) == SQLITE_ROW;
    if (found)
        lab_setting(lab, key, (const char *)sqlite3_column_text(statement, 0));
    else
        failed(lab, session);
    sqlite3_finalize(statement);
    return found;
}

/* Returns the connection's actual threading mode: a connection without a mutex is not serialized. */
static inline const char *threading_mode(const session *session)
{
    if (!sqlite3_threadsafe())
        return "single-thread";
    return sqlite3_db_mutex(session->db) == NULL ? "multi-thread" : "serialized";
}

static inline bool read_settings(lab *lab, const session *session)
{
    static const char *const pragmas[] = {
        "journal_mode", "synchronous", "encoding", "page_size", "cache_size", "secure_delete"};
    char query[40];
    if (!read_setting(lab, session, "version", "SELECT sqlite_version()")
        || !read_setting(lab, session, "source_id", "SELECT sqlite_source_id()"))
        return false;
    for (size_t i = 0; i < sizeof pragmas / sizeof *pragmas; i++) {
        snprintf(query, sizeof query, "PRAGMA %s", pragmas[i]);
        if (!read_setting(lab, session, pragmas[i], query))
            return false;
    }
    lab_setting(lab, "threading", threading_mode(session));
    lab_setting(lab, "statement_cache", NO_STATEMENT_CACHE);
    lab_setting(lab, "autocommit", sqlite3_get_autocommit(session->db) ? "1" : "0");
    return true;
}

/* Runs the session's statement, which returns one integer column. */
static inline bool fetch_column(session *session, lab_work *work)
{
    for (; sqlite3_step(session->statement) == SQLITE_ROW; work->units++)
        work->check += (uint64_t)sqlite3_column_int64(session->statement, 0);
    return end(session);
}

/* Connects, runs the session's text, which returns one integer column, and disconnects, in each operation. */
static inline bool connect_each(lab *lab, session *own, const char *path, uint64_t operations, lab_work *work)
{
    for (uint64_t k = 0; k < operations; k++)
        if (!connect(own, path) || !begin(own) || !fetch_column(own, work) || !disconnect(own)) {
            failed(lab, own);
            disconnect(own);
            return false;
        }
    return true;
}

#endif
