/* SPDX-License-Identifier: Apache-2.0
 *
 * The subject's side of the protocol: reads commands, executes them, and writes one reply to each. */
#define _GNU_SOURCE /* gettid */
#include "lab_kit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __clang__
#define RUNTIME "clang " __clang_version__
#else
#define RUNTIME "gcc " __VERSION__
#endif

enum {
    ERROR_MAX = 1000,
    METRIC_MAX = 32,  /* bytes of a metric's value */
};

/* A line, rewritten in place as strings: the verb, then key, value, key, value ... up to end. */
typedef struct command {
    char line[LAB_LINE_MAX + 1];
    const char *arguments;
    const char *end;
} command;

/* Bytes of standard input that have not been returned as a line yet. */
typedef struct buffer {
    char bytes[4096];
    size_t at;
    size_t end;
} buffer;

struct lab {
    const lab_case *cases;
    size_t count;
    void *data;
    buffer input;
    const lab_case *current; /* the open case, or NULL */
    void (*wait)(void *data, int commands); /* called between commands, or NULL */
    command *opening;        /* the command that opened it */
    command *command;        /* the command being executed */
    FILE *replies;
    FILE *extra;             /* collects the reply's settings or metrics in ... */
    char *collected;
    size_t collected_size;
    const char *error_code;
    char error[ERROR_MAX + 1];
    uint64_t inputs[LAB_INPUTS];
    lab_latencies latencies; /* latencies of the batch; start is 0 if there are none */
    command commands[2];     /* storage for opening and command */
};

bool lab_fail(lab *lab, const char *code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(lab->error, sizeof lab->error, format, values);
    va_end(values);
    lab->error_code = code;
    return false;
}

/* -- Writing ------------------------------------------------------------------------------ */

static bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Returns true if the character can stand in a value without percent-encoding. */
static bool is_plain(char c)
{
    return is_letter(c) || (c >= 'A' && c <= 'Z') || is_digit(c)
        || (c != '\0' && strchr("-._~/:,+", c) != NULL);
}

/* Writes " key=value" with a percent-encoded value. */
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

static void write_error(lab *lab)
{
    fprintf(lab->replies, "@lab error code=%s", lab->error_code);
    write_argument(lab->replies, "message", lab->error);
    putc('\n', lab->replies);
}

static void write_hello(FILE *replies, const char *subject, const char *library)
{
    fprintf(replies, "@lab hello protocol=1");
    write_argument(replies, "subject", subject);
    fprintf(replies, " thread=%d", (int)gettid());
    write_argument(replies, "runtime", RUNTIME);
    write_argument(replies, "library", library);
    putc('\n', replies);
    fflush(replies);
}

/* -- Reading ------------------------------------------------------------------------------ */

typedef enum { LINE, TOO_LONG, END } input;

/* Waits for input and reads the available bytes. Returns false at the end of the input. */
static bool fill(lab *lab)
{
    ssize_t count;
    if (lab->wait != NULL)
        lab->wait(lab->data, STDIN_FILENO);
    while ((count = read(STDIN_FILENO, lab->input.bytes, sizeof lab->input.bytes)) < 0
           && errno == EINTR) {
    }
    lab->input.at = 0;
    lab->input.end = count > 0 ? (size_t)count : 0;
    return count > 0;
}

static int next_byte(lab *lab)
{
    if (lab->input.at == lab->input.end && !fill(lab))
        return EOF;
    return (unsigned char)lab->input.bytes[lab->input.at++];
}

/* Reads a line without its LF. The rest of a line that is too long is skipped. */
static input read_line(lab *lab, char line[LAB_LINE_MAX + 1], size_t *length)
{
    int c;
    for (*length = 0; (c = next_byte(lab)) != EOF && c != '\n'; ++*length)
        if (*length < LAB_LINE_MAX)
            line[*length] = (char)c;
    if (c == EOF && *length == 0)
        return END;
    if (*length > LAB_LINE_MAX)
        return TOO_LONG;
    line[*length] = '\0';
    return LINE;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* Decodes a value to *out, which is at or before the value, and moves *out past the NUL. Returns
 * false if the value is malformed or contains a NUL, which a C string cannot represent. */
static bool decode(const char *in, char **out)
{
    while (*in != '\0') {
        char c = *in++;
        if (c == '%') {
            int high = hex_digit(in[0]);
            int low = high < 0 ? -1 : hex_digit(in[1]);
            if (low < 0 || (high == 0 && low == 0))
                return false;
            c = (char)(high * 16 + low);
            in += 2;
        } else if (!is_plain(c)) {
            return false;
        }
        *(*out)++ = c;
    }
    *(*out)++ = '\0';
    return true;
}

/* Rewrites one word "key=value" as two strings at *out, and moves *out past them. */
static bool parse_argument(char *word, char **out)
{
    char *equals = strchr(word, '=');
    if (equals == NULL || !is_letter(*word))
        return false;
    for (const char *c = word; c < equals; c++)
        if (!is_letter(*c) && !is_digit(*c) && *c != '_')
            return false;
    size_t key = (size_t)(equals - word);
    memmove(*out, word, key);
    *out += key;
    *(*out)++ = '\0';
    return decode(equals + 1, out);
}

/* Splits the line into the verb and the arguments. */
static bool parse(lab *lab, size_t length)
{
    char *word = lab->command->line;
    if (strlen(word) != length)
        return lab_fail(lab, LAB_USAGE, "the line contains a NUL");
    size_t cut = strcspn(word, " ");
    char *end = word + length;
    char *out = word + cut + 1;
    word[cut] = '\0';
    lab->command->arguments = out;
    for (int number = 1; word + cut < end; number++) {
        word += cut + 1;
        cut = strcspn(word, " ");
        word[cut] = '\0';
        if (!parse_argument(word, &out))
            return lab_fail(lab, LAB_USAGE, "argument %d is not key=value, percent-encoded", number);
    }
    lab->command->end = out;
    return true;
}

/* -- Arguments ---------------------------------------------------------------------------- */

static const char *find(const command *command, const char *key)
{
    const char *name = command->arguments;
    while (name < command->end) {
        const char *value = name + strlen(name) + 1;
        if (strcmp(name, key) == 0)
            return value;
        name = value + strlen(value) + 1;
    }
    return NULL;
}

static bool find_integer(lab *lab, const command *command, const char *key,
                         uint64_t least, uint64_t most, uint64_t *number)
{
    const char *text = find(command, key);
    if (text == NULL)
        return lab_fail(lab, LAB_USAGE, "the argument %s is missing", key);
    bool valid = *text != '\0';
    *number = 0;
    for (; valid && *text != '\0'; text++)
        valid = is_digit(*text) && !__builtin_mul_overflow(*number, 10, number)
            && !__builtin_add_overflow(*number, (uint64_t)(*text - '0'), number);
    if (!valid || *number < least || *number > most)
        return lab_fail(lab, LAB_USAGE, "%s is not a whole number from %" PRIu64 " to %" PRIu64,
                        key, least, most);
    return true;
}

const char *lab_argument(const lab *lab, const char *key)
{
    return find(lab->opening, key);
}

bool lab_text(lab *lab, const char *key, const char **text)
{
    *text = lab_argument(lab, key);
    return *text != NULL || lab_fail(lab, LAB_USAGE, "the argument %s is missing", key);
}

bool lab_integer(lab *lab, const char *key, uint64_t least, uint64_t most, uint64_t *number)
{
    return find_integer(lab, lab->opening, key, least, most, number);
}

void lab_setting(lab *lab, const char *key, const char *value)
{
    write_argument(lab->extra, key, value);
}

/* Formats without an exponent, which the protocol does not support. %g uses an exponent for values below 10^-4 and for
 * values of at least 10^15. */
void lab_metric(lab *lab, const char *key, double value)
{
    char text[METRIC_MAX];
    double size = value < 0 ? -value : value;
    const char *format = size >= 1e15 ? "%.0f" : size > 0 && size < 1e-4 ? "%.19f" : "%.15g";
    snprintf(text, sizeof text, format, value);
    write_argument(lab->extra, key, text);
}

void lab_serve_while_waiting(lab *lab, void (*wait)(void *data, int commands))
{
    lab->wait = wait;
}

const uint64_t *lab_inputs(const lab *lab)
{
    return lab->inputs;
}

/* Computes SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static void fill_inputs(uint64_t inputs[LAB_INPUTS], uint64_t state)
{
    for (size_t i = 0; i < LAB_INPUTS; i++) {
        state += 0x9E3779B97F4A7C15;
        uint64_t z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        inputs[i] = z ^ (z >> 31);
    }
}

/* -- The case noop ------------------------------------------------------------------------ */

static bool noop_open(lab *lab, void *data)
{
    (void)lab, (void)data;
    return true;
}

static bool noop_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    (void)lab, (void)data;
    *work = (lab_work){.check = operations, .units = operations};
    return true;
}

static void noop_close(void *data)
{
    (void)data;
}

static const lab_case noop = {"noop", noop_open, noop_perform, noop_close};

/* -- Commands ----------------------------------------------------------------------------- */

static const lab_case *find_case(const lab *lab, const char *name)
{
    if (strcmp(name, noop.name) == 0)
        return &noop;
    for (size_t i = 0; i < lab->count; i++)
        if (strcmp(name, lab->cases[i].name) == 0)
            return &lab->cases[i];
    return NULL;
}

static void release(lab *lab, const lab_case *opened)
{
    opened->close(lab->data);
    lab->wait = NULL;
}

/* Ends the reply with the collected arguments. */
static void write_extra(lab *lab)
{
    fflush(lab->extra);
    fwrite(lab->collected, 1, lab->collected_size, lab->replies);
    putc('\n', lab->replies);
}

static bool do_open(lab *lab)
{
    const char *name;
    uint64_t seed;
    if (lab->current != NULL)
        return lab_fail(lab, LAB_USAGE, "the case %s is still open", lab->current->name);
    command *command = lab->command;
    lab->command = lab->opening;
    lab->opening = command;
    if (!lab_text(lab, "case", &name) || !lab_integer(lab, "seed", 0, UINT64_MAX, &seed))
        return false;
    const lab_case *found = find_case(lab, name);
    if (found == NULL)
        return lab_fail(lab, LAB_UNSUPPORTED, "there is no case %s", name);

    fill_inputs(lab->inputs, seed);
    rewind(lab->extra);
    bool opened = found->open(lab, lab->data);
    if (opened) {
        lab->current = found;
        fprintf(lab->replies, "@lab opened");
        write_extra(lab);
    } else {
        release(lab, found);
    }
    return opened;
}

void lab_add_latencies(lab *lab, const lab_latencies *latencies)
{
    lab_latencies *sum = &lab->latencies;
    if (latencies->end == latencies->start) /* the thread did no operations */
        return;
    if (sum->start == 0 || latencies->start < sum->start)
        sum->start = latencies->start;
    if (latencies->end > sum->end)
        sum->end = latencies->end;
    for (size_t i = 0; i < LAB_BUCKETS; i++)
        sum->counts[i] += latencies->counts[i];
}

/* Writes " latencies=INDEX:COUNT,...". */
static void write_latencies(FILE *out, const lab_latencies *latencies)
{
    const char *before = " latencies=";
    for (size_t i = 0; i < LAB_BUCKETS; i++)
        if (latencies->counts[i] > 0) {
            fprintf(out, "%s%zu:%" PRIu64, before, i, latencies->counts[i]);
            before = ",";
        }
}

/* Executes the command run (timed) or verify (untimed). verify does 1 operation if the argument operations is
 * missing. */
static bool do_batch(lab *lab, bool timed)
{
    uint64_t operations = 1;
    lab_work work = {0};
    if (lab->current == NULL)
        return lab_fail(lab, LAB_USAGE, "no case is open");
    if (lab->current->perform == NULL)
        return lab_fail(lab, LAB_UNSUPPORTED, "the case %s is a server and has no operations",
                        lab->current->name);
    if ((timed || find(lab->command, "operations") != NULL)
        && !find_integer(lab, lab->command, "operations", 1, LAB_OPERATIONS_MAX, &operations))
        return false;

    memset(&lab->latencies, 0, sizeof lab->latencies);
    rewind(lab->extra);
    uint64_t start = lab_clock();
    bool performed = lab->current->perform(lab, lab->data, operations, &work);
    uint64_t end = lab_clock();
    if (!performed)
        return false;
    if (lab->latencies.start != 0) {
        start = lab->latencies.start;
        end = lab->latencies.end;
    }

    fprintf(lab->replies, "@lab %s", timed ? "ran" : "verified");
    if (timed)
        fprintf(lab->replies, " start=%" PRIu64 " end=%" PRIu64, start, end);
    fprintf(lab->replies, " operations=%" PRIu64 " units=%" PRIu64 " check=%" PRIu64,
            operations, work.units, work.check);
    if (timed) {
        write_latencies(lab->replies, &lab->latencies);
        write_extra(lab);
    } else {
        putc('\n', lab->replies);
    }
    return true;
}

static void close_case(lab *lab)
{
    if (lab->current != NULL)
        release(lab, lab->current);
    lab->current = NULL;
}

static bool do_close(lab *lab)
{
    if (lab->current == NULL)
        return lab_fail(lab, LAB_USAGE, "no case is open");
    close_case(lab);
    fprintf(lab->replies, "@lab closed\n");
    return true;
}

static bool do_command(lab *lab, const char *verb)
{
    if (strcmp(verb, "run") == 0)
        return do_batch(lab, true);
    if (strcmp(verb, "verify") == 0)
        return do_batch(lab, false);
    if (strcmp(verb, "open") == 0)
        return do_open(lab);
    if (strcmp(verb, "close") == 0)
        return do_close(lab);
    return lab_fail(lab, LAB_USAGE, "there is no command %.40s", verb);
}

static void serve(lab *lab)
{
    for (;;) {
        size_t length;
        input read = read_line(lab, lab->command->line, &length);
        if (read == END)
            return;
        const char *verb = lab->command->line;
        bool is_valid = read == TOO_LONG
            ? lab_fail(lab, LAB_USAGE, "the line is longer than %d bytes", LAB_LINE_MAX)
            : parse(lab, length);
        if (is_valid && strcmp(verb, "quit") == 0)
            return;
        if (!is_valid || !do_command(lab, verb))
            write_error(lab);
        fflush(lab->replies);
    }
}

int lab_main(const char *subject, const char *library,
             const lab_case *cases, size_t count, void *data)
{
    int replies = dup(STDOUT_FILENO);
    lab *lab = calloc(1, sizeof *lab);
    if (lab == NULL || replies < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0
        || (lab->replies = fdopen(replies, "w")) == NULL
        || (lab->extra = open_memstream(&lab->collected, &lab->collected_size)) == NULL)
        return 1;
    lab->cases = cases;
    lab->count = count;
    lab->data = data;
    lab->command = &lab->commands[0];
    lab->opening = &lab->commands[1];

    write_hello(lab->replies, subject, library);
    serve(lab);
    close_case(lab);
    fclose(lab->replies);
    fclose(lab->extra);
    free(lab->collected);
    free(lab);
    return 0;
}
