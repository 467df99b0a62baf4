// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The benchlab authors
//
// membarrier(2) for Ada, since its system call number differs between processors. Returns 0 on success.

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

int appserver_register_membarrier(void);
int appserver_membarrier(void);

int appserver_register_membarrier(void)
{
    return (int) syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

int appserver_membarrier(void)
{
    return (int) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}
