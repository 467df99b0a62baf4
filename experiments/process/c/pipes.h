/* SPDX-License-Identifier: Apache-2.0
 *
 * The pipes to and from a started program. */
#ifndef PIPES_H
#define PIPES_H

#include "start.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A running program; -1 for a pipe that is missing or closed. */
typedef struct child {
    pid_t id;
    int input;  /* to write to */
    int output; /* to read from */
} child;

/* Starts a program. Connects a pipe to its input if `with_input` is true, and to its output if
 * `with_output` is true. Returns 0 or an error number. */
int child_start(child *child, char *const words[], bool with_input, bool with_output);

/* Reads the next bytes of the output. Returns 0 at the end. */
size_t child_read(child *child, char *into, size_t most);

/* Reads until there are `size` bytes or the output ends. Returns the number of bytes. */
size_t child_read_all(child *child, char *into, size_t size);

/* Writes all bytes. Returns false if the program has closed its input. */
bool child_write(child *child, const char *bytes, size_t size);

/* Writes `size` bytes, closes the input, and reads the output concurrently, at most `most` bytes. Returns
 * the number of bytes that were read. */
size_t child_exchange(child *child, const char *bytes, size_t size, char *into, size_t most);

void child_close_input(child *child);

/* Returns true if output is available, or if the output ends, within `ns` nanoseconds. */
bool child_answers_within(const child *child, uint64_t ns);

/* Waits for the exit of the program and closes its pipes. Returns the exit code, or 256 + the signal. */
uint64_t child_wait(child *child);

#endif
