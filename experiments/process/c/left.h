/* SPDX-License-Identifier: Apache-2.0
 *
 * Resources that a program may leak when it starts other programs: open descriptors and child processes. */
#ifndef LEFT_H
#define LEFT_H

/* Returns the number of open descriptors of this process: the entries of /proc/self/fd. */
int left_descriptors(void);

/* Returns the number of child processes, including zombies: /proc/self/task/TID/children of every thread. */
int left_children(void);

#endif
