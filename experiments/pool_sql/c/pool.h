/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool of connections, of which the one given back last is leased first. */
#ifndef POOL_H
#define POOL_H

#include "database.h"

#include <pthread.h>

enum { CONNECTIONS = 4 };

typedef struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t given_back;
    session *idle[CONNECTIONS];
    size_t count; /* of those */
} pool;

/* NULL, with lab_fail called, if that was not possible. */
session *open_connection(lab *lab);

/* NULL is no connection. */
void close_connection(session *session);

/* Opens all connections. False, with lab_fail called, if that was not possible; the pool is to be closed then, too. */
bool pool_open(pool *pool, lab *lab);

/* Waits until a connection is idle. */
session *pool_lease(pool *pool);

void pool_give_back(pool *pool, session *session);

/* Nobody holds a connection. */
void pool_close(pool *pool);

#endif
