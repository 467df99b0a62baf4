// SPDX-License-Identifier: Apache-2.0
// Checks a pool's guarantees with concurrent operations of all kinds, for the duration that Stress
// defines.
package benchlab.appserver.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.Stress;
import benchlab.appserver.pool.PoolOptions.Factory;
import benchlab.appserver.pool.PoolOptions.RequestOrder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PoolStressTest {

    private static final int THREADS = 6;
    private static final int LARGEST = 4;
    private static final int PARTS = 2 * 5;

    private final AtomicInteger living = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger resourcesMade = new AtomicInteger();

    /**
     * A resource that detects concurrent use. The plain counter checks that each holder sees the
     * changes of all previous holders.
     */
    private final class Resource {
        private final AtomicInteger users = new AtomicInteger();
        private final AtomicInteger ends = new AtomicInteger();
        private long plain;
        private long uses;

        Resource() {
            resourcesMade.incrementAndGet();
            most.accumulateAndGet(living.incrementAndGet(), Math::max);
        }

        void use() {
            assertEquals(1, users.incrementAndGet());
            assertEquals(0, ends.get());
            assertEquals(uses, plain);
            uses++;
            plain++;
            assertEquals(0, users.decrementAndGet());
        }

        void end() {
            assertEquals(0, users.get());
            assertEquals(1, ends.incrementAndGet());
            living.decrementAndGet();
        }
    }

    private PoolOptions<Resource> options(RequestOrder order, Factory<Resource> factory) {
        return PoolOptions.of(factory).destroy(Resource::end).order(order);
    }

    /**
     * Tests the lock-free path and the hand-over: no thread waits forever, and no resource is
     * leased twice.
     */
    @ParameterizedTest
    @EnumSource(RequestOrder.class)
    void leasesAndGivesBack(RequestOrder order) throws Exception {
        var pool = new Pool<>(2, options(order, Resource::new));
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        Callable<Long> task =
                () -> {
                    long leases = 0;
                    for (; !deadline.passed(); leases++) {
                        try (var lease = pool.lease()) {
                            lease.resource().use();
                        }
                    }
                    return leases;
                };
        long leases = sum(Stress.together(Collections.nCopies(THREADS, task)));
        assertEquals(leases, pool.statistics().leases());
        finish(pool, 2);
    }

    /** The pool has a resource for each thread, so all threads take the lock-free path. */
    @ParameterizedTest
    @EnumSource(RequestOrder.class)
    void leasesWithoutWaiting(RequestOrder order) throws Exception {
        var pool = new Pool<>(LARGEST, options(order, Resource::new));
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        Callable<Long> task =
                () -> {
                    long leases = 0;
                    for (; !deadline.passed(); leases++) {
                        try (var lease = pool.tryLease().orElseThrow()) {
                            lease.resource().use();
                        }
                    }
                    return leases;
                };
        sum(Stress.together(Collections.nCopies(LARGEST, task)));
        assertEquals(0, pool.statistics().waits());
        finish(pool, LARGEST);
    }

    /**
     * If multiple threads close one lease concurrently, one succeeds, and the resource becomes idle
     * once.
     */
    @ParameterizedTest
    @EnumSource(RequestOrder.class)
    void oneOfSeveralClosesSucceeds(RequestOrder order) throws Exception {
        var pool = new Pool<>(1, options(order, Resource::new));
        var shared = new AtomicReference<Lease<Resource>>();
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        Callable<Long> closer =
                () -> {
                    long balance = 0;
                    while (!deadline.passed()) {
                        Lease<Resource> lease = shared.get();
                        if (lease != null) {
                            try {
                                lease.close();
                                balance++;
                            } catch (IllegalStateException e) {
                                Thread.onSpinWait(); // Another thread closed it first.
                            }
                        }
                    }
                    return balance;
                };
        Callable<Long> leaser =
                () -> {
                    long balance = 0;
                    while (!deadline.passed() || shared.get() == null) {
                        var lease = pool.tryLease();
                        if (lease.isPresent()) {
                            lease.get().resource().use();
                            shared.set(lease.get());
                            balance--;
                        }
                    }
                    return balance;
                };
        long open = -sum(Stress.together(List.of(leaser, closer, closer)));
        if (open == 1) {
            shared.get().close();
        } else {
            assertEquals(0, open);
        }
        assertThrows(IllegalStateException.class, () -> shared.get().close());
        finish(pool, 1);
    }

    @ParameterizedTest
    @EnumSource(RequestOrder.class)
    void survivesEverythingAtOnce(RequestOrder order) throws Exception {
        survives(order, user -> user);
    }

    @ParameterizedTest
    @EnumSource(RequestOrder.class)
    void survivesEverythingInVirtualThreads(RequestOrder order) throws Exception {
        ExecutorService threads = VirtualThreads.executor();
        try {
            survives(order, user -> VirtualThreads.in(threads, user));
        } finally {
            threads.shutdown();
        }
    }

    private void survives(RequestOrder order, UnaryOperator<Callable<Long>> inThread)
            throws Exception {
        var options =
                options(order, this::makeOrFail)
                        .reset(Resource::use)
                        .validate(
                                resource -> {
                                    resource.use();
                                    return !chance(50);
                                })
                        .minIdle(1)
                        .idleTimeout(Duration.ofMillis(2))
                        .maxLifetime(Duration.ofMillis(9))
                        .keepAlive(Duration.ofMillis(1))
                        .leakThreshold(Duration.ofNanos(100_000))
                        .leakListener(report -> assertTrue(report.held().toNanos() > 0));
        var pool = new Pool<>(LARGEST, options);
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        Callable<Long> user = inThread.apply(() -> use(pool, deadline));
        List<Callable<Long>> tasks = new ArrayList<>(Collections.nCopies(THREADS, user));
        tasks.add(
                () -> {
                    while (!deadline.passed()) {
                        pool.resize(1 + ThreadLocalRandom.current().nextInt(LARGEST));
                        if (chance(10)) {
                            pool.softEvict();
                        }
                        PoolStatistics statistics = pool.statistics();
                        assertTrue(statistics.size() <= LARGEST, statistics.toString());
                        assertTrue(statistics.inUse() <= statistics.size(), statistics.toString());
                        Thread.sleep(1);
                    }
                    return 0L;
                });
        assertTrue(sum(Stress.together(tasks)) > 0);
        assertEquals(0, pool.statistics().waiting());
        finish(pool, LARGEST);
    }

    private static long use(Pool<Resource> pool, Stress.Deadline deadline) {
        long leases = 0;
        while (!deadline.passed() || leases == 0) {
            if (chance(20)) {
                Thread.currentThread().interrupt();
            }
            try (var lease = any(pool)) {
                if (lease != null) {
                    lease.resource().use();
                    leases++;
                    if (chance(30)) {
                        lease.markBroken();
                    }
                    if (chance(5)) {
                        Thread.yield();
                    }
                }
            } catch (InterruptedException | TimeoutException | ResourceException e) {
                // Provoked by this test; the final state is checked at the end.
            }
            Thread.interrupted();
        }
        return leases;
    }

    private static Lease<Resource> any(Pool<Resource> pool)
            throws InterruptedException, TimeoutException {
        return switch (ThreadLocalRandom.current().nextInt(3)) {
            case 0 -> pool.lease();
            case 1 -> pool.lease(Duration.ofNanos(ThreadLocalRandom.current().nextInt(200_000)));
            default -> pool.tryLease().orElse(null);
        };
    }

    private void finish(Pool<Resource> pool, int capacity) throws InterruptedException {
        assertEquals(0, pool.statistics().inUse());
        pool.close();
        assertTrue(pool.awaitTermination(Duration.ofMinutes(5)));
        assertEquals(0, living.get());
        assertTrue(most.get() <= capacity, most + " concurrently");
        assertEquals(resourcesMade.get(), pool.statistics().made());
        assertEquals(0, pool.statistics().reclaimed());
    }

    private Resource makeOrFail() throws IOException {
        if (chance(10)) {
            throw new IOException("failing as requested");
        }
        return new Resource();
    }

    private static boolean chance(int odds) {
        return ThreadLocalRandom.current().nextInt(odds) == 0;
    }

    private static long sum(List<Long> values) {
        return values.stream().mapToLong(n -> n).sum();
    }
}
