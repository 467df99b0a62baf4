/* SPDX-License-Identifier: Apache-2.0
 *
 * A text that grows, with functions for writing JSON. A zeroed struct is an empty text. If out of memory, the program
 * exits. */
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

/* Adds a UTF-8 string as a JSON string, quoted and escaped. */
void text_add_json_string(text *text, const char *string, size_t length);

/* Adds a finite number with 15 digits, or with 17 digits if that is necessary to preserve it. */
void text_add_json_number(text *text, double value);

void text_release(text *text);

#endif
