/* SPDX-License-Identifier: Apache-2.0
 *
 * A single-threaded HTTP/1.1 server based on epoll, with one recv and one send per request. It listens on 127.0.0.1,
 * runs during server_serve, and calls one function for all responses. */
#ifndef SERVER_H
#define SERVER_H

#include "request.h"
#include "text.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct server server;

/* A response under construction. */
typedef struct answer {
    text *out;        /* the response is written to this text */
    bool head;        /* HEAD: omit the body */
    bool last;        /* the connection is closed after the response */
    const char *date; /* "Date: ...\r\n" */
    int file;         /* a file to send after `out` and then close; -1 for none */
    size_t file_size;
} answer;

/* Responds to a request with the functions below. */
typedef void (*server_answers)(void *data, const request *request, answer *answer);

/* Writes the status line and the common headers; `status` is "200 OK". */
void answer_begin(answer *answer, const char *status);

/* Writes the remaining headers, starting with Content-Type, whose value is `type`, and the body. */
void answer_body(answer *answer, const char *type, const char *body, size_t length);

/* Writes the remaining headers, and adds a file, which the response then owns. */
void answer_file(answer *answer, const char *type, int file, size_t size);

/* Writes a complete response without a body, including the headers in `more`. */
void answer_empty(answer *answer, const char *status, const char *more);

/* Listens on a port that the system chooses. Returns NULL with errno set on failure. */
server *server_open(server_answers answers, void *data, uint16_t *port);

/* Serves until the descriptor `until` is readable. */
void server_serve(server *server, int until);

/* Stops accepting connections, finishes the requests in progress, and closes all connections, within 4 s.
 * NULL is ignored. */
void server_close(server *server);

#endif
