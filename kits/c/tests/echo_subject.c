/* SPDX-License-Identifier: Apache-2.0
 *
 * A subject whose case echo shows what the kit gave it; the tests drive it as the lab would. */
#include "lab_kit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct echo {
    char *taken; /* so that a leak, or a close too many, is seen */
    uint64_t fail_at;
    const uint64_t *inputs;
} echo;

static bool echo_open(lab *lab, void *data)
{
    echo *echo = data;
    const char *text;
    echo->taken = malloc(16);
    if (!lab_text(lab, "text", &text) || !lab_integer(lab, "fail_at", 0, 1000, &echo->fail_at))
        return false;
    const char *more = lab_argument(lab, "more");
    lab_setting(lab, "text", text);
    lab_setting(lab, "more", more != NULL ? more : "(none)");
    echo->inputs = lab_inputs(lab);
    return true;
}

/* Adds up the inputs; the operation fail_at, counted from 1, fails. */
static bool echo_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    const echo *echo = data;
    printf("torn"); /* a print without its line's end must not touch the reply */
    for (uint64_t k = 0; k < operations; k++) {
        if (k + 1 == echo->fail_at)
            return lab_fail(lab, LAB_FAILED, "operation %" PRIu64 " failed: 100 %%", k + 1);
        work->check += echo->inputs[k % LAB_INPUTS];
        work->units += 2;
    }
    return true;
}

static void echo_close(void *data)
{
    echo *echo = data;
    free(echo->taken);
    memset(echo, 0, sizeof *echo);
}

int main(void)
{
    static const lab_case cases[] = {{"echo", echo_open, echo_perform, echo_close}};
    static echo echo;
    return lab_main("echo", "no library 1.0", cases, 1, &echo);
}
