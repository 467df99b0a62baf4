/* SPDX-License-Identifier: Apache-2.0
   The minimal work of a client: the reference for load generators.

       bare [--connections N] [--for SECONDS] [--rate PER_SECOND] [--path PATH] [--header LINE]… PORT

   Without a rate it is a closed loop: each connection sends a fixed request as soon as the last one is answered. With
   a rate, request number k is due at k / rate; the client spins until then, sends it over a free connection, and
   measures its response time from when it was due. Spinning occupies a whole core and never wakes up late: this is
   the reference for pacing.

   Edge-triggered epoll, one epoll_ctl per connection, one send and one receive per request. Of a response it reads only
   the status and the Content-Length; the head must arrive in one piece. Prints a line of JSON. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, SECOND = 1000000000, STRAGGLERS_S = 10 };

struct connection {
    int fd;
    size_t missing; /* Bytes of the response that have not arrived yet. */
    int64_t due, sent;
};

static int port, epoll, connections = 64;
static double seconds = 5, rate;
static char request[1024];
static size_t request_length;
static struct connection *all;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void garbage(void)
{
    fputs("bare: the response has a format that this client cannot read\n", stderr);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)SECOND + t.tv_nsec;
}

static double cpu_s(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void open_connection(struct connection *c)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address))
        die("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = c};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event))
        die("epoll_ctl");
}

static void ask(struct connection *c)
{
    if (send(c->fd, request, request_length, MSG_NOSIGNAL) != (ssize_t)request_length)
        die("send");
}

/* Returns the length of the response that begins at data. */
static size_t whole(const char *data, size_t length)
{
    const char *end = memmem(data, length, "\r\n\r\n", 4);
    const char *field = end ? memchr(data, '\n', end - data) : NULL;
    while (field && strncasecmp(field + 1, "Content-Length:", 15))
        field = memchr(field + 1, '\n', end - field - 1);
    if (!field || memcmp(data, "HTTP/1.1 200 ", 13))
        garbage();
    return end + 4 - data + strtoul(field + 16, NULL, 10);
}

/* Reads the available bytes. Returns true if the response is complete. */
static bool answered(struct connection *c)
{
    char data[16384];
    for (;;) {
        ssize_t n = recv(c->fd, data, sizeof data, MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return false;
        if (n <= 0)
            die("recv");
        if (!c->missing)
            c->missing = whole(data, n);
        if ((size_t)n > c->missing)
            garbage();
        c->missing -= n;
        if (!c->missing)
            return true;
    }
}

static void closed_loop(void)
{
    uint64_t requests = 0;
    double cpu = cpu_s();
    int64_t begin = now_ns(), end = begin + (int64_t)(seconds * SECOND), now = begin;
    for (struct connection *c = all; c < all + connections; c++)
        ask(c);
    for (struct epoll_event events[EVENTS]; now < end; now = now_ns()) {
        int count = epoll_wait(epoll, events, EVENTS, 100);
        for (struct epoll_event *e = events; e < events + count; e++)
            if (answered(e->data.ptr)) {
                requests++;
                ask(e->data.ptr);
            }
    }
    printf("{\"requests\": %lu, \"seconds\": %.6f, \"cpu_s\": %.6f}\n", requests, (now - begin) / 1e9, cpu_s() - cpu);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print_quantiles(const char *name, int64_t *times, size_t count)
{
    const struct { const char *name; double part; } quantiles[] = {
        {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}};
    qsort(times, count, sizeof *times, ascending);
    printf(", \"%s\": {", name);
    for (int i = 0; i < 5; i++) {
        /* The quantile is the value with this rank: the smallest value that this fraction of all values does
           not exceed. */
        size_t rank = (size_t)(quantiles[i].part * count);
        rank += rank < quantiles[i].part * count;
        printf("%s\"%s_ns\": %ld", i ? ", " : "", quantiles[i].name, count ? times[rank ? rank - 1 : 0] : 0);
    }
    printf("}");
}

static void open_loop(void)
{
    size_t total = (size_t)(rate * seconds + 0.5), sent = 0, served = 0, idle = connections;
    struct connection **free_ones = malloc(connections * sizeof *free_ones);
    int64_t *response = malloc((total + 1) * sizeof *response), *service = malloc((total + 1) * sizeof *service);
    if (!free_ones || !response || !service)
        die("malloc");
    for (int i = 0; i < connections; i++)
        free_ones[i] = all + i;
    double cpu = cpu_s();
    int64_t begin = now_ns(), late = begin + (int64_t)((seconds + STRAGGLERS_S) * SECOND), now = begin;
    for (struct epoll_event events[EVENTS]; served < total && now < late; now = now_ns()) {
        for (int64_t due; idle && sent < total && (due = begin + (int64_t)(sent / rate * SECOND)) <= now_ns(); sent++) {
            struct connection *c = free_ones[--idle];
            c->due = due;
            c->sent = now_ns();
            ask(c);
        }
        int count = epoll_wait(epoll, events, EVENTS, 0);
        for (struct epoll_event *e = events; e < events + count; e++)
            if (answered(e->data.ptr)) {
                struct connection *c = e->data.ptr;
                int64_t end = now_ns();
                response[served] = end - c->due;
                service[served++] = end - c->sent;
                free_ones[idle++] = c;
            }
    }
    printf("{\"requests\": %zu, \"offered\": %zu, \"seconds\": %.6f, \"cpu_s\": %.6f", served, total,
           (now - begin) / 1e9, cpu_s() - cpu);
    print_quantiles("response", response, served);
    print_quantiles("service", service, served);
    printf("}\n");
}

int main(int argc, char **argv)
{
    const struct option options[] = {{"connections", 1, NULL, 'c'}, {"for", 1, NULL, 'f'},
                                     {"rate", 1, NULL, 'r'},        {"path", 1, NULL, 'p'},
                                     {"header", 1, NULL, 'h'},      {0}};
    const char *path = "/";
    char fields[512] = "";
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 'c': connections = atoi(optarg); break;
        case 'f': seconds = atof(optarg); break;
        case 'r': rate = atof(optarg); break;
        case 'p': path = optarg; break;
        case 'h':
            if (strlen(fields) + strlen(optarg) + 3 > sizeof fields)
                return 2;
            strcat(strcat(fields, optarg), "\r\n");
            break;
        default: return 2;
        }
    if (optind + 1 != argc || connections < 1 || seconds <= 0 || rate < 0 || strlen(path) > 256) {
        fputs("usage: bare [--connections N] [--for SECONDS] [--rate PER_SECOND] [--path PATH] [--header LINE]… PORT\n",
              stderr);
        return 2;
    }
    port = atoi(argv[optind]);
    request_length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", path, port, fields);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    all = calloc(connections, sizeof *all);
    if (!all)
        die("calloc");
    for (struct connection *c = all; c < all + connections; c++)
        open_connection(c);
    if (rate > 0)
        open_loop();
    else
        closed_loop();
    return 0;
}
