/* SPDX-License-Identifier: Apache-2.0
 *
 * The subject's side of the protocol: reads a command, carries it out, writes its one reply. */
#define _GNU_SOURCE /* gettid */
#include "lab_kit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define RUNTIME "clang " __clang_version__
#else
#define RUNTIME "gcc " __VERSION__
#endif

enum { ERROR_MAX = 1000 };

/* A line, cut in place into its verb and its arguments: verb\0key\0value\0key\0value\0. */
typedef struct command {
    const char *verb;
    const char *arguments;
    const char *end;
    char line[LAB_LINE_MAX + 1];
} command;

struct lab {
    const char *subject;
    const char *library;
    const lab_case *cases;
    size_t count;
    void *data;
    FILE *replies;
    const lab_case *current; /* the open case, or NULL */
    command opening;         /* the command that opened it */
    command command;         /* the command being carried out */
    FILE *settings;          /* where open collects its reply, or NULL */
    uint64_t inputs[LAB_INPUTS];
    const char *error_code;
    char error[ERROR_MAX + 1];
};

/* -- Errors ------------------------------------------------------------------------------- */

bool lab_fail(lab *lab, const char *code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(lab->error, sizeof lab->error, format, values);
    va_end(values);
    lab->error_code = code;
    return false;
}

/* -- Percent-coding ----------------------------------------------------------------------- */

static bool is_plain(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
        || (c != '\0' && strchr("-._~/:,+", c) != NULL);
}

/* Writes " key=value" with the value percent-encoded. */
static void write_argument(FILE *out, const char *key, const char *value)
{
    fprintf(out, " %s=", key);
    for (; *value != '\0'; value++) {
        if (is_plain(*value))
            putc(*value, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*value);
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* Decodes a value in place. False if it is malformed, or holds a NUL, which C cannot carry. */
static bool decode(char *value)
{
    char *out = value;
    for (const char *in = value; *in != '\0'; in++) {
        char c = *in;
        if (c == '%') {
            int high = hex_digit(in[1]);
            int low = high < 0 ? -1 : hex_digit(in[2]);
            if (low < 0 || high + low == 0)
                return false;
            c = (char)(high * 16 + low);
            in += 2;
        } else if (!is_plain(c)) {
            return false;
        }
        *out++ = c;
    }
    /* The value is followed by another word or by the line's end: keep the words adjacent. */
    memset(out, '\0', 1);
    return true;
}

/* -- Commands ----------------------------------------------------------------------------- */

typedef enum { LINE, TOO_LONG, END } input;

/* Reads a line without its LF; of one that is too long, the rest is skipped. */
static input read_line(char line[LAB_LINE_MAX + 1], size_t *length)
{
    int c;
    for (*length = 0; (c = getc_unlocked(stdin)) != EOF && c != '\n'; ++*length)
        if (*length < LAB_LINE_MAX)
            line[*length] = (char)c;
    if (c == EOF && *length == 0)
        return END;
    if (*length > LAB_LINE_MAX)
        return TOO_LONG;
    line[*length] = '\0';
    return LINE;
}
