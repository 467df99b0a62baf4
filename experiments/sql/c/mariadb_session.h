/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection to MariaDB with one statement, through MariaDB's C client library, called directly. */
#ifndef MARIADB_SESSION_H
#define MARIADB_SESSION_H

#include "lab_kit.h"
#include "question.h"

#include <ctype.h>
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>

/* The address of a server. port and socket are 0 and NULL if they are missing. */
typedef struct address {
    char text[1000]; /* the buffer that the other fields point into */
    const char *user;
    const char *password;
    const char *host;
    const char *database;
    const char *socket;
    unsigned port;
} address;

/* A row of test_mixed. */
typedef struct mixed_row {
    int32_t id, small;
    int64_t big;
    char amount[32], name[401];
    unsigned long amount_length, name_length;
    my_bool is_nothing;
    int32_t nothing;
    MYSQL_TIME moment;
} mixed_row;

/* A connection, and the statement of the case. */
typedef struct session {
    MYSQL *db;
    char text[96];         /* the statement */
    bool prepared;         /* prepared once; otherwise sent as text in each operation */
    MYSQL_STMT *statement; /* NULL if it is sent as text */
    int32_t numbers[2];    /* its parameters */
    int32_t columns[2];    /* its row, in all cases but mixed */
    mixed_row mixed;       /* its row in the case mixed */
    const inputs *inputs;
    char error[400];       /* why the last operation failed */
} session;

/* Stores the connection's error. Returns false. */
static inline bool refuse(session *session)
{
    snprintf(session->error, sizeof session->error, "%s: %s", mysql_sqlstate(session->db),
             mysql_error(session->db));
    return false;
}

/* Stores the prepared statement's error. Returns false. */
static inline bool refuse_statement(session *session, MYSQL_STMT *statement)
{
    snprintf(session->error, sizeof session->error, "%s: %s", mysql_stmt_sqlstate(statement),
             mysql_stmt_error(statement));
    return false;
}

static inline bool failed(lab *lab, const session *session)
{
    return lab_fail(lab, LAB_FAILED, "%s", session->error);
}

/* Connects without TLS. */
static inline bool connect(session *session, const address *to)
{
    static const my_bool no = 0;
    session->db = mysql_init(NULL);
    mysql_options(session->db, MYSQL_OPT_SSL_ENFORCE, &no);
    mysql_options(session->db, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    return mysql_real_connect(session->db, to->host, to->user, to->password, to->database, to->port,
                              to->socket, 0) != NULL
        || refuse(session);
}

static inline void disconnect(session *session)
{
    if (session->statement != NULL)
        mysql_stmt_close(session->statement);
    session->statement = NULL;
    mysql_close(session->db);
    session->db = NULL;
}

static inline bool query(session *session, const char *text)
{
    return mysql_real_query(session->db, text, strlen(text)) == 0 || refuse(session);
}

/* Reports each column of the one row that the query in the argument `settings` returns. */
static inline bool read_settings(lab *lab, session *session)
{
    const char *text;
    if (!lab_text(lab, "settings", &text))
        return false;
    if (!query(session, text))
        return failed(lab, session);
    MYSQL_RES *result = mysql_store_result(session->db);
    MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
    for (unsigned column = 0; row != NULL && column < mysql_num_fields(result); column++)
        lab_setting(lab, mysql_fetch_field_direct(result, column)->name,
                    row[column] != NULL ? row[column] : "");
    mysql_free_result(result);
    lab_setting(lab, "statement_cache", NO_STATEMENT_CACHE);
    return row != NULL || lab_fail(lab, LAB_FAILED, "the settings have no row");
}

/* Decodes percent-encoding in place. */
static inline void decode(char *text)
{
    char *out = text;
    for (const char *in = text; *in != '\0'; in++) {
        unsigned byte = (unsigned char)*in;
        if (byte == '%' && isxdigit((unsigned char)in[1]) && isxdigit((unsigned char)in[2])) {
            sscanf(in + 1, "%2x", &byte);
            in += 2;
        }
        *out++ = (char)byte;
    }
    *out = '\0';
}

/* Ends the text before the first byte `at`. Returns the text after the byte, or NULL if there is none. */
static inline char *cut(char *text, char at)
{
    char *found = text != NULL ? strchr(text, at) : NULL;
    if (found != NULL)
        *found++ = '\0';
    return found;
}

/* Parses the target, in the form USER:PASSWORD@HOST:PORT/DATABASE?socket=PATH. */
static inline bool find_address(lab *lab, address *to)
{
    const char *target;
    if (!open_target(lab, "mariadb://", &target))
        return false;
    if (strlen(target) >= sizeof to->text)
        return lab_fail(lab, LAB_USAGE, "the target is too long");
    char *user = strcpy(to->text, target);
    char *host = cut(user, '@');
    char *password = cut(user, ':');
    char *database = cut(host, '/');
    char *port = cut(host, ':');
    char *socket = cut(cut(database, '?'), '=');
    char *parts[] = {user, password, host, database, socket};
    if (database == NULL)
        return lab_fail(lab, LAB_USAGE, "the target must be mariadb://USER:PASSWORD@HOST/DATABASE");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] != NULL)
            decode(parts[i]);
    to->user = user;
    to->password = password;
    to->host = host;
    to->database = database;
    to->socket = socket;
    to->port = port != NULL ? (unsigned)strtoul(port, NULL, 10) : 0;
    return true;
}

/* Runs a statement as text, which returns one or two integer columns. */
static inline bool fetch_text(session *session, const char *text, unsigned columns, lab_work *work)
{
    if (!query(session, text))
        return false;
    MYSQL_RES *result = mysql_use_result(session->db);
    if (result == NULL)
        return refuse(session);
    for (MYSQL_ROW row; (row = mysql_fetch_row(result)) != NULL; work->units++) {
        work->check += (uint64_t)strtol(row[0], NULL, 10);
        if (columns == 2)
            work->check += (uint64_t)strtol(row[1], NULL, 10);
    }
    bool complete = mysql_errno(session->db) == 0 || refuse(session);
    mysql_free_result(result);
    return complete;
}

/* Connects, sends SELECT 1 as text, and disconnects, in each operation. */
static inline bool connect_each(lab *lab, session *own, const address *to, uint64_t operations, lab_work *work)
{
    for (uint64_t k = 0; k < operations; k++) {
        bool fetched = connect(own, to) && fetch_text(own, "SELECT 1", 1, work);
        disconnect(own);
        if (!fetched)
            return failed(lab, own);
    }
    return true;
}

#endif
