/* SPDX-License-Identifier: Apache-2.0
 *
 * The case `own`: the user's own statements, with values to bind from a file (docs/protocol.md, The case `own`). This
 * part is the same for all databases. */
#ifndef OWN_H
#define OWN_H

#include "lab_kit.h"

/* The types of columns. Only the first three are also types of parameters. */
typedef enum own_type {
    OWN_INTEGER, OWN_FLOAT, OWN_TEXT, OWN_BOOLEAN, OWN_DECIMAL, OWN_BYTES, OWN_DATE, OWN_TIMESTAMP
} own_type;

/* A value to bind. Every value is also a text, which ends with a NUL. */
typedef struct own_value {
    own_type type;
    int64_t integer;
    double number;
    const char *text;
    size_t length;
} own_value;

typedef struct own_statement {
    const char *text;
    size_t parameters;
    own_type *parameter_types;
    size_t columns; /* 0 if the statement returns no rows */
    own_type *column_types;
    size_t first;   /* the index of its first value in a row of values */
    void *prepared; /* the driver's */
} own_statement;

typedef struct own_work {
    size_t count;
    own_statement *statements;
    bool transaction;
    size_t fields; /* the number of values in a row */
    size_t rows;
    own_value *values;
    char *file; /* the contents of the file that the values point into */
} own_work;

/* Reads the arguments of `open` and the file with the values. The work must be all zeros. */
bool own_read(lab *lab, own_work *work);

/* Releases what own_read allocated, even if it failed. */
void own_free(own_work *work);

/* Returns the values of a statement in operation k. */
static inline const own_value *own_values(const own_work *work, const own_statement *statement, uint64_t k)
{
    return work->fields == 0 ? NULL : &work->values[k % work->rows * work->fields + statement->first];
}

/* The fold of NULL. */
#define OWN_NULL ((uint64_t)1)

/* Returns the bits of a floating-point number. */
static inline uint64_t own_fold_float(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Returns the sum of all bytes. */
static inline uint64_t own_fold_bytes(const void *bytes, size_t length)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += ((const unsigned char *)bytes)[i];
    return sum;
}

#endif
