/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL on PostgreSQL through libpq, called directly. Parameters and results are in PostgreSQL's binary
 * format, except for texts without parameters: they use the simple protocol, which needs one message
 * where the extended one needs five, and which returns text. This is the reference for the other
 * languages. With the argument `fewer-trips` BEGIN is sent with the first statement of a transaction, in one
 * message: this is faster, and permissible, since nothing depends on the response to BEGIN. */
#include "lab_kit.h"
#include "lab_workers.h"
#include "postgresql_session.h"
#include "own.h"
#include "question.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBIT "UPDATE test_simple SET value = value - $1 WHERE id = $2"
#define CREDIT "UPDATE test_simple SET value = value + $1 WHERE id = $2"
#define INSERT "INSERT INTO test_simple (value) VALUES ($1)"
#define POINT "SELECT value FROM test_simple WHERE id = $1"
#define MIXED "SELECT id, small, big, amount, name, nothing, moment FROM test_mixed WHERE id = $1"

/* The names of prepared statements. */
#define OWN "own"
#define SECOND "second"
#define BEGIN "begin"

/* True if BEGIN is sent together with the first statement of a transaction. */
static bool fewer_trips = false;

/* The open case. All zeros while none is open. */
typedef struct sql {
    session own; /* the only one, except in the case connections */
    const char *target;
    inputs inputs;
    const char *second; /* of the case transfer */
    const char *table;  /* of the case drop_create */
    uint64_t rows_tx;
    session *sessions; /* of the case connections */
    uint64_t connections;
    lab_workers *workers;
    own_work work; /* of the case own */
} sql;

/* -- Connections and statements ----------------------------------------------------------- */

/* Ends a command that returns no rows. */
static bool done(session *session, PGresult *result)
{
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        return refuse(session, result);
    PQclear(result);
    return true;
}

static bool execute(session *session, const char *text)
{
    return done(session, PQexec(session->db, text));
}

/* Begins a transaction, either now or with its first statement. */
static bool begin(session *session)
{
    session->begins = fewer_trips;
    return fewer_trips || execute(session, "BEGIN");
}

static bool prepare(session *session, const char *name, const char *text)
{
    return done(session, PQprepare(session->db, name, text, 0, NULL));
}

/* Returns an integer as it is bound: in network byte order. */
static uint32_t bound(int32_t value)
{
    return htobe32((uint32_t)value);
}

/* Returns the result of one statement in a pipeline; each result is followed by NULL. */
static PGresult *next_result(PGconn *db)
{
    PGresult *result = PQgetResult(db);
    PQclear(PQgetResult(db));
    return result;
}

/* Sends BEGIN and a prepared statement in one message, and waits for both results. Returns the failed result, or
 * else the last one. */
static PGresult *begin_with(PGconn *db, const char *name, int count, const char *const *values,
                            const int *lengths, const int *binary)
{
    PGresult *begun = NULL, *result = NULL;
    if (PQenterPipelineMode(db) && PQsendQueryPrepared(db, BEGIN, 0, NULL, NULL, NULL, 1)
        && PQsendQueryPrepared(db, name, count, values, lengths, binary, 1) && PQpipelineSync(db)) {
        begun = next_result(db);
        result = next_result(db);
        PQclear(PQgetResult(db)); /* the end of the pipeline */
    }
    PQexitPipelineMode(db);
    if (PQresultStatus(begun) != PGRES_COMMAND_OK) {
        PQclear(result);
        return begun;
    }
    PQclear(begun);
    return result;
}

/* Executes a prepared statement, preceded by BEGIN if it has not been sent yet. */
static PGresult *execute_prepared(session *session, const char *name, int count,
                                  const char *const *values, const int *lengths, const int *binary)
{
    if (!session->begins)
        return PQexecPrepared(session->db, name, count, values, lengths, binary, 1);
    session->begins = false;
    return begin_with(session->db, name, count, values, lengths, binary);
}

/* Executes the session's statement with one integer, or without parameters if `parameter` is NULL. */
static PGresult *ask(session *session, const uint32_t *parameter)
{
    static const int length = sizeof *parameter;
    static const int binary = 1;
    const char *values = (const char *)parameter;
    int count = parameter != NULL;
    if (session->name != NULL)
        return execute_prepared(session, session->name, count, &values, &length, &binary);
    if (parameter == NULL)
        return PQexec(session->db, session->text);
    return PQexecParams(session->db, session->text, 1, NULL, &values, &length, &binary, 1);
}

static void finish(void *data)
{
    sql *sql = data;
    lab_workers_end(sql->workers);
    for (uint64_t c = 0; sql->sessions != NULL && c < sql->connections; c++)
        disconnect(&sql->sessions[c]);
    free(sql->sessions);
    disconnect(&sql->own);
    own_free(&sql->work);
    memset(sql, 0, sizeof *sql);
}

/* -- Opening ------------------------------------------------------------------------------ */

static bool open_session(lab *lab, const sql *sql, session *session)
{
    session->inputs = &sql->inputs;
    return (connect(session, sql->target)
            && (session->name == NULL || prepare(session, session->name, session->text)))
        || failed(lab, session);
}

/* Checks the scheme of the target. libpq parses the whole target itself. */
static bool find_target(lab *lab, sql *sql)
{
    const char *rest;
    return open_target(lab, "postgresql:", &rest) && lab_text(lab, "target", &sql->target);
}

/* Opens the database, prepares the statements, and then reads the settings. */
static bool open_database(lab *lab, sql *sql)
{
    return find_target(lab, sql) && open_session(lab, sql, &sql->own)
        && (sql->second == NULL || prepare(&sql->own, SECOND, sql->second)
            || failed(lab, &sql->own))
        && (!fewer_trips || prepare(&sql->own, BEGIN, "BEGIN") || failed(lab, &sql->own))
        && read_settings(lab, &sql->own);
}

/* Opens the case with a statement that is always prepared. */
static bool open_prepared_statement(lab *lab, sql *sql, const char *text)
{
    strcpy(sql->own.text, text);
    sql->own.name = OWN;
    return open_database(lab, sql);
}

/* Opens the case with a statement that is prepared or sent as text, as the argument `statement` specifies. */
static bool open_either_statement(lab *lab, sql *sql, const char *text)
{
    bool prepared;
    if (!open_prepared(lab, &prepared))
        return false;
    strcpy(sql->own.text, text);
    sql->own.name = prepared ? OWN : NULL;
    return open_database(lab, sql);
}

/* -- Values ------------------------------------------------------------------------------- */

static int16_t int2(const char *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return (int16_t)be16toh(value);
}

static int64_t int8(const PGresult *result, int row, int column)
{
    uint64_t value;
    memcpy(&value, PQgetvalue(result, row, column), sizeof value);
    return (int64_t)be64toh(value);
}

/* Decodes a numeric of at most four decimals, in units of 0.0001. Its binary form: the number of digits, all
 * in base 10,000; the exponent of the first digit; the sign; the number of decimals shown; the digits. */
static int64_t numeric4(const PGresult *result, int row, int column)
{
    const char *bytes = PQgetvalue(result, row, column);
    int digits = int2(bytes);
    int last = int2(bytes + 2) + 1 - digits; /* the power of the last digit's place */
    int64_t value = 0;
    for (int i = 0; i < digits; i++)
        value = value * 10000 + int2(bytes + 8 + 2 * i);
    for (; digits > 0 && last > -1; last--)
        value *= 10000;
    return int2(bytes + 4) == 0x4000 ? -value : value;
}

/* Returns the milliseconds since 1970 of a timestamp, which counts microseconds since 2000. */
static int64_t moment(const PGresult *result, int row, int column)
{
    return int8(result, row, column) / 1000 + 946684800000;
}

/* -- Work that cases share ---------------------------------------------------------------- */

static bool fetch_point(session *session, uint64_t k, lab_work *work)
{
    uint32_t id = bound(session->inputs->ids[k % LAB_INPUTS]);
    return fetch_column(session, ask(session, &id), work);
}

static bool insert(session *session, uint64_t k, lab_work *work)
{
    int32_t value = session->inputs->values[k % LAB_INPUTS];
    uint32_t parameter = bound(value);
    work->check += (uint64_t)value;
    work->units++;
    return done(session, ask(session, &parameter));
}

/* Executes a prepared UPDATE that binds an amount and an id. */
static bool update(session *session, const char *name, int32_t amount, int32_t id)
{
    static const int lengths[] = {4, 4};
    static const int binary[] = {1, 1};
    uint32_t parameters[] = {bound(amount), bound(id)};
    const char *values[] = {(const char *)&parameters[0], (const char *)&parameters[1]};
    return done(session, execute_prepared(session, name, 2, values, lengths, binary));
}

static bool roll_back(lab *lab, session *session)
{
    failed(lab, session);
    if (PQtransactionStatus(session->db) != PQTRANS_IDLE)
        PQclear(PQexec(session->db, "ROLLBACK"));
    return false;
}

/* -- The cases ---------------------------------------------------------------------------- */

static bool connect_open(lab *lab, void *data)
{
    sql *sql = data;
    if (!open_database(lab, sql))
        return false;
    disconnect(&sql->own);
    return true;
}

static bool connect_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    return connect_each(lab, &sql->own, sql->target, operations, work);
}

static bool select_1_open(lab *lab, void *data)
{
    return open_either_statement(lab, data, "SELECT 1");
}

static bool select_1_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++)
        if (!fetch_column(own, ask(own, NULL), work))
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
        PGresult *result = ask(own, NULL);
        if (PQresultStatus(result) != PGRES_TUPLES_OK)
            return refuse(own, result) || failed(lab, own);
        int rows = PQntuples(result);
        bool binary = PQbinaryTuples(result);
        for (int row = 0; row < rows; row++)
            work->check += integer(result, binary, row, 0) + integer(result, binary, row, 1);
        work->units += (uint64_t)rows;
        PQclear(result);
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

static uint64_t fold_mixed(const PGresult *result, int row)
{
    enum { ID, SMALL, BIG, AMOUNT, NAME, NOTHING, MOMENT };
    return (uint64_t)int4(result, row, ID)
         + (uint64_t)int4(result, row, SMALL)
         + (uint64_t)int8(result, row, BIG)
         + (uint64_t)numeric4(result, row, AMOUNT)
         + fold_text(PQgetvalue(result, row, NAME), (size_t)PQgetlength(result, row, NAME))
         + (uint64_t)PQgetisnull(result, row, NOTHING)
         + (uint64_t)moment(result, row, MOMENT);
}

static bool mixed_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++) {
        uint32_t id = bound(own->inputs->ids[k % LAB_INPUTS]);
        PGresult *result = ask(own, &id);
        if (PQresultStatus(result) != PGRES_TUPLES_OK)
            return refuse(own, result) || failed(lab, own);
        int rows = PQntuples(result);
        for (int row = 0; row < rows; row++)
            work->check += fold_mixed(result, row);
        work->units += (uint64_t)rows;
        PQclear(result);
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
        && open_prepared_statement(lab, sql, INSERT);
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
        if (!going || !execute(own, "COMMIT"))
            return roll_back(lab, own);
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
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++) {
        int32_t amount = own->inputs->amounts[k % LAB_INPUTS];
        if (!update(own, OWN, amount, own->inputs->ids[k % LAB_INPUTS]))
            return failed(lab, own);
        work->check += (uint64_t)amount;
        work->units++;
    }
    return true;
}

static bool transfer_open(lab *lab, void *data)
{
    sql *sql = data;
    sql->second = CREDIT;
    return fill_inputs(lab, &sql->inputs)
        && open_prepared_statement(lab, sql, DEBIT);
}

static bool transfer_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    session *own = &((sql *)data)->own;
    for (uint64_t k = 0; k < operations; k++) {
        size_t i = k % LAB_INPUTS;
        int32_t amount = own->inputs->amounts[i];
        if (!begin(own)
            || !update(own, OWN, amount, own->inputs->ids[i])
            || !update(own, SECOND, amount, own->inputs->others[i])
            || !execute(own, "COMMIT"))
            return roll_back(lab, own);
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
        if (!execute(&sql->own, "DROP TABLE test_simple") || !execute(&sql->own, sql->table))
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
        || !fill_inputs(lab, &sql->inputs) || !find_target(lab, sql))
        return false;
    sql->sessions = calloc(sql->connections, sizeof *sql->sessions);
    if (sql->sessions == NULL)
        return lab_fail(lab, LAB_FAILED, "out of memory");
    for (uint64_t c = 0; c < sql->connections; c++) {
        session *session = &sql->sessions[c];
        session->name = OWN;
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

/* Writes the name of a prepared statement of the case own. */
static const char *own_name(size_t number, char name[24])
{
    snprintf(name, 24, OWN "%zu", number);
    return name;
}

static bool own_open(lab *lab, void *data)
{
    sql *sql = data;
    char name[24];
    if (!own_read(lab, &sql->work) || !find_target(lab, sql) || !open_session(lab, sql, &sql->own))
        return false;
    for (size_t s = 0; s < sql->work.count; s++)
        if (!prepare(&sql->own, own_name(s, name), sql->work.statements[s].text))
            return failed(lab, &sql->own);
    return (!fewer_trips || prepare(&sql->own, BEGIN, "BEGIN") || failed(lab, &sql->own))
        && read_settings(lab, &sql->own);
}

/* Parses a day, or a moment in UTC such as 2026-11-21 09:15:00.123+00. */
static int64_t fold_moment_text(const char *text)
{
    int parts[7] = {0}; /* the last one in ms */
    int part = 0, digits = 0;
    for (; *text != '\0' && part < 7 && *text != '+'; text++) {
        if (*text < '0' || *text > '9') {
            part++;
            digits = 0;
        } else if (part < 6 || digits < 3) {
            parts[part] = parts[part] * 10 + (*text - '0');
            digits++;
        }
    }
    for (; part == 6 && digits < 3; digits++)
        parts[6] *= 10;
    return fold_moment(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]);
}

/* Returns the sum of the bytes in a bytea such as \x00ff, or 0 if there is not enough memory to decode it. */
static uint64_t fold_bytea(const char *text)
{
    uint64_t sum = 0;
    size_t size = 0;
    unsigned char *bytes = PQunescapeBytea((const unsigned char *)text, &size);
    for (size_t i = 0; bytes != NULL && i < size; i++)
        sum += bytes[i];
    PQfreemem(bytes);
    return sum;
}

static uint64_t fold_own(const PGresult *result, int row, int column, own_type type)
{
    const char *text = PQgetvalue(result, row, column);
    if (PQgetisnull(result, row, column))
        return OWN_NULL;
    switch (type) {
    case OWN_INTEGER:
        return (uint64_t)strtoll(text, NULL, 10);
    case OWN_BOOLEAN:
        return *text == 't';
    case OWN_FLOAT:
        return own_fold_float(strtod(text, NULL));
    case OWN_BYTES:
        return fold_bytea(text);
    case OWN_DATE:
    case OWN_TIMESTAMP:
        return (uint64_t)fold_moment_text(text);
    default:
        return fold_text(text, (size_t)PQgetlength(result, row, column));
    }
}

/* Runs a statement of the user. Values are sent as text, and results arrive as text, because the user chooses the
 * types. */
static bool run_own(session *session, size_t number, const own_statement *statement, const own_value *values,
                    lab_work *work)
{
    char name[24];
    const char *texts[statement->parameters + 1];
    for (size_t p = 0; p < statement->parameters; p++)
        texts[p] = values[p].text;
    PGresult *result = PQexecPrepared(session->db, own_name(number, name), (int)statement->parameters, texts, NULL,
                                      NULL, 0);
    if (statement->columns == 0) {
        work->check++;
        work->units++;
        return done(session, result);
    }
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        return refuse(session, result);
    int rows = PQntuples(result);
    for (int row = 0; row < rows; row++)
        for (size_t c = 0; c < statement->columns; c++)
            work->check += fold_own(result, row, (int)c, statement->column_types[c]);
    work->units += (uint64_t)rows;
    PQclear(result);
    return true;
}

static bool own_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    sql *sql = data;
    session *own = &sql->own;
    bool transaction = sql->work.transaction;
    for (uint64_t k = 0; k < operations; k++) {
        bool going = !transaction || execute(own, "BEGIN");
        for (size_t s = 0; going && s < sql->work.count; s++) {
            const own_statement *statement = &sql->work.statements[s];
            going = run_own(own, s, statement, own_values(&sql->work, statement, k), work);
        }
        if (!going || (transaction && !execute(own, "COMMIT")))
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
    int version = PQlibVersion();
    snprintf(library, sizeof library, "libpq %d.%d", version / 10000, version % 10000);
    return lab_main(fewer_trips ? "c-fewer-trips" : "c", library, cases, sizeof cases / sizeof *cases, &sql);
}
