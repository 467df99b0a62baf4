/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

static size_t bytes(unsigned bits)
{
    return sizeof(table) + sizeof(slot) * ((size_t)1 << bits);
}

static unsigned bits_for(size_t entries)
{
    unsigned bits = 4;
    while ((size_t)1 << bits < 2 * entries)
        bits++;
    return bits;
}

table *table_new(size_t entries)
{
    unsigned bits = bits_for(entries);
    table *table = calloc(1, bytes(bits));
    if (table != NULL)
        table->bits = bits;
    return table;
}

table *table_copy(const table *from)
{
    unsigned bits = bits_for(from->entries + 1);
    if (bits > from->bits) {
        table *larger = table_new(from->entries + 1);
        for (size_t i = 0; larger != NULL && i < (size_t)1 << from->bits; i++)
            if (from->slots[i].key != 0)
                table_put(larger, from->slots[i].key - 1, from->slots[i].value);
        return larger;
    }
    table *copy = malloc(bytes(from->bits));
    if (copy != NULL)
        memcpy(copy, from, bytes(from->bits));
    return copy;
}

void table_put(table *table, uint64_t key, uint64_t value)
{
    size_t mask = ((size_t)1 << table->bits) - 1;
    size_t at = table_hash(key, table->bits);
    while (table->slots[at].key != 0 && table->slots[at].key != key + 1)
        at = (at + 1) & mask;
    table->entries += table->slots[at].key == 0;
    table->slots[at] = (slot){key + 1, value};
}
