/* SPDX-License-Identifier: Apache-2.0
   Preloaded into a private PostgreSQL server; see tally.rs. PostgreSQL forks a process for every connection. Only the
   parent process can get the usage of a child when it exits. waitpid() adds it up in a page that benchlab reads. */

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The page that tally.rs reads. The sequence is odd during a wait for a child. */
struct tally {
    _Atomic uint64_t present, sequence, cpu_us, accepted;
};

static struct tally *tally;
static pid_t owner;

/* Maps the page. BENCHLAB_TALLY contains the file descriptors of the page and of this library. Both are closed,
   because the page and the library remain mapped. */
__attribute__((constructor)) static void map_tally(void)
{
    const char *files = getenv("BENCHLAB_TALLY");
    int page, library;
    if (files && sscanf(files, "%d %d", &page, &library) == 2) {
        void *shared = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
        close(page);
        close(library);
        if (shared != MAP_FAILED) {
            tally = shared;
            owner = getpid();
            tally->present = 1;
        }
    }
    /* Programs that the server starts are not counted. */
    unsetenv("LD_PRELOAD");
    unsetenv("BENCHLAB_TALLY");
}

/* Returns true in the server's main process. The processes that it forks have the library, too. */
static int is_main_process(void)
{
    return tally && getpid() == owner;
}

static uint64_t us(struct timeval t)
{
    return t.tv_sec * UINT64_C(1000000) + t.tv_usec;
}

/* Replaces the function of the C library, to add up the CPU time of exited children. The server calls it from its
   SIGCHLD handler, so all calls in this function must be async-signal-safe. */
pid_t waitpid(pid_t which, int *status, int options)
{
    if (!is_main_process())
        return wait4(which, status, options, NULL);
    struct rusage used;
    tally->sequence++;
    pid_t ended = wait4(which, status, options, &used);
    if (ended > 0)
        tally->cpu_us += us(used.ru_utime) + us(used.ru_stime);
    tally->sequence++;
    return ended;
}

/* <sys/socket.h> is not included, because it declares the addresses as unions. */
int accept4(int listening, void *address, void *length, int flags)
{
    int connection = syscall(SYS_accept4, listening, address, length, flags);
    if (connection >= 0 && is_main_process())
        tally->accepted++;
    return connection;
}

int accept(int listening, void *address, void *length)
{
    return accept4(listening, address, length, 0);
}
