/* SPDX-License-Identifier: Apache-2.0
 *
 * The pipes to and from a started program. */
#ifndef PIPES_H
#define PIPES_H

#include "start.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A running program; -1 for a pipe that is not there, or closed. */
typedef struct child {
    pid_t id;
    int input;  /* to be written to */
    int output; /* to be read from */
} child;

/* Starts a program with these pipes. Returns 0 or an error number. */
int child_start(child *child, char *const words[], bool with_input, bool with_output);

/* The next bytes of its output; 0 at the end. */
size_t child_read(child *child, char *into, size_t most);

/* Reads until there are `size` bytes or the end. Returns how many they are. */
size_t child_read_all(child *child, char *into, size_t size);

/* Writes all; false if the program does not read any more. */
bool child_write(child *child, const char *bytes, size_t size);

/* Writes `size` bytes, ends the input, and reads the output at the same time, at most `most` bytes.
 * Returns how many were read. */
size_t child_exchange(child *child, const char *bytes, size_t size, char *into, size_t most);

void child_close_input(child *child);

/* Whether its output ends within so many ms, or has something to be read. */
bool child_answers_within(const child *child, int ms);

/* Waits for its exit and closes its pipes. The exit code, or 256 + the signal. */
uint64_t child_wait(child *child);

#endif
