/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program and blocks its execve and chdir calls, and those of its children, if the path contains "/held":
 * hold_calls PROGRAM [ARGUMENT...] */

#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

int tests_hold_calls(void);
void tests_continue_call(int listener, unsigned long long id);

extern char **environ;

static int listener;
static sem_t is_listening;

/* Runs the program with its calls held. Only this thread and its children are filtered, so the main thread can
 * respond to the notifications. */
static void *run(void *arguments)
{
    char **words = arguments;
    pid_t child;
    int status;

    listener = tests_hold_calls();
    sem_post(&is_listening);
    if (listener < 0 || posix_spawn(&child, words[0], NULL, NULL, words, environ) != 0 || waitpid(child, &status, 0) < 0) {
        perror(words[0]);
        exit(1);
    }
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Returns true if the path of the call contains "/held". Reads up to the end of a page, because the next page may not
 * be mapped. */
static int is_held(const struct seccomp_notif *call)
{
    char path[4096] = "";
    struct iovec to = {path, sizeof path - 1}, from = {(void *) call->data.args[0], 4096 - call->data.args[0] % 4096};

    if (from.iov_len < sizeof path - 1)
        from.iov_len += 4096;
    return process_vm_readv((pid_t) call->pid, &to, 1, &from, 1, 0) > 0 && strstr(path, "/held") != NULL;
}

int main(int count, char **words)
{
    pthread_t runner;

    (void) count;
    sem_init(&is_listening, 0, 0);
    pthread_create(&runner, NULL, run, words + 1);
    sem_wait(&is_listening);
    for (;;) {
        struct seccomp_notif call = {0};

        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0 && !is_held(&call))
            tests_continue_call(listener, call.id);
    }
}
