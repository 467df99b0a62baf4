/* SPDX-License-Identifier: Apache-2.0 */
#include "own.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_STATEMENTS = 100 };

static const char *const names[] = {"integer", "float", "text", "boolean", "decimal", "bytes", "date", "timestamp"};

/* Parses words separated by commas, or `none`. */
static bool read_types(lab *lab, const char *key, size_t *count, own_type **types)
{
    const char *text;
    if (!lab_text(lab, key, &text))
        return false;
    if (strcmp(text, "none") == 0)
        return true;
    size_t most = 1;
    for (const char *c = text; *c != '\0'; c++)
        most += *c == ',';
    *types = calloc(most, sizeof **types);
    if (*types == NULL)
        return lab_fail(lab, LAB_FAILED, "out of memory");
    for (const char *word = text; *count < most; (*count)++) {
        size_t length = strcspn(word, ","), known = 0;
        while (known < sizeof names / sizeof *names
               && (strlen(names[known]) != length || strncmp(names[known], word, length) != 0))
            known++;
        if (known == sizeof names / sizeof *names)
            return lab_fail(lab, LAB_UNSUPPORTED, "%s: unknown type %.*s", key, (int)length, word);
        (*types)[*count] = (own_type)known;
        word += length + 1;
    }
    return true;
}

static bool read_statement(lab *lab, own_work *work, size_t number)
{
    own_statement *statement = &work->statements[number - 1];
    char sql[24], parameters[24], columns[24];
    snprintf(sql, sizeof sql, "sql%zu", number);
    snprintf(parameters, sizeof parameters, "parameters%zu", number);
    snprintf(columns, sizeof columns, "columns%zu", number);
    statement->first = work->fields;
    if (!lab_text(lab, sql, &statement->text)
        || !read_types(lab, parameters, &statement->parameters, &statement->parameter_types)
        || !read_types(lab, columns, &statement->columns, &statement->column_types))
        return false;
    work->fields += statement->parameters;
    return true;
}

/* Reads a whole file, and adds a NUL. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *contents = NULL;
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length >= 0 && fseek(file, 0, SEEK_SET) == 0)
        contents = malloc((size_t)length + 1);
    if (contents != NULL)
        contents[fread(contents, 1, (size_t)length, file)] = '\0';
    fclose(file);
    return contents;
}

static own_value value_of(own_type type, const char *text)
{
    return (own_value){
        .type = type,
        .integer = type == OWN_INTEGER ? strtoll(text, NULL, 10) : 0,
        .number = type == OWN_FLOAT ? strtod(text, NULL) : 0,
        .text = text,
        .length = strlen(text),
    };
}

/* Reads lines of values separated by tabs, and ends each value with a NUL. */
static bool read_values(lab *lab, own_work *work)
{
    const char *path;
    if (!lab_text(lab, "inputs", &path))
        return false;
    work->file = read_file(path);
    if (work->file == NULL)
        return lab_fail(lab, LAB_FAILED, "cannot read %s", path);
    for (const char *c = work->file; *c != '\0'; c++)
        work->rows += *c == '\n';
    work->values = calloc(work->rows * work->fields, sizeof *work->values);
    if (work->rows == 0 || work->values == NULL)
        return lab_fail(lab, LAB_FAILED, "%s has no values", path);
    own_value *next = work->values;
    char *at = work->file;
    for (size_t row = 0; row < work->rows; row++)
        for (size_t s = 0; s < work->count; s++)
            for (size_t p = 0; p < work->statements[s].parameters; p++) {
                char *end = at + strcspn(at, "\t\n");
                if (*end == '\0')
                    return lab_fail(lab, LAB_FAILED, "%s ends too early", path);
                *end = '\0';
                *next++ = value_of(work->statements[s].parameter_types[p], at);
                at = end + 1;
            }
    return true;
}

bool own_read(lab *lab, own_work *work)
{
    uint64_t count;
    const char *transaction;
    if (!lab_integer(lab, "statements", 1, MAX_STATEMENTS, &count) || !lab_text(lab, "transaction", &transaction))
        return false;
    work->transaction = strcmp(transaction, "yes") == 0;
    work->statements = calloc(count, sizeof *work->statements);
    if (work->statements == NULL)
        return lab_fail(lab, LAB_FAILED, "out of memory");
    work->count = count;
    for (size_t number = 1; number <= count; number++)
        if (!read_statement(lab, work, number))
            return false;
    return work->fields == 0 || read_values(lab, work);
}

void own_free(own_work *work)
{
    for (size_t s = 0; s < work->count; s++) {
        free(work->statements[s].parameter_types);
        free(work->statements[s].column_types);
    }
    free(work->statements);
    free(work->values);
    free(work->file);
    memset(work, 0, sizeof *work);
}
