/* SPDX-License-Identifier: Apache-2.0
 *
 * cJSON allocates from a pool that is reset for each document: there is only one document at a time, and nothing is
 * freed individually. The order points to the data of cJSON. */
#include "order.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

/* -- Memory ------------------------------------------------------------------------------- */

enum { POOL = 8 << 20 }; /* for 64 KiB of JSON: at most 32,768 values of 64 bytes, and an order */

static _Alignas(16) char pool[POOL];
static size_t taken;

static void *take(size_t size)
{
    size_t rounded = (size + 15) / 16 * 16;
    if (POOL - taken < rounded)
        return NULL;
    void *at = pool + taken;
    taken += rounded;
    return at;
}

static void give_back(void *at)
{
    (void)at;
}

/* -- Checks that cJSON does not make ------------------------------------------------------ */

/* Returns the position after a UTF-8 character of more than one byte (RFC 3629), or NULL if it is
 * malformed. */
static const char *skip_character(const char *at, const char *end)
{
    unsigned char first = (unsigned char)*at;
    int more = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    if (more == 0 || end - at <= more)
        return NULL;
    unsigned char second = (unsigned char)at[1];
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)
        || (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
        return NULL;
    for (; more > 0; more--)
        if (((unsigned char)*++at & 0xc0) != 0x80)
            return NULL;
    return at + 1;
}

/* Returns the position after a string, given the position after its opening quote. Rejects an escaped NUL,
 * because it would end the C string early. */
static const char *skip_string(const char *at, const char *end)
{
    while (at != NULL && at < end && *at != '"') {
        if (*at == '\\' && end - at > 6 && memcmp(at, "\\u0000", 6) == 0)
            return NULL;
        if (*at == '\\')
            at += 2;
        else if ((unsigned char)*at >= 0x80)
            at = skip_character(at, end);
        else if (*at++ < ' ')
            return NULL;
    }
    return at != NULL && at < end ? at + 1 : NULL;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static const char *skip_number(const char *at, const char *end)
{
    const char *whole = at + (*at == '-');
    at = skip_digits(whole, end);
    if (at == whole || (*whole == '0' && at > whole + 1))
        return NULL;
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(fraction, end);
        if (at == fraction)
            return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E')) /* an exponent may begin with zeros */
        at = skip_digits(at + 1 + (end - at > 1 && (at[1] == '-' || at[1] == '+')), end);
    return at;
}

/* Returns true if strings are UTF-8 without control characters, numbers have no leading zeros and have
 * digits on both sides of the decimal point, and everything else is ASCII, as RFC 8259 requires. cJSON
 * checks the rest. */
static bool is_strict(const char *json, size_t length)
{
    const char *end = json + length;
    for (const char *at = json; at != NULL && at < end;) {
        if (*at == '"')
            at = skip_string(at + 1, end);
        else if (*at == '-' || (*at >= '0' && *at <= '9'))
            at = skip_number(at, end);
        else if ((*at >= ' ' && *at < 0x7f) || *at == '\t' || *at == '\r' || *at == '\n')
            at++;
        else
            at = NULL;
        if (at == NULL)
            return false;
    }
    return true;
}

/* -- Reading ------------------------------------------------------------------------------ */

static bool read_text(const cJSON *value, const char **text)
{
    *text = cJSON_GetStringValue(value);
    return *text != NULL;
}

static bool read_number(const cJSON *value, double *number)
{
    *number = cJSON_GetNumberValue(value); /* NaN if it is not a number */
    return isfinite(*number);
}

static bool read_integer(const cJSON *value, int64_t *integer)
{
    double number = cJSON_GetNumberValue(value);
    if (!(fabs(number) <= 9007199254740992.0) || number != floor(number))
        return false;
    *integer = (int64_t)number;
    return true;
}

/* Allocates an array with `size` bytes for each element. */
static bool read_array(const cJSON *value, size_t size, void **elements, size_t *count)
{
    *count = (size_t)cJSON_GetArraySize(value);
    *elements = take(*count * size);
    return cJSON_IsArray(value) && *elements != NULL;
}

static bool read_item(const cJSON *object, order_item *item)
{
    void *tags;
    const cJSON *tag;
    size_t i = 0;
    if (!read_text(cJSON_GetObjectItemCaseSensitive(object, "sku"), &item->sku)
        || !read_text(cJSON_GetObjectItemCaseSensitive(object, "name"), &item->name)
        || !read_integer(cJSON_GetObjectItemCaseSensitive(object, "quantity"), &item->quantity)
        || !read_number(cJSON_GetObjectItemCaseSensitive(object, "price"), &item->price))
        return false;
    const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, "tags");
    if (!read_array(array, sizeof *item->tags, &tags, &item->tag_count))
        return false;
    item->tags = tags;
    cJSON_ArrayForEach(tag, array)
        if (!read_text(tag, &item->tags[i++]))
            return false;
    return true;
}

static bool read_customer(const cJSON *object, order_customer *customer)
{
    return read_text(cJSON_GetObjectItemCaseSensitive(object, "name"), &customer->name)
        && read_text(cJSON_GetObjectItemCaseSensitive(object, "city"), &customer->city)
        && read_integer(cJSON_GetObjectItemCaseSensitive(object, "since"), &customer->since);
}

static bool read_items(const cJSON *array, order *order)
{
    void *items;
    const cJSON *item;
    size_t i = 0;
    if (!read_array(array, sizeof *order->items, &items, &order->item_count))
        return false;
    order->items = items;
    cJSON_ArrayForEach(item, array)
        if (!read_item(item, &order->items[i++]))
            return false;
    return true;
}

static bool read_order(const cJSON *object, order *order)
{
    const cJSON *express = cJSON_GetObjectItemCaseSensitive(object, "express");
    const cJSON *note = cJSON_GetObjectItemCaseSensitive(object, "note");
    order->express = cJSON_IsTrue(express);
    order->note = NULL;
    return cJSON_IsBool(express)
        && (cJSON_IsNull(note) || read_text(note, &order->note))
        && read_integer(cJSON_GetObjectItemCaseSensitive(object, "id"), &order->id)
        && read_customer(cJSON_GetObjectItemCaseSensitive(object, "customer"), &order->customer)
        && read_text(cJSON_GetObjectItemCaseSensitive(object, "remark"), &order->remark)
        && read_number(cJSON_GetObjectItemCaseSensitive(object, "discount"), &order->discount)
        && read_items(cJSON_GetObjectItemCaseSensitive(object, "items"), order);
}

bool order_read(const char *json, size_t length, order *order)
{
    static cJSON_Hooks hooks = {take, give_back};
    const char *end = NULL;
    taken = 0;
    cJSON_InitHooks(&hooks);
    const cJSON *document = cJSON_ParseWithLengthOpts(json, length, &end, false);
    if (document == NULL || !is_strict(json, length))
        return false;
    for (; end < json + length; end++) /* only whitespace may follow the document */
        if (strchr(" \t\r\n", *end) == NULL || *end == '\0')
            return false;
    return read_order(document, order);
}

/* -- Writing ------------------------------------------------------------------------------ */

/* Adds a name that needs no escapes, with the text before it. */
#define add_name(json, before, name) text_add_literal(json, before "\"" name "\":")

static void add_text(text *json, const char *value)
{
    text_add_json_string(json, value, strlen(value));
}

static void write_item(const order_item *item, text *json)
{
    add_name(json, "{", "sku");
    add_text(json, item->sku);
    add_name(json, ",", "name");
    add_text(json, item->name);
    add_name(json, ",", "quantity");
    text_add_integer(json, item->quantity);
    add_name(json, ",", "price");
    text_add_json_number(json, item->price);
    add_name(json, ",", "tags");
    text_add_literal(json, "[");
    for (size_t i = 0; i < item->tag_count; i++) {
        text_add(json, ",", i > 0);
        add_text(json, item->tags[i]);
    }
    text_add_literal(json, "]}");
}

void order_write(const order *order, text *json)
{
    add_name(json, "{", "id");
    text_add_integer(json, order->id);
    add_name(json, ",", "customer");
    add_name(json, "{", "name");
    add_text(json, order->customer.name);
    add_name(json, ",", "city");
    add_text(json, order->customer.city);
    add_name(json, ",", "since");
    text_add_integer(json, order->customer.since);
    add_name(json, "},", "express");
    text_add(json, order->express ? "true" : "false", order->express ? 4 : 5);
    add_name(json, ",", "note");
    if (order->note != NULL)
        add_text(json, order->note);
    else
        text_add_literal(json, "null");
    add_name(json, ",", "remark");
    add_text(json, order->remark);
    add_name(json, ",", "discount");
    text_add_json_number(json, order->discount);
    add_name(json, ",", "items");
    text_add_literal(json, "[");
    for (size_t i = 0; i < order->item_count; i++) {
        text_add(json, ",", i > 0);
        write_item(&order->items[i], json);
    }
    text_add_literal(json, "]}");
}
