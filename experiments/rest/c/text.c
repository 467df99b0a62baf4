/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes, and returns the position at which to write them. */
static char *room(text *text, size_t more)
{
    if (text->capacity - text->length < more) {
        size_t capacity = 2 * (text->length + more);
        char *bytes = realloc(text->bytes, capacity);
        if (bytes == NULL) {
            perror("a text");
            exit(1);
        }
        text->bytes = bytes;
        text->capacity = capacity;
    }
    return text->bytes + text->length;
}

void text_add(text *text, const void *bytes, size_t length)
{
    memcpy(room(text, length), bytes, length);
    text->length += length;
}

void text_add_integer(text *text, int64_t value)
{
    char digits[20];
    char *first = digits + sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        *--first = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        *--first = '-';
    text_add(text, first, (size_t)(digits + sizeof digits - first));
}

static void add_escaped(text *text, unsigned char c)
{
    static const char short_ones[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *pair = short_ones; *pair != '\0'; pair += 2)
        if (*pair == (char)c) {
            text_add(text, (char[]){'\\', pair[1]}, 2);
            return;
        }
    text->length += (size_t)sprintf(room(text, 7), "\\u%04x", c);
}

void text_add_json_string(text *text, const char *string, size_t length)
{
    const char *end = string + length;
    text_add_literal(text, "\"");
    for (const char *plain = string;; string++) {
        if (string < end && (unsigned char)*string >= ' ' && *string != '"' && *string != '\\')
            continue;
        text_add(text, plain, (size_t)(string - plain));
        if (string == end)
            break;
        add_escaped(text, (unsigned char)*string);
        plain = string + 1;
    }
    text_add_literal(text, "\"");
}

void text_add_json_number(text *text, double value)
{
    enum { MAX_LENGTH = 32 }; /* -1.2345678901234567e-308 has 24 */
    char *at = room(text, MAX_LENGTH);
    int length = snprintf(at, MAX_LENGTH, "%.15g", value);
    if (strtod(at, NULL) != value)
        length = snprintf(at, MAX_LENGTH, "%.17g", value);
    text->length += (size_t)length;
}

void text_release(text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}
