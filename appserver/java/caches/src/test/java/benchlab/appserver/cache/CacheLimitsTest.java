// SPDX-License-Identifier: Apache-2.0
// Tests eviction, weights, expiry, refreshes, removal listeners and statistics of all caches.
package benchlab.appserver.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.cache.CacheTest.Scheme;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(600)
class CacheLimitsTest {

    private static final CacheOptions<Object, Object> UNLIMITED = CacheOptions.UNLIMITED;

    // Exact results of S3-FIFO
    private static final double EXPECTED_LOOP = 0.64;
    private static final double EXPECTED_SCANS = 0.28;

    private long now = Long.MAX_VALUE - 5; // The clock wraps around during the tests.

    private final List<String> removed = new ArrayList<>();

    private static Duration ns(long time) {
        return Duration.ofNanos(time);
    }

    private CacheOptions<Object, Object> clocked() {
        return UNLIMITED
                .clock(() -> now)
                .removalListener((key, value, cause) -> removed.add(key + "=" + value + " " + cause));
    }

    private void expectRemoved(String... expected) {
        assertEquals(Arrays.asList(expected), removed);
        removed.clear();
    }

    // Eviction

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void neverHoldsMoreThanItsMaximum(Scheme scheme) {
        for (int maximum : List.of(1, 2, 3, 10)) {
            Cache<Integer, Integer> cache = scheme.open(UNLIMITED.maximumSize(maximum));
            var random = new Random(maximum);
            for (int turn = 0; turn < 2000; turn++) {
                int key = random.nextInt(2 * maximum + 1);
                cache.put(key, turn);
                assertEquals(turn, cache.get(key));
                cache.get(random.nextInt(2 * maximum + 1));
                assertTrue(cache.size() <= maximum);
            }
            assertEquals(maximum, cache.size());
            var more = new LinkedHashMap<Integer, Integer>();
            for (int key = 100; key < 100 + 3 * maximum; key++) {
                more.put(key, key);
            }
            cache.putAll(more);
            assertEquals(maximum, cache.size());
        }
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void aScanDoesNotEvictWhatIsRead(Scheme scheme) {
        Cache<Integer, Integer> cache = scheme.open(UNLIMITED.maximumSize(100));
        for (int key = 0; key < 50; key++) {
            cache.put(key, key);
            cache.get(key);
            cache.get(key);
        }
        for (int key = 1000; key < 2000; key++) {
            cache.put(key, key);
        }
        for (int key = 0; key < 50; key++) {
            assertEquals(key, cache.get(key));
        }
        assertEquals(100, cache.size());
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void aKeyThatReturnsAfterItsEvictionIsKept(Scheme scheme) {
        Cache<Integer, Integer> cache = scheme.open(UNLIMITED.maximumSize(20));
        for (int key = 0; key <= 20; key++) {
            cache.put(key, key);
        }
        assertNull(cache.get(0));
        cache.put(0, 0);
        for (int key = 1000; key < 1100; key++) {
            cache.put(key, key);
        }
        assertEquals(0, cache.get(0));
        assertNull(cache.get(20));
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void whatIsNoLongerReadLeaves(Scheme scheme) {
        Cache<Integer, Integer> cache = scheme.open(UNLIMITED.maximumSize(20));
        for (int generation = 0; generation < 20; generation++) {
            for (int turn = 0; turn < 30; turn++) {
                for (int key = 20 * generation; key < 20 * generation + 15; key++) {
                    cache.get(key, k -> k);
                }
            }
            int found = 0;
            for (int key = 20 * generation; key < 20 * generation + 15; key++) {
                found += cache.get(key) == null ? 0 : 1;
            }
            assertTrue(found >= 12, found + " of 15");
        }
    }

    /**
     * The expected hit rates come from the simulation of S3-FIFO in benches/cache_hit_rates.py,
     * which remembers evictions exactly.
     */
    @ParameterizedTest
    @EnumSource(
            value = Scheme.class,
            names = {"SYNCHRONIZED", "CONCURRENT"})
    void hitsAsOftenAsS3Fifo(Scheme scheme) {
        Cache<Integer, Integer> loop = scheme.open(UNLIMITED.maximumSize(100).recordStatistics());
        for (int turn = 0; turn < 20_000; turn++) {
            loop.get(turn % 125, key -> key);
        }
        assertEquals(EXPECTED_LOOP, loop.statistics().hitRate(), 0.03);
        Cache<Integer, Integer> scans = scheme.open(UNLIMITED.maximumSize(100).recordStatistics());
        long state = 1;
        for (int turn = 0; turn < 40_000; turn++) {
            if (turn / 200 % 2 == 1) {
                scans.get(1_000_000 + turn, key -> key);
            } else {
                state = state * 6364136223846793005L + 1442695040888963407L;
                scans.get((int) Math.pow(2000, (state >>> 11) / (double) (1L << 53)), key -> key);
            }
        }
        assertEquals(EXPECTED_SCANS, scans.statistics().hitRate(), 0.03);
    }

    // Weights

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void weightsAreBounded(Scheme scheme) {
        Cache<Integer, Integer> cache =
                scheme.open(
                        clocked().maximumWeight(100, (Object key, Object value) -> (int) value));
        var random = new Random(1);
        for (int turn = 0; turn < 3000; turn++) {
            cache.put(random.nextInt(40), random.nextInt(60));
            cache.get(random.nextInt(40));
            assertTrue(cache.weight() <= 100, cache.weight() + " is too heavy");
        }
        long sum = 0;
        for (int key = 0; key < 40; key++) {
            Integer value = cache.get(key);
            sum += value == null ? 0 : value;
        }
        assertEquals(sum, cache.weight());
        cache.clear();
        assertEquals(0, cache.weight());
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void whatIsTooHeavyIsNotStored(Scheme scheme) {
        Cache<String, Integer> cache =
                scheme.open(clocked().maximumWeight(10, (Object key, Object value) -> (int) value));
        cache.put("a", 4);
        cache.put("b", 6);
        cache.put("b", 11);
        assertNull(cache.get("b"));
        assertEquals(4, cache.get("a"));
        expectRemoved("b=6 REPLACED", "b=11 SIZE");
        assertEquals(20, cache.get("c", key -> 20));
        assertNull(cache.get("c"));
        expectRemoved("c=20 SIZE");
        cache.put("d", 0);
        cache.put("e", 10);
        assertEquals(0, cache.get("d")); // Weighs nothing: evicting it would not help.
        expectRemoved("a=4 SIZE");
        assertThrows(IllegalArgumentException.class, () -> cache.put("a", -1));
        assertEquals(10, cache.weight());
        assertEquals(2, cache.size());
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void aValueThatGetsHeavierEvictsOthers(Scheme scheme) {
        Cache<String, Integer> cache =
                scheme.open(clocked().maximumWeight(10, (Object key, Object value) -> (int) value));
        cache.put("a", 3);
        cache.put("b", 3);
        cache.put("c", 3);
        cache.put("a", 7);
        assertEquals(7, cache.get("a"));
        assertEquals(3, cache.get("c"));
        assertEquals(10, cache.weight());
        expectRemoved("b=3 SIZE", "a=3 REPLACED");
    }

    // Expiry

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void entriesHaveTheirOwnTimeToLive(Scheme scheme) {
        Cache<String, Integer> cache = scheme.open(clocked().timeToLive(ns(10)));
        cache.put("default", 1);
        cache.put("short", 2, ns(3));
        cache.put("long", 3, ns(1_000_000));
        now += 3;
        assertNull(cache.get("short"));
        assertEquals(1, cache.get("default"));
        now += 7;
        assertNull(cache.get("default"));
        assertEquals(3, cache.get("long"));
        cache.removeExpired();
        assertEquals(1, cache.size());
        expectRemoved("default=1 EXPIRED", "short=2 EXPIRED");
        now += 999_989;
        assertEquals(3, cache.get("long"));
        now += 1;
        assertNull(cache.get("long"));
        cache.removeExpired();
        assertEquals(0, cache.size());
        assertThrows(IllegalArgumentException.class, () -> cache.put("a", 1, Duration.ZERO));
        Cache<String, Integer> plain = scheme.open(UNLIMITED.maximumSize(3));
        assertThrows(IllegalStateException.class, () -> plain.put("a", 1, ns(1)));
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void theTimeToLiveDependsOnTheValue(Scheme scheme) {
        Cache<String, Integer> cache =
                scheme.open(
                        clocked()
                                .timeToLiveOf(
                                        (Object key, Object value) ->
                                                (int) value == 0 ? null : ns((int) value)));
        cache.put("a", 5);
        assertEquals(7, cache.get("b", key -> 7));
        cache.put("c", 0);
        now += 5;
        assertNull(cache.get("a"));
        assertEquals(7, cache.get("b"));
        now += 2;
        assertNull(cache.get("b"));
        now += 1_000_000_000;
        assertEquals(0, cache.get("c"));
        cache.put("d", -1 + 2);
        assertEquals(2, cache.size());
        expectRemoved("a=5 EXPIRED", "b=7 EXPIRED");
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void valuesThatAreNotReadExpire(Scheme scheme) {
        Cache<String, Integer> cache =
                scheme.open(clocked().expireAfterAccess(ns(10)).timeToLive(ns(100)));
        cache.put("a", 1);
        cache.put("b", 2);
        for (int turn = 0; turn < 11; turn++) {
            now += 9;
            assertEquals(1, cache.get("a"));
        }
        assertNull(cache.get("b"));
        now += 1; // The time to live has passed.
        assertNull(cache.get("a"));
        cache.removeExpired();
        assertEquals(0, cache.size());
        assertEquals(2, removed.size());
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void aWriteGivesBackTheMemoryOfExpiredValues(Scheme scheme) {
        Cache<Integer, Integer> cache =
                scheme.open(clocked().expireAfterAccess(Duration.ofSeconds(1)));
        for (int key = 0; key < 1000; key++) {
            cache.put(key, key);
            now += 1000;
        }
        now += Duration.ofSeconds(1).toNanos() - 100_001;
        for (int key = 900; key < 1000; key++) {
            assertEquals(key, cache.get(key));
        }
        now += Duration.ofMillis(1).toNanos();
        cache.put(1000, 1000);
        assertEquals(101, cache.size());
        assertEquals(900, removed.stream().filter(each -> each.endsWith(" EXPIRED")).count());
    }

    // Refreshes

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void aValueIsRefreshed(Scheme scheme) {
        Cache<String, Integer> cache = scheme.open(clocked().refreshAfterWrite(ns(10)));
        var loads = new AtomicInteger();
        Loader<String, Integer> loader = key -> loads.incrementAndGet();
        assertEquals(1, cache.get("a", loader));
        now += 9;
        assertEquals(1, cache.get("a", loader));
        now += 1;
        assertEquals(1, cache.get("a")); // Has no loader.
        assertEquals(2, cache.get("a", loader));
        assertEquals(2, cache.get("a", loader));
        expectRemoved("a=1 REPLACED");
        now += 10;
        assertEquals(
                2,
                cache.get(
                        "a",
                        key -> {
                            throw new IOException("no route");
                        }));
        now += 9;
        assertEquals(2, cache.get("a", loader)); // The next attempt is later.
        now += 1;
        assertEquals(3, cache.get("a", loader));
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void othersGetTheCurrentValueDuringARefresh(Scheme scheme) throws Exception {
        Cache<String, Integer> cache = scheme.open(clocked().refreshAfterWrite(ns(10)));
        cache.put("a", 1);
        cache.put("b", 1);
        now += 10;
        for (String key : List.of("a", "b")) {
            var loading = new CountDownLatch(1);
            var release = new CountDownLatch(1);
            var refresh =
                    new FutureTask<>(
                            () ->
                                    cache.get(
                                            key,
                                            k -> {
                                                loading.countDown();
                                                release.await();
                                                return 2;
                                            }));
            new Thread(refresh).start();
            loading.await();
            assertEquals(1, cache.get(key, k -> 3));
            if (key.equals("b")) {
                assertTrue(cache.remove(key)); // The value that is being loaded may be older.
            }
            release.countDown();
            assertEquals(key.equals("b") ? 1 : 2, refresh.get());
            assertEquals(key.equals("b") ? null : 2, cache.get(key));
        }
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void anExecutorRefreshes(Scheme scheme) {
        var tasks = new ArrayList<Runnable>();
        Cache<String, Integer> cache =
                scheme.open(clocked().refreshAfterWrite(ns(10)).executor(tasks::add));
        cache.put("a", 1);
        now += 10;
        assertEquals(1, cache.get("a", key -> 2));
        assertEquals(1, cache.get("a", key -> 3));
        assertEquals(1, tasks.size());
        tasks.get(0).run();
        assertEquals(2, cache.get("a", key -> 3));
    }

    /** Checks that a task that the executor drops or delays does not end the refreshes of its key. */
    @ParameterizedTest
    @EnumSource(Scheme.class)
    void anExecutorMayDropARefresh(Scheme scheme) {
        var tasks = new ArrayList<Runnable>();
        Cache<String, Integer> cache =
                scheme.open(clocked().refreshAfterWrite(ns(10)).executor(tasks::add));
        cache.put("a", 1);
        for (int k = 1; k <= 2; k++) {
            now += 10;
            assertEquals(1, cache.get("a", key -> 2));
            assertEquals(k, tasks.size());
        }
        tasks.get(1).run();
        assertEquals(2, cache.get("a"));
        cache.put("a", 3);
        tasks.get(0).run();
        assertEquals(3, cache.get("a"));
    }

    /** A caller that finds no value loads it if the executor has not begun to refresh it. */
    @ParameterizedTest
    @EnumSource(Scheme.class)
    void aMissDoesNotWaitForTheExecutor(Scheme scheme) throws Exception {
        var tasks = new ArrayList<Runnable>();
        Cache<String, Integer> cache =
                scheme.open(
                        clocked()
                                .refreshAfterWrite(ns(10))
                                .timeToLive(ns(15))
                                .executor(tasks::add));
        for (String key : List.of("same thread", "other thread")) {
            cache.put(key, 1);
            now += 10;
            assertEquals(1, cache.get(key, k -> 2));
            now += 5; // The value expires before the executor runs the task.
            var miss = new FutureTask<>(() -> cache.get(key, k -> 3, Duration.ofSeconds(60)));
            if (key.equals("same thread")) {
                miss.run();
            } else {
                new Thread(miss).start();
            }
            assertEquals(3, miss.get());
            tasks.remove(0).run();
            assertEquals(3, cache.get(key));
            now += 10;
            assertEquals(3, cache.get(key, k -> 4));
            tasks.remove(0).run();
            assertEquals(4, cache.get(key));
        }
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void anExecutorThatFailsDoesNotEndTheRefreshes(Scheme scheme) throws Throwable {
        List<Throwable> failures =
                List.of(
                        new RejectedExecutionException(),
                        new IllegalStateException("no executor"),
                        new OutOfMemoryError("unable to create native thread"));
        for (Throwable failure : failures) {
            boolean[] fails = {true};
            Cache<String, Integer> cache =
                    scheme.open(
                            clocked()
                                    .refreshAfterWrite(ns(10))
                                    .executor(
                                            task -> {
                                                if (fails[0]) {
                                                    CacheLimitsTest.<RuntimeException>fail(failure);
                                                }
                                                task.run();
                                            }));
            cache.put("a", 1);
            now += 10;
            if (failure instanceof RejectedExecutionException) {
                assertEquals(1, cache.get("a", key -> 2));
            } else {
                assertSame(
                        failure,
                        assertThrows(failure.getClass(), () -> cache.get("a", key -> 2)));
            }
            assertEquals(1, cache.get("a", key -> 2)); // The next attempt is later.
            fails[0] = false;
            now += 10;
            assertEquals(3, cache.get("a", key -> 3));
        }
    }

    @SuppressWarnings("unchecked") // Throws unchecked exceptions and errors.
    private static <E extends Throwable> void fail(Throwable failure) throws E {
        throw (E) failure;
    }

    // Listeners and statistics

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void listenersGetTheCause(Scheme scheme) {
        Cache<String, Integer> cache =
                scheme.open(clocked().maximumSize(2).timeToLive(ns(10)));
        cache.put("a", 1);
        cache.put("a", 2);
        expectRemoved("a=1 REPLACED");
        assertTrue(cache.remove("a"));
        assertFalse(cache.remove("a"));
        expectRemoved("a=2 EXPLICIT");
        cache.put("a", 3);
        cache.put("b", 4);
        cache.put("c", 5);
        expectRemoved("a=3 SIZE");
        now += 10;
        assertFalse(cache.remove("b"));
        expectRemoved("b=4 EXPIRED");
        cache.put("d", 6);
        expectRemoved("c=5 EXPIRED");
        cache.clear();
        expectRemoved("d=6 EXPLICIT");
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void aListenerMayFailAndUseTheCache(Scheme scheme) {
        var cache = new ArrayList<Cache<String, Integer>>();
        cache.add(
                scheme.open(
                        UNLIMITED.removalListener(
                                (Object key, Object value, RemovalCause cause) -> {
                                    if (key.equals("a")) {
                                        cache.get(0).put("b", (Integer) value);
                                        throw new IllegalStateException("as expected");
                                    }
                                })));
        cache.get(0).put("a", 1);
        assertTrue(cache.get(0).remove("a"));
        assertEquals(1, cache.get(0).get("b"));
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void countsAreThoseOfTheCalls(Scheme scheme) {
        Cache<String, Integer> cache =
                scheme.open(
                        clocked()
                                .recordStatistics()
                                .timeToLive(ns(10))
                                .maximumWeight(10, (Object key, Object value) -> (int) value));
        assertNull(cache.get("a"));
        assertEquals(4, cache.get("a", key -> 4));
        assertEquals(4, cache.get("a", key -> 5));
        assertThrows(LoadException.class, () -> cache.get("b", key -> null));
        cache.put("b", 4);
        cache.put("c", 3); // Evicts a.
        now += 10;
        assertNull(cache.get("b"));
        cache.removeExpired();
        assertEquals(new CacheStatistics(1, 4, 1, 1, 1, 4, 2), cache.statistics());
        assertEquals(0.2, cache.statistics().hitRate());
        Cache<String, Integer> silent = scheme.open(UNLIMITED);
        silent.get("a");
        assertEquals(CacheStatistics.NONE, silent.statistics());
    }
}
