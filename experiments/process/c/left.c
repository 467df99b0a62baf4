/* SPDX-License-Identifier: Apache-2.0 */
#include "left.h"

#include <dirent.h>
#include <stdio.h>

int left_descriptors(void)
{
    int count = -1; /* excludes the descriptor of the directory itself */
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return count;
}

static int children_of(const char *thread)
{
    char path[64];
    int count = 0, child;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/children", thread);
    FILE *file = fopen(path, "r");
    while (file != NULL && fscanf(file, "%d", &child) == 1)
        count++;
    if (file != NULL)
        fclose(file);
    return count;
}

int left_children(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            count += children_of(entry->d_name);
    if (folder != NULL)
        closedir(folder);
    return count;
}
