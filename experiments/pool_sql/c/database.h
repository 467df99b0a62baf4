/* SPDX-License-Identifier: Apache-2.0
 *
 * The differences between the databases; each program supports one of them. */
#ifndef DATABASE_H
#define DATABASE_H

#include "lab_kit.h"

/* A connection. All fields are zero if it is not connected. */
typedef struct session session;

extern const size_t session_size;

/* Returns the library's name and version. */
const char *database_library(void);

/* Reads target= of the open case, the database to connect to. */
bool find_database(lab *lab);

/* Connects to the database. Returns false on failure; the session must then be disconnected, too. */
bool connect_session(session *session);

void disconnect_session(session *session);

/* Fails with the error of the connection. Returns false. */
bool refuse_with(lab *lab, const session *session);

bool report_settings(lab *lab, session *session);

/* Sends SELECT 1 as text. */
bool select_1(session *session, lab_work *work);

/* Opens a connection for each SELECT 1, like the SQL experiment's case connect. */
bool open_for_each(lab *lab, uint64_t operations, lab_work *work);

#endif
