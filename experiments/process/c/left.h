/* SPDX-License-Identifier: Apache-2.0
 *
 * Resources that a program may leak when it starts others: open descriptors and children. */
#ifndef LEFT_H
#define LEFT_H

/* Open descriptors of this process: the entries of /proc/self/fd. */
int left_descriptors(void);

/* Its child processes, zombies included: /proc/self/task/TID/children of every thread. */
int left_children(void);

#endif
