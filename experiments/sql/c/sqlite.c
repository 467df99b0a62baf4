/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL on SQLite through its C API, called directly. It shows what the library itself costs, so this is
 * the reference for the other languages. With the argument `nomutex` connections have no mutex, which is
 * faster, and permissible where no two threads use one connection at the same time. */
#include "lab_kit.h"
#include "lab_workers.h"
#include "own.h"
#include "question.h"
#include "sqlite_session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBIT "UPDATE test_simple SET value = value - ? WHERE id = ?"
#define CREDIT "UPDATE test_simple SET value = value + ? WHERE id = ?"
#define INSERT "INSERT INTO test_simple (value) VALUES (?)"
#define POINT "SELECT value FROM test_simple WHERE id = ?"
/* The query of the case mixed. The name "nothing" is quoted because it is a keyword of SQLite. */
#define MIXED "SELECT id, small, big, amount, name, \"nothing\", moment FROM test_mixed WHERE id = ?"

/* The open case. All zeros while none is open. */
typedef struct sql {
    session own; /* the only one, except in the case connections */
    const char *path;
    inputs inputs;
    const char *table;   /* of the case drop_create */
    sqlite3_stmt *begin; /* of the cases with transactions */
    sqlite3_stmt *commit;
    sqlite3_stmt *second; /* of the case transfer */
    uint64_t rows_tx;
    session *sessions; /* of the case connections */
    uint64_t connections;
    lab_workers *workers;
    own_work work; /* of the case own */
} sql;

/* -- Opening ------------------------------------------------------------------------------ */

static void finish(void *data)
{
    sql *sql = data;
    lab_workers_end(sql->workers);
    for (uint64_t c = 0; sql->sessions != NULL && c < sql->connections; c++)
        finish_session(&sql->sessions[c]);
    free(sql->sessions);
    sqlite3_finalize(sql->begin);
    sqlite3_finalize(sql->commit);
    sqlite3_finalize(sql->second);
    for (size_t s = 0; s < sql->work.count; s++)
        sqlite3_finalize(sql->work.statements[s].prepared);
    own_free(&sql->work);
    finish_session(&sql->own);
    memset(sql, 0, sizeof *sql);
}

static bool open_database(lab *lab, sql *sql)
{
    if (!open_target(lab, "sqlite:", &sql->path))
        return false;
    sql->own.inputs = &sql->inputs;
    return (connect(&sql->own, sql->path) || failed(lab, &sql->own))
        && read_settings(lab, &sql->own);
}

/* Prepares the session's statement, if it must be prepared once. */
static bool open_statement(lab *lab, session *session)
{
    return !session->prepared || begin(session) || failed(lab, session);
}

/* Opens the database with a statement that is always prepared. */
static bool open_prepared_statement(lab *lab, sql *sql, const char *text)
{
    strcpy(sql->own.text, text);
    sql->own.prepared = true;
    return open_database(lab, sql) && open_statement(lab, &sql->own);
}

/* Opens the database with a statement that is prepared once or each time, as the argument `statement` specifies. */
static bool open_either_statement(lab *lab, sql *sql, const char *text)
{
    strcpy(sql->own.text, text);
    return open_prepared(lab, &sql->own.prepared) && open_database(lab, sql)
        && open_statement(lab, &sql->own);
}

static bool open_transactions(lab *lab, sql *sql)
{
    return (prepare(&sql->own, "BEGIN", &sql->begin) && prepare(&sql->own, "COMMIT", &sql->commit))
        || failed(lab, &sql->own);
}

/* -- Work that cases share ---------------------------------------------------------------- */

static bool fetch_point(session *session, uint64_t k, lab_work *work)
{
    if (!begin(session))
        return false;
    sqlite3_bind_int(session->statement, 1, session->inputs->ids[k % LAB_INPUTS]);
    return fetch_column(session, work);
}

static bool insert(session *session, uint64_t k, lab_work *work)
{
    int32_t value = session->inputs->values[k % LAB_INPUTS];
    if (!begin(session))
        return false;
    sqlite3_bind_int(session->statement, 1, value);
    sqlite3_step(session->statement);
    work->check += (uint64_t)value;
    work->units++;
    return end(session);
}

static bool execute(sqlite3_stmt *statement)
{
    sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK;
}

/* Executes an UPDATE that binds an amount and an id. */
static bool update(sqlite3_stmt *statement, int32_t amount, int32_t id)
{
    sqlite3_bind_int(statement, 1, amount);
    sqlite3_bind_int(statement, 2, id);
    return execute(statement);
}

static bool roll_back(lab *lab, sql *sql)
{
    failed(lab, &sql->own);
    if (!sqlite3_get_autocommit(sql->own.db))
        sqlite3_exec(sql->own.db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/* -- The cases ---------------------------------------------------------------------------- */

static bool connect_open(lab *lab, void *data)
{
    sql *sql = data;
    strcpy(sql->own.text, "SELECT 1");
    return open_database(lab, sql) && (disconnect(&sql->own) || failed(lab, &sql->own));
}

static bool connect_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    return connect_each(lab, &sql->own, sql->path, operations, work);
}

static bool select_1_open(lab *lab, void *data)
{
    return open_either_statement(lab, data, "SELECT 1");
}

static bool select_1_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++)
        if (!begin(own) || !fetch_column(own, work))
            return failed(lab, own);
    return true;
}

static bool select_open(lab *lab, void *data)
{
    char text[80];
    uint64_t limit;
    if (!lab_integer(lab, "limit", 1, INT32_MAX, &limit))
        return false;
    snprintf(text, sizeof text,
             "SELECT id, value FROM test_simple ORDER BY id LIMIT %" PRIu64, limit);
    return open_either_statement(lab, data, text);
}

static bool select_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++) {
        if (!begin(own))
            return failed(lab, own);
        for (; sqlite3_step(own->statement) == SQLITE_ROW; work->units++)
            work->check += (uint64_t)sqlite3_column_int64(own->statement, 0)
                         + (uint64_t)sqlite3_column_int64(own->statement, 1);
        if (!end(own))
            return failed(lab, own);
    }
    return true;
}

static bool point_open(lab *lab, void *data)
{
    sql *sql = data;
    return fill_inputs(lab, &sql->inputs) && open_either_statement(lab, sql, POINT);
}

static bool point_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++)
        if (!fetch_point(own, k, work))
            return failed(lab, own);
    return true;
}

static bool mixed_open(lab *lab, void *data)
{
    sql *sql = data;
    return fill_inputs(lab, &sql->inputs) && open_prepared_statement(lab, sql, MIXED);
}

/* Parses a moment in a text such as 2026-11-21 09:15:00.123. */
static int64_t fold_moment_text(const char *text)
{
    static const char offsets[] = {0, 5, 8, 11, 14, 17, 20};
    int parts[7];
    for (size_t i = 0; i < 7; i++) {
        const char *digit = text + offsets[i];
        for (parts[i] = 0; *digit >= '0' && *digit <= '9'; digit++)
            parts[i] = parts[i] * 10 + (*digit - '0');
    }
    return fold_moment(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]);
}

static uint64_t fold_mixed(sqlite3_stmt *row)
{
    enum { ID, SMALL, BIG, AMOUNT, NAME, NOTHING, MOMENT };
    const char *name = (const char *)sqlite3_column_text(row, NAME);
    return (uint64_t)sqlite3_column_int64(row, ID)
         + (uint64_t)sqlite3_column_int64(row, SMALL)
         + (uint64_t)sqlite3_column_int64(row, BIG)
         + (uint64_t)llround(sqlite3_column_double(row, AMOUNT) * 10000)
         + fold_text(name, (size_t)sqlite3_column_bytes(row, NAME))
         + (sqlite3_column_type(row, NOTHING) == SQLITE_NULL)
         + (uint64_t)fold_moment_text((const char *)sqlite3_column_text(row, MOMENT));
}

static bool mixed_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++) {
        sqlite3_bind_int(own->statement, 1, own->inputs->ids[k % LAB_INPUTS]);
        for (; sqlite3_step(own->statement) == SQLITE_ROW; work->units++)
            work->check += fold_mixed(own->statement);
        if (!end(own))
            return failed(lab, own);
    }
    return true;
}

static bool insert_open(lab *lab, void *data)
{
    sql *sql = data;
    fill_values(lab, &sql->inputs);
    return open_either_statement(lab, sql, INSERT);
}

static bool insert_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++)
        if (!insert(own, k, work))
            return failed(lab, own);
    return true;
}

static bool insert_tx_open(lab *lab, void *data)
{
    sql *sql = data;
    fill_values(lab, &sql->inputs);
    return lab_integer(lab, "rows_tx", 1, INT32_MAX, &sql->rows_tx)
        && open_prepared_statement(lab, sql, INSERT) && open_transactions(lab, sql);
}

static bool insert_tx_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    uint64_t k = 0;
    for (uint64_t n = 0; n < operations; n++) {
        bool done = execute(sql->begin);
        for (uint64_t row = 0; done && row < sql->rows_tx; row++)
            done = insert(&sql->own, k++, work);
        if (!done || !execute(sql->commit))
            return roll_back(lab, sql);
    }
    return true;
}

static bool update_point_open(lab *lab, void *data)
{
    sql *sql = data;
    return fill_inputs(lab, &sql->inputs)
        && open_prepared_statement(lab, sql, CREDIT);
}

static bool update_point_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    for (uint64_t k = 0; k < operations; k++) {
        int32_t amount = sql->inputs.amounts[k % LAB_INPUTS];
        if (!update(sql->own.statement, amount, sql->inputs.ids[k % LAB_INPUTS]))
            return failed(lab, &sql->own);
        work->check += (uint64_t)amount;
        work->units++;
    }
    return true;
}

static bool transfer_open(lab *lab, void *data)
{
    sql *sql = data;
    return fill_inputs(lab, &sql->inputs)
        && open_prepared_statement(lab, sql, DEBIT)
        && (prepare(&sql->own, CREDIT, &sql->second) || failed(lab, &sql->own))
        && open_transactions(lab, sql);
}

static bool transfer_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    for (uint64_t k = 0; k < operations; k++) {
        size_t i = k % LAB_INPUTS;
        int32_t amount = sql->inputs.amounts[i];
        if (!execute(sql->begin)
            || !update(sql->own.statement, amount, sql->inputs.ids[i])
            || !update(sql->second, amount, sql->inputs.others[i])
            || !execute(sql->commit))
            return roll_back(lab, sql);
        work->check += (uint64_t)amount;
        work->units += 2;
    }
    return true;
}

static bool drop_create_open(lab *lab, void *data)
{
    sql *sql = data;
    return lab_text(lab, "table", &sql->table) && open_database(lab, sql);
}

static bool drop_create_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    for (uint64_t k = 0; k < operations; k++) {
        if (sqlite3_exec(sql->own.db, "DROP TABLE test_simple", NULL, NULL, NULL) != SQLITE_OK
            || sqlite3_exec(sql->own.db, sql->table, NULL, NULL, NULL) != SQLITE_OK)
            return failed(lab, &sql->own);
        work->check++;
        work->units++;
    }
    return true;
}

/* Performs one connection's share of the operations of the case connections. */
static bool fetch_points(void *data, lab_share *share)
{
    session *session = data;
    for (uint64_t k = share->first; k < share->operations; k += share->step) {
        if (!fetch_point(session, k, &share->work))
            return false;
        lab_lap(&share->latencies);
    }
    return true;
}

static bool connections_open(lab *lab, void *data)
{
    sql *sql = data;
    if (!lab_integer(lab, "connections", 1, MAX_CONNECTIONS, &sql->connections)
        || !fill_inputs(lab, &sql->inputs) || !open_target(lab, "sqlite:", &sql->path))
        return false;
    sql->sessions = calloc(sql->connections, sizeof *sql->sessions);
    if (sql->sessions == NULL)
        return lab_fail(lab, LAB_FAILED, "out of memory");
    for (uint64_t c = 0; c < sql->connections; c++) {
        session *session = &sql->sessions[c];
        session->inputs = &sql->inputs;
        session->prepared = true;
        strcpy(session->text, POINT);
        if (!connect(session, sql->path) || !begin(session))
            return failed(lab, session);
    }
    sql->workers = lab_workers_start(lab, sql->connections, sql->sessions, sizeof *sql->sessions, fetch_points);
    return sql->workers != NULL && read_settings(lab, &sql->sessions[0]);
}

static bool connections_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    const sql *sql = data;
    const session *stopped = lab_workers_perform(sql->workers, lab, operations, work);
    return stopped == NULL || failed(lab, stopped);
}

static bool own_open(lab *lab, void *data)
{
    sql *sql = data;
    if (!own_read(lab, &sql->work) || !open_database(lab, sql))
        return false;
    for (size_t s = 0; s < sql->work.count; s++) {
        own_statement *statement = &sql->work.statements[s];
        if (!prepare(&sql->own, statement->text, (sqlite3_stmt **)&statement->prepared))
            return failed(lab, &sql->own);
    }
    return !sql->work.transaction || open_transactions(lab, sql);
}

static void bind_own(sqlite3_stmt *prepared, int number, const own_value *value)
{
    if (value->type == OWN_INTEGER)
        sqlite3_bind_int64(prepared, number, value->integer);
    else if (value->type == OWN_FLOAT)
        sqlite3_bind_double(prepared, number, value->number);
    else
        sqlite3_bind_text(prepared, number, value->text, (int)value->length, SQLITE_STATIC);
}

static uint64_t fold_own(sqlite3_stmt *row, int column, own_type type)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return OWN_NULL;
    switch (type) {
    case OWN_INTEGER:
        return (uint64_t)sqlite3_column_int64(row, column);
    case OWN_FLOAT:
        return own_fold_float(sqlite3_column_double(row, column));
    case OWN_BYTES: {
        const void *bytes = sqlite3_column_blob(row, column);
        return own_fold_bytes(bytes, (size_t)sqlite3_column_bytes(row, column));
    }
    default: {
        const char *text = (const char *)sqlite3_column_text(row, column);
        return fold_text(text, (size_t)sqlite3_column_bytes(row, column));
    }
    }
}

static bool run_own(const own_statement *statement, const own_value *values, lab_work *work)
{
    sqlite3_stmt *prepared = statement->prepared;
    for (size_t p = 0; p < statement->parameters; p++)
        bind_own(prepared, (int)p + 1, &values[p]);
    if (statement->columns == 0) {
        work->check++;
        work->units++;
        return execute(prepared);
    }
    for (; sqlite3_step(prepared) == SQLITE_ROW; work->units++)
        for (size_t c = 0; c < statement->columns; c++)
            work->check += fold_own(prepared, (int)c, statement->column_types[c]);
    return sqlite3_reset(prepared) == SQLITE_OK;
}

static bool own_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    bool transaction = sql->work.transaction;
    for (uint64_t k = 0; k < operations; k++) {
        bool done = !transaction || execute(sql->begin);
        for (size_t s = 0; done && s < sql->work.count; s++) {
            const own_statement *statement = &sql->work.statements[s];
            done = run_own(statement, own_values(&sql->work, statement, k), work);
        }
        if (!done || (transaction && !execute(sql->commit)))
            return roll_back(lab, sql);
    }
    return true;
}

int main(int argc, char **argv)
{
    bool nomutex = argc == 2 && strcmp(argv[1], "nomutex") == 0;
    if (argc > 1 && !nomutex) {
        fprintf(stderr, "usage: %s [nomutex]\n", argv[0]);
        return 2;
    }
    threading_flags = nomutex ? SQLITE_OPEN_NOMUTEX : 0;
    static const lab_case cases[] = {
        {"connect", connect_open, connect_perform, finish},
        {"select_1", select_1_open, select_1_perform, finish},
        {"select", select_open, select_perform, finish},
        {"point", point_open, point_perform, finish},
        {"mixed", mixed_open, mixed_perform, finish},
        {"insert", insert_open, insert_perform, finish},
        {"insert_tx", insert_tx_open, insert_tx_perform, finish},
        {"update_point", update_point_open, update_point_perform, finish},
        {"transfer", transfer_open, transfer_perform, finish},
        {"drop_create", drop_create_open, drop_create_perform, finish},
        {"connections", connections_open, connections_perform, finish},
        {"own", own_open, own_perform, finish},
    };
    static sql sql;
    char library[40];
    snprintf(library, sizeof library, "SQLite %s", sqlite3_libversion());
    return lab_main(nomutex ? "c-nomutex" : "c", library, cases, sizeof cases / sizeof *cases, &sql);
}
