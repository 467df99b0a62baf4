/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests the code that needs no socket: requests in pieces, and orders. Exits with status 1 if a test fails. The only
 * argument is the path of order.json. */
#include "order.h"
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

static void expect(bool holds, const char *what, const char *about)
{
    if (holds) {
        passed++;
        return;
    }
    failed++;
    printf("FAILED: %s\n%.200s\n", what, about);
}

/* Parses a copy that ends where the request ends, so that the sanitizer detects reads beyond the end. */
static int read_copy(const char *bytes, size_t length, request *request, char **copy)
{
    *copy = malloc(length + (length == 0));
    memcpy(*copy, bytes, length);
    return request_read(*copy, length, request);
}

static int status_of(const char *bytes, size_t length)
{
    request request;
    char *copy;
    int status = read_copy(bytes, length, &request, &copy);
    free(copy);
    return status;
}

/* Tests a complete request, and all its prefixes. */
static void whole(const char *bytes, const char *path, const char *body)
{
    request request;
    char *copy;
    size_t length = strlen(bytes);
    bool waits = true;
    for (size_t part = 0; part < length; part++)
        waits = waits && status_of(bytes, part) == INCOMPLETE;
    expect(waits, "a prefix of a request is incomplete", bytes);
    int status = read_copy(bytes, length, &request, &copy);
    expect(status == COMPLETE && request.size == length && slice_is(request.path, path)
               && slice_is(request.body, body), "a whole request", bytes);
    free(copy);
}

static void refused(int status, const char *bytes)
{
    expect(status_of(bytes, strlen(bytes)) == status, "a request that is rejected", bytes);
}

#define GET "GET / HTTP/1.1\r\nHost: x\r\n"
#define POST "POST / HTTP/1.1\r\nHost: x\r\n"
#define CHUNKS POST "Transfer-Encoding: chunked\r\n\r\n"

static void test_requests(void)
{
    whole(GET "\r\n", "/", "");
    whole("\r\n\r\nGET /a?b=c?d HTTP/1.1\r\nhOST:x\r\n\r\n", "/a", "");
    whole("GET http://x:80/a HTTP/1.1\r\nHost: x\r\n\r\n", "/a", "");
    whole("GET http://x HTTP/1.1\r\nHost: x\r\n\r\n", "/", "");
    whole("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "*", "");
    whole("GET / HTTP/1.0\r\n\r\n", "/", "");
    whole(POST "Content-Length:  0005 \r\n\r\nhello", "/", "hello");
    whole(CHUNKS "5\r\nhello\r\n0a;x=y\r\n, chunks!\n\r\n0\r\nTrailer: x\r\n\r\n", "/", "hello, chunks!\n");
    whole(CHUNKS "0\r\n\r\n", "/", "");

    refused(400, "\n");
    refused(400, "GET / HTTP/1.1\n");
    refused(400, "GET /\r\n");
    refused(400, "GET  / HTTP/1.1\r\n");
    refused(400, "GET / HTTP/1.1 \r\n");
    refused(400, "G(T / HTTP/1.1\r\n");
    refused(400, "GET api HTTP/1.1\r\n");
    refused(400, "GET /\x01 HTTP/1.1\r\n");
    refused(400, "GET / http/1.1\r\n");
    refused(505, "GET / HTTP/2.0\r\n");
    refused(400, "GET / HTTP/1.1\r\n\r\n");
    refused(400, GET "Host: y\r\n");
    refused(400, GET "Name : x\r\n");
    refused(400, GET " folded\r\n");
    refused(400, GET "no colon\r\n");
    refused(400, GET "X: a\rb\r\n");
    refused(400, GET "X: \x7f\r\n");
    refused(417, GET "Expect: miracles\r\n");
    refused(400, POST "Content-Length:\r\n");
    refused(400, POST "Content-Length: -1\r\n");
    refused(400, POST "Content-Length: 1, 1\r\n");
    refused(400, POST "Content-Length: 1\r\nContent-Length: 1\r\n");
    refused(413, POST "Content-Length: 65537\r\n\r\n");
    refused(413, POST "Content-Length: 99999999999999999999999999\r\n\r\n");
    refused(501, POST "Transfer-Encoding: gzip\r\n");
    refused(501, POST "Transfer-Encoding: gzip, chunked\r\n");
    refused(400, POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n");
    refused(400, POST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n");
    refused(400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n");
    refused(400, CHUNKS "\r\n");
    refused(400, CHUNKS "0x5\r\n");
    refused(400, CHUNKS "\x15\r\n");
    refused(400, CHUNKS "5\r\nhello!\r\n");
    refused(413, CHUNKS "10001\r\n");
    refused(413, CHUNKS "ffffffffffffffffffff\r\n");
}

static void test_connection(const char *bytes, bool last, bool expects)
{
    request request;
    char *copy;
    read_copy(bytes, strlen(bytes), &request, &copy);
    expect(request.last == last && request.expects == expects, "the state of the connection", bytes);
    free(copy);
}

static void test_limits(void)
{
    static char bytes[REQUEST_MAX];
    memset(bytes, 'a', sizeof bytes);
    expect(status_of(bytes, HEAD_MAX - 1) == INCOMPLETE, "a line that may still end", "");
    expect(status_of(bytes, HEAD_MAX) == 431, "a line without an end", "");
    memcpy(bytes, GET "X:", sizeof GET + 1);
    memcpy(bytes + HEAD_MAX, "\r\n\r\n", 4);
    expect(status_of(bytes, HEAD_MAX + 4) == 431, "a header that is too long", "");
    memcpy(bytes + HEAD_MAX - 4, "\r\n\r\n", 4);
    expect(status_of(bytes, HEAD_MAX + 4) == COMPLETE, "a header of maximum length", "");

    size_t at = sizeof CHUNKS - 1;
    memcpy(bytes, CHUNKS, at);
    for (; at + 6 <= sizeof bytes; at += 6)
        memcpy(bytes + at, "1\r\nx\r\n", 6);
    memset(bytes + at, '1', sizeof bytes - at);
    expect(status_of(bytes, sizeof bytes) == 413, "chunks that are mostly framing", "");
}

/* -- Orders -------------------------------------------------------------------------------- */

static bool rewritten(const char *json, text *written)
{
    order order;
    written->length = 0;
    bool read = order_read(json, strlen(json), &order);
    if (read)
        order_write(&order, written);
    text_add(written, "", 1);
    return read;
}

/* Returns the order with its first `whole` replaced by `part`. */
static const char *changed(const char *json, const char *whole, const char *part)
{
    static char to[4096];
    const char *at = strstr(json, whole);
    snprintf(to, sizeof to, "%.*s%s%s", (int)(at - json), json, part, at + strlen(whole));
    return to;
}

static void test_orders(const char *json)
{
    static const char *const same[][2] = {
        {"London", "\\\"\\\\\\/\\b\\f\\n\\r\\t\\u001f\\ud83d\\ude00é語"}, {"4711", "-9007199254740992"},
        {"4711", "0"}, {"0.25", "1e-07"}, {"0.25", "1E05"}, {"0.25", "0.1"}, {"0.25", "0.30000000000000004"},
        {"0.25", "1.7976931348623157e+308"}, {"null", "\"a note\""}, {"\"t0\", \"workshop\"", ""},
    };
    static const char *const wrong[][2] = {
        {"London", "Lon\ndon"}, {"London", "Lon\x80"}, {"London", "\xed\xa0\x80"}, {"London", "\xc0\xaf"},
        {"London", "\\x"}, {"London", "\\ud800"}, {"London", "\\u0000"}, {"London", "\xf0\x9f\x98"}, {"4711", "04711"},
        {"4711", "+4711"}, {"4711", "4711.5"}, {"4711", "\"4711\""}, {"4711", "9007199254740994"}, {"0.25", ".25"},
        {"0.25", "1."}, {"0.25", "1e999"}, {"0.25", "NaN"}, {"true", "tru"}, {"true", "1"}, {"null", "5"},
        {"\"express\": true,", ""}, {"4711,", "4711"}, {"4711,", "\v4711,"}, {"\"t0\"", "0"}, {"12.5,", "12.5,,"},
    };
    text first = {0};
    text second = {0};
    expect(rewritten(json, &first) && rewritten(first.bytes, &second) && strcmp(first.bytes, second.bytes) == 0,
           "a written order can be parsed again", first.bytes);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        bool read = rewritten(changed(json, same[i][0], same[i][1]), &first)
            && rewritten(first.bytes, &second) && strcmp(first.bytes, second.bytes) == 0;
        expect(read, "a written order can be parsed again", same[i][1]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect(!rewritten(changed(json, wrong[i][0], wrong[i][1]), &first), "this is not an order", wrong[i][1]);
    for (size_t length = 0; length < strlen(json) - 2; length++) {
        order order;
        char *copy = malloc(length + 1);
        memcpy(copy, json, length);
        expect(!order_read(copy, length, &order), "a prefix of an order is invalid", "");
        free(copy);
    }
    rewritten(changed(json, "London", "\\u0001\\u001f\\\"\\\\\\u007f"), &first);
    expect(strstr(first.bytes, "\"\\u0001\\u001f\\\"\\\\\x7f\"") != NULL, "escapes", first.bytes);
    text_release(&first);
    text_release(&second);
}

/* Tests requests and orders with random changes of bytes; the sanitizers detect errors. */
static void test_noise(const char *json)
{
    static const char sample[] = CHUNKS "5\r\nhello\r\n0\r\n\r\n" POST "Content-Length: 3\r\n\r\nabc";
    srand(7);
    for (int round = 0; round < 20000; round++) {
        const char *from = round % 2 ? sample : json;
        size_t length = strlen(from);
        char *copy = malloc(length);
        memcpy(copy, from, length);
        for (int changes = rand() % 4; changes >= 0; changes--)
            copy[rand() % length] = (char)(rand() % 3 ? "\r\n :;0f\"\\{[.e"[rand() % 13] : rand());
        request request;
        order order;
        if (round % 2)
            request_read(copy, length, &request);
        else
            order_read(copy, length, &order);
        free(copy);
    }
}

int main(int count, char **arguments)
{
    static char json[4096];
    FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
    if (file == NULL || fread(json, 1, sizeof json - 1, file) == 0)
        return 2;
    fclose(file);
    test_requests();
    test_connection(GET "\r\n", false, false);
    test_connection(GET "Connection: x, CLOSE\r\n\r\n", true, false);
    test_connection("GET / HTTP/1.0\r\n\r\n", true, false);
    test_connection(POST "Content-Length: 3\r\nExpect: 100-Continue\r\n\r\n", false, true);
    test_connection(POST "Content-Length: 3\r\nExpect: 100-continue\r\n\r\na", false, false);
    test_limits();
    test_orders(json);
    test_noise(json);
    printf("c, rest: %d passed, %d failed\n", passed, failed);
    return failed > 0;
}
