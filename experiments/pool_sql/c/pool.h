/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool of connections, which leases the most recently returned one first. */
#ifndef POOL_H
#define POOL_H

#include "database.h"

#include <pthread.h>

enum { CONNECTIONS = 4 };

typedef struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t given_back;
    session *idle[CONNECTIONS];
    size_t count; /* number of idle connections */
} pool;

/* Opens a connection. Returns NULL after calling lab_fail if that fails. */
session *open_connection(lab *lab);

/* Closes a connection and frees it. NULL is ignored. */
void close_connection(session *session);

/* Opens all connections. Returns false after calling lab_fail if that fails; the pool must then be closed, too. */
bool pool_open(pool *pool, lab *lab);

/* Waits until a connection is idle. */
session *pool_lease(pool *pool);

void pool_give_back(pool *pool, session *session);

/* Closes the pool, which must have no leased connections. */
void pool_close(pool *pool);

#endif
