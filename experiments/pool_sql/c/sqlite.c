/* SPDX-License-Identifier: Apache-2.0 */
#include "database.h"
#include "sqlite_session.h"

#define SELECT_1 "SELECT 1"

static const char *path;

const size_t session_size = sizeof(session);

const char *database_library(void)
{
    static char library[40];
    snprintf(library, sizeof library, "SQLite %s", sqlite3_libversion());
    return library;
}

bool find_database(lab *lab)
{
    return open_target(lab, "sqlite:", &path);
}

bool connect_session(session *session)
{
    strcpy(session->text, SELECT_1);
    return connect(session, path);
}

void disconnect_session(session *session)
{
    finish_session(session);
}

bool report_settings(lab *lab, session *session)
{
    return read_settings(lab, session);
}

bool select_1(session *session, lab_work *work)
{
    return begin(session) && fetch_column(session, work);
}

bool open_for_each(lab *lab, uint64_t operations, lab_work *work)
{
    session own = {.text = SELECT_1};
    return connect_each(lab, &own, path, operations, work);
}

bool refuse_with(lab *lab, const session *session)
{
    return failed(lab, session);
}
