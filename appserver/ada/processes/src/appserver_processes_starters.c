/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The benchlab authors
 *
 * Starts programs, with a timeout. A child shares the memory of the thread that creates it, and the kernel suspends
 * that thread until the child has called exec. Both hang for as long as the file system of the program or of its
 * directory hangs, and not even SIGKILL ends some of these hangs. So each child is created by a separate thread, the
 * starter.
 *
 * The calling thread creates the starter. The starter therefore has the caller's CPU affinity, scheduling policy, nice
 * value, timer slack, credentials, namespaces and cgroup, and the child inherits them as it would from a fork by the
 * caller.
 *
 * The starter stays until the child has exited, since a program may request a signal at the end of the thread that
 * started it (PR_SET_PDEATHSIG). */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A request to start a program. It has the same layout as Request in Appserver.Processes.Linux. */
struct request {
    char *const *paths; /* The paths to try, NULL-terminated: the first path that exists is executed */
    char *const *arguments;
    char *const *environment;
    const char *directory; /* NULL for this process's directory */
    int streams[3];        /* The program's streams; -1 to inherit this process's stream */

    int code;              /* 0, or the errno of the failed call */
    pid_t id;              /* The child's ID, which the child sets; 0 if there is no child */
    int is_abandoned;      /* True if the caller no longer waits; set with the lock held */
    int has_ended;         /* True if the starter no longer uses the request; guarded by the lock */
};

_Static_assert(sizeof(struct request) == 64, "Appserver.Processes.Linux has another layout");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended;
static pthread_once_t is_initialized = PTHREAD_ONCE_INIT;

static void initialize(void)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ended, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* ---- The child: blocks all signals, and modifies only its request and its stack in memory ---- */

/* Executes the first path that exists, like posix_spawnp. Returns an errno if no path can be executed. */
static int execute(const struct request *request)
{
    int code = ENOENT;

    for (char *const *path = request->paths; *path != NULL; ++path) {
        execve(*path, request->arguments, request->environment);
        if (errno == EACCES)
            code = EACCES;
        else if (errno != ENOENT && errno != ESTALE && errno != ENOTDIR && errno != ENODEV && errno != ETIMEDOUT)
            return errno;
    }
    return code;
}

static int prepare(const struct request *request)
{
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int signal = 1; signal < NSIG; ++signal)
        sigaction(signal, &by_default, NULL);
    if (setpgid(0, 0) != 0)
        return errno;
    for (int stream = 0; stream < 3; ++stream)
        if (request->streams[stream] >= 0 && dup2(request->streams[stream], stream) < 0)
            return errno;
    /* Must precede calls that may hang: as long as this child has a copy of a pipe open for writing, the program that reads
     * the pipe does not see the end of its input */
    closefrom(3);
    if (request->directory != NULL && chdir(request->directory) != 0)
        return errno;
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) == 0 ? 0 : errno;
}

static int be_child(void *argument)
{
    struct request *request = argument;
    int code;

    __atomic_store_n(&request->id, getpid(), __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&request->is_abandoned, __ATOMIC_SEQ_CST))
        _exit(127);
    code = prepare(request);
    request->code = code != 0 ? code : execute(request);
    _exit(127);
}

/* ---- Starters ---- */

enum { STACK_SIZE = 256 * 1024, CHILD_STACK_SIZE = 64 * 1024 };

/* Kills the child, and its process group if that already exists. The ID is not reused until the child is reaped. */
static void kill_child(pid_t id)
{
    kill(-id, SIGKILL);
    kill(id, SIGKILL);
}

static void reap(pid_t id)
{
    while (waitpid(id, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void await_exit(pid_t id)
{
    siginfo_t ignored;

    while (waitid(P_PID, (id_t) id, &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        continue;
}

static int make_child(struct request *request)
{
    char stack[CHILD_STACK_SIZE] __attribute__((aligned(16)));

    return clone(be_child, stack + CHILD_STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, request);
}

/* Returns the process ID of the started program, or 0 on failure */
static pid_t serve_request(struct request *request)
{
    pid_t id = 0;

    pthread_mutex_lock(&lock);
    if (!request->is_abandoned) {
        pthread_mutex_unlock(&lock);
        id = make_child(request);
        pthread_mutex_lock(&lock);
        if (id < 0) {
            request->code = errno;
            id = 0;
        } else if (request->code != 0 || request->is_abandoned) {
            request->id = 0;
            pthread_mutex_unlock(&lock);
            kill_child(id);
            reap(id);
            id = 0;
            pthread_mutex_lock(&lock);
        }
    }
    request->has_ended = 1;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
    return id;
}

static void *be_starter(void *argument)
{
    pid_t id = serve_request(argument);

    if (id != 0)
        await_exit(id);
    return NULL;
}

/* Creates a starter, which is a thread that starts one program. The thread blocks all signals, so only the program's own
 * threads handle signals. */
static int new_starter(struct request *request)
{
    sigset_t all, old;
    pthread_attr_t attributes;
    pthread_t thread;
    int code;

    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    code = pthread_create(&thread, &attributes, be_starter, request);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return code;
}

static struct timespec after(long milliseconds)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += milliseconds % 1000 * 1000000;
    if (time.tv_nsec >= 1000000000) {
        ++time.tv_sec;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

/* Waits for the end of the request. Returns true if the request ended in time. The caller must hold the lock. */
static int await_end(struct request *request, long milliseconds)
{
    struct timespec limit = after(milliseconds);
    int code = 0;

    while (!request->has_ended && code == 0)
        code = pthread_cond_timedwait(&ended, &lock, &limit);
    return request->has_ended;
}

/* Abandons a request. Either this function sees the child's ID, or the child sees that the request is abandoned. The
 * starter resets the ID before it reaps the child, since another process may get the same ID after that. */
static void abandon(struct request *request)
{
    pid_t id;

    __atomic_store_n(&request->is_abandoned, 1, __ATOMIC_SEQ_CST);
    id = __atomic_load_n(&request->id, __ATOMIC_SEQ_CST);
    if (id != 0)
        kill_child(id);
}

enum { START_ENDED = 0, START_KILLED = 1, START_HANGS = 2 };

/* Starts a program. After START_ENDED, the request's code and id are the result. Otherwise, the start took longer than
 * the limit in milliseconds (-1: no limit), and the child was killed. After START_HANGS, the request stays in use until
 * appserver_processes_has_ended returns true. */
int appserver_processes_start(struct request *request, long milliseconds, long kill_milliseconds)
{
    int result = START_ENDED;
    int code;

    pthread_once(&is_initialized, initialize);
    code = new_starter(request);
    pthread_mutex_lock(&lock);
    if (code != 0) { /* Otherwise the child sets the code, and may already have failed */
        request->code = code;
        request->has_ended = 1;
    }
    if (milliseconds < 0) {
        while (!request->has_ended)
            pthread_cond_wait(&ended, &lock);
    } else if (!await_end(request, milliseconds)) {
        abandon(request);
        result = await_end(request, kill_milliseconds) ? START_KILLED : START_HANGS;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int appserver_processes_has_ended(struct request *request)
{
    int result;

    pthread_mutex_lock(&lock);
    result = request->has_ended;
    pthread_mutex_unlock(&lock);
    return result;
}
