/* SPDX-License-Identifier: Apache-2.0
 *
 * A request of HTTP/1.1 (RFC 9112), read from the bytes that a client sent so far. */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HEAD_MAX = 16 << 10,     /* bytes of the request line and the header */
    BODY_MAX = 64 << 10,     /* bytes of the body */
    REQUEST_MAX = 128 << 10, /* bytes of all, the framing of chunks too */
};

/* Bytes that lie in the request. */
typedef struct slice {
    const char *at;
    size_t length;
} slice;

typedef struct request {
    slice method;
    slice path;  /* not decoded; without the query */
    slice query; /* not decoded; without the question mark */
    slice body;
    bool last;    /* the client wants its connection closed after the answer */
    bool expects; /* the request is incomplete: its body comes after a 100 Continue */
    size_t size;  /* how many bytes all of it has */
} request;

enum { INCOMPLETE = 0, COMPLETE = 200 };

/* Reads the request that begins with the first of `length` bytes. INCOMPLETE: more of it has to
 * come. COMPLETE: here it is, and chunks of its body were put together in place. Else the status to
 * refuse it with; the connection cannot go on then. */
int request_read(char *bytes, size_t length, request *request);

/* Whether a slice is this text. */
bool slice_is(slice slice, const char *text);

#endif
