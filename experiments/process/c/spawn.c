/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts programs with posix_spawn: the new process shares the memory of this one until it calls exec. */
#include "start.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

extern char **environ;

const char *const start_subject = "c";
const char *const start_call = "posix_spawn";

static int add_stream(posix_spawn_file_actions_t *actions, int file, int stream, int flags)
{
    return file >= 0 ? posix_spawn_file_actions_adddup2(actions, file, stream)
                     : posix_spawn_file_actions_addopen(actions, stream, "/dev/null", flags, 0);
}

int start_program(pid_t *id, char *const words[], int input, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* this program ignores SIGPIPE */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    if ((error = add_stream(&actions, input, STDIN_FILENO, O_RDONLY)) == 0
        && (error = add_stream(&actions, output, STDOUT_FILENO, O_WRONLY)) == 0
        && (error = add_stream(&actions, -1, STDERR_FILENO, O_WRONLY)) == 0)
        error = posix_spawn(id, words[0], &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}
