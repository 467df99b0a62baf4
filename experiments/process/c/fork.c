/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts programs with fork and exec: the new process begins with a copy of this process's page tables. */
#define _GNU_SOURCE /* pipe2 */
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const start_subject = "c-fork";
const char *const start_call = "fork and execv";

static int set_stream(int file, int stream, int flags)
{
    int from = file >= 0 ? file : open("/dev/null", flags | O_CLOEXEC);
    return from < 0 ? -1 : dup2(from, stream);
}

/* Runs in the new process. Failures are reported through the pipe, which a successful exec closes. */
static _Noreturn void execute(char *const words[], int input, int output, int failure)
{
    signal(SIGPIPE, SIG_DFL); /* this program ignores SIGPIPE */
    if (setpgid(0, 0) == 0
        && set_stream(input, STDIN_FILENO, O_RDONLY) >= 0
        && set_stream(output, STDOUT_FILENO, O_WRONLY) >= 0
        && set_stream(-1, STDERR_FILENO, O_WRONLY) >= 0)
        execv(words[0], words);
    int error = errno;
    _exit(write(failure, &error, sizeof error) < 0 ? 126 : 127);
}

int start_program(pid_t *id, char *const words[], int input, int output)
{
    int failure[2];
    int error = 0;
    if (pipe2(failure, O_CLOEXEC) != 0)
        return errno;
    *id = fork();
    if (*id == 0)
        execute(words, input, output, failure[1]);
    if (*id < 0)
        error = errno;
    close(failure[1]);
    if (*id > 0 && read(failure[0], &error, sizeof error) > 0)
        waitpid(*id, NULL, 0);
    close(failure[0]);
    return error;
}
