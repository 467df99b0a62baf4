/* SPDX-License-Identifier: Apache-2.0 */
#include "database.h"
#include "postgresql_session.h"

static const char *target;

const size_t session_size = sizeof(session);

const char *database_library(void)
{
    static char library[40];
    int version = PQlibVersion();
    snprintf(library, sizeof library, "libpq %d.%d", version / 10000, version % 10000);
    return library;
}

/* Checks the scheme of the target. libpq parses the whole target itself. */
bool find_database(lab *lab)
{
    const char *rest;
    return open_target(lab, "postgresql:", &rest) && lab_text(lab, "target", &target);
}

bool connect_session(session *session)
{
    return connect(session, target);
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
    return fetch_column(session, PQexec(session->db, "SELECT 1"), work);
}

bool open_for_each(lab *lab, uint64_t operations, lab_work *work)
{
    session own = {0};
    return connect_each(lab, &own, target, operations, work);
}

bool refuse_with(lab *lab, const session *session)
{
    return failed(lab, session);
}
