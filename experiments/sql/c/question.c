/* SPDX-License-Identifier: Apache-2.0 */
#include "question.h"

void fill_values(lab *lab, inputs *inputs)
{
    for (size_t i = 0; i < LAB_INPUTS; i++)
        inputs->values[i] = (int32_t)(lab_inputs(lab)[i] >> 33);
}

bool fill_inputs(lab *lab, inputs *inputs)
{
    uint64_t rows;
    if (!lab_integer(lab, "rows", 1, INT32_MAX, &rows))
        return false;
    for (size_t i = 0; i < LAB_INPUTS; i++) {
        uint64_t s = lab_inputs(lab)[i];
        inputs->ids[i] = (int32_t)(1 + s % rows);
        inputs->others[i] = (int32_t)(1 + (s >> 32) % rows);
        inputs->amounts[i] = (int32_t)(1 + (s >> 20) % 100);
    }
    return true;
}

bool open_target(lab *lab, const char *scheme, const char **target)
{
    const char *text;
    if (!lab_text(lab, "target", &text))
        return false;
    if (strncmp(text, scheme, strlen(scheme)) != 0)
        return lab_fail(lab, LAB_UNSUPPORTED, "the target does not begin with %s", scheme);
    *target = text + strlen(scheme);
    return true;
}

bool open_prepared(lab *lab, bool *prepared)
{
    const char *statement;
    if (!lab_text(lab, "statement", &statement))
        return false;
    *prepared = strcmp(statement, "prepared") == 0;
    return *prepared || strcmp(statement, "text") == 0
        || lab_fail(lab, LAB_UNSUPPORTED, "expected statement=prepared or statement=text");
}

uint64_t fold_text(const char *text, size_t length)
{
    const unsigned char *byte = (const unsigned char *)text;
    const unsigned char *end = byte + length;
    uint64_t sum = 0;
    while (byte < end) {
        uint32_t point = *byte++;
        if (point >= 0x80) {
            int more = point >= 0xF0 ? 3 : point >= 0xE0 ? 2 : 1;
            point &= 0x3F >> more;
            for (; more > 0; more--)
                point = point << 6 | (*byte++ & 0x3F);
        }
        sum += point;
    }
    return sum;
}

/* Returns the days since 1970-01-01 in the Gregorian calendar: years that begin in March put the leap day
 * last, and 719468 days lie between 0000-03-01 and 1970-01-01. */
static int64_t days(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    return 365 * y + y / 4 - y / 100 + y / 400 + day_of_year - 719468;
}

int64_t fold_moment(int year, int month, int day, int hour, int minute, int second, int ms)
{
    return (((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms;
}
