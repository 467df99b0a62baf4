/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The benchlab authors
 *
 * Makes the kernel hold calls of execve and chdir until this process responds to them, to simulate a file system that
 * hangs: seccomp_unotify(2). */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Holds calls of execve and chdir in the calling thread, and in the threads and processes that it creates. Returns the
 * descriptor with which to respond to the calls. */
int tests_hold_calls(void)
{
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_chdir, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof instructions / sizeof instructions[0], instructions};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* Waits for a held call, and returns its ID. Skips callers that were killed in the meantime. */
unsigned long long tests_next_call(int listener)
{
    struct seccomp_notif call = {0};

    while (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
        call = (struct seccomp_notif){0};
    return call.id;
}

/* Lets a held call continue. */
void tests_continue_call(int listener, unsigned long long id)
{
    struct seccomp_notif_resp response = {.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}
