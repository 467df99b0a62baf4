/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL on MariaDB through its C client library (MariaDB Connector/C), called directly, with prepared statements
 * in the binary protocol and rows read as they arrive. This is the reference for the other languages.
 * With the argument `fewer-trips` transactions begin with their first statement (autocommit is off then): this is
 * faster, and permissible, since nothing depends on the response to BEGIN. */
#include "lab_kit.h"
#include "lab_workers.h"
#include "mariadb_session.h"
#include "own.h"
#include "question.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBIT "UPDATE test_simple SET value = value - ? WHERE id = ?"
#define CREDIT "UPDATE test_simple SET value = value + ? WHERE id = ?"
#define INSERT "INSERT INTO test_simple (value) VALUES (?)"
#define POINT "SELECT value FROM test_simple WHERE id = ?"
#define MIXED "SELECT id, small, big, amount, name, nothing, moment FROM test_mixed WHERE id = ?"

/* True if BEGIN is not sent. */
static bool fewer_trips = false;

/* The open case. All zeros while none is open. */
typedef struct sql {
    session own; /* the only one, except in the case connections */
    address address;
    inputs inputs;
    MYSQL_STMT *second; /* of the case transfer */
    const char *table;  /* of the case drop_create */
    uint64_t rows_tx;
    session *sessions; /* of the case connections */
    uint64_t connections;
    lab_workers *workers;
    own_work work; /* of the case own */
} sql;

/* The value of one column of a row in the case own. */
typedef struct own_column {
    int64_t integer;
    double number;
    MYSQL_TIME moment;
    char *text;
    unsigned long length;
    my_bool is_null;
} own_column;

enum { FIRST_TEXT = 256 }; /* the initial size of a column's buffer for texts */

/* -- Connections and statements ----------------------------------------------------------- */

static MYSQL_BIND integer(int32_t *place)
{
    return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONG, .buffer = place};
}

/* Prepares a statement and binds its parameters (at most two). */
static bool prepare(session *session, const char *text, MYSQL_STMT **statement)
{
    MYSQL_BIND parameters[] = {integer(&session->numbers[0]), integer(&session->numbers[1])};
    *statement = mysql_stmt_init(session->db);
    return (mysql_stmt_prepare(*statement, text, strlen(text)) == 0
            && (mysql_stmt_param_count(*statement) == 0
                || mysql_stmt_bind_param(*statement, parameters) == 0))
        || refuse_statement(session, *statement);
}

/* Binds the columns of the statement's result, if there are any, to session->columns. The case mixed binds its longer
 * row itself. */
static bool bind_columns(session *session)
{
    MYSQL_BIND columns[] = {integer(&session->columns[0]), integer(&session->columns[1])};
    unsigned count = session->statement != NULL ? mysql_stmt_field_count(session->statement) : 0;
    return count == 0 || count > 2 || mysql_stmt_bind_result(session->statement, columns) == 0
        || refuse_statement(session, session->statement);
}

/* A prepared statement of the case own, with its bound variables. */
typedef struct own_prepared {
    MYSQL_STMT *statement;
    MYSQL_BIND *parameters;
    MYSQL_BIND *columns;
    own_column *values;
} own_prepared;

static void close_own(own_statement *own)
{
    own_prepared *prepared = own->prepared;
    if (prepared == NULL)
        return;
    for (size_t c = 0; prepared->values != NULL && c < own->columns; c++)
        free(prepared->values[c].text);
    if (prepared->statement != NULL)
        mysql_stmt_close(prepared->statement);
    free(prepared->parameters);
    free(prepared->columns);
    free(prepared->values);
    free(prepared);
    own->prepared = NULL;
}

static void finish(void *data)
{
    sql *sql = data;
    lab_workers_end(sql->workers);
    for (uint64_t c = 0; sql->sessions != NULL && c < sql->connections; c++)
        disconnect(&sql->sessions[c]);
    free(sql->sessions);
    if (sql->second != NULL)
        mysql_stmt_close(sql->second);
    for (size_t s = 0; s < sql->work.count; s++)
        close_own(&sql->work.statements[s]);
    disconnect(&sql->own);
    own_free(&sql->work);
    memset(sql, 0, sizeof *sql);
}

/* -- Opening ------------------------------------------------------------------------------ */

static bool open_session(lab *lab, const sql *sql, session *session)
{
    session->inputs = &sql->inputs;
    return (connect(session, &sql->address)
            && (!session->prepared || prepare(session, session->text, &session->statement))
            && bind_columns(session))
        || failed(lab, session);
}

static bool open_database(lab *lab, sql *sql)
{
    return find_address(lab, &sql->address) && open_session(lab, sql, &sql->own);
}

/* Opens the case with a statement that is always prepared. */
static bool open_prepared_statement(lab *lab, sql *sql, const char *text)
{
    strcpy(sql->own.text, text);
    sql->own.prepared = true;
    return open_database(lab, sql);
}

/* Opens the case with a statement that is prepared or sent as text, as the argument `statement` specifies. */
static bool open_either_statement(lab *lab, sql *sql, const char *text)
{
    strcpy(sql->own.text, text);
    return open_prepared(lab, &sql->own.prepared) && open_database(lab, sql)
        && read_settings(lab, &sql->own);
}

/* -- Work that cases share ---------------------------------------------------------------- */

static bool execute(session *session, MYSQL_STMT *statement)
{
    return mysql_stmt_execute(statement) == 0 || refuse_statement(session, statement);
}

/* Fetches the next row of the prepared statement into its bound variables. Returns false at the end and after
 * a failure. *complete is true only at the end. */
static bool next(session *session, bool *complete)
{
    int result = mysql_stmt_fetch(session->statement);
    *complete = result == MYSQL_NO_DATA || (result != 0
        && refuse_statement(session, session->statement));
    return result == 0;
}

/* Runs the prepared statement, which returns one or two integer columns. */
static bool fetch_prepared(session *session, unsigned columns, lab_work *work)
{
    bool complete;
    if (!execute(session, session->statement))
        return false;
    for (; next(session, &complete); work->units++) {
        work->check += (uint64_t)session->columns[0];
        if (columns == 2)
            work->check += (uint64_t)session->columns[1];
    }
    return complete;
}

/* Runs the session's statement, which has no parameters. */
static bool fetch(session *session, unsigned columns, lab_work *work)
{
    return session->prepared ? fetch_prepared(session, columns, work)
                             : fetch_text(session, session->text, columns, work);
}

static bool fetch_point(session *session, uint64_t k, lab_work *work)
{
    int32_t id = session->inputs->ids[k % LAB_INPUTS];
    if (session->prepared) {
        session->numbers[0] = id;
        return fetch_prepared(session, 1, work);
    }
    char text[80];
    snprintf(text, sizeof text, "SELECT value FROM test_simple WHERE id = %" PRId32, id);
    return fetch_text(session, text, 1, work);
}

static bool insert(session *session, uint64_t k, lab_work *work)
{
    int32_t value = session->inputs->values[k % LAB_INPUTS];
    work->check += (uint64_t)value;
    work->units++;
    if (session->prepared) {
        session->numbers[0] = value;
        return execute(session, session->statement);
    }
    char text[80];
    snprintf(text, sizeof text, "INSERT INTO test_simple (value) VALUES (%" PRId32 ")", value);
    return query(session, text);
}

/* Executes a prepared UPDATE that binds an amount and an id. */
static bool update(session *session, MYSQL_STMT *statement, int32_t amount, int32_t id)
{
    session->numbers[0] = amount;
    session->numbers[1] = id;
    return execute(session, statement);
}

/* Turns autocommit off if BEGIN is not sent. Called after the settings were read, so that the reported settings
 * are the same for every case. */
static bool open_transactions(lab *lab, session *session)
{
    return !fewer_trips || mysql_autocommit(session->db, 0) == 0 || refuse(session) || failed(lab, session);
}

static bool begin(session *session)
{
    return fewer_trips || query(session, "BEGIN");
}

static bool roll_back(lab *lab, session *session)
{
    failed(lab, session);
    query(session, "ROLLBACK");
    return false;
}

/* -- The cases ---------------------------------------------------------------------------- */

static bool connect_open(lab *lab, void *data)
{
    sql *sql = data;
    if (!open_database(lab, sql) || !read_settings(lab, &sql->own))
        return false;
    disconnect(&sql->own);
    return true;
}

static bool connect_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    return connect_each(lab, &sql->own, &sql->address, operations, work);
}

static bool select_1_open(lab *lab, void *data)
{
    return open_either_statement(lab, data, "SELECT 1");
}

static bool select_1_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++)
        if (!fetch(own, 1, work))
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
    for (uint64_t k = 0; k < operations; k++)
        if (!fetch(own, 2, work))
            return failed(lab, own);
    return true;
}

static bool do_1_open(lab *lab, void *data)
{
    sql *sql = data;
    return open_database(lab, sql) && read_settings(lab, &sql->own);
}

static bool do_1_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++) {
        if (!query(own, "DO 1"))
            return failed(lab, own);
        work->check++;
        work->units++;
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
    mixed_row *row = &sql->own.mixed;
    MYSQL_BIND columns[] = {
        integer(&row->id),
        integer(&row->small),
        {.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &row->big},
        {.buffer_type = MYSQL_TYPE_NEWDECIMAL, .buffer = row->amount,
         .buffer_length = sizeof row->amount, .length = &row->amount_length},
        {.buffer_type = MYSQL_TYPE_STRING, .buffer = row->name,
         .buffer_length = sizeof row->name, .length = &row->name_length},
        {.buffer_type = MYSQL_TYPE_LONG, .buffer = &row->nothing, .is_null = &row->is_nothing},
        {.buffer_type = MYSQL_TYPE_DATETIME, .buffer = &row->moment},
    };
    return fill_inputs(lab, &sql->inputs) && open_prepared_statement(lab, sql, MIXED)
        && (mysql_stmt_bind_result(sql->own.statement, columns) == 0
            || refuse_statement(&sql->own, sql->own.statement) || failed(lab, &sql->own))
        && read_settings(lab, &sql->own);
}

/* Parses a decimal(15,4), which arrives as text with all four decimals, in units of 0.0001. */
static int64_t decimal4(const char *text, size_t length)
{
    int64_t value = 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] >= '0' && text[i] <= '9')
            value = value * 10 + (text[i] - '0');
    return text[0] == '-' ? -value : value;
}

static uint64_t fold_mixed(const mixed_row *row)
{
    const MYSQL_TIME *at = &row->moment;
    return (uint64_t)row->id + (uint64_t)row->small + (uint64_t)row->big
         + (uint64_t)decimal4(row->amount, row->amount_length)
         + fold_text(row->name, row->name_length)
         + (row->is_nothing != 0)
         + (uint64_t)fold_moment((int)at->year, (int)at->month, (int)at->day, (int)at->hour,
                                 (int)at->minute, (int)at->second, (int)at->second_part / 1000);
}

static bool mixed_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    bool complete;
    for (uint64_t k = 0; k < operations; k++) {
        own->numbers[0] = own->inputs->ids[k % LAB_INPUTS];
        if (!execute(own, own->statement))
            return failed(lab, own);
        for (; next(own, &complete); work->units++)
            work->check += fold_mixed(&own->mixed);
        if (!complete)
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
        && open_prepared_statement(lab, sql, INSERT) && read_settings(lab, &sql->own)
        && open_transactions(lab, &sql->own);
}

static bool insert_tx_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    session *own = &sql->own;
    uint64_t k = 0;
    for (uint64_t n = 0; n < operations; n++) {
        bool going = begin(own);
        for (uint64_t row = 0; going && row < sql->rows_tx; row++)
            going = insert(own, k++, work);
        if (!going || !query(own, "COMMIT"))
            return roll_back(lab, own);
    }
    return true;
}

static bool update_point_open(lab *lab, void *data)
{
    sql *sql = data;
    return fill_inputs(lab, &sql->inputs)
        && open_prepared_statement(lab, sql, CREDIT)
        && read_settings(lab, &sql->own);
}

static bool update_point_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++) {
        int32_t amount = own->inputs->amounts[k % LAB_INPUTS];
        if (!update(own, own->statement, amount, own->inputs->ids[k % LAB_INPUTS]))
            return failed(lab, own);
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
        && read_settings(lab, &sql->own) && open_transactions(lab, &sql->own);
}

static bool transfer_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    session *own = &sql->own;
    for (uint64_t k = 0; k < operations; k++) {
        size_t i = k % LAB_INPUTS;
        int32_t amount = own->inputs->amounts[i];
        if (!begin(own)
            || !update(own, own->statement, amount, own->inputs->ids[i])
            || !update(own, sql->second, amount, own->inputs->others[i])
            || !query(own, "COMMIT"))
            return roll_back(lab, own);
        work->check += (uint64_t)amount;
        work->units += 2;
    }
    return true;
}

static bool drop_create_open(lab *lab, void *data)
{
    sql *sql = data;
    return lab_text(lab, "table", &sql->table) && open_database(lab, sql)
        && read_settings(lab, &sql->own);
}

static bool drop_create_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    for (uint64_t k = 0; k < operations; k++) {
        if (!query(&sql->own, "DROP TABLE test_simple") || !query(&sql->own, sql->table))
            return failed(lab, &sql->own);
        work->check++;
        work->units++;
    }
    return true;
}

/* Runs those operations of the case `connections` that belong to one connection. */
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
        || !fill_inputs(lab, &sql->inputs) || !find_address(lab, &sql->address))
        return false;
    sql->sessions = calloc(sql->connections, sizeof *sql->sessions);
    if (sql->sessions == NULL)
        return lab_fail(lab, LAB_FAILED, "out of memory");
    for (uint64_t c = 0; c < sql->connections; c++) {
        session *session = &sql->sessions[c];
        session->prepared = true;
        strcpy(session->text, POINT);
        if (!open_session(lab, sql, session))
            return false;
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

static bool out_of_memory(lab *lab)
{
    return lab_fail(lab, LAB_FAILED, "out of memory");
}

/* Binds a column to a variable of its type. */
static bool bind_own_column(MYSQL_BIND *bind, own_column *value, own_type type)
{
    bind->is_null = &value->is_null;
    switch (type) {
    case OWN_INTEGER:
        bind->buffer_type = MYSQL_TYPE_LONGLONG;
        bind->buffer = &value->integer;
        return true;
    case OWN_FLOAT:
        bind->buffer_type = MYSQL_TYPE_DOUBLE;
        bind->buffer = &value->number;
        return true;
    case OWN_DATE:
    case OWN_TIMESTAMP:
        bind->buffer_type = type == OWN_DATE ? MYSQL_TYPE_DATE : MYSQL_TYPE_DATETIME;
        bind->buffer = &value->moment;
        return true;
    default:
        bind->buffer_type = type == OWN_BYTES ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING;
        bind->buffer = value->text = malloc(FIRST_TEXT);
        bind->buffer_length = FIRST_TEXT;
        bind->length = &value->length;
        return value->text != NULL;
    }
}

static bool prepare_own(lab *lab, session *session, own_statement *own)
{
    own_prepared *prepared = own->prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL)
        return out_of_memory(lab);
    prepared->parameters = calloc(own->parameters + 1, sizeof *prepared->parameters);
    prepared->columns = calloc(own->columns + 1, sizeof *prepared->columns);
    prepared->values = calloc(own->columns + 1, sizeof *prepared->values);
    prepared->statement = mysql_stmt_init(session->db);
    if (prepared->parameters == NULL || prepared->columns == NULL || prepared->values == NULL
        || prepared->statement == NULL)
        return out_of_memory(lab);
    if (mysql_stmt_prepare(prepared->statement, own->text, strlen(own->text)) != 0)
        return refuse_statement(session, prepared->statement) || failed(lab, session);
    for (size_t c = 0; c < own->columns; c++)
        if (!bind_own_column(&prepared->columns[c], &prepared->values[c], own->column_types[c]))
            return out_of_memory(lab);
    if (own->columns != mysql_stmt_field_count(prepared->statement))
        return lab_fail(lab, LAB_FAILED, "the statement has %u columns, not %zu",
                        mysql_stmt_field_count(prepared->statement), own->columns);
    return own->columns == 0 || mysql_stmt_bind_result(prepared->statement, prepared->columns) == 0
        || refuse_statement(session, prepared->statement) || failed(lab, session);
}

static bool own_open(lab *lab, void *data)
{
    sql *sql = data;
    if (!own_read(lab, &sql->work) || !open_database(lab, sql))
        return false;
    for (size_t s = 0; s < sql->work.count; s++)
        if (!prepare_own(lab, &sql->own, &sql->work.statements[s]))
            return false;
    return read_settings(lab, &sql->own) && (!sql->work.transaction || open_transactions(lab, &sql->own));
}

/* Binds the values of an operation, which point into the file of values. */
static bool bind_own(session *session, own_prepared *prepared, const own_statement *own, const own_value *values)
{
    if (own->parameters == 0)
        return true;
    for (size_t p = 0; p < own->parameters; p++) {
        MYSQL_BIND *bind = &prepared->parameters[p];
        switch (values[p].type) {
        case OWN_INTEGER:
            bind->buffer_type = MYSQL_TYPE_LONGLONG;
            bind->buffer = (void *)&values[p].integer;
            break;
        case OWN_FLOAT:
            bind->buffer_type = MYSQL_TYPE_DOUBLE;
            bind->buffer = (void *)&values[p].number;
            break;
        default:
            bind->buffer_type = MYSQL_TYPE_STRING;
            bind->buffer = (void *)values[p].text;
            bind->buffer_length = values[p].length;
            break;
        }
    }
    return mysql_stmt_bind_param(prepared->statement, prepared->parameters) == 0
        || refuse_statement(session, prepared->statement);
}

/* Gives a column's buffer the size of its value, and fetches the value again. */
static bool fetch_longer(session *session, own_prepared *prepared, unsigned column)
{
    own_column *value = &prepared->values[column];
    MYSQL_BIND *bind = &prepared->columns[column];
    char *longer = realloc(value->text, value->length);
    if (longer == NULL) {
        snprintf(session->error, sizeof session->error, "out of memory");
        return false;
    }
    bind->buffer = value->text = longer;
    bind->buffer_length = value->length;
    return (mysql_stmt_fetch_column(prepared->statement, bind, column, 0) == 0
            && mysql_stmt_bind_result(prepared->statement, prepared->columns) == 0)
        || refuse_statement(session, prepared->statement);
}

static uint64_t fold_own(const own_column *value, own_type type)
{
    const MYSQL_TIME *at = &value->moment;
    if (value->is_null)
        return OWN_NULL;
    switch (type) {
    case OWN_INTEGER:
        return (uint64_t)value->integer;
    case OWN_FLOAT:
        return own_fold_float(value->number);
    case OWN_BYTES:
        return own_fold_bytes(value->text, value->length);
    case OWN_DATE:
        return (uint64_t)fold_moment((int)at->year, (int)at->month, (int)at->day, 0, 0, 0, 0);
    case OWN_TIMESTAMP:
        return (uint64_t)fold_moment((int)at->year, (int)at->month, (int)at->day, (int)at->hour, (int)at->minute,
                                     (int)at->second, (int)at->second_part / 1000);
    default:
        return fold_text(value->text, value->length);
    }
}

static bool run_own(session *session, const own_statement *own, const own_value *values, lab_work *work)
{
    own_prepared *prepared = own->prepared;
    if (!bind_own(session, prepared, own, values) || !execute(session, prepared->statement))
        return false;
    if (own->columns == 0) {
        work->check++;
        work->units++;
        return true;
    }
    int result;
    while ((result = mysql_stmt_fetch(prepared->statement)) == 0 || result == MYSQL_DATA_TRUNCATED) {
        for (unsigned c = 0; c < own->columns; c++) {
            const own_column *value = &prepared->values[c];
            bool is_longer = !value->is_null && value->text != NULL && value->length > prepared->columns[c].buffer_length;
            if (is_longer && !fetch_longer(session, prepared, c))
                return false;
            work->check += fold_own(value, own->column_types[c]);
        }
        work->units++;
    }
    return result == MYSQL_NO_DATA || refuse_statement(session, prepared->statement);
}

static bool own_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    session *own = &sql->own;
    bool transaction = sql->work.transaction;
    for (uint64_t k = 0; k < operations; k++) {
        bool going = !transaction || begin(own);
        for (size_t s = 0; going && s < sql->work.count; s++) {
            const own_statement *statement = &sql->work.statements[s];
            going = run_own(own, statement, own_values(&sql->work, statement, k), work);
        }
        if (!going || (transaction && !query(own, "COMMIT")))
            return roll_back(lab, own);
    }
    return true;
}

int main(int argc, char **argv)
{
    fewer_trips = argc == 2 && strcmp(argv[1], "fewer-trips") == 0;
    if (argc > 1 && !fewer_trips) {
        fprintf(stderr, "usage: %s [fewer-trips]\n", argv[0]);
        return 2;
    }
    static const lab_case cases[] = {
        {"connect", connect_open, connect_perform, finish},
        {"select_1", select_1_open, select_1_perform, finish},
        {"do_1", do_1_open, do_1_perform, finish},
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
    snprintf(library, sizeof library, "MariaDB Connector/C %s", mysql_get_client_info());
    return lab_main(fewer_trips ? "c-fewer-trips" : "c", library, cases, sizeof cases / sizeof *cases, &sql);
}
