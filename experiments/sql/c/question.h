/* SPDX-License-Identifier: Apache-2.0
 *
 * The cases are the same on every database: their parameters, their inputs, and the numbers that a
 * row's values fold to. */
#ifndef QUESTION_H
#define QUESTION_H

#include "lab_kit.h"

enum { MAX_CONNECTIONS = 1024 };

/* Statements that the library keeps by itself: the C libraries of all three databases have no cache. */
#define NO_STATEMENT_CACHE "0"

/* What is bound in operation k, at k % LAB_INPUTS; s is that value of the seeded sequence. */
typedef struct inputs {
    int32_t ids[LAB_INPUTS];     /* 1 + s mod rows */
    int32_t others[LAB_INPUTS];  /* 1 + (s >> 32) mod rows: to whom a transfer goes */
    int32_t amounts[LAB_INPUTS]; /* 1 + (s >> 20) mod 100: what a value is changed by */
    int32_t values[LAB_INPUTS];  /* s >> 33: to insert */
} inputs;

/* Those of a case that works on the rows that are there, and those of one that inserts. */
bool fill_inputs(lab *lab, inputs *inputs);
void fill_values(lab *lab, inputs *inputs);

/* The path or the address in target=, which must begin with the scheme. */
bool open_target(lab *lab, const char *scheme, const char **target);

/* Whether statement= is prepared, or else text. */
bool open_prepared(lab *lab, bool *prepared);

/* The sum of a text's Unicode code points; it is valid UTF-8. */
uint64_t fold_text(const char *text, size_t length);

/* Milliseconds since 1970 of a moment in UTC. */
int64_t fold_moment(int year, int month, int day, int hour, int minute, int second, int ms);

#endif
