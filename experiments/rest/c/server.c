/* SPDX-License-Identifier: Apache-2.0
 *
 * epoll watches connections edge-triggered: all available data is read, and a short read is the end of the data, which
 * saves another system call. Data is received in one buffer for all connections; a connection only has its own buffer
 * if it has an incomplete request, or a response that its client does not accept yet. */
#define _GNU_SOURCE /* accept4 */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

enum {
    INPUT = EPOLLIN | EPOLLRDHUP | (int)EPOLLET,
    EVENTS = 256,
    BACKLOG = 4096,
    SPARE_FILES = 32,  /* descriptors reserved for other purposes */
    SILENCE_MAX = 300, /* idle time in s after which a connection is closed */
    SWEEP = 10,        /* interval of that check in s */
    GRACE_MS = 200,    /* at shutdown, for requests in transit */
    CLOSING_S = 4,     /* at shutdown, for requests in progress */
};

typedef struct connection connection;
struct connection {
    int fd;
    bool ending;  /* no more requests are served */
    bool asked;   /* because the client announced its last request */
    bool blocked; /* the client does not accept its response: epoll waits until it does */
    int file;     /* the rest of the response after `out`, or -1 */
    off_t file_at;
    size_t file_left;
    text in;  /* an incomplete request */
    text out; /* unsent bytes of a response */
    time_t heard;
    connection *next, *previous; /* in the ring of all connections */
};

struct server {
    server_answers answers;
    void *data;
    int epoll;
    int listener;
    bool accepting; /* true if epoll watches the listener */
    size_t open;
    size_t most;
    connection ring; /* head of the ring; the newest connection is the last */
    bool closing;
    time_t now; /* CLOCK_MONOTONIC, s */
    time_t date_of;
    char date[40];
    text out;
    char in[REQUEST_MAX];
};

/* -- Responses ---------------------------------------------------------------------------- */

static void add_string(text *text, const char *string)
{
    text_add(text, string, strlen(string));
}

void answer_begin(answer *answer, const char *status)
{
    text_add_literal(answer->out, "HTTP/1.1 ");
    add_string(answer->out, status);
    text_add_literal(answer->out, "\r\n");
    add_string(answer->out, answer->date);
    if (answer->last)
        text_add_literal(answer->out, "Connection: close\r\n");
}

static void add_content(text *out, const char *type, size_t length)
{
    text_add_literal(out, "Content-Type: ");
    add_string(out, type);
    text_add_literal(out, "\r\nContent-Length: ");
    text_add_integer(out, (int64_t)length);
    text_add_literal(out, "\r\n\r\n");
}

void answer_body(answer *answer, const char *type, const char *body, size_t length)
{
    add_content(answer->out, type, length);
    if (!answer->head)
        text_add(answer->out, body, length);
}

void answer_file(answer *answer, const char *type, int file, size_t size)
{
    add_content(answer->out, type, size);
    if (answer->head) {
        close(file);
        return;
    }
    answer->file = file;
    answer->file_size = size;
}

void answer_empty(answer *answer, const char *status, const char *more)
{
    answer_begin(answer, status);
    add_string(answer->out, more);
    text_add_literal(answer->out, "Content-Length: 0\r\n\r\n");
}

static const char *refusal(int status)
{
    switch (status) {
    case 413: return "413 Content Too Large";
    case 417: return "417 Expectation Failed";
    case 431: return "431 Request Header Fields Too Large";
    case 501: return "501 Not Implemented";
    case 505: return "505 HTTP Version Not Supported";
    default: return "400 Bad Request";
    }
}

/* -- Connections -------------------------------------------------------------------------- */

static void watch(server *server, int operation, int fd, uint32_t events, void *what)
{
    struct epoll_event event = {.events = events, .data.ptr = what};
    if (epoll_ctl(server->epoll, operation, fd, &event) < 0) {
        perror("epoll_ctl");
        exit(1);
    }
}

/* Stops accepting connections while all descriptors are in use, and starts again afterwards. */
static void watch_listener(server *server)
{
    bool accepting = server->open < server->most;
    if (server->listener >= 0 && server->accepting != accepting)
        watch(server, EPOLL_CTL_MOD, server->listener, accepting ? EPOLLIN : 0, server);
    server->accepting = accepting;
}

static void drop(server *server, connection *c)
{
    if (c->file >= 0)
        close(c->file);
    close(c->fd);
    text_release(&c->in);
    text_release(&c->out);
    c->next->previous = c->previous;
    c->previous->next = c->next;
    free(c);
    server->open--;
    watch_listener(server);
}

static connection *add_connection(server *server, int fd)
{
    connection *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    c->fd = fd;
    c->file = -1;
    c->heard = server->now;
    c->next = &server->ring;
    c->previous = server->ring.previous;
    c->previous->next = c->next->previous = c;
    server->open++;
    return c;
}

typedef enum { DONE, BLOCKED, GONE } outcome;

/* Sends the file after a response. */
static outcome send_file(connection *c)
{
    while (c->file_left > 0) {
        ssize_t sent = sendfile(c->fd, c->file, &c->file_at, c->file_left);
        if (sent < 0 && errno == EAGAIN)
            return BLOCKED;
        if (sent <= 0) /* 0: the file has shrunk, so Content-Length is wrong */
            return GONE;
        c->file_left -= (size_t)sent;
    }
    if (c->file >= 0)
        close(c->file);
    c->file = -1;
    return DONE;
}

/* Sends a response. *out contains its first bytes, and is the buffer of the server or of the connection.
 * Bytes that the client does not accept now are stored in the connection's buffer. */
static outcome send_out(connection *c, text *out)
{
    if (out->length > 0) {
        ssize_t sent = send(c->fd, out->bytes, out->length, c->file_left > 0 ? MSG_MORE : 0);
        if (sent < 0 && errno != EAGAIN)
            return GONE;
        size_t gone = sent < 0 ? 0 : (size_t)sent;
        out->length -= gone;
        if (out == &c->out)
            memmove(out->bytes, out->bytes + gone, out->length);
        else if (out->length > 0)
            text_add(&c->out, out->bytes + gone, out->length);
        if (out->length > 0)
            return BLOCKED;
    }
    return send_file(c);
}

/* Sends like send_out; then makes epoll wait for the next event of the connection. */
static outcome flush(server *server, connection *c, text *out)
{
    outcome sent = send_out(c, out);
    if (sent != GONE && c->blocked != (sent == BLOCKED)) {
        c->blocked = sent == BLOCKED;
        watch(server, EPOLL_CTL_MOD, c->fd, c->blocked ? EPOLLOUT : INPUT, c);
    }
    if (sent == DONE)
        text_release(&c->out);
    return sent;
}

/* -- Requests ----------------------------------------------------------------------------- */

/* Serves one request, and returns its number of bytes, or 0 if it is incomplete. */
static size_t answer_one(server *server, connection *c, char *bytes, size_t length)
{
    request request;
    int status = request_read(bytes, length, &request);
    if (status == INCOMPLETE) {
        if (request.expects)
            text_add_literal(&server->out, "HTTP/1.1 100 Continue\r\n\r\n");
        return 0;
    }
    c->asked = status == COMPLETE && request.last;
    c->ending = status != COMPLETE || request.last || server->closing;
    answer answer = {.out = &server->out, .last = c->ending, .date = server->date, .file = -1};
    if (status == COMPLETE) {
        answer.head = slice_is(request.method, "HEAD");
        server->answers(server->data, &request, &answer);
    } else {
        answer_empty(&answer, refusal(status), "");
    }
    c->file = answer.file;
    c->file_left = answer.file_size;
    c->file_at = 0;
    return status == COMPLETE ? request.size : length;
}

/* Ends a connection after its last response. A client that did not request this may still be sending, and
 * would lose the response if the server closed the connection first. */
static outcome end(connection *c)
{
    if (c->asked)
        return GONE;
    shutdown(c->fd, SHUT_WR);
    return DONE;
}

/* Serves all complete requests, and stores the rest. */
static outcome answer_all(server *server, connection *c, char *bytes, size_t length)
{
    outcome outcome = DONE;
    size_t at = 0;
    for (size_t size = 1; outcome == DONE && size > 0 && at < length && !c->ending;) {
        server->out.length = 0;
        do {
            size = answer_one(server, c, bytes + at, length - at);
            at += size;
        } while (size > 0 && at < length && !c->ending && c->file < 0);
        outcome = flush(server, c, &server->out);
    }
    c->in.length = 0;
    if (outcome != GONE && at < length && !c->ending)
        text_add(&c->in, bytes + at, length - at);
    else
        text_release(&c->in);
    return outcome == DONE && c->ending ? end(c) : outcome;
}

/* Receives data after an incomplete request. Stores the available space in *room. */
static ssize_t receive(server *server, connection *c, size_t *room)
{
    size_t held = c->in.length;
    if (held > 0)
        memcpy(server->in, c->in.bytes, held);
    *room = sizeof server->in - held;
    return recv(c->fd, server->in + held, *room, 0);
}

/* Sends the rest of a response that the client has not accepted completely, and then serves the requests that have
 * arrived. */
static outcome go_on(server *server, connection *c)
{
    outcome sent = flush(server, c, &c->out);
    if (sent != DONE || c->ending)
        return sent == DONE ? end(c) : sent;
    size_t length = c->in.length;
    if (length == 0)
        return DONE;
    memcpy(server->in, c->in.bytes, length);
    return answer_all(server, c, server->in, length);
}

/* Does everything that a connection allows without blocking. `hung_up` is true if the client has closed its side. */
static outcome attend(server *server, connection *c, bool hung_up)
{
    outcome outcome = c->blocked ? go_on(server, c) : DONE;
    for (bool more = true; outcome == DONE && more;) {
        size_t room;
        ssize_t count = receive(server, c, &room);
        if (count < 0 && errno == EAGAIN)
            break;
        if (count <= 0)
            return GONE;
        more = (size_t)count == room || hung_up;
        if (c->ending)
            continue;
        c->heard = server->now;
        outcome = answer_all(server, c, server->in, c->in.length + (size_t)count);
    }
    return outcome;
}

static void accept_all(server *server)
{
    while (server->open < server->most) {
        int fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && errno != ECONNABORTED)
            break;
        connection *c = fd < 0 ? NULL : add_connection(server, fd);
        if (c != NULL)
            watch(server, EPOLL_CTL_ADD, fd, INPUT, c);
        else if (fd >= 0)
            close(fd);
    }
    watch_listener(server);
}

/* -- The loop ----------------------------------------------------------------------------- */

static time_t seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec;
}

static void tell_time(server *server)
{
    time_t date = seconds(CLOCK_REALTIME_COARSE);
    server->now = seconds(CLOCK_MONOTONIC_COARSE);
    if (date == server->date_of)
        return;
    server->date_of = date;
    strftime(server->date, sizeof server->date, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n",
             gmtime(&date));
}

/* Closes the connections that have been idle since `silent_since`, or all connections if `all` is true. */
static void drop_those(server *server, bool all, time_t silent_since)
{
    connection *next;
    for (connection *c = server->ring.next; c != &server->ring; c = next) {
        bool under_way = c->in.length > 0 || c->blocked;
        next = c->next;
        if (all || (c->heard <= silent_since && !(server->closing && under_way)))
            drop(server, c);
    }
}

/* Waits for events, up to a timeout in ms, and handles them. Returns true if the descriptor that stops the server is
   readable. */
static bool turn(server *server, int ms)
{
    struct epoll_event events[EVENTS];
    bool reached = false;
    int count = epoll_wait(server->epoll, events, EVENTS, ms);
    tell_time(server);
    for (struct epoll_event *e = events; e < events + count; e++) {
        connection *c = e->data.ptr;
        if (c == NULL)
            reached = true;
        else if ((void *)c == server)
            accept_all(server);
        else if (attend(server, c, (e->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) == GONE)
            drop(server, c);
    }
    return reached;
}

void server_serve(server *server, int until)
{
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, until, &event) < 0)
        return; /* a regular file is always readable */
    tell_time(server);
    time_t swept = server->now;
    while (!turn(server, SWEEP * 1000))
        if (server->now - swept >= SWEEP) {
            swept = server->now;
            drop_those(server, false, swept - SILENCE_MAX);
        }
    epoll_ctl(server->epoll, EPOLL_CTL_DEL, until, NULL);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Shuts the server down. A request that a client sent before it could notice the shutdown is served with Connection:
 * close. */
static void finish(server *server)
{
    const char *seconds = getenv("CLOSE_TIMEOUT_S"); /* set by tests */
    int64_t most = 1000 * (seconds == NULL ? CLOSING_S : strtol(seconds, NULL, 10));
    int64_t start = now_ms();
    int64_t elapsed = 0;
    server->closing = true;
    accept_all(server);
    close(server->listener);
    server->listener = -1;
    for (; server->open > 0 && elapsed < most; elapsed = now_ms() - start) {
        turn(server, 20);
        if (elapsed >= GRACE_MS)
            drop_those(server, false, server->now);
    }
    drop_those(server, true, 0);
}

void server_close(server *server)
{
    if (server == NULL)
        return;
    if (server->listener >= 0)
        finish(server);
    if (server->epoll >= 0)
        close(server->epoll);
    text_release(&server->out);
    free(server);
}

/* -- Opening ------------------------------------------------------------------------------ */

static bool listen_on(server *server, uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *any = (struct sockaddr *)&address;
    socklen_t length = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0 || bind(server->listener, any, length) < 0
        || listen(server->listener, BACKLOG) < 0
        || getsockname(server->listener, any, &length) < 0)
        return false;
    *port = ntohs(address.sin_port);
    return true;
}

/* Raises the limit on descriptors from its default, usually 1,024, to the system's maximum. Returns the maximum
 * number of connections. */
static size_t max_connections(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_cur - SPARE_FILES;
}

server *server_open(server_answers answers, void *data, uint16_t *port)
{
    server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return NULL;
    signal(SIGPIPE, SIG_IGN); /* clients may close connections at any time */
    server->answers = answers;
    server->data = data;
    server->ring.next = server->ring.previous = &server->ring;
    server->most = max_connections();
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (server->epoll < 0 || !listen_on(server, port)) {
        int error = errno;
        server->listener = -1;
        server_close(server);
        errno = error;
        return NULL;
    }
    server->accepting = true;
    watch(server, EPOLL_CTL_ADD, server->listener, EPOLLIN, server);
    return server;
}
