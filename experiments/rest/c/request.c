/* SPDX-License-Identifier: Apache-2.0
 *
 * A request is parsed from its beginning whenever more of it has arrived: nearly all requests arrive in one piece, so
 * no state has to be stored. Where RFC 9112 leaves a choice to the server, ambiguous input is rejected: lines that end
 * with a bare LF, folded lines, space before a colon, and two lengths. */
#include "request.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { BAD_REQUEST = 400, TOO_LARGE = 413, EXPECTATION_FAILED = 417, HEAD_TOO_LARGE = 431,
       NOT_IMPLEMENTED = 501, NO_SUCH_VERSION = 505 };

/* The remaining input. */
typedef struct cursor {
    char *at;
    char *end;
} cursor;

/* The data in the header about the body and the connection. */
typedef struct head {
    bool old; /* HTTP/1.0 */
    bool host;
    bool counted; /* Content-Length */
    bool chunked;
    bool expects;
    size_t length;
} head;

bool slice_is(slice slice, const char *text)
{
    return slice.length == strlen(text) && memcmp(slice.at, text, slice.length) == 0;
}

static bool slice_is_like(slice slice, const char *text)
{
    return slice.length == strlen(text) && strncasecmp(slice.at, text, slice.length) == 0;
}

/* Removes the text before the first `c`, and the `c`, from the slice. Returns the text. If there is no `c`, the text
 * is the whole slice. */
static slice cut(slice *from, char c)
{
    const char *end = memchr(from->at, c, from->length);
    slice part = {from->at, end == NULL ? from->length : (size_t)(end - from->at)};
    size_t gone = part.length + (end != NULL);
    from->at += gone;
    from->length -= gone;
    return part;
}

static slice trimmed(slice slice)
{
    for (; slice.length > 0 && (*slice.at == ' ' || *slice.at == '\t'); slice.length--)
        slice.at++;
    while (slice.length > 0 && (slice.at[slice.length - 1] == ' ' || slice.at[slice.length - 1] == '\t'))
        slice.length--;
    return slice;
}

/* Returns true for a token (RFC 9110, 5.6.2). */
static bool is_token(slice slice)
{
    static const bool of_a_token[256] = {
        ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['*'] = 1, ['+'] = 1,
        ['-'] = 1, ['.'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1, ['|'] = 1, ['~'] = 1,
        ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1};
    for (size_t i = 0; i < slice.length; i++)
        if (!of_a_token[(unsigned char)slice.at[i]])
            return false;
    return slice.length > 0;
}

/* Reads a line and its CR LF. */
static int next_line(cursor *input, slice *line)
{
    char *lf = memchr(input->at, '\n', (size_t)(input->end - input->at));
    if (lf == NULL)
        return INCOMPLETE;
    if (lf == input->at || lf[-1] != '\r')
        return BAD_REQUEST;
    *line = (slice){input->at, (size_t)(lf - 1 - input->at)};
    input->at = lf + 1;
    return COMPLETE;
}

/* Parses the path and the query, in the forms /path?query and http://host/path?query. */
static bool read_target(slice target, request *request)
{
    static const char scheme[] = "http://";
    size_t prefix = sizeof scheme - 1;
    if (target.length > prefix && strncasecmp(target.at, scheme, prefix) == 0) {
        const char *end = target.at + target.length;
        const char *slash = memchr(target.at + prefix, '/', target.length - prefix);
        target = slash == NULL ? (slice){"/", 1} : (slice){slash, (size_t)(end - slash)};
    }
    for (size_t i = 0; i < target.length; i++)
        if ((unsigned char)target.at[i] <= ' ' || (unsigned char)target.at[i] >= 0x7f)
            return false;
    bool valid = target.length > 0 && (*target.at == '/' || slice_is(target, "*"));
    request->path = cut(&target, '?');
    request->query = target;
    return valid;
}

static int read_request_line(slice line, request *request, head *head)
{
    request->method = cut(&line, ' ');
    slice target = cut(&line, ' ');
    if (!is_token(request->method) || !read_target(target, request))
        return BAD_REQUEST;
    head->old = slice_is(line, "HTTP/1.0");
    request->last = head->old;
    if (head->old || slice_is(line, "HTTP/1.1"))
        return COMPLETE;
    return line.length == 8 && memcmp(line.at, "HTTP/", 5) == 0 ? NO_SUCH_VERSION : BAD_REQUEST;
}

static int read_length(slice value, head *head)
{
    if (head->counted || value.length == 0)
        return BAD_REQUEST;
    head->counted = true;
    for (size_t i = 0; i < value.length; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            return BAD_REQUEST;
        if (head->length <= BODY_MAX) /* otherwise it is already too large, and would overflow */
            head->length = head->length * 10 + (size_t)(value.at[i] - '0');
    }
    return COMPLETE;
}

static int read_field(slice line, request *request, head *head)
{
    const char *colon = memchr(line.at, ':', line.length);
    slice name = cut(&line, ':');
    slice value = trimmed(line);
    if (colon == NULL || !is_token(name))
        return BAD_REQUEST;
    for (size_t i = 0; i < value.length; i++)
        if (((unsigned char)value.at[i] < ' ' && value.at[i] != '\t') || value.at[i] == 0x7f)
            return BAD_REQUEST;

    if (slice_is_like(name, "host")) {
        if (head->host)
            return BAD_REQUEST;
        head->host = true;
    } else if (slice_is_like(name, "content-length")) {
        return read_length(value, head);
    } else if (slice_is_like(name, "transfer-encoding")) {
        if (head->chunked || head->old)
            return BAD_REQUEST;
        head->chunked = slice_is_like(value, "chunked");
        return head->chunked ? COMPLETE : NOT_IMPLEMENTED;
    } else if (slice_is_like(name, "connection")) {
        while (value.length > 0)
            if (slice_is_like(trimmed(cut(&value, ',')), "close"))
                request->last = true;
    } else if (slice_is_like(name, "expect")) {
        head->expects = slice_is_like(value, "100-continue");
        return head->expects ? COMPLETE : EXPECTATION_FAILED;
    }
    return COMPLETE;
}

static int read_head(cursor *input, request *request, head *head)
{
    slice line;
    int status;
    do /* tolerate clients that send an empty line after a body */
        status = next_line(input, &line);
    while (status == COMPLETE && line.length == 0);
    if (status == COMPLETE)
        status = read_request_line(line, request, head);
    while (status == COMPLETE && (status = next_line(input, &line)) == COMPLETE && line.length > 0)
        status = read_field(line, request, head);
    if (status != COMPLETE)
        return status;
    if ((!head->host && !head->old) || (head->counted && head->chunked))
        return BAD_REQUEST;
    return head->length > BODY_MAX ? TOO_LARGE : COMPLETE;
}

/* Reads a line with the size of a chunk. */
static int next_size(cursor *input, size_t *size)
{
    static const char digits[] = "0123456789abcdef";
    slice line;
    int status = next_line(input, &line);
    if (status != COMPLETE)
        return status;
    slice number = trimmed(cut(&line, ';')); /* extensions follow */
    if (number.length == 0)
        return BAD_REQUEST;
    *size = 0;
    for (size_t i = 0; i < number.length; i++) {
        const char *digit = memchr(digits, tolower((unsigned char)number.at[i]), 16);
        if (digit == NULL)
            return BAD_REQUEST;
        *size = *size * 16 + (size_t)(digit - digits);
        if (*size > BODY_MAX)
            return TOO_LARGE;
    }
    return COMPLETE;
}

/* Reads the chunks and the trailer, and concatenates the chunks at `to`, unless `to` is NULL. */
static int read_chunks(cursor *input, char *to, size_t *length)
{
    size_t size;
    int status;
    for (*length = 0; (status = next_size(input, &size)) == COMPLETE && size > 0; *length += size) {
        if (*length + size > BODY_MAX)
            return TOO_LARGE;
        if ((size_t)(input->end - input->at) < size + 2)
            return INCOMPLETE;
        if (memcmp(input->at + size, "\r\n", 2) != 0)
            return BAD_REQUEST;
        if (to != NULL)
            memmove(to + *length, input->at, size);
        input->at += size + 2;
    }
    slice line;
    do
        if (status == COMPLETE)
            status = next_line(input, &line);
    while (status == COMPLETE && line.length > 0);
    return status;
}

static int read_body(cursor *input, const head *head, slice *body)
{
    char *start = input->at;
    body->at = start;
    if (!head->chunked) {
        if ((size_t)(input->end - start) < head->length)
            return INCOMPLETE;
        body->length = head->length;
        input->at += head->length;
        return COMPLETE;
    }
    int status = read_chunks(input, NULL, &body->length); /* have all chunks arrived? */
    if (status == COMPLETE) {
        input->at = start;
        read_chunks(input, start, &body->length);
    }
    return status;
}

int request_read(char *bytes, size_t length, request *request)
{
    cursor input = {bytes, bytes + length};
    head head = {0};
    *request = (struct request){0};
    int status = read_head(&input, request, &head);
    if (status == INCOMPLETE ? length >= HEAD_MAX : (size_t)(input.at - bytes) > HEAD_MAX)
        return HEAD_TOO_LARGE;
    if (status != COMPLETE)
        return status;
    request->expects = head.expects && !head.old && input.at == input.end;
    status = read_body(&input, &head, &request->body);
    request->size = (size_t)(input.at - bytes);
    return status == INCOMPLETE && length >= REQUEST_MAX ? TOO_LARGE : status;
}
