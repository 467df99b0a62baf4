/* SPDX-License-Identifier: Apache-2.0
   Starts commands for benchlab, waits for them and reports their resource usage; see starter.rs. It is a separate
   program because a child inherits its parent's peak memory (ru_maxrss of wait4(2)), and this program uses only half a
   megabyte. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* The header of a request. It is followed by `bytes` bytes of NUL-terminated strings: the core numbers, the
   working directory, standard input, output and error ("" for /dev/null), variables as NAME=VALUE, and the
   command's words. */
struct order {
    uint64_t time_limit_ns;
    uint32_t words;
    uint32_t bytes;
    uint64_t variables;
};

/* The response to a request. Times are in ns. */
struct response {
    int64_t error; /* errno if the command could not be started, else 0 */
    int64_t wall_ns, user_ns, sys_ns, peak_rss_bytes;
    int64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
    int64_t wait_status, timed_out, left_running;
};

enum end { ENDED, TIME_UP, LAB_GONE };

/* The signal mask without SIGCHLD, which is blocked except in `wait_for`. */
static sigset_t unblocked;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t ns(struct timeval t)
{
    return t.tv_sec * INT64_C(1000000000) + t.tv_usec * 1000;
}

/* Reads or writes all bytes. Returns 0 at the end of the stream, or if benchlab has exited. */
static int transfer_all(ssize_t (*transfer)(int, void *, size_t), int fd, void *bytes, size_t count)
{
    for (char *at = bytes; count > 0;) {
        ssize_t n = transfer(fd, at, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        at += n;
        count -= n;
    }
    return 1;
}

static ssize_t write_bytes(int fd, void *bytes, size_t count)
{
    return write(fd, bytes, count);
}

static char *next_string(char **strings)
{
    char *string = *strings;
    *strings += strlen(string) + 1;
    return string;
}

static int open_or_null(const char *name, int flags)
{
    return open(*name ? name : "/dev/null", flags | O_CLOEXEC, 0600);
}

/* Opens the list of this process's children: their process IDs, each followed by a space. Processes left running by
   commands are children of this process. */
static int open_children(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Kills all children and their process groups. */
static void kill_children(void)
{
    char list[4096];
    int file = open_children();
    ssize_t length = file < 0 ? 0 : read(file, list, sizeof list - 1);
    close(file);
    list[length > 0 ? length : 0] = 0;
    /* The last number may be truncated, so a number counts only if a space follows. */
    for (char *at = list, *end; (end = strchr(at, ' ')); at = end + 1) {
        pid_t child = atoi(at);
        if (child > 1) {
            kill(-child, SIGKILL);
            kill(child, SIGKILL);
        }
    }
}

/* Kills all descendants, one generation per round. */
static void end_everything(void)
{
    do
        kill_children();
    while (wait(NULL) > 0 || errno == EINTR);
}

/* Reaps exited children. Returns the number of children that are still running. */
static int64_t count_children(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    char list[4096];
    int file = open_children();
    int64_t count = 0;
    for (ssize_t length; (length = read(file, list, sizeof list)) > 0;)
        for (ssize_t i = 0; i < length; i++)
            count += list[i] == ' ';
    close(file);
    return count;
}

/* Does nothing, but interrupts a system call. */
static void interrupt(int signal)
{
    (void)signal;
}

static void block_sigchld(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigset_t blocked;
    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, &unblocked);
    sigdelset(&unblocked, SIGCHLD);
}

static int has_exited(pid_t child)
{
    siginfo_t info = {0};
    return waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

/* Waits until the child has exited, its time is up, or benchlab has exited. `process` refers to the child. It is
   negative on kernels and in sandboxes without pidfd_open(2), where SIGCHLD announces the exit. benchlab sends no
   request before the last one is completed, so standard input becomes ready only when it is closed. */
static enum end wait_for(pid_t child, int process, int64_t deadline)
{
    struct pollfd ready[] = {{.fd = process, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    for (;;) {
        if (process < 0 && has_exited(child))
            return ENDED;
        int64_t remaining = deadline - now_ns();
        if (remaining <= 0)
            return TIME_UP;
        struct timespec timeout = {remaining / 1000000000, remaining % 1000000000};
        if (ppoll(ready, 2, &timeout, process < 0 ? &unblocked : NULL) <= 0)
            continue;
        return ready[0].revents ? ENDED : LAB_GONE;
    }
}

static int start(pid_t *child, char **words, const char *folder, const int files[3])
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t all_signals, no_signals;
    sigfillset(&all_signals);
    sigemptyset(&no_signals);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &all_signals);
    posix_spawnattr_setsigmask(&attributes, &no_signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&actions, files[i], i);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    int error = posix_spawnp(child, words[0], &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static void set_cores(char *cores)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (char *core = strtok(cores, ","); core; core = strtok(NULL, ","))
        CPU_SET(atoi(core), &set);
    sched_setaffinity(0, sizeof set, &set); /* the command inherits it */
}

/* Runs a command to completion. Returns 0 if benchlab exits in the meantime. */
static int run_order(const struct order *order, char *strings, char **words, struct response *response)
{
    memset(response, 0, sizeof *response);
    set_cores(next_string(&strings));
    const char *folder = next_string(&strings);
    setenv("PWD", folder, 1);
    int files[3];
    files[0] = open_or_null(next_string(&strings), O_RDONLY);
    files[1] = open_or_null(next_string(&strings), O_WRONLY | O_CREAT | O_TRUNC);
    files[2] = open_or_null(next_string(&strings), O_WRONLY | O_CREAT | O_TRUNC);
    int open_error = errno;
    char *variables = strings;
    for (uint64_t i = 0; i < order->variables; i++)
        putenv(next_string(&strings));
    for (uint32_t i = 0; i < order->words; i++)
        words[i] = next_string(&strings);
    words[order->words] = NULL;
    int are_open = files[0] >= 0 && files[1] >= 0 && files[2] >= 0;
    pid_t child = 0;
    int64_t earlier = count_children();
    int64_t start_ns = now_ns();
    response->error = are_open ? start(&child, words, folder, files) : open_error;
    enum end end = ENDED;
    if (!response->error) {
        int process = syscall(SYS_pidfd_open, child, 0);
        end = wait_for(child, process, start_ns + (int64_t)order->time_limit_ns);
        response->wall_ns = now_ns() - start_ns;
        if (end != ENDED)
            kill_children();
        struct rusage used;
        int status = 0;
        while (wait4(child, &status, 0, &used) < 0 && errno == EINTR)
            ;
        response->user_ns = ns(used.ru_utime);
        response->sys_ns = ns(used.ru_stime);
        response->peak_rss_bytes = used.ru_maxrss * 1024;
        response->minor_faults = used.ru_minflt;
        response->major_faults = used.ru_majflt;
        response->voluntary_switches = used.ru_nvcsw;
        response->involuntary_switches = used.ru_nivcsw;
        response->wait_status = status;
        response->timed_out = end == TIME_UP;
        response->left_running = count_children() > earlier;
        if (process >= 0)
            close(process);
    }
    for (uint64_t i = 0; i < order->variables; i++) {
        char *variable = next_string(&variables);
        char *name = strndup(variable, strcspn(variable, "="));
        if (name)
            unsetenv(name);
        free(name);
    }
    for (int i = 0; i < 3; i++)
        close(files[i]);
    return end != LAB_GONE;
}

int main(void)
{
    struct order order;
    struct response response;
    /* Processes left running by a command become children of this process, which can then kill them. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    block_sigchld();
    while (transfer_all(read, 0, &order, sizeof order)) {
        char *strings = malloc(order.bytes);
        char **words = malloc((order.words + 1) * sizeof *words);
        int is_answered = strings && words && transfer_all(read, 0, strings, order.bytes) &&
                   run_order(&order, strings, words, &response) &&
                   transfer_all(write_bytes, 1, &response, sizeof response);
        free(words);
        free(strings);
        if (!is_answered)
            break;
    }
    end_everything();
    return 0;
}
