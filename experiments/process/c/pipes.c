/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2, ppoll */
#include "pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

int child_start(child *child, char *const words[], bool with_input, bool with_output)
{
    int input[2] = {-1, -1}, output[2] = {-1, -1};
    int error = 0;
    if ((with_input && pipe2(input, O_CLOEXEC) != 0) || (with_output && pipe2(output, O_CLOEXEC) != 0))
        error = errno;
    else
        error = start_program(&child->id, words, input[0], output[1]);
    child->input = input[1];
    child->output = output[0];
    close_end(&input[0]);
    close_end(&output[1]);
    if (error != 0) {
        close_end(&child->input);
        close_end(&child->output);
    }
    return error;
}

size_t child_read(child *child, char *into, size_t most)
{
    ssize_t count;
    while ((count = read(child->output, into, most)) < 0 && errno == EINTR)
        ;
    return count < 0 ? 0 : (size_t)count;
}

size_t child_read_all(child *child, char *into, size_t size)
{
    size_t read = 0, count;
    while (read < size && (count = child_read(child, into + read, size - read)) > 0)
        read += count;
    return read;
}

bool child_write(child *child, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = write(child->input, bytes, size);
        if (count < 0 && errno != EINTR)
            return false;
        if (count > 0) {
            bytes += count;
            size -= (size_t)count;
        }
    }
    return true;
}

size_t child_exchange(child *child, const char *bytes, size_t size, char *into, size_t most)
{
    size_t written = 0, received = 0;
    fcntl(child->input, F_SETFL, O_NONBLOCK);
    while (received < most) {
        struct pollfd files[] = {{child->output, POLLIN, 0}, {child->input, POLLOUT, 0}};
        if (poll(files, 2, -1) < 0)
            continue;
        if (files[1].revents != 0) {
            ssize_t count = write(child->input, bytes + written, size - written);
            if (count > 0)
                written += (size_t)count;
            if (written == size || (count < 0 && errno != EAGAIN && errno != EINTR))
                close_end(&child->input);
        }
        if (files[0].revents != 0) {
            size_t count = child_read(child, into + received, most - received);
            if (count == 0)
                break;
            received += count;
        }
    }
    return received;
}

void child_close_input(child *child)
{
    close_end(&child->input);
}

bool child_answers_within(const child *child, uint64_t ns)
{
    struct pollfd file = {child->output, POLLIN, 0};
    struct timespec limit = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return ppoll(&file, 1, &limit, NULL) != 0;
}

uint64_t child_wait(child *child)
{
    int status = 0;
    while (waitpid(child->id, &status, 0) < 0 && errno == EINTR)
        ;
    close_end(&child->input);
    close_end(&child->output);
    return WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status) : 256 + (uint64_t)WTERMSIG(status);
}
