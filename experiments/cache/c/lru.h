/* SPDX-License-Identifier: Apache-2.0
 *
 * A cache of 64-bit keys and values that evicts the least recently used entry, under a mutex. */
#ifndef LRU_H
#define LRU_H

#include <stddef.h>
#include <stdint.h>

typedef struct lru lru;

/* Creates an empty cache. Returns NULL if out of memory. */
lru *lru_new(size_t capacity);

/* Returns the value of the key, or 0 if the key is missing. */
uint64_t lru_get(lru *cache, uint64_t key);

/* Puts a key that is missing. The value must not be 0. */
void lru_put(lru *cache, uint64_t key, uint64_t value);

void lru_free(lru *cache);

#endif
