/* SPDX-License-Identifier: Apache-2.0 */
#include "database.h"
#include "mariadb_session.h"

static address where;

const size_t session_size = sizeof(session);

const char *database_library(void)
{
    static char library[40];
    snprintf(library, sizeof library, "MariaDB Connector/C %s", mysql_get_client_info());
    return library;
}

bool find_database(lab *lab)
{
    return find_address(lab, &where);
}

bool connect_session(session *session)
{
    return connect(session, &where);
}

void disconnect_session(session *session)
{
    disconnect(session);
}

bool report_settings(lab *lab, session *session)
{
    return read_settings(lab, session);
}

bool select_1(session *session, lab_work *work)
{
    return fetch_text(session, "SELECT 1", 1, work);
}

bool open_for_each(lab *lab, uint64_t operations, lab_work *work)
{
    session own = {0};
    return connect_each(lab, &own, &where, operations, work);
}

bool refuse_with(lab *lab, const session *session)
{
    return failed(lab, session);
}
