/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <stdlib.h>

session *open_connection(lab *lab)
{
    session *opened = calloc(1, session_size);
    if (opened != NULL && connect_session(opened))
        return opened;
    if (opened == NULL)
        lab_fail(lab, LAB_FAILED, "out of memory");
    else
        refuse_with(lab, opened);
    close_connection(opened);
    return NULL;
}

void close_connection(session *session)
{
    if (session != NULL)
        disconnect_session(session);
    free(session);
}

bool pool_open(pool *pool, lab *lab)
{
    *pool = (struct pool){.mutex = PTHREAD_MUTEX_INITIALIZER, .given_back = PTHREAD_COND_INITIALIZER};
    while (pool->count < CONNECTIONS) {
        session *opened = open_connection(lab);
        if (opened == NULL)
            return false;
        pool->idle[pool->count++] = opened;
    }
    return true;
}

session *pool_lease(pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    while (pool->count == 0)
        pthread_cond_wait(&pool->given_back, &pool->mutex);
    session *leased = pool->idle[--pool->count];
    pthread_mutex_unlock(&pool->mutex);
    return leased;
}

void pool_give_back(pool *pool, session *session)
{
    pthread_mutex_lock(&pool->mutex);
    pool->idle[pool->count++] = session;
    pthread_mutex_unlock(&pool->mutex);
    pthread_cond_signal(&pool->given_back);
}

void pool_close(pool *pool)
{
    while (pool->count > 0)
        close_connection(pool->idle[--pool->count]);
}
