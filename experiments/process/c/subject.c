/* SPDX-License-Identifier: Apache-2.0
 *
 * The process experiment in C: the operation of each case, and the metrics of a batch. */
#define _GNU_SOURCE
#include "lab_kit.h"
#include "left.h"
#include "pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    BYTES_MAX = 1 << 24,
    LINES_MAX = 10000,
    KILL_AFTER_MS = 5,
    DEADLOCK_MS = 50,
};

typedef struct process_case process_case;

/* Does one operation. Adds to the work and returns true, or calls lab_fail and returns false. */
typedef bool operation(lab *lab, process_case *self, lab_work *work);

struct process_case {
    operation *operation;
    char *parent;         /* memory that makes this process large */
    char *content;        /* the output or the input of a child */
    char *received;
    size_t size;          /* size of content and received in bytes */
    uint64_t lines;
    int file;             /* a file with the content, for `read`; -1 for none */
    char path[64];        /* the path of the file for a child */
    uint64_t hash;        /* hash of the expected output */
    int descriptors;      /* number of open descriptors when the case was opened */
    uint64_t first_bytes; /* sum over this batch, ns */
    uint64_t overruns;
    uint64_t deadlocks;
};

/* -- The inputs --------------------------------------------------------------------------- */

/* Computes the 64-bit FNV-1a hash (Fowler, Noll, Vo). */
static uint64_t hash_of(const char *bytes, size_t size)
{
    uint64_t hash = 0xCBF29CE484222325;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001B3;
    return hash;
}

static bool allocate(lab *lab, char **memory, size_t size)
{
    *memory = malloc(size);
    return *memory != NULL || lab_fail(lab, LAB_FAILED, "out of memory");
}

/* Allocates the memory that the argument `parent` specifies, and writes to every page, so that the memory is
 * resident. */
static bool grow(lab *lab, process_case *self)
{
    const char *parent;
    if (!lab_text(lab, "parent", &parent))
        return false;
    size_t size = strcmp(parent, "10MB") == 0 ? (size_t)10 << 20
        : strcmp(parent, "1GB") == 0 ? (size_t)1 << 30 : 0;
    if (size == 0)
        return lab_fail(lab, LAB_UNSUPPORTED, "unknown parent %s", parent);
    if (!allocate(lab, &self->parent, size))
        return false;
    memset(self->parent, 1, size);
    return true;
}

/* Concatenates the inputs as eight bytes each, in little-endian order. */
static bool make_content(lab *lab, process_case *self)
{
    uint64_t bytes;
    if (!lab_integer(lab, "bytes", 1, BYTES_MAX, &bytes))
        return false;
    self->size = bytes;
    if (!allocate(lab, &self->content, self->size) || !allocate(lab, &self->received, self->size + 1))
        return false;
    for (size_t i = 0; i < self->size; i++)
        self->content[i] = (char)(lab_inputs(lab)[i / 8 % LAB_INPUTS] >> (i % 8 * 8));
    self->hash = hash_of(self->content, self->size);
    return true;
}

static bool fail_at(lab *lab, const char *what, int error)
{
    return lab_fail(lab, LAB_FAILED, "%s: %s", what, strerror(error));
}

/* Adds the hash of a child's output, and the child's exit status. Fails if the output is unexpected. */
static bool add_outcome(lab *lab, process_case *self, size_t received, uint64_t status, lab_work *work)
{
    if (received != self->size || memcmp(self->received, self->content, received) != 0)
        return lab_fail(lab, LAB_FAILED, "unexpected output of %zu bytes", received);
    work->check += self->hash + status;
    work->units += self->size;
    return true;
}

/* -- start, fail -------------------------------------------------------------------------- */

static bool open_plain(lab *lab, process_case *self)
{
    (void)lab;
    self->hash = hash_of("", 0);
    return true;
}

static bool start(lab *lab, process_case *self, lab_work *work)
{
    child child;
    int error = child_start(&child, (char *[]){"/bin/true", NULL}, false, false);
    if (error != 0)
        return fail_at(lab, "/bin/true", error);
    work->check += self->hash + child_wait(&child);
    work->units++;
    return true;
}

static bool fail(lab *lab, process_case *self, lab_work *work)
{
    child child;
    (void)self;
    if (child_start(&child, (char *[]){"/bin/no-such-program", NULL}, false, false) == 0) {
        child_wait(&child);
        return lab_fail(lab, LAB_FAILED, "a program that does not exist was started");
    }
    work->check++;
    work->units++;
    return true;
}

/* -- read --------------------------------------------------------------------------------- */

/* Opens the case read. Its file has no name, so that no file remains however this program exits. */
static bool open_read(lab *lab, process_case *self)
{
    const char *folder = getenv("TMPDIR");
    if (!make_content(lab, self))
        return false;
    self->file = open(folder != NULL ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (self->file < 0)
        return fail_at(lab, "a file for the content", errno);
    snprintf(self->path, sizeof self->path, "/proc/%d/fd/%d", (int)getpid(), self->file);
    return write(self->file, self->content, self->size) == (ssize_t)self->size
        || fail_at(lab, self->path, errno);
}

static bool read_output(lab *lab, process_case *self, lab_work *work)
{
    child child;
    uint64_t before = lab_clock();
    int error = child_start(&child, (char *[]){"/bin/cat", self->path, NULL}, false, true);
    if (error != 0)
        return fail_at(lab, "/bin/cat", error);
    size_t received = child_read(&child, self->received, self->size + 1);
    self->first_bytes += lab_clock() - before;
    received += child_read_all(&child, self->received + received, self->size + 1 - received);
    return add_outcome(lab, self, received, child_wait(&child), work);
}

/* -- converse ----------------------------------------------------------------------------- */

/* Writes the inputs as decimal numbers, one per line. */
static bool open_converse(lab *lab, process_case *self)
{
    enum { LINE = 21 };
    if (!lab_integer(lab, "lines", 1, LINES_MAX, &self->lines)
        || !allocate(lab, &self->content, self->lines * LINE + 1)
        || !allocate(lab, &self->received, LINE))
        return false;
    for (uint64_t i = 0; i < self->lines; i++)
        self->size += (size_t)sprintf(self->content + self->size, "%" PRIu64 "\n",
                                      lab_inputs(lab)[i % LAB_INPUTS]);
    self->hash = hash_of(self->content, self->size);
    return true;
}

static bool converse(lab *lab, process_case *self, lab_work *work)
{
    child child;
    bool equal = true;
    int error = child_start(&child, (char *[]){"/bin/cat", NULL}, true, true);
    if (error != 0)
        return fail_at(lab, "/bin/cat", error);
    for (const char *line = self->content; equal && *line != '\0';) {
        size_t size = (size_t)(strchr(line, '\n') + 1 - line);
        equal = child_write(&child, line, size)
            && child_read_all(&child, self->received, size) == size
            && memcmp(self->received, line, size) == 0;
        line += size;
    }
    child_close_input(&child);
    uint64_t status = child_wait(&child);
    if (!equal)
        return lab_fail(lab, LAB_FAILED, "the program returned a changed line");
    work->check += self->hash + status;
    work->units += self->lines;
    return true;
}

/* -- exchange, write_then_read ------------------------------------------------------------- */

static bool exchange(lab *lab, process_case *self, lab_work *work)
{
    child child;
    int error = child_start(&child, (char *[]){"/bin/cat", NULL}, true, true);
    if (error != 0)
        return fail_at(lab, "/bin/cat", error);
    size_t received = child_exchange(&child, self->content, self->size, self->received, self->size + 1);
    return add_outcome(lab, self, received, child_wait(&child), work);
}

/* A timer that kills a program that does not exit in time, so that the waiting thread
 * continues. */
typedef struct watch {
    pid_t child;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool has_ended;
    bool has_killed;
} watch;

static void *watch_over(void *argument)
{
    watch *self = argument;
    struct timespec limit;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_nsec += DEADLOCK_MS * 1000000;
    limit.tv_sec += limit.tv_nsec / 1000000000;
    limit.tv_nsec %= 1000000000;
    pthread_mutex_lock(&self->lock);
    int error = 0;
    while (!self->has_ended && error == 0)
        error = pthread_cond_clockwait(&self->ended, &self->lock, CLOCK_MONOTONIC, &limit);
    if (!self->has_ended) {
        kill(self->child, SIGKILL);
        self->has_killed = true;
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static bool write_then_read(lab *lab, process_case *self, lab_work *work)
{
    child child;
    int error = child_start(&child, (char *[]){"/bin/cat", NULL}, true, true);
    if (error != 0)
        return fail_at(lab, "/bin/cat", error);
    watch watch = {.child = child.id, .lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    error = pthread_create(&watch.thread, NULL, watch_over, &watch);
    if (error != 0)
        kill(child.id, SIGKILL);
    child_write(&child, self->content, self->size);
    child_close_input(&child);
    size_t received = child_read_all(&child, self->received, self->size + 1);
    if (error == 0) {
        pthread_mutex_lock(&watch.lock);
        watch.has_ended = true;
        pthread_cond_signal(&watch.ended);
        pthread_mutex_unlock(&watch.lock);
        pthread_join(watch.thread, NULL);
    }
    child_wait(&child);
    if (error != 0)
        return fail_at(lab, "a thread", error);
    if (!watch.has_killed && (received != self->size || memcmp(self->received, self->content, received) != 0))
        return lab_fail(lab, LAB_FAILED, "unexpected output of %zu bytes", received);
    self->deadlocks += watch.has_killed;
    work->check++;
    work->units++;
    return true;
}

/* -- kill --------------------------------------------------------------------------------- */

/* Kills a program and its child. The output ends when both have exited. */
static bool kill_group(lab *lab, process_case *self, lab_work *work)
{
    char byte;
    child child;
    uint64_t limit = lab_clock() + KILL_AFTER_MS * 1000000;
    char *const words[] = {"/bin/sh", "-c", "/bin/sleep 60 & exec /bin/sleep 60", NULL};
    int error = child_start(&child, words, false, true);
    if (error != 0)
        return fail_at(lab, "/bin/sh", error);
    uint64_t now = lab_clock();
    bool answered = child_answers_within(&child, now < limit ? limit - now : 0);
    uint64_t killed = lab_clock();
    kill(-child.id, SIGKILL);
    child_read_all(&child, &byte, 1);
    uint64_t status = child_wait(&child);
    self->overruns += lab_clock() - killed;
    if (answered)
        return lab_fail(lab, LAB_FAILED, "/bin/sh exited before the timeout");
    work->check += self->hash + status;
    work->units++;
    return true;
}

/* -- The cases ---------------------------------------------------------------------------- */

static void close_case(void *data)
{
    process_case *self = data;
    if (self->file >= 0)
        close(self->file);
    free(self->parent);
    free(self->content);
    free(self->received);
    *self = (process_case){.file = -1};
}

static double per_operation(uint64_t sum, uint64_t operations)
{
    return (double)sum / (double)operations;
}

/* Performs a batch. The measured time ends with the last operation; leaked resources are counted
 * afterwards. */
static bool perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    static lab_latencies span;
    process_case *self = data;
    self->first_bytes = self->overruns = self->deadlocks = 0;
    lab_start(&span);
    for (uint64_t k = 0; k < operations; k++)
        if (!self->operation(lab, self, work))
            return false;
    span.end = lab_clock();
    lab_add_latencies(lab, &span);

    lab_metric(lab, "descriptors", left_descriptors() - self->descriptors);
    lab_metric(lab, "children", left_children());
    if (self->operation == read_output)
        lab_metric(lab, "first_byte", per_operation(self->first_bytes, operations));
    if (self->operation == kill_group)
        lab_metric(lab, "kill_time", per_operation(self->overruns, operations));
    if (self->operation == write_then_read)
        lab_metric(lab, "deadlocked", 100 * per_operation(self->deadlocks, operations));
    return true;
}

static bool open_case(lab *lab, process_case *self, operation *operation,
                      bool (*prepare)(struct lab *, process_case *))
{
    self->operation = operation;
    if (!grow(lab, self) || !prepare(lab, self))
        return false;
    self->descriptors = left_descriptors();
    return true;
}

static bool open_start(lab *lab, void *data) { return open_case(lab, data, start, open_plain); }
static bool open_fail(lab *lab, void *data) { return open_case(lab, data, fail, open_plain); }
static bool open_reading(lab *lab, void *data) { return open_case(lab, data, read_output, open_read); }
static bool open_conversing(lab *lab, void *data) { return open_case(lab, data, converse, open_converse); }
static bool open_exchanging(lab *lab, void *data) { return open_case(lab, data, exchange, make_content); }
static bool open_deadlock(lab *lab, void *data) { return open_case(lab, data, write_then_read, make_content); }
static bool open_kill(lab *lab, void *data) { return open_case(lab, data, kill_group, open_plain); }

int main(void)
{
    static const lab_case cases[] = {
        {"start", open_start, perform, close_case},
        {"fail", open_fail, perform, close_case},
        {"read", open_reading, perform, close_case},
        {"converse", open_conversing, perform, close_case},
        {"exchange", open_exchanging, perform, close_case},
        {"write_then_read", open_deadlock, perform, close_case},
        {"kill", open_kill, perform, close_case},
    };
    static process_case open = {.file = -1};
    char library[64];
    snprintf(library, sizeof library, "glibc %s, %s", gnu_get_libc_version(), start_call);
    signal(SIGPIPE, SIG_IGN); /* writing to a killed child returns an error */
    return lab_main(start_subject, library, cases, sizeof cases / sizeof *cases, &open);
}
