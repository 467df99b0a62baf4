/* SPDX-License-Identifier: Apache-2.0
 *
 * An HTTP/1.1 server of one thread over epoll: one recv and one send for a request. It listens on
 * 127.0.0.1, serves while server_serve runs, and asks one function for all answers. */
#ifndef SERVER_H
#define SERVER_H

#include "request.h"
#include "text.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct server server;

/* What a request is answered with. */
typedef struct answer {
    text *out;        /* takes the answer */
    bool head;        /* HEAD: without its body */
    bool last;        /* the connection is closed after it */
    const char *date; /* "Date: ...\r\n" */
    int file;         /* a file to send behind `out`, which is closed then; -1: none */
    size_t file_size;
} answer;

/* Answers a request with the functions below. */
typedef void (*server_answers)(void *data, const request *request, answer *answer);

/* The answer's status line and the fields that all have; `status` is "200 OK". */
void answer_begin(answer *answer, const char *status);

/* The rest, from Content-Type on, with a body of this type. */
void answer_body(answer *answer, const char *type, const char *body, size_t length);

/* The rest, and behind it a file, which belongs to the answer from here on. */
void answer_file(answer *answer, const char *type, int file, size_t size);

/* A whole answer without a body, but for the fields in `more`. */
void answer_empty(answer *answer, const char *status, const char *more);

/* Listens on a port that the system chooses. NULL, with errno set, if that is not possible. */
server *server_open(server_answers answers, void *data, uint16_t *port);

/* Serves until the descriptor `until` can be read. */
void server_serve(server *server, int until);

/* Accepts no more, answers what is under way, and closes all connections, in 4 s at most. NULL is no
 * server. */
void server_close(server *server);

#endif
