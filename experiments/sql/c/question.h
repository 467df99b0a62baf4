/* SPDX-License-Identifier: Apache-2.0
 *
 * Code shared by the cases on all databases: their parameters, their inputs, and the folding of a row's values
 * to numbers. */
#ifndef QUESTION_H
#define QUESTION_H

#include "lab_kit.h"

enum { MAX_CONNECTIONS = 1024 };

/* The reported size of the library's statement cache: no C library of the three databases has a statement
 * cache. */
#define NO_STATEMENT_CACHE "0"

/* The values to bind: operation k uses the values at k % LAB_INPUTS. In the comments below, s is the
 * seeded sequence's value at the same index. */
typedef struct inputs {
    int32_t ids[LAB_INPUTS];     /* 1 + s mod rows */
    int32_t others[LAB_INPUTS];  /* 1 + (s >> 32) mod rows: the row that a transfer adds to */
    int32_t amounts[LAB_INPUTS]; /* 1 + (s >> 20) mod 100: the change of a value */
    int32_t values[LAB_INPUTS];  /* s >> 33: the values to insert */
} inputs;

/* These functions compute inputs: fill_inputs for a case that works on existing rows, and fill_values for a
 * case that inserts rows. */
bool fill_inputs(lab *lab, inputs *inputs);
void fill_values(lab *lab, inputs *inputs);

/* Returns the path or the address in the argument `target`, which must begin with the scheme. */
bool open_target(lab *lab, const char *scheme, const char **target);

/* Sets *prepared to true if the argument `statement` is "prepared", and to false if it is "text". */
bool open_prepared(lab *lab, bool *prepared);

/* Returns the sum of a text's Unicode code points; it must be valid UTF-8. */
uint64_t fold_text(const char *text, size_t length);

/* Returns the milliseconds since 1970 of a moment in UTC. */
int64_t fold_moment(int year, int month, int day, int hour, int minute, int second, int ms);

#endif
