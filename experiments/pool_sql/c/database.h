/* SPDX-License-Identifier: Apache-2.0
 *
 * The differences between the databases: each program has one of them. */
#ifndef DATABASE_H
#define DATABASE_H

#include "lab_kit.h"

/* A connection. One that is not connected is all zeros. */
typedef struct session session;

extern const size_t session_size;

/* The library's name and version. */
const char *database_library(void);

/* Takes target= of the open case, to which connections go. */
bool find_database(lab *lab);

/* False if that was not possible; the connection is to be disconnected then, too. */
bool connect_session(session *session);

void disconnect_session(session *session);

/* Fails with what went wrong on the connection. Returns false. */
bool refuse_with(lab *lab, const session *session);

bool report_settings(lab *lab, session *session);

/* SELECT 1, sent as text. */
bool select_1(session *session, lab_work *work);

/* Opens a connection for each SELECT 1: the SQL experiment's case connect. */
bool open_for_each(lab *lab, uint64_t operations, lab_work *work);

#endif
