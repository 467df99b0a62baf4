/* SPDX-License-Identifier: Apache-2.0 */
/* Counts a program's allocations through the C library, and their bytes. This library is loaded before the C library
 * (ld.so(8), LD_PRELOAD). The counts are in a file that benchlab reads between batches. */

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* glibc's internal names for its allocators. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

struct counts {
    _Atomic uint64_t blocks;
    _Atomic uint64_t bytes;
};

/* Stores the counts until the file is mapped. */
static struct counts early;
static struct counts *counts = &early;

__attribute__((constructor)) static void map_counts(void)
{
    const char *path = getenv("BENCHLAB_ALLOCATIONS");
    int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        counts = mapped;
}

static void count(size_t bytes)
{
    atomic_fetch_add_explicit(&counts->blocks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->bytes, bytes, memory_order_relaxed);
}

void *malloc(size_t size)
{
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size)
{
    count(size);
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
    count(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *allocated = memalign(alignment, size);
    if (allocated == NULL)
        return ENOMEM;
    *block = allocated;
    return 0;
}
