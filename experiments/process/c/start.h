/* SPDX-License-Identifier: Apache-2.0
 *
 * The start of a program, which is the only difference between the C subjects. */
#ifndef START_H
#define START_H

#include <sys/types.h>

/* The name of the subject in the experiment. */
extern const char *const start_subject;

/* The system call or function that starts programs, which hello reports. */
extern const char *const start_call;

/* Starts words[0], a path, in its own process group. `input` and `output` become its streams. -1 stands
 * for the null device, which also becomes standard error. Returns 0, or an error number if the program
 * cannot be started. */
int start_program(pid_t *id, char *const words[], int input, int output);

#endif
