// SPDX-License-Identifier: Apache-2.0
// Checks for lost entries and duplicate loads, for the duration that Stress defines.
package benchlab.appserver.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.Stress;
import benchlab.appserver.cache.CacheTest.Scheme;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CacheStressTest {

    private static final int THREADS = 4;
    private static final int KEYS = 64;
    private static final int PARTS = 5 * 4;

    /** Each writer has its own keys and always reads back its last write. */
    @ParameterizedTest
    @EnumSource(Scheme.class)
    void losesNoEntry(Scheme scheme) throws Exception {
        Cache<Integer, Long> cache = scheme.open();
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        List<Callable<Long>> tasks = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int first = t * KEYS;
            tasks.add(
                    () -> {
                        long round = 0;
                        do {
                            round++;
                            for (int k = first; k < first + KEYS; k++) {
                                cache.put(k, round);
                            }
                            for (int k = first; k < first + KEYS; k++) {
                                assertEquals(round, cache.get(k));
                            }
                        } while (!deadline.passed());
                        return round;
                    });
        }
        List<Long> rounds = Stress.together(tasks);
        assertEquals(THREADS * KEYS, cache.size());
        for (int k = 0; k < THREADS * KEYS; k++) {
            assertEquals(rounds.get(k / KEYS), cache.get(k));
        }
    }

    /**
     * Without removals, exactly one load of each key succeeds, no matter which threads request the
     * key and whose loads fail.
     */
    @ParameterizedTest
    @EnumSource(Scheme.class)
    void loadsEachKeyOnce(Scheme scheme) throws Exception {
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        do {
            Cache<Integer, Integer> cache = scheme.open();
            var loads = new AtomicIntegerArray(KEYS);
            Callable<Long> task =
                    () -> {
                        for (int k = 0; k < KEYS; k++) {
                            assertEquals(
                                    -k,
                                    cache.get(
                                            k,
                                            key -> {
                                                loads.incrementAndGet(key);
                                                return -key;
                                            }));
                        }
                        return 0L;
                    };
            Stress.together(Collections.nCopies(THREADS, task));
            for (int k = 0; k < KEYS; k++) {
                assertEquals(1, loads.get(k));
            }
        } while (!deadline.passed());
    }

    /**
     * A source changes, and then its key is removed: threads that request the key later never get
     * the old value, even if earlier loads finish later.
     */
    @ParameterizedTest
    @EnumSource(Scheme.class)
    void servesNothingOlderThanTheLastRemoval(Scheme scheme) throws Exception {
        Cache<Integer, Long> cache = scheme.open(CacheOptions.UNLIMITED.maximumSize(KEYS));
        var source = new AtomicLong();
        var removed = new AtomicLong();
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        Callable<Long> writer =
                () -> {
                    while (!deadline.passed()) {
                        long version = source.incrementAndGet();
                        cache.remove(1);
                        removed.set(version);
                    }
                    return source.get();
                };
        Callable<Long> reader =
                () -> {
                    while (!deadline.passed()) {
                        long atLeast = removed.get();
                        long value =
                                cache.get(
                                        1,
                                        key -> {
                                            long read = source.get();
                                            Thread.yield();
                                            return read;
                                        });
                        assertTrue(value >= atLeast, value + " after " + atLeast);
                    }
                    return 0L;
                };
        Stress.together(List.of(writer, reader, reader, reader));
    }

    /** Threads put, load, refresh and remove: each value is reported once. */
    @ParameterizedTest
    @EnumSource(Scheme.class)
    void reportsEachRemovalOnce(Scheme scheme) throws Exception {
        var reported = new ConcurrentHashMap<Long, Boolean>();
        var twice = new AtomicLong();
        var next = new AtomicLong();
        Cache<Integer, Long> cache =
                scheme.open(
                        CacheOptions.UNLIMITED
                                .maximumWeight(64, (Object key, Object value) -> (Integer) key % 4)
                                .expireAfterAccess(Duration.ofNanos(20_000))
                                .refreshAfterWrite(Duration.ofNanos(5_000))
                                .removalListener(
                                        (Object key, Object value, RemovalCause cause) -> {
                                            if (reported.put((Long) value, true) != null) {
                                                twice.incrementAndGet();
                                            }
                                        }));
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        Callable<Long> task =
                () -> {
                    var random = ThreadLocalRandom.current();
                    long put = 0;
                    while (!deadline.passed() && put < 20_000) {
                        int key = random.nextInt(KEYS);
                        switch (random.nextInt(8)) {
                            case 0 -> cache.remove(key);
                            case 1 -> cache.removeExpired();
                            case 2, 3 -> {
                                cache.put(key, next.incrementAndGet());
                                put++;
                            }
                            case 4 -> cache.get(key);
                            default -> cache.get(key, k -> -next.incrementAndGet());
                        }
                        assertTrue(cache.weight() <= 64, cache.weight() + " is too heavy");
                    }
                    return put;
                };
        long put = Stress.together(Collections.nCopies(THREADS, task)).stream().mapToLong(n -> n).sum();
        cache.clear();
        assertEquals(0, twice.get());
        assertEquals(put, reported.keySet().stream().filter(value -> value > 0).count());
    }

    /** Limits hold at all times, and a value that is found belongs to its key. */
    @ParameterizedTest
    @EnumSource(Scheme.class)
    void keepsItsLimits(Scheme scheme) throws Exception {
        int bound = 16;
        Cache<Integer, String> cache =
                scheme.open(
                        CacheOptions.UNLIMITED
                                .maximumSize(bound)
                                .timeToLive(Duration.ofNanos(50_000)));
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        Callable<Long> task =
                () -> {
                    var random = ThreadLocalRandom.current();
                    while (!deadline.passed()) {
                        int key = random.nextInt(KEYS);
                        switch (random.nextInt(8)) {
                            case 0 -> cache.put(key, "v" + key);
                            case 1 -> cache.remove(key);
                            case 2 -> cache.removeExpired();
                            case 3 -> assertEquals("v" + key, cache.get(key, k -> "v" + k));
                            default -> {
                                String found = cache.get(key);
                                assertTrue(found == null || found.equals("v" + key));
                            }
                        }
                        int size = cache.size();
                        assertTrue(size <= bound, size + " values");
                    }
                    return 0L;
                };
        Stress.together(Collections.nCopies(THREADS, task));
        cache.clear();
        assertEquals(0, cache.size());
    }
}
