/* SPDX-License-Identifier: Apache-2.0
   Copyright 2026 The benchlab authors

   The page of the monitor, which is a separate file. */

#include <stddef.h>

__asm__(".section .rodata\n"
        "appserver_monitor_page_first:\n"
        ".incbin \"appserver_monitor_page.html\"\n"
        "appserver_monitor_page_end:\n"
        ".byte 0\n"
        ".previous\n");

extern const char appserver_monitor_page_first[];
extern const char appserver_monitor_page_end[];

const char *appserver_monitor_page(void) { return appserver_monitor_page_first; }

size_t appserver_monitor_page_length(void)
{
    return (size_t)(appserver_monitor_page_end - appserver_monitor_page_first);
}
