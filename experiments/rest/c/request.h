/* SPDX-License-Identifier: Apache-2.0
 *
 * An HTTP/1.1 request (RFC 9112), parsed from the bytes that a client has sent so far. */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HEAD_MAX = 16 << 10,     /* maximum bytes of the request line and the header */
    BODY_MAX = 64 << 10,     /* maximum bytes of the body */
    REQUEST_MAX = 128 << 10, /* maximum bytes in total, including the framing of chunks */
};

/* Bytes within the request. */
typedef struct slice {
    const char *at;
    size_t length;
} slice;

typedef struct request {
    slice method;
    slice path;  /* encoded; without the query */
    slice query; /* encoded; without the question mark */
    slice body;
    bool last;    /* the connection must be closed after the response */
    bool expects; /* incomplete: the client sends the body after a 100 Continue */
    size_t size;  /* total number of bytes */
} request;

enum { INCOMPLETE = 0, COMPLETE = 200 };

/* Parses the request that begins with the first of `length` bytes. Returns INCOMPLETE if more bytes are
 * required; COMPLETE if the request is complete, with the chunks of its body concatenated in place; and
 * otherwise the status code of the rejection, after which the connection must be closed. */
int request_read(char *bytes, size_t length, request *request);

/* Returns true if a slice equals `text`. */
bool slice_is(slice slice, const char *text);

#endif
