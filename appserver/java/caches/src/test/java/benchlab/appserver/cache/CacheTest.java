// SPDX-License-Identifier: Apache-2.0
// Tests the common behavior of all cache implementations: limits, loading once, failures, removals.
package benchlab.appserver.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.Stress;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(600)
class CacheTest {

    enum Scheme {
        SYNCHRONIZED(SynchronizedCache::new),
        READ_WRITE_LOCK(ReadWriteLockCache::new),
        COPY_ON_WRITE(CopyOnWriteCache::new),
        CONCURRENT(ConcurrentCache::new);

        private final Function<CacheOptions<Object, Object>, Cache<Object, Object>> make;

        Scheme(Function<CacheOptions<Object, Object>, Cache<Object, Object>> make) {
            this.make = make;
        }

        @SuppressWarnings("unchecked") // An empty cache fits any type.
        <K, V> Cache<K, V> open(CacheOptions<? super K, ? super V> options) {
            return (Cache<K, V>) make.apply((CacheOptions<Object, Object>) options);
        }

        <K, V> Cache<K, V> open() {
            return open(CacheOptions.UNLIMITED);
        }
    }

    private static final Loader<String, Integer> NEVER =
            key -> {
                throw new AssertionError("must not be loaded: " + key);
            };

    private long now = Long.MAX_VALUE - 5; // The clock wraps around during the tests.

    @ParameterizedTest
    @EnumSource
    void keepsWhatIsPut(Scheme scheme) {
        for (var options : List.of(CacheOptions.UNLIMITED, CacheOptions.UNLIMITED.maximumSize(9))) {
            Cache<String, Integer> cache = scheme.open(options);
            assertNull(cache.get("a"));
            cache.put("a", 1);
            cache.putAll(Map.of("b", 2, "c", 3));
            cache.put("a", 4);
            assertEquals(List.of(4, 2, 3), List.of(cache.get("a"), cache.get("b"), cache.get("c")));
            assertEquals(3, cache.size());
            assertTrue(cache.remove("b"));
            assertFalse(cache.remove("b"));
            assertNull(cache.get("b"));
            assertEquals(2, cache.size());
            cache.clear();
            assertEquals(0, cache.size());
            assertNull(cache.get("a"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void refusesNull(Scheme scheme) {
        for (var options : List.of(CacheOptions.UNLIMITED, CacheOptions.UNLIMITED.maximumSize(1))) {
            Cache<String, Integer> cache = scheme.open(options);
            cache.put("a", 1);
            assertThrows(NullPointerException.class, () -> cache.get(null));
            assertThrows(NullPointerException.class, () -> cache.get(null, NEVER));
            assertThrows(NullPointerException.class, () -> cache.put(null, 1));
            assertThrows(NullPointerException.class, () -> cache.put("b", null));
            assertThrows(NullPointerException.class, () -> cache.remove(null));
            assertEquals(1, cache.get("a"));
            assertEquals(1, cache.size());
        }
    }

    @ParameterizedTest
    @EnumSource
    void valuesGrowTooOld(Scheme scheme) throws Exception {
        Cache<String, Integer> cache = scheme.open(tenNanoseconds());
        cache.put("a", 1);
        now += 5;
        cache.put("b", 2);
        now += 4;
        assertEquals(1, cache.get("a"));
        now += 1;
        assertNull(cache.get("a"));
        assertEquals(2, cache.get("b"));
        assertEquals(2, cache.size());
        assertFalse(cache.remove("a"));
        now += 5;
        assertNull(cache.get("b"));
        assertEquals(3, cache.get("b", key -> 3));
        assertEquals(1, cache.size());
        now += 10;
        cache.removeExpired();
        assertEquals(0, cache.size());
    }

    @ParameterizedTest
    @EnumSource
    void aWriteRemovesWhatIsTooOld(Scheme scheme) {
        Cache<Integer, Integer> cache = scheme.open(tenNanoseconds());
        for (int k = 0; k < 100; k++) {
            cache.put(k, k);
        }
        now += 10;
        cache.put(100, 100);
        assertEquals(1, cache.size());
    }

    private CacheOptions<Object, Object> tenNanoseconds() {
        return CacheOptions.UNLIMITED.timeToLive(Duration.ofNanos(10)).clock(() -> now);
    }

    @Test
    void refusesLimitsOutOfRange() {
        var options = CacheOptions.UNLIMITED;
        assertThrows(IllegalArgumentException.class, () -> options.maximumSize(0));
        for (var time : List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofDays(36_501))) {
            assertThrows(IllegalArgumentException.class, () -> options.timeToLive(time));
        }
    }

    @ParameterizedTest
    @EnumSource
    void loadsWhatIsMissing(Scheme scheme) throws Exception {
        Cache<String, Integer> cache = scheme.open();
        assertEquals(3, cache.get("abc", String::length));
        assertEquals(3, cache.get("abc", NEVER));
        assertEquals(3, cache.get("abc"));
    }

    /** The loader blocks until all other threads wait for its value. */
    @ParameterizedTest
    @EnumSource
    void loadsOnceForAllWhoMissAtOnce(Scheme scheme) throws Exception {
        Cache<String, Object> cache = scheme.open();
        var calls = new AtomicInteger();
        var threads = Collections.synchronizedSet(new HashSet<Thread>());
        Loader<String, Object> slow =
                key -> {
                    calls.incrementAndGet();
                    untilAllWaitBut(Thread.currentThread(), threads, 5);
                    return new Object();
                };
        Callable<Object> task =
                () -> {
                    threads.add(Thread.currentThread());
                    return cache.get("key", slow);
                };
        List<Object> values = Stress.together(Collections.nCopies(5, task));
        assertEquals(1, calls.get());
        assertTrue(values.stream().allMatch(value -> value == cache.get("key")));
    }

    @ParameterizedTest
    @EnumSource
    void aFailureReachesAllWhoWaitAndIsNotKept(Scheme scheme) throws Exception {
        Cache<String, Integer> cache = scheme.open();
        var failure = new IOException("no route");
        var threads = Collections.synchronizedSet(new HashSet<Thread>());
        Loader<String, Integer> failing =
                key -> {
                    untilAllWaitBut(Thread.currentThread(), threads, 4);
                    throw failure;
                };
        Callable<LoadException> task =
                () -> {
                    threads.add(Thread.currentThread());
                    return assertThrows(LoadException.class, () -> cache.get("key", failing));
                };
        List<LoadException> failures = Stress.together(Collections.nCopies(4, task));
        assertTrue(failures.stream().allMatch(exception -> exception.getCause() == failure));
        assertEquals(4, failures.stream().distinct().count());
        assertNull(cache.get("key"));
        assertEquals(7, cache.get("key", key -> 7));
    }

    /** A key that calls a hook before the first use of its hash in the thread that sets the hook. */
    private static final class HookedKey {
        private final ThreadLocal<Runnable> hook = new ThreadLocal<>();

        @Override
        public int hashCode() {
            Runnable next = hook.get();
            hook.remove();
            if (next != null) {
                next.run();
            }
            return 1;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }
    }

    /** Checks that no later call gets the failure, even before the loading thread has returned. */
    @ParameterizedTest
    @EnumSource
    void aLoadThatHasFailedIsNotFound(Scheme scheme) {
        Cache<HookedKey, Integer> cache = scheme.open();
        var key = new HookedKey();
        var other = new FutureTask<>(() -> cache.get(key, k -> 7, Duration.ZERO));
        Runnable callAgain =
                () -> {
                    new Thread(other).start();
                    var thrown = assertThrows(ExecutionException.class, other::get);
                    assertSame(LoadTimeoutException.class, thrown.getCause().getClass());
                };
        Loader<HookedKey, Integer> failing =
                k -> {
                    k.hook.set(callAgain);
                    throw new IOException("no route");
                };
        assertThrows(LoadException.class, () -> cache.get(key, failing));
        assertTrue(other.isDone());
        assertEquals(7, cache.get(key, k -> 7));
    }

    @ParameterizedTest
    @EnumSource
    void errorsAndNullAreFailuresToo(Scheme scheme) throws Exception {
        Cache<String, Integer> cache = scheme.open();
        var error = new StackOverflowError("in the loader");
        Loader<String, Integer> deep =
                key -> {
                    throw error;
                };
        assertSame(error, assertThrows(StackOverflowError.class, () -> cache.get("a", deep)));
        assertTrue(
                assertThrows(LoadException.class, () -> cache.get("a", key -> null)).getCause()
                        instanceof NullPointerException);
        assertEquals(1, cache.get("a", String::length));
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptInTheLoaderIsKept(Scheme scheme) {
        Cache<String, Integer> cache = scheme.open();
        Loader<String, Integer> interrupted =
                key -> {
                    throw new InterruptedException();
                };
        assertThrows(LoadException.class, () -> cache.get("a", interrupted));
        assertTrue(Thread.interrupted());
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptEndsTheWaitForAnotherOnesLoader(Scheme scheme) throws Exception {
        Cache<String, Integer> cache = scheme.open();
        var loading = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        var loader =
                start(
                        () ->
                                cache.get(
                                        "key",
                                        key -> {
                                            loading.countDown();
                                            release.await();
                                            return 1;
                                        }));
        loading.await();
        Thread.currentThread().interrupt();
        var failure = assertThrows(LoadException.class, () -> cache.get("key", NEVER));
        assertTrue(failure.getCause() instanceof InterruptedException);
        assertTrue(Thread.interrupted());
        release.countDown();
        assertEquals(1, loader.get());
        assertEquals(1, cache.get("key", NEVER));
    }

    @ParameterizedTest
    @EnumSource
    void aLoaderMayAskForOtherKeys(Scheme scheme) throws Exception {
        Cache<Integer, Integer> cache = scheme.open();
        assertEquals(5050, sumTo(cache, 100));
        assertEquals(101, cache.size());
    }

    private static int sumTo(Cache<Integer, Integer> cache, int n) {
        return cache.get(n, key -> key == 0 ? 0 : key + sumTo(cache, key - 1));
    }

    @ParameterizedTest
    @EnumSource
    void aLoaderThatAsksForItsOwnKeyFails(Scheme scheme) throws Exception {
        Cache<String, Integer> cache = scheme.open();
        LoadException failure =
                assertThrows(
                        LoadException.class, () -> cache.get("a", key -> cache.get("a", NEVER)));
        assertTrue(failure.getCause() instanceof LoadException);
        assertEquals(1, cache.get("a", String::length));
    }

    /**
     * Checks that no thread hangs if each of three threads loads a key that the next thread needs,
     * in two caches.
     */
    @ParameterizedTest
    @EnumSource
    void loadersThatWaitForEachOtherFail(Scheme scheme) throws Exception {
        List<Cache<Integer, Integer>> caches = List.of(scheme.open(), scheme.open());
        var barrier = new CyclicBarrier(3);
        List<Callable<Boolean>> tasks =
                List.of(
                        () -> fails(caches, barrier, 0),
                        () -> fails(caches, barrier, 1),
                        () -> fails(caches, barrier, 2));
        assertEquals(List.of(true, true, true), Stress.together(tasks));
        assertEquals(0, caches.get(0).size() + caches.get(1).size());
    }

    private static boolean fails(
            List<Cache<Integer, Integer>> caches, CyclicBarrier barrier, int number) {
        Loader<Integer, Integer> needsNext =
                key -> {
                    barrier.await();
                    int next = (key + 1) % 3;
                    return caches.get(next % 2).get(next, k -> 0);
                };
        assertThrows(LoadException.class, () -> caches.get(number % 2).get(number, needsNext));
        return true;
    }

    @ParameterizedTest
    @EnumSource
    void aValueThatIsPutWhileItLoadsIsKept(Scheme scheme) throws Exception {
        Cache<String, String> cache = scheme.open();
        String loaded =
                cache.get(
                        "key",
                        key -> {
                            cache.put("key", "put");
                            return "loaded";
                        });
        assertEquals("put", loaded);
        assertEquals("put", cache.get("key"));
    }

    /**
     * A value whose key is removed during the load is not stored, because it may be older than the
     * removal.
     */
    @ParameterizedTest
    @EnumSource
    void aValueWhoseKeyIsRemovedWhileItLoadsIsNotKept(Scheme scheme) throws Exception {
        Cache<String, String> cache = scheme.open();
        for (Runnable removal : List.<Runnable>of(() -> cache.remove("key"), cache::clear)) {
            String loaded =
                    cache.get(
                            "key",
                            key -> {
                                removal.run();
                                var other = start(() -> cache.get("key", k -> "new"));
                                assertEquals("new", other.get());
                                cache.remove("key");
                                return "old";
                            });
            assertEquals("old", loaded);
            assertNull(cache.get("key"));
        }
    }

    /**
     * A value that was put during the load is newer than the loaded value, even if it has been
     * evicted since.
     */
    @ParameterizedTest
    @EnumSource
    void aValueThatIsOlderThanAChangeIsNotKept(Scheme scheme) throws Exception {
        Cache<String, String> cache = scheme.open(CacheOptions.UNLIMITED.maximumSize(1));
        String loaded =
                cache.get(
                        "key",
                        key -> {
                            cache.put("key", "put");
                            cache.put("other", "put");
                            return "old";
                        });
        assertEquals("old", loaded);
        assertNull(cache.get("key"));
        assertEquals(
                "put",
                cache.get(
                        "key",
                        key -> {
                            cache.putAll(Map.of("key", "put"));
                            return "old";
                        }));
        assertEquals("put", cache.get("key"));
    }

    @ParameterizedTest
    @EnumSource
    void aTimeoutEndsTheWaitForAnotherOnesLoader(Scheme scheme) throws Exception {
        Cache<String, Integer> cache = scheme.open();
        var loading = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        var loader =
                start(
                        () ->
                                cache.get(
                                        "key",
                                        key -> {
                                            loading.countDown();
                                            release.await();
                                            return 1;
                                        }));
        loading.await();
        assertThrows(
                LoadTimeoutException.class, () -> cache.get("key", NEVER, Duration.ofMillis(20)));
        release.countDown();
        assertEquals(1, loader.get());
        assertEquals(1, cache.get("key", NEVER, Duration.ZERO));
    }

    /**
     * A key that cannot be compared after {@code fails} is set. All keys have the same hash code.
     */
    private record Fragile(String name, AtomicBoolean fails) {
        @Override
        public int hashCode() {
            return 1;
        }

        @Override
        public boolean equals(Object other) {
            if (fails.get() || ((Fragile) other).fails.get()) {
                throw new IllegalStateException("cannot compare " + name);
            }
            return other instanceof Fragile key && key.name.equals(name);
        }
    }

    /**
     * Checks that a failed write loses no entry, and that the limits still apply to every entry.
     */
    @ParameterizedTest
    @EnumSource
    void aWriteThatFailsChangesNothing(Scheme scheme) {
        Cache<Fragile, Integer> cache = scheme.open(CacheOptions.UNLIMITED.maximumSize(3));
        var fails = new AtomicBoolean();
        var first = new Fragile("first", new AtomicBoolean());
        var other = new Fragile("other", fails);
        cache.put(first, 1);
        cache.put(other, 2);
        fails.set(true);
        assertEquals(1, cache.get(first)); // Found before the other key is compared.
        for (int k = 0; k < 100; k++) {
            var fresh = new Fragile("new", fails);
            assertThrows(IllegalStateException.class, () -> cache.put(fresh, 3));
            assertThrows(IllegalStateException.class, () -> cache.remove(fresh));
            try {
                cache.put(first, 4);
            } catch (IllegalStateException e) {
                // May or may not be compared with the other key.
            }
        }
        fails.set(false);
        assertEquals(2, cache.size());
        assertTrue(Set.of(1, 4).contains(cache.get(first)));
        assertEquals(2, cache.get(other));
        for (int k = 0; k < 10; k++) {
            cache.put(new Fragile("key " + k, fails), k);
            assertTrue(cache.size() <= 3);
        }
        cache.remove(first);
        cache.remove(other);
        assertTrue(cache.size() >= 1);
        for (int k = 0; k < 10; k++) {
            cache.put(new Fragile("key " + k, fails), k);
            assertTrue(cache.size() <= 3);
        }
        cache.clear();
        assertEquals(0, cache.size());
    }

    private static <T> FutureTask<T> start(Callable<T> work) {
        var task = new FutureTask<>(work);
        new Thread(task).start();
        return task;
    }

    private static void untilAllWaitBut(Thread loader, Set<Thread> threads, int number)
            throws InterruptedException {
        while (threads.size() < number
                || threads.stream()
                        .anyMatch(t -> t != loader && t.getState() != Thread.State.WAITING)) {
            Thread.sleep(1);
        }
    }
}
