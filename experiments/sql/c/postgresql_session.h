/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection to PostgreSQL with one statement, through libpq, called directly. */
#ifndef POSTGRESQL_SESSION_H
#define POSTGRESQL_SESSION_H

#include "lab_kit.h"
#include "question.h"

#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

/* A connection, and the statement of the case. */
typedef struct session {
    PGconn *db;
    char text[96];      /* the statement */
    const char *name;   /* its name, or NULL if it is sent as text each time */
    bool begins;        /* BEGIN is to be sent with the next prepared statement */
    const inputs *inputs;
    char error[400];    /* why the last operation failed */
} session;

/* Connects without encryption, which libpq would otherwise try first. */
static inline bool connect(session *session, const char *target)
{
    const char *keys[] = {"sslmode", "gssencmode", "dbname", NULL};
    const char *values[] = {"disable", "disable", target, NULL};
    session->db = PQconnectdbParams(keys, values, 1);
    if (PQstatus(session->db) == CONNECTION_OK)
        return true;
    snprintf(session->error, sizeof session->error, "%s", PQerrorMessage(session->db));
    return false;
}

static inline void disconnect(session *session)
{
    PQfinish(session->db);
    session->db = NULL;
}

/* Stores the error of a result, and frees the result. Returns false. */
static inline bool refuse(session *session, PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(session->error, sizeof session->error, "%s%s%s",
             state != NULL ? state : "", state != NULL ? ": " : "",
             message != NULL ? message : PQerrorMessage(session->db));
    PQclear(result);
    return false;
}

static inline bool failed(lab *lab, const session *session)
{
    return lab_fail(lab, LAB_FAILED, "%s", session->error);
}

/* Reports each column of the one row that the query in the argument `settings` returns. */
static inline bool read_settings(lab *lab, session *session)
{
    const char *query;
    if (!lab_text(lab, "settings", &query))
        return false;
    PGresult *result = PQexec(session->db, query);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
        return refuse(session, result) || failed(lab, session);
    for (int column = 0; column < PQnfields(result); column++)
        lab_setting(lab, PQfname(result, column), PQgetvalue(result, 0, column));
    PQclear(result);
    lab_setting(lab, "statement_cache", NO_STATEMENT_CACHE);
    return true;
}

static inline int32_t int4(const PGresult *result, int row, int column)
{
    uint32_t value;
    memcpy(&value, PQgetvalue(result, row, column), sizeof value);
    return (int32_t)be32toh(value);
}

/* Returns an integer from a result in either format. */
static inline uint64_t integer(const PGresult *result, bool binary, int row, int column)
{
    return (uint64_t)(binary ? int4(result, row, column)
                             : strtol(PQgetvalue(result, row, column), NULL, 10));
}

/* Reads the rows of one integer column. */
static inline bool fetch_column(session *session, PGresult *result, lab_work *work)
{
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        return refuse(session, result);
    int rows = PQntuples(result);
    bool binary = PQbinaryTuples(result);
    for (int row = 0; row < rows; row++)
        work->check += integer(result, binary, row, 0);
    work->units += (uint64_t)rows;
    PQclear(result);
    return true;
}

/* Connects, sends SELECT 1 as text, and disconnects, in each operation. */
static inline bool connect_each(lab *lab, session *own, const char *target, uint64_t operations, lab_work *work)
{
    for (uint64_t k = 0; k < operations; k++) {
        bool fetched = connect(own, target) && fetch_column(own, PQexec(own->db, "SELECT 1"), work);
        disconnect(own);
        if (!fetched)
            return failed(lab, own);
    }
    return true;
}

#endif
