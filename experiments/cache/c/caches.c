/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* read-write locks */
#define _LGPL_SOURCE /* inlines liburcu's short functions, which its license permits for any program */
#include "caches.h"
#include "table.h"

#include <pthread.h>
#include <stdlib.h>
#include <urcu/urcu-bp.h>

#include <urcu/rculfhash.h>

typedef struct node node;

struct cache {
    const cache_scheme *scheme;
    pthread_mutex_t mutex;
    pthread_rwlock_t lock;
    table *table;          /* used by all schemes except concurrent */
    struct cds_lfht *nodes; /* used by concurrent ... */
    unsigned bits;          /* ... which has 2^bits buckets ... */
    node *initial;            /* ... and these initial nodes */
    size_t initial_count;
};

/* -- One table ------------------------------------------------------------------------------- */

/* Puts an entry, and enlarges the table if necessary. No other thread may access the table at the same time. */
static void put_with_room(cache *cache, uint64_t key, uint64_t value)
{
    if (2 * (cache->table->entries + 1) > (size_t)1 << cache->table->bits) {
        table *larger = table_copy(cache->table);
        free(cache->table);
        cache->table = larger;
    }
    table_put(cache->table, key, value);
}

static inline uint64_t unsynchronized_get(cache *cache, uint64_t key)
{
    return table_get(cache->table, key);
}

static void unsynchronized_put(cache *cache, uint64_t key, uint64_t value)
{
    put_with_room(cache, key, value);
}

static inline uint64_t lock_get(cache *cache, uint64_t key)
{
    pthread_mutex_lock(&cache->mutex);
    uint64_t value = table_get(cache->table, key);
    pthread_mutex_unlock(&cache->mutex);
    return value;
}

static void lock_put(cache *cache, uint64_t key, uint64_t value)
{
    pthread_mutex_lock(&cache->mutex);
    put_with_room(cache, key, value);
    pthread_mutex_unlock(&cache->mutex);
}

static inline uint64_t read_write_lock_get(cache *cache, uint64_t key)
{
    pthread_rwlock_rdlock(&cache->lock);
    uint64_t value = table_get(cache->table, key);
    pthread_rwlock_unlock(&cache->lock);
    return value;
}

static void read_write_lock_put(cache *cache, uint64_t key, uint64_t value)
{
    pthread_rwlock_wrlock(&cache->lock);
    put_with_room(cache, key, value);
    pthread_rwlock_unlock(&cache->lock);
}

/* -- Copies: readers follow a pointer, and a table is freed after its last reader ------- */

static inline uint64_t copy_on_write_get(cache *cache, uint64_t key)
{
    urcu_bp_read_lock();
    uint64_t value = table_get(rcu_dereference(cache->table), key);
    urcu_bp_read_unlock();
    return value;
}

/* Publishes a copy with a change. Returns the table that was replaced. */
static table *publish_copy(cache *cache, uint64_t key, uint64_t value)
{
    urcu_bp_read_lock();
    table *copy = table_copy(rcu_dereference(cache->table));
    urcu_bp_read_unlock();
    table_put(copy, key, value);
    return rcu_xchg_pointer(&cache->table, copy);
}

static void copy_on_write_put(cache *cache, uint64_t key, uint64_t value)
{
    pthread_mutex_lock(&cache->mutex);
    table *old = publish_copy(cache, key, value);
    pthread_mutex_unlock(&cache->mutex);
    urcu_bp_synchronize_rcu();
    free(old);
}

/* Replaces the table without a lock: if two writers copy the same table, the last one wins. */
static void unsafe_copy_on_write_put(cache *cache, uint64_t key, uint64_t value)
{
    table *old = publish_copy(cache, key, value);
    urcu_bp_synchronize_rcu();
    free(old);
}

#define unsafe_copy_on_write_get copy_on_write_get

/* -- Concurrent: liburcu's lock-free hash table ---------------------------------------------------- */

struct node {
    struct cds_lfht_node linked;
    struct rcu_head garbage;
    uint64_t key;
    uint64_t value;
};

static int is_key(struct cds_lfht_node *linked, const void *key)
{
    return caa_container_of(linked, node, linked)->key == *(const uint64_t *)key;
}

/* Returns the high bits of a hash, shifted down to the length of a bucket's index. cds_lfht uses the low bits of its
 * hash, but this hash function mixes the high bits best. */
static inline unsigned long hash(const cache *cache, uint64_t key)
{
    return table_hash(key, cache->bits);
}

static inline uint64_t concurrent_get(cache *cache, uint64_t key)
{
    struct cds_lfht_iter found;
    urcu_bp_read_lock();
    cds_lfht_lookup(cache->nodes, hash(cache, key), is_key, &key, &found);
    struct cds_lfht_node *linked = cds_lfht_iter_get_node(&found);
    uint64_t value = linked != NULL ? caa_container_of(linked, node, linked)->value : 0;
    urcu_bp_read_unlock();
    return value;
}

static void free_node(struct rcu_head *garbage)
{
    free(caa_container_of(garbage, node, garbage));
}

static bool is_initial(const cache *cache, const node *node)
{
    return node >= cache->initial && node < cache->initial + cache->initial_count;
}

/* Adds or replaces a node. Returns the replaced node, or NULL. The caller must be in a read-side critical
 * section. */
static node *add_or_replace(cache *cache, node *put, uint64_t key, uint64_t value)
{
    cds_lfht_node_init(&put->linked);
    put->key = key;
    put->value = value;
    struct cds_lfht_node *old =
        cds_lfht_add_replace(cache->nodes, hash(cache, key), is_key, &key, &put->linked);
    return old != NULL ? caa_container_of(old, node, linked) : NULL;
}

static void concurrent_put(cache *cache, uint64_t key, uint64_t value)
{
    node *put = malloc(sizeof *put);
    urcu_bp_read_lock();
    node *old = add_or_replace(cache, put, key, value);
    if (old != NULL && !is_initial(cache, old))
        urcu_bp_call_rcu(&old->garbage, free_node);
    urcu_bp_read_unlock();
}

/* -- Loops: one for each scheme, so that reads are inlined --------------------------- */

#define REPLAY(SCHEME)                                                                            \
    static uint64_t SCHEME##_replay(cache *cache, const cache_access *trace, lab_share *share,    \
                                    bool has_laps)                                                \
    {                                                                                             \
        uint64_t sum = 0;                                                                         \
        for (uint64_t k = share->first; k < share->operations; k += share->step) {                \
            const cache_access *access = &trace[k % LAB_INPUTS];                                  \
            if (access->reads)                                                                    \
                sum += SCHEME##_get(cache, access->key);                                          \
            else                                                                                  \
                SCHEME##_put(cache, access->key, access->key + 1);                                \
            if (has_laps)                                                                         \
                lab_lap(&share->latencies);                                                       \
        }                                                                                         \
        return sum;                                                                               \
    }

REPLAY(unsynchronized)
REPLAY(lock)
REPLAY(read_write_lock)
REPLAY(copy_on_write)
REPLAY(unsafe_copy_on_write)
REPLAY(concurrent)

#define SCHEME(NAME, IS_SHARED, IS_SAFE) {#NAME, IS_SHARED, IS_SAFE, NAME##_replay, NAME##_get, NAME##_put}

static const cache_scheme schemes[] = {
    SCHEME(unsynchronized, false, true),
    SCHEME(lock, true, true),
    SCHEME(read_write_lock, true, true),
    SCHEME(copy_on_write, true, true),
    SCHEME(unsafe_copy_on_write, true, false),
    SCHEME(concurrent, true, true),
};

const cache_scheme *find_cache_scheme(const char *name)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strcmp(schemes[i].name, name) == 0)
            return &schemes[i];
    return NULL;
}

/* -- The whole map --------------------------------------------------------------------------------- */

/* Creates the map with its initial nodes. The map has one bucket for each entry and is never resized, so the buckets
 * are one array. The nodes are one array, too: opening and closing the case would take much longer with a million
 * separate allocations. */
static bool fill_nodes(cache *cache, size_t entries)
{
    for (cache->bits = 10; (size_t)1 << cache->bits < entries;)
        cache->bits++;
    unsigned long buckets = 1UL << cache->bits;
    cache->nodes = cds_lfht_new_flavor(buckets, buckets, buckets, 0, &urcu_bp_flavor, NULL);
    cache->initial = calloc(entries, sizeof *cache->initial);
    cache->initial_count = entries;
    if (cache->nodes == NULL || cache->initial == NULL)
        return false;
    urcu_bp_read_lock();
    for (uint64_t key = 0; key < entries; key++)
        add_or_replace(cache, &cache->initial[key], key, key + 1);
    urcu_bp_read_unlock();
    return true;
}

static bool fill_table(cache *cache, size_t entries)
{
    cache->table = table_new(entries);
    for (uint64_t key = 0; cache->table != NULL && key < entries; key++)
        table_put(cache->table, key, key + 1);
    return cache->table != NULL;
}

cache *cache_new(const cache_scheme *scheme, size_t entries)
{
    cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    cache->scheme = scheme;
    pthread_mutex_init(&cache->mutex, NULL);
    pthread_rwlock_init(&cache->lock, NULL);
    if (scheme->put == concurrent_put ? fill_nodes(cache, entries) : fill_table(cache, entries))
        return cache;
    cache_free(cache);
    return NULL;
}

static void free_replacement(cache *cache, uint64_t key)
{
    struct cds_lfht_iter found;
    cds_lfht_lookup(cache->nodes, hash(cache, key), is_key, &key, &found);
    struct cds_lfht_node *linked = cds_lfht_iter_get_node(&found);
    cds_lfht_del(cache->nodes, linked);
    free(caa_container_of(linked, node, linked));
}

static void free_all(struct cds_lfht *nodes)
{
    struct cds_lfht_iter at;
    node *each;
    cds_lfht_for_each_entry(nodes, &at, each, linked) {
        cds_lfht_del(nodes, &each->linked);
        free(each);
    }
}

/* Frees all nodes without waiting, because no other thread uses the cache anymore. */
static void free_nodes(cache *cache)
{
    urcu_bp_read_lock();
    for (uint64_t key = 0; cache->initial != NULL && key < cache->initial_count; key++)
        if (cds_lfht_del(cache->nodes, &cache->initial[key].linked) != 0)
            free_replacement(cache, key);
    if (cds_lfht_destroy(cache->nodes, NULL) != 0) { /* there are keys that were added later */
        free_all(cache->nodes);
        cds_lfht_destroy(cache->nodes, NULL);
    }
    urcu_bp_read_unlock();
}

size_t cache_size(cache *cache)
{
    long before, after;
    unsigned long count;
    if (cache->nodes == NULL)
        return cache->table->entries;
    urcu_bp_read_lock();
    cds_lfht_count_nodes(cache->nodes, &before, &count, &after);
    urcu_bp_read_unlock();
    return count;
}

void cache_free(cache *cache)
{
    if (cache == NULL)
        return;
    if (cache->nodes != NULL)
        free_nodes(cache);
    free(cache->initial);
    free(cache->table);
    free(cache);
}
