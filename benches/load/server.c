/* SPDX-License-Identifier: Apache-2.0
   A server for load generators: one fixed response to every request over HTTP/1.1 with keep-alive, and, on request,
   stalls of the whole server at known times.

       server [--address ADDRESS] [--threads N] [--body BYTES] [--work MICROSECONDS] [--delay MICROSECONDS]
              [--tail-every N --tail MICROSECONDS] [--stall-every SECONDS --stall SECONDS]

   It listens on a free port of 127.0.0.1, or of the given address, and prints a line of JSON with its port and the time
   when it began (CLOCK_MONOTONIC). At SIGUSR1 it prints another line with its counts so far; SIGTERM and SIGINT end it.

   Work is additional CPU time per response. With --tail-every, one response in N takes between half and one and a
   half times the tail's duration, evenly distributed. With --delay, a response is sent this long after its request,
   which needs no core; a connection that the client closes gets no response. A stall lies in the middle of each
   period: from its beginning to its end the server accepts, reads and answers nothing. A request is considered to end
   with its head; a body is skipped, and must not contain an empty line. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* The time before an event at which the server stops sleeping and spins, in ns, because a virtual machine's
 * processor wakes late. */
#define SPIN_NS 2000000

enum { EVENTS = 256, ANSWERS = 64, MAX_THREADS = 64, QUEUE = 1 << 16, SECOND = 1000000000 };

/* A connection, or the listener of a thread. */
struct connection {
    int fd;
    unsigned matched; /* Bytes of a head's end that have been matched. */
    unsigned delayed; /* Entries of the queue that belong to it. */
    bool gone;
};

/* A response that is sent later. */
struct delayed {
    int64_t due_ns;
    struct connection *connection;
    size_t count;
};

struct worker {
    pthread_t thread;
    struct connection listener;
    int epoll;
    struct delayed *queue; /* QUEUE entries, in the order in which they are due. */
    size_t first, end;
    _Alignas(64) _Atomic uint64_t answered, accepted, open, most_open;
};

static struct worker workers[MAX_THREADS];
static int threads = 1;
static char *answers; /* ANSWERS responses, one after another. */
static size_t answer_length;
static int64_t start_ns, every_ns, stall_ns, work_ns, delay_ns, tail_ns;
static uint64_t tail_every;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)SECOND + t.tv_nsec;
}

/* Waits until no stall is in progress. */
static void wait_out_stall(void)
{
    if (!stall_ns)
        return;
    int64_t now = now_ns(), period = now - (now - start_ns) % every_ns;
    int64_t from = period + (every_ns - stall_ns) / 2, until = from + stall_ns;
    if (now < from || now >= until)
        return;
    struct timespec end = {(until - SPIN_NS) / SECOND, (until - SPIN_NS) % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {
    }
    while (now_ns() < until) {
    }
}

static void *lay_answers(size_t body)
{
    char head[512];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 200 OK\r\nServer: benchlab\r\nDate: Fri, 21 Nov 2025 19:15:21 GMT\r\n"
                          "Content-Type: text/html\r\nContent-Length: %zu\r\n"
                          "Last-Modified: Fri, 21 Nov 2025 09:16:00 GMT\r\nConnection: keep-alive\r\n"
                          "ETag: \"69203c60-d\"\r\nAccept-Ranges: bytes\r\n\r\n",
                          body);
    answer_length = length + body;
    answers = malloc(ANSWERS * answer_length);
    if (!answers)
        die("malloc");
    for (char *a = answers; a < answers + ANSWERS * answer_length; a += answer_length) {
        memcpy(a, head, length);
        memset(a + length, 'x', body);
    }
    return answers;
}

static void watch(int epoll, struct connection *c, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event))
        die("epoll_ctl");
}

static void drop(struct worker *w, struct connection *c)
{
    close(c->fd);
    w->open--;
    c->gone = true;
    if (!c->delayed)
        free(c);
}

static void accept_all(struct worker *w)
{
    for (int fd; (fd = accept4(w->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        struct connection *c = calloc(1, sizeof *c);
        if (!c)
            die("calloc");
        c->fd = fd;
        w->accepted++;
        if (++w->open > w->most_open)
            w->most_open = w->open;
        watch(w->epoll, c, EPOLLIN | EPOLLRDHUP | EPOLLET);
    }
    if (errno != EAGAIN && errno != ECONNABORTED)
        die("accept4");
}

/* Returns the number of request headers that end in the data. */
static size_t heads(struct connection *c, const char *data, size_t length)
{
    size_t found = 0;
    unsigned matched = c->matched;
    for (const char *p = data; p < data + length; p++) {
        matched = *p == "\r\n\r\n"[matched] ? matched + 1 : *p == '\r';
        if (matched == 4) {
            found++;
            matched = 0;
        }
    }
    c->matched = matched;
    return found;
}

/* Returns a number from 0 to 1 for a response's number. Steele, Lea & Flood, Fast splittable pseudorandom
 * number generators, 2014. */
static double at_random(uint64_t number)
{
    uint64_t z = number * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) / (double)(UINT64_C(1) << 53);
}

static int64_t work_of(uint64_t number)
{
    bool is_in_tail = tail_every && number % tail_every == 0;
    return is_in_tail ? (int64_t)((double)tail_ns * (0.5 + at_random(number))) : work_ns;
}

/* Performs the work of this many responses and sends them. Returns false if the client does not read them, or
 * has disconnected. */
static bool answer(struct worker *w, int fd, size_t count)
{
    int64_t busy_ns = 0;
    for (size_t i = 0; i < count; i++)
        busy_ns += work_of(w->answered + i + 1);
    w->answered += count;
    for (int64_t end = busy_ns ? now_ns() + busy_ns : 0; end && now_ns() < end;) {
    }
    for (size_t part; count > 0; count -= part) {
        part = count < ANSWERS ? count : ANSWERS;
        if (send(fd, answers, part * answer_length, MSG_NOSIGNAL) != (ssize_t)(part * answer_length))
            return false;
    }
    return true;
}

static void answer_later(struct worker *w, struct connection *c, size_t count)
{
    if (w->end - w->first == QUEUE) {
        fputs("server: too many responses are waiting\n", stderr);
        exit(1);
    }
    w->queue[w->end++ % QUEUE] = (struct delayed){now_ns() + delay_ns, c, count};
    c->delayed++;
}

/* Sends the due responses. Returns the time until the next response is due, in ns, or -1 if none is waiting. */
static int64_t answer_due(struct worker *w)
{
    for (; w->first != w->end; w->first++) {
        struct delayed *d = &w->queue[w->first % QUEUE];
        int64_t left_ns = d->due_ns - now_ns();
        if (left_ns > 0)
            return left_ns;
        struct connection *c = d->connection;
        c->delayed--;
        if (c->gone) {
            if (!c->delayed)
                free(c);
        } else if (!answer(w, c->fd, d->count)) {
            drop(w, c);
        }
    }
    return -1;
}

static void serve(struct worker *w, struct connection *c, uint32_t events)
{
    char data[16384];
    for (ssize_t n = sizeof data; n == sizeof data;) {
        n = recv(c->fd, data, sizeof data, 0);
        if (n < 0 && errno == EAGAIN)
            break;
        size_t count = n > 0 ? heads(c, data, n) : 0;
        if (delay_ns && count)
            answer_later(w, c, count);
        if (n <= 0 || (!delay_ns && !answer(w, c->fd, count)) || memmem(data, n, "onnection: close", 16))
            return drop(w, c);
    }
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        drop(w, c);
}

static void *work(void *argument)
{
    struct worker *w = argument;
    prctl(PR_SET_TIMERSLACK, 1UL); /* ns; the default is 50,000 */
    for (struct epoll_event events[EVENTS];;) {
        int64_t wait_ns = answer_due(w);
        int64_t sleep_ns = wait_ns > SPIN_NS ? wait_ns - SPIN_NS : 0;
        struct timespec wait = {sleep_ns / SECOND, sleep_ns % SECOND};
        int count = epoll_pwait2(w->epoll, events, EVENTS, wait_ns < 0 ? NULL : &wait, NULL);
        for (struct epoll_event *e = events; e < events + count; e++) {
            wait_out_stall();
            if (e->data.ptr == &w->listener)
                accept_all(w);
            else
                serve(w, e->data.ptr, e->events);
        }
    }
    return NULL;
}

/* Opens a thread's listener. All threads listen on one port, and the kernel distributes connections among
 * them. */
static void listen_on(struct worker *w, struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    w->listener.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(w->listener.fd, SOL_SOCKET, SO_REUSEPORT, &(int){1}, sizeof(int));
    if (bind(w->listener.fd, (struct sockaddr *)address, length) || listen(w->listener.fd, 65535) ||
        getsockname(w->listener.fd, (struct sockaddr *)address, &length))
        die("listen");
    w->epoll = epoll_create1(EPOLL_CLOEXEC);
    w->queue = delay_ns ? calloc(QUEUE, sizeof *w->queue) : NULL;
    if (delay_ns && !w->queue)
        die("calloc");
    watch(w->epoll, &w->listener, EPOLLIN);
}

static void tell(void)
{
    uint64_t answered = 0, accepted = 0, open = 0, most_open = 0;
    for (struct worker *w = workers; w < workers + threads; w++) {
        answered += w->answered;
        accepted += w->accepted;
        open += w->open;
        most_open += w->most_open;
    }
    printf("{\"answered\": %lu, \"accepted\": %lu, \"open\": %lu, \"most_open\": %lu}\n", answered, accepted, open,
           most_open);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    size_t body = 13;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct option options[] = {{"threads", 1, NULL, 't'}, {"body", 1, NULL, 'b'}, {"work", 1, NULL, 'w'},
                                     {"delay", 1, NULL, 'd'}, {"address", 1, NULL, 'a'}, {"tail-every", 1, NULL, 'n'}, {"tail", 1, NULL, 'l'},
                                     {"stall-every", 1, NULL, 'e'}, {"stall", 1, NULL, 's'}, {0}};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 't': threads = atoi(optarg); break;
        case 'b': body = strtoul(optarg, NULL, 10); break;
        case 'w': work_ns = atof(optarg) * 1000; break;
        case 'd': delay_ns = atof(optarg) * 1000; break;
        case 'a':
            if (inet_pton(AF_INET, optarg, &address.sin_addr) != 1)
                return 2;
            break;
        case 'n': tail_every = strtoull(optarg, NULL, 10); break;
        case 'l': tail_ns = atof(optarg) * 1000; break;
        case 'e': every_ns = atof(optarg) * SECOND; break;
        case 's': stall_ns = atof(optarg) * SECOND; break;
        default: return 2;
        }
    if (optind < argc || threads < 1 || threads > MAX_THREADS || stall_ns < 0 || (stall_ns && stall_ns >= every_ns)) {
        fputs("server: --threads must be from 1 to 64, and a stall must be shorter than its period\n", stderr);
        return 2;
    }
    lay_answers(body);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    for (struct worker *w = workers; w < workers + threads; w++)
        listen_on(w, &address);
    start_ns = now_ns();
    for (struct worker *w = workers; w < workers + threads; w++)
        if (pthread_create(&w->thread, NULL, work, w))
            die("pthread_create");
    printf("{\"port\": %d, \"start_ns\": %ld}\n", ntohs(address.sin_port), start_ns);
    fflush(stdout);
    for (int signal; sigwait(&signals, &signal) == 0 && signal == SIGUSR1;)
        tell();
    return 0;
}
