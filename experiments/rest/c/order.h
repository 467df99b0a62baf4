/* SPDX-License-Identifier: Apache-2.0
 *
 * The document for /api/echo: parsed from JSON with cJSON, and written as JSON. */
#ifndef ORDER_H
#define ORDER_H

#include "text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct order_item {
    const char *sku;
    const char *name;
    int64_t quantity;
    double price;
    const char **tags;
    size_t tag_count;
} order_item;

typedef struct order_customer {
    const char *name;
    const char *city;
    int64_t since;
} order_customer;

typedef struct order {
    int64_t id;
    order_customer customer;
    bool express;
    const char *note; /* may be NULL */
    const char *remark;
    double discount;
    order_item *items;
    size_t item_count;
} order;

/* Parses an order. Returns false if it is invalid. The order is valid until the next order is parsed. */
bool order_read(const char *json, size_t length, order *order);

void order_write(const order *order, text *json);

#endif
