/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference of the REST experiment: the minimum cost of HTTP with epoll on this machine. */
#define _GNU_SOURCE /* O_PATH */
#include "lab_kit.h"
#include "order.h"
#include "server.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JSON "application/json"

typedef struct rest {
    server *server;
    int files; /* descriptor of the directory */
    text body;
} rest;

/* -- Values in a request ------------------------------------------------------------------- */

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *digit = c == '\0' ? NULL : strchr(digits, c | 0x20);
    return digit == NULL || c < '0' ? -1 : (int)(digit - digits);
}

/* Decodes a segment of a path to a string. Returns false if it is malformed, contains a NUL, or needs more
 * than `size` bytes including its terminating NUL. */
static bool decode(slice segment, char *to, size_t size)
{
    size_t length = 0;
    for (size_t i = 0; i < segment.length; i++) {
        char c = segment.at[i];
        if (c == '%') {
            int high = i + 2 < segment.length ? hex_digit(segment.at[i + 1]) : -1;
            int low = high < 0 ? -1 : hex_digit(segment.at[i + 2]);
            if (low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0' || length + 1 == size)
            return false;
        to[length++] = c;
    }
    to[length] = '\0';
    return true;
}

/* Parses the parameter `number` of a query, from 0 to 999999. */
static bool read_number(slice query, int64_t *number)
{
    static const char key[] = "number=";
    const char *end = query.at + query.length;
    const char *at = query.at;
    while (at != NULL && ((size_t)(end - at) < sizeof key || memcmp(at, key, sizeof key - 1) != 0)) {
        at = memchr(at, '&', (size_t)(end - at));
        at = at == NULL ? NULL : at + 1;
    }
    if (at == NULL)
        return false;
    at += sizeof key - 1;
    *number = 0;
    if (at == end || *at == '&')
        return false;
    for (; at < end && *at != '&'; at++) {
        if (*at < '0' || *at > '9')
            return false;
        *number = *number * 10 + (*at - '0');
        if (*number > 999999)
            return false;
    }
    return true;
}

/* Returns true for letters, digits, spaces, and . ' " - */
static bool is_name(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .'\"-";
    return *name != '\0' && name[strspn(name, allowed)] == '\0';
}

/* -- Responses ----------------------------------------------------------------------------- */

typedef void handler(rest *rest, const request *request, slice rest_of_path, answer *answer);

static void answer_json(answer *answer, const text *body)
{
    answer_begin(answer, "200 OK");
    answer_body(answer, JSON, body->bytes, body->length);
}

static void constant(rest *rest, const request *request, slice rest_of_path, answer *answer)
{
    (void)rest, (void)request, (void)rest_of_path;
    static const char greeting[] = "{\"greeting\":\"Hello World!\"}";
    answer_begin(answer, "200 OK");
    answer_body(answer, JSON, greeting, sizeof greeting - 1);
}

static void built(rest *rest, const request *request, slice rest_of_path, answer *answer)
{
    (void)rest_of_path;
    int64_t number;
    if (!read_number(request->query, &number)) {
        answer_empty(answer, "400 Bad Request", "");
        return;
    }
    text *body = &rest->body;
    text_add_literal(body, "{\"greeting\":");
    text_add_json_string(body, "Hello World!", strlen("Hello World!"));
    text_add_literal(body, ",\"number\":");
    text_add_integer(body, number);
    text_add_literal(body, "}");
    answer_json(answer, body);
}

static void hello(rest *rest, const request *request, slice segment, answer *answer)
{
    (void)request;
    char name[32 + 1];
    char greeting[sizeof "Hello !" + 32];
    if (!decode(segment, name, sizeof name) || !is_name(name)) {
        answer_empty(answer, "400 Bad Request", "");
        return;
    }
    int length = sprintf(greeting, "Hello %s!", name);
    text_add_literal(&rest->body, "{\"greeting\":");
    text_add_json_string(&rest->body, greeting, (size_t)length);
    text_add_literal(&rest->body, "}");
    answer_json(answer, &rest->body);
}

static void echo(rest *rest, const request *request, slice rest_of_path, answer *answer)
{
    (void)rest_of_path;
    order order;
    if (!order_read(request->body.at, request->body.length, &order)) {
        answer_empty(answer, "400 Bad Request", "");
        return;
    }
    order_write(&order, &rest->body);
    answer_json(answer, &rest->body);
}

static void file(rest *rest, const request *request, slice segment, answer *answer)
{
    (void)request;
    char name[256];
    struct stat status;
    bool valid = decode(segment, name, sizeof name) && *name != '.' && strchr(name, '/') == NULL;
    int file = !valid ? -1
        : openat(rest->files, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        answer_begin(answer, "200 OK");
        answer_file(answer, "application/octet-stream", file, (size_t)status.st_size);
        return;
    }
    bool busy = valid && file < 0 && (errno == EMFILE || errno == ENFILE);
    if (file >= 0)
        close(file);
    answer_empty(answer, busy ? "503 Service Unavailable" : "404 Not Found", "");
}

/* -- Routes -------------------------------------------------------------------------------- */

/* A path that ends with a slash matches all paths with one more segment. */
static const struct route {
    const char *path;
    const char *method; /* GET includes HEAD */
    handler *handle;
} routes[] = {
    {"/api", "GET", constant},
    {"/api/built", "GET", built},
    {"/api/hello/", "GET", hello},
    {"/api/echo", "POST", echo},
    {"/files/", "GET", file},
};

static bool leads_to(const struct route *route, slice path, slice *segment)
{
    size_t length = strlen(route->path);
    if (route->path[length - 1] != '/')
        return slice_is(path, route->path);
    *segment = (slice){path.at + length, path.length - length};
    return path.length > length && memcmp(path.at, route->path, length) == 0
        && memchr(segment->at, '/', segment->length) == NULL;
}

static void answer_request(void *data, const request *request, answer *answer)
{
    rest *rest = data;
    slice segment = {0};
    const struct route *route = routes;
    const struct route *end = routes + sizeof routes / sizeof *routes;
    while (route < end && !leads_to(route, request->path, &segment))
        route++;
    if (route == end) {
        answer_empty(answer, "404 Not Found", "");
        return;
    }
    bool gets = *route->method == 'G';
    rest->body.length = 0;
    if (slice_is(request->method, route->method) || (gets && answer->head))
        route->handle(rest, request, segment, answer);
    else
        answer_empty(answer, "405 Method Not Allowed",
                     gets ? "Allow: GET, HEAD\r\n" : "Allow: POST\r\n");
}

/* -- The case ------------------------------------------------------------------------------ */

static void serve_wait(void *data, int commands)
{
    rest *rest = data;
    server_serve(rest->server, commands);
}

static bool serve_open(lab *lab, void *data)
{
    rest *rest = data;
    const char *folder;
    uint64_t workers; /* unused: the event loop runs the handlers */
    uint16_t port;
    char url[40];
    if (!lab_text(lab, "files", &folder) || !lab_integer(lab, "workers", 1, 1024, &workers))
        return false;
    rest->files = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (rest->files < 0)
        return lab_fail(lab, LAB_FAILED, "%s: %s", folder, strerror(errno));
    rest->server = server_open(answer_request, rest, &port);
    if (rest->server == NULL)
        return lab_fail(lab, LAB_FAILED, "127.0.0.1: %s", strerror(errno));
    snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
    lab_setting(lab, "url", url);
    lab_setting(lab, "workers", "0");
    lab_setting(lab, "loops", "1");
    lab_serve_while_waiting(lab, serve_wait);
    return true;
}

static void serve_close(void *data)
{
    rest *rest = data;
    server_close(rest->server);
    rest->server = NULL;
    if (rest->files >= 0)
        close(rest->files);
    rest->files = -1;
    text_release(&rest->body);
}

int main(void)
{
    static const lab_case cases[] = {{"serve", serve_open, NULL, serve_close}};
    static rest rest = {.files = -1};
    char library[40];
    snprintf(library, sizeof library, "epoll, cJSON %s", cJSON_Version());
    return lab_main("c", library, cases, 1, &rest);
}
