/* SPDX-License-Identifier: Apache-2.0
 *
 * The one thing in which the C subjects differ: how a program is started. */
#ifndef START_H
#define START_H

#include <sys/types.h>

/* What the experiment calls the subject. */
extern const char *const start_subject;

/* The call that it is made of, for hello. */
extern const char *const start_call;

/* Starts words[0], a path, in a process group of its own. `input` and `output` become its streams;
 * -1, and standard error: the null device. Returns 0, or the error number if it cannot be started. */
int start_program(pid_t *id, char *const words[], int input, int output);

#endif
