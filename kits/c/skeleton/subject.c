/* The subject in C. benchlab starts it and sends it commands; lab_kit.h has the whole interface. */
#include "lab_kit.h"

enum { MAX_BYTES = 1 << 20 };

typedef struct hash {
    uint64_t size;
    uint8_t data[MAX_BYTES];
} hash;

/* Prepares the case: this is not timed. */
static bool hash_open(lab *lab, void *data)
{
    hash *hash = data;
    if (!lab_integer(lab, "n", 1, MAX_BYTES, &hash->size))
        return false;
    for (uint64_t i = 0; i < hash->size; i++)
        hash->data[i] = (uint8_t)lab_inputs(lab)[i % LAB_INPUTS];
    return true;
}

/* Does the operations: this is timed. */
static bool hash_perform(lab *lab, void *data, uint64_t operations, lab_work *work)
{
    hash *hash = data;
    for (uint64_t k = 0; k < operations; k++) {
        hash->data[0] = (uint8_t)lab_inputs(lab)[k % LAB_INPUTS];
        uint32_t sum = 2166136261u;
        for (uint64_t i = 0; i < hash->size; i++)
            sum = (sum ^ hash->data[i]) * 16777619u;
        work->check += sum;            /* every value that the work produced: the same in all subjects */
        work->units += hash->size;     /* the number of bytes */
    }
    return true;
}

/* Releases what hash_open acquired. */
static void hash_close(void *data) { (void)data; }

int main(void)
{
    static const lab_case cases[] = {{"hash", hash_open, hash_perform, hash_close}};
    static hash hash;
    return lab_main("{{subject}}", "FNV-1a", cases, sizeof cases / sizeof *cases, &hash);
}
