/* SPDX-License-Identifier: Apache-2.0
 *
 * A text that grows, and what JSON is written with. All zero is an empty one; without memory the
 * program ends. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct text {
    char *bytes;
    size_t length;
    size_t capacity;
} text;

void text_add(text *text, const void *bytes, size_t length);
void text_add_integer(text *text, int64_t value);

/* Adds a string literal. */
#define text_add_literal(text, literal) text_add(text, literal, sizeof(literal) - 1)

/* Adds a JSON string with what it holds (UTF-8), in quotes and escaped. */
void text_add_json_string(text *text, const char *string, size_t length);

/* Adds the shortest of 15 or 17 digits that is this number again, which is a finite one. */
void text_add_json_number(text *text, double value);

void text_release(text *text);

#endif
