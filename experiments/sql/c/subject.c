/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL on SQLite with nothing in between: the C API, called directly. It shows what the library
 * itself costs, so the other languages are read against it. */
#include "lab_kit.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define INSERT "INSERT INTO test_simple (value) VALUES (?)"

/* The open case. All zeros while none is open. */
typedef struct sql {
    const char *path;
    sqlite3 *db;             /* NULL between the operations of connect */
    char text[80];           /* the case's statement ... */
    bool prepared;           /* ... prepared once, or anew for each operation */
    sqlite3_stmt *statement; /* NULL while it is not prepared */
    sqlite3_stmt *begin;     /* insert_tx only */
    sqlite3_stmt *commit;
    uint64_t rows_tx;
    int64_t inputs[LAB_INPUTS]; /* the ids or values to bind */
} sql;

/* -- Connections and statements ----------------------------------------------------------- */

static bool failed(lab *lab, const sql *sql)
{
    return lab_fail(lab, LAB_FAILED, "%s", sqlite3_errmsg(sql->db));
}

static bool connect(sql *sql)
{
    return sqlite3_open_v2(sql->path, &sql->db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
}

static bool disconnect(sql *sql)
{
    bool closed = sqlite3_close(sql->db) == SQLITE_OK;
    if (closed)
        sql->db = NULL;
    return closed;
}

static bool prepare(const sql *sql, const char *text, sqlite3_stmt **statement)
{
    return sqlite3_prepare_v2(sql->db, text, -1, statement, NULL) == SQLITE_OK;
}

/* Begins an operation: after it, the case's statement can be bound and stepped. */
static bool begin(sql *sql)
{
    return sql->statement != NULL || prepare(sql, sql->text, &sql->statement);
}

/* Ends an operation; false if its last step failed. */
static bool end(sql *sql)
{
    if (sql->prepared)
        return sqlite3_reset(sql->statement) == SQLITE_OK;
    int result = sqlite3_finalize(sql->statement);
    sql->statement = NULL;
    return result == SQLITE_OK;
}

static void finish(void *data)
{
    sql *sql = data;
    sqlite3_finalize(sql->statement);
    sqlite3_finalize(sql->begin);
    sqlite3_finalize(sql->commit);
    sqlite3_close(sql->db);
    memset(sql, 0, sizeof *sql);
}

/* -- Opening ------------------------------------------------------------------------------ */

/* Reports what a query answers, in text, as a setting. */
static bool read_setting(lab *lab, const sql *sql, const char *key, const char *query)
{
    sqlite3_stmt *statement;
    if (!prepare(sql, query, &statement))
        return failed(lab, sql);
    bool found = sqlite3_step(statement) == SQLITE_ROW;
    if (found)
        lab_setting(lab, key, (const char *)sqlite3_column_text(statement, 0));
    else
        failed(lab, sql);
    sqlite3_finalize(statement);
    return found;
}

static bool read_settings(lab *lab, const sql *sql)
{
    static const char *const pragmas[] = {
        "journal_mode", "synchronous", "encoding", "page_size", "cache_size", "secure_delete"};
    char query[40];
    if (!read_setting(lab, sql, "version", "SELECT sqlite_version()")
        || !read_setting(lab, sql, "source_id", "SELECT sqlite_source_id()"))
        return false;
    for (size_t i = 0; i < sizeof pragmas / sizeof *pragmas; i++) {
        snprintf(query, sizeof query, "PRAGMA %s", pragmas[i]);
        if (!read_setting(lab, sql, pragmas[i], query))
            return false;
    }
    lab_setting(lab, "autocommit", sqlite3_get_autocommit(sql->db) ? "1" : "0");
    return true;
}

static bool open_database(lab *lab, sql *sql)
{
    static const char scheme[] = "sqlite:";
    const char *target;
    if (!lab_text(lab, "target", &target))
        return false;
    if (strncmp(target, scheme, strlen(scheme)) != 0)
        return lab_fail(lab, LAB_UNSUPPORTED, "the target is not %sPATH", scheme);
    sql->path = target + strlen(scheme);
    if (!connect(sql))
        return failed(lab, sql);
    return read_settings(lab, sql);
}

/* Sets whether the case's statement is prepared now or in each operation. */
static bool open_statement(lab *lab, sql *sql)
{
    const char *statement;
    if (!lab_text(lab, "statement", &statement))
        return false;
    sql->prepared = strcmp(statement, "prepared") == 0;
    if (!sql->prepared && strcmp(statement, "text") != 0)
        return lab_fail(lab, LAB_UNSUPPORTED, "statement is neither prepared nor text");
    return !sql->prepared || begin(sql) || failed(lab, sql);
}

static bool open_prepared(lab *lab, sql *sql)
{
    sql->prepared = true;
    return begin(sql) || failed(lab, sql);
}

static void fill_values(const lab *lab, sql *sql)
{
    for (size_t i = 0; i < LAB_INPUTS; i++)
        sql->inputs[i] = (int64_t)(lab_inputs(lab)[i] >> 33);
}

/* -- Work that cases share ---------------------------------------------------------------- */

/* Runs the case's statement and adds its one column. */
static bool fetch_column(sql *sql, lab_work *work)
{
    for (; sqlite3_step(sql->statement) == SQLITE_ROW; work->units++)
        work->check += (uint64_t)sqlite3_column_int64(sql->statement, 0);
    return end(sql);
}

static bool insert(sql *sql, int64_t value, lab_work *work)
{
    if (!begin(sql))
        return false;
    sqlite3_bind_int64(sql->statement, 1, value);
    sqlite3_step(sql->statement);
    work->check += (uint64_t)value;
    work->units++;
    return end(sql);
}

static bool execute(sqlite3_stmt *statement)
{
    sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK;
}

/* -- The cases ---------------------------------------------------------------------------- */

static bool connect_open(lab *lab, void *data)
{
    sql *sql = data;
    strcpy(sql->text, "SELECT 1");
    return open_database(lab, sql) && (disconnect(sql) || failed(lab, sql));
}

static bool connect_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    for (uint64_t k = 0; k < operations; k++)
        if (!connect(sql) || !begin(sql) || !fetch_column(sql, work) || !disconnect(sql)) {
            failed(lab, sql);
            disconnect(sql);
            return false;
        }
    return true;
}

static bool select_1_open(lab *lab, void *data)
{
    sql *sql = data;
    strcpy(sql->text, "SELECT 1");
    return open_database(lab, sql) && open_statement(lab, sql);
}

static bool select_1_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    for (uint64_t k = 0; k < operations; k++)
        if (!begin(sql) || !fetch_column(sql, work))
            return failed(lab, sql);
    return true;
}

static bool select_open(lab *lab, void *data)
{
    sql *sql = data;
    uint64_t limit;
    if (!lab_integer(lab, "limit", 1, INT32_MAX, &limit))
        return false;
    snprintf(sql->text, sizeof sql->text,
             "SELECT id, value FROM test_simple ORDER BY id LIMIT %" PRIu64, limit);
    return open_database(lab, sql) && open_statement(lab, sql);
}

static bool select_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    for (uint64_t k = 0; k < operations; k++) {
        if (!begin(sql))
            return failed(lab, sql);
        for (; sqlite3_step(sql->statement) == SQLITE_ROW; work->units++)
            work->check += (uint64_t)sqlite3_column_int64(sql->statement, 0)
                         + (uint64_t)sqlite3_column_int64(sql->statement, 1);
        if (!end(sql))
            return failed(lab, sql);
    }
    return true;
}

static bool point_open(lab *lab, void *data)
{
    sql *sql = data;
    uint64_t rows;
    if (!lab_integer(lab, "rows", 1, INT32_MAX, &rows))
        return false;
    for (size_t i = 0; i < LAB_INPUTS; i++)
        sql->inputs[i] = (int64_t)(1 + lab_inputs(lab)[i] % rows);
    strcpy(sql->text, "SELECT value FROM test_simple WHERE id = ?");
    return open_database(lab, sql) && open_prepared(lab, sql);
}

static bool point_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    for (uint64_t k = 0; k < operations; k++) {
        sqlite3_bind_int64(sql->statement, 1, sql->inputs[k % LAB_INPUTS]);
        if (!fetch_column(sql, work))
            return failed(lab, sql);
    }
    return true;
}

static bool insert_open(lab *lab, void *data)
{
    sql *sql = data;
    fill_values(lab, sql);
    strcpy(sql->text, INSERT);
    return open_database(lab, sql) && open_statement(lab, sql);
}

static bool insert_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    for (uint64_t k = 0; k < operations; k++)
        if (!insert(sql, sql->inputs[k % LAB_INPUTS], work))
            return failed(lab, sql);
    return true;
}

static bool insert_tx_open(lab *lab, void *data)
{
    sql *sql = data;
    if (!lab_integer(lab, "rows_tx", 1, INT32_MAX, &sql->rows_tx))
        return false;
    fill_values(lab, sql);
    strcpy(sql->text, INSERT);
    return open_database(lab, sql) && open_prepared(lab, sql)
        && ((prepare(sql, "BEGIN", &sql->begin) && prepare(sql, "COMMIT", &sql->commit))
            || failed(lab, sql));
}

static bool insert_tx_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    uint64_t k = 0;
    for (uint64_t n = 0; n < operations; n++) {
        bool done = execute(sql->begin);
        for (uint64_t row = 0; done && row < sql->rows_tx; row++)
            done = insert(sql, sql->inputs[k++ % LAB_INPUTS], work);
        if (!done || !execute(sql->commit)) {
            failed(lab, sql);
            sqlite3_exec(sql->db, "ROLLBACK", NULL, NULL, NULL);
            return false;
        }
    }
    return true;
}

static bool drop_create_open(lab *lab, void *data)
{
    return open_database(lab, data);
}

static bool drop_create_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    static const char drop[] = "DROP TABLE test_simple";
    static const char create[] =
        "CREATE TABLE test_simple (id integer primary key autoincrement, value integer)";
    sql *sql = data;
    for (uint64_t k = 0; k < operations; k++) {
        if (sqlite3_exec(sql->db, drop, NULL, NULL, NULL) != SQLITE_OK
            || sqlite3_exec(sql->db, create, NULL, NULL, NULL) != SQLITE_OK)
            return failed(lab, sql);
        work->check++;
        work->units++;
    }
    return true;
}

int main(void)
{
    static const lab_case cases[] = {
        {"connect", connect_open, connect_perform, finish},
        {"select_1", select_1_open, select_1_perform, finish},
        {"select", select_open, select_perform, finish},
        {"point", point_open, point_perform, finish},
        {"insert", insert_open, insert_perform, finish},
        {"insert_tx", insert_tx_open, insert_tx_perform, finish},
        {"drop_create", drop_create_open, drop_create_perform, finish},
    };
    static sql sql;
    char library[40];
    snprintf(library, sizeof library, "SQLite %s", sqlite3_libversion());
    return lab_main("c", library, cases, sizeof cases / sizeof *cases, &sql);
}
