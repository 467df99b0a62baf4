/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash table of 64-bit keys and values, with open addressing. It is not thread-safe. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct slot {
    uint64_t key; /* plus 1; 0 is an empty slot */
    uint64_t value;
} slot;

typedef struct table {
    size_t entries;
    unsigned bits; /* there are 2^bits slots, of which at most half are in use */
    slot slots[];
} table;

/* Creates an empty table with room for `entries`. Returns NULL if out of memory. */
table *table_new(size_t entries);

/* Copies a table, with room for one more entry. */
table *table_copy(const table *from);

/* Adds or replaces an entry. There must be room if the key is new. */
void table_put(table *table, uint64_t key, uint64_t value);

/* Returns the Fibonacci hash of a key (Knuth, The Art of Computer Programming 3, 6.4). */
static inline size_t table_hash(uint64_t key, unsigned bits)
{
    return (size_t)((key * 0x9E3779B97F4A7C15) >> (64 - bits));
}

/* Returns the value of the key, or 0 if the key is missing. */
static inline uint64_t table_get(const table *table, uint64_t key)
{
    size_t mask = ((size_t)1 << table->bits) - 1;
    size_t at = table_hash(key, table->bits);
    while (table->slots[at].key != 0) {
        if (table->slots[at].key == key + 1)
            return table->slots[at].value;
        at = (at + 1) & mask;
    }
    return 0;
}

#endif
