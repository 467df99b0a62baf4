// SPDX-License-Identifier: Apache-2.0
// Tests a pool's guarantees for holders, waiting threads and failures.
package benchlab.appserver.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.pool.PoolOptions.RequestOrder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(600)
class PoolTest {

    /** A timeout that only elapses if a thread hangs. */
    private static final Duration LONG = Duration.ofMinutes(5);

    /** A resource that records the calls to its hooks. */
    private static final class Resource {
        private final int number;
        private boolean valid = true;
        private int resets;
        private int destroyed;

        Resource(int number) {
            this.number = number;
        }
    }

    private final List<Resource> resources = Collections.synchronizedList(new ArrayList<>());
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final PoolOptions<Resource> options =
            PoolOptions.of(this::make)
                    .validate(resource -> resource.valid)
                    .reset(resource -> resource.resets++)
                    .destroy(resource -> resource.destroyed++);

    private Resource make() {
        var resource = new Resource(resources.size());
        resources.add(resource);
        return resource;
    }

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    @Test
    void makesResourcesOnlyWhenNoneIsIdle() throws Exception {
        try (var pool = new Pool<>(2, options)) {
            for (int k = 0; k < 5; k++) {
                try (var lease = pool.lease()) {
                    assertEquals(0, lease.resource().number);
                }
            }
            try (var first = pool.lease();
                    var second = pool.lease()) {
                assertNotSame(first.resource(), second.resource());
                assertEquals(2, pool.statistics().inUse());
                assertFalse(pool.tryLease().isPresent());
            }
            PoolStatistics statistics = pool.statistics();
            assertEquals(2, statistics.made());
            assertEquals(7, statistics.leases());
            assertEquals(0, statistics.inUse());
            assertEquals(2, statistics.idle());
            assertEquals(2, statistics.maxSize());
            assertEquals(6, resources.get(0).resets);
        }
        assertEquals(List.of(1, 1), resources.stream().map(r -> r.destroyed).toList());
    }


    @ParameterizedTest
    @EnumSource(RequestOrder.class)
    void usesIdleResourcesInTheOrderOfTheOption(RequestOrder order) throws Exception {
        try (var pool = new Pool<>(3, options.order(order))) {
            List<Lease<Resource>> leases = List.of(pool.lease(), pool.lease(), pool.lease());
            leases.forEach(Lease::close);
            List<Integer> numbers = new ArrayList<>();
            for (int k = 0; k < 4; k++) {
                try (var lease = pool.lease()) {
                    numbers.add(lease.resource().number);
                }
            }
            assertEquals(
                    order == RequestOrder.ROUND_ROBIN ? List.of(0, 1, 2, 0) : List.of(2, 2, 2, 2), numbers);
        }
    }

    @Test
    void givingBackTwiceIsAnError() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            Lease<Resource> old = pool.lease();
            old.close();
            assertThrows(IllegalStateException.class, old::close);
            try (var next = pool.lease()) {
                assertThrows(IllegalStateException.class, old::close);
                assertThrows(IllegalStateException.class, old::resource);
                assertThrows(IllegalStateException.class, old::markBroken);
                assertEquals(0, next.resource().number);
                assertFalse(pool.tryLease().isPresent());
            }
            assertEquals(1, pool.statistics().idle());
        }
    }

    @Test
    void aLeaseMayBeClosedByAnotherThread() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            Lease<Resource> lease = pool.lease();
            threads.submit(lease::close).get();
            assertTrue(pool.tryLease().isPresent());
        }
    }

    @Test
    void firstComeFirstServed() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            Lease<Resource> lease = pool.lease();
            List<Integer> served = Collections.synchronizedList(new ArrayList<>());
            List<Future<?>> futures = new ArrayList<>();
            for (int k = 0; k < 8; k++) {
                int number = k;
                futures.add(
                        threads.submit(
                                () -> {
                                    try (var waiterLease = pool.lease()) {
                                        served.add(number);
                                    }
                                    return null;
                                }));
                until(() -> pool.statistics().waiting() == number + 1);
            }
            lease.close();
            for (Future<?> future : futures) {
                future.get();
            }
            assertEquals(IntStream.range(0, 8).boxed().toList(), served);
            PoolStatistics statistics = pool.statistics();
            assertEquals(8, statistics.waits());
            assertTrue(statistics.maxWait().compareTo(Duration.ZERO) > 0);
            assertTrue(statistics.waitingTime().compareTo(statistics.maxWait()) >= 0);
        }
    }

    @Test
    void whoWaitsTooLongGetsNoneAndLosesNone() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            try (var lease = pool.lease()) {
                assertThrows(TimeoutException.class, () -> pool.lease(Duration.ofMillis(20)));
                assertThrows(TimeoutException.class, () -> pool.lease(Duration.ZERO));
                assertThrows(TimeoutException.class, () -> pool.lease(Duration.ofSeconds(-1)));
            }
            assertEquals(3, pool.statistics().timeouts());
            assertEquals(0, pool.statistics().waiting());
            pool.lease(Duration.ofDays(365_000)).close();
        }
    }

    @Test
    void anInterruptEndsTheWaitAndLosesNothing() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            Lease<Resource> lease = pool.lease();
            var waiter = new Thread(() -> assertThrows(InterruptedException.class, pool::lease));
            waiter.start();
            until(() -> pool.statistics().waiting() == 1);
            waiter.interrupt();
            waiter.join();
            assertEquals(0, pool.statistics().waiting());
            assertEquals(0, pool.statistics().timeouts());
            lease.close();
            assertTrue(pool.tryLease().isPresent());
        }
    }

    @Test
    void anInterruptIsKeptWhereNobodyWaits() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            Thread.currentThread().interrupt();
            pool.lease().close();
            pool.lease().close();
            assertTrue(Thread.interrupted());
        }
    }

    @Test
    void anInvalidResourceIsReplaced() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            pool.lease().close();
            resources.get(0).valid = false;
            try (var lease = pool.lease()) {
                assertEquals(1, lease.resource().number);
            }
            assertEquals(1, resources.get(0).destroyed);
            assertEquals(1, pool.statistics().broken());
            assertEquals(1, pool.statistics().size());
        }
    }

    @Test
    void failingHooksCostNoPlace() throws Exception {
        PoolOptions<Resource> failing =
                options.validate(
                                resource -> {
                                    throw new IOException("validate");
                                })
                        .destroy(
                                resource -> {
                                    resource.destroyed++;
                                    throw new AssertionError("destroy");
                                });
        try (var pool = new Pool<>(1, failing)) {
            pool.lease().close();
            pool.lease().close();
            assertEquals(1, pool.statistics().broken());
        }
        try (var pool =
                new Pool<>(
                        1,
                        options.reset(
                                resource -> {
                                    throw new IllegalStateException("reset");
                                }))) {
            pool.lease().close();
            assertEquals(0, pool.statistics().size());
            pool.lease().close();
            assertEquals(2, pool.statistics().broken());
        }
        assertTrue(resources.stream().allMatch(resource -> resource.destroyed == 1));
        assertEquals(4, resources.size());
    }

    /**
     * The timeout also covers the factory. A resource that is created too late serves the next
     * lease.
     */
    @Test
    void aFactoryThatHangsEndsAtTheTimeout() throws Exception {
        var goesOn = new CountDownLatch(1);
        var hanging =
                PoolOptions.of(
                        () -> {
                            goesOn.await();
                            return make();
                        });
        try (var pool = new Pool<>(2, hanging)) {
            for (int k = 0; k < 3; k++) {
                assertThrows(TimeoutException.class, () -> pool.lease(Duration.ofMillis(20)));
            }
            assertEquals(3, pool.statistics().timeouts());
            assertEquals(2, pool.statistics().size());
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, () -> pool.lease(LONG));
            goesOn.countDown();
            try (var lease = pool.lease(LONG)) {
                assertEquals(1, pool.statistics().inUse());
            }
            until(() -> pool.statistics().made() == 2);
        }
    }

    /**
     * Tests a server that accepts connections but never responds. A driver that connects waits for
     * the server's greeting, or for the response to its first message.
     */
    @ParameterizedTest
    @ValueSource(strings = {"jdbc:postgresql", "jdbc:mariadb"})
    void aServerThatIsSilentEndsAtTheTimeout(String protocol) throws Exception {
        try (var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String url = protocol + "://127.0.0.1:" + server.getLocalPort() + "/shop?user=ada";
            PoolOptions<Connection> silent =
                    PoolOptions.of(() -> DriverManager.getConnection(url));
            try (var pool = new Pool<>(1, silent)) {
                assertThrows(TimeoutException.class, () -> pool.lease(Duration.ofMillis(300)));
                assertThrows(TimeoutException.class, () -> pool.lease(Duration.ofMillis(20)));
                assertEquals(1, pool.statistics().size());
                server.close(); // Resets the connection that it has not accepted.
                until(() -> pool.statistics().size() == 0);
                assertTrue(pool.statistics().factoryFailures() > 0);
            }
        }
    }

    @Test
    void aCheckThatHangsLeavesTimeForAnotherResource() throws Exception {
        var goesOn = new CountDownLatch(1);
        var hanging =
                options.validate(
                        resource -> {
                            goesOn.await();
                            return resource.valid;
                        });
        var pool = new Pool<>(2, hanging);
        pool.lease(LONG).close();
        // The check gets half of the time. The other half suffices even on a busy machine.
        try (var lease = pool.lease(Duration.ofSeconds(30))) {
            assertEquals(1, lease.resource().number);
            assertThrows(TimeoutException.class, () -> pool.lease(Duration.ofMillis(20)));
        }
        assertEquals(2, pool.statistics().size());
        assertEquals(0, resources.get(0).destroyed);
        goesOn.countDown();
        try (var first = pool.lease(LONG);
                var second = pool.lease(LONG)) {
            assertEquals(2, pool.statistics().made());
        }
        pool.close();
        assertTrue(pool.awaitTermination(LONG));
        assertEquals(List.of(1, 1), resources.stream().map(r -> r.destroyed).toList());
    }

    @Test
    void anInterruptEndsTheWaitForACheck() throws Exception {
        var goesOn = new CountDownLatch(1);
        var hanging =
                options.validate(
                        resource -> {
                            goesOn.await();
                            return resource.valid;
                        });
        try (var pool = new Pool<>(1, hanging)) {
            pool.lease(LONG).close();
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, () -> pool.lease(LONG));
            goesOn.countDown();
            try (var lease = pool.lease(LONG)) {
                assertEquals(0, lease.resource().number);
            }
            assertEquals(1, pool.statistics().made());
        }
    }

    @Test
    void hooksOfALeaseWithATimeoutFailAsOthersDo() throws Exception {
        var fails = new AtomicBoolean(true);
        var failing =
                PoolOptions.of(
                                () -> {
                                    if (fails.get()) {
                                        throw new IOException("no route");
                                    }
                                    return make();
                                })
                        .validate(resource -> resource.valid)
                        .destroy(resource -> resource.destroyed++);
        try (var pool = new Pool<>(1, failing)) {
            var failure =
                    assertThrows(
                            ResourceException.class, () -> pool.lease(LONG));
            assertTrue(failure.getCause() instanceof IOException);
            assertEquals(0, pool.statistics().size());
            fails.set(false);
            pool.lease(LONG).close();
            resources.get(0).valid = false;
            try (var lease = pool.lease(LONG)) {
                assertEquals(1, lease.resource().number);
            }
            assertEquals(1, resources.get(0).destroyed);
        }
    }

    @Test
    void aBrokenResourceIsNotUsedAgain() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            try (var lease = pool.lease()) {
                lease.markBroken();
                assertEquals(0, lease.resource().destroyed);
            }
            assertEquals(1, resources.get(0).destroyed);
            try (var lease = pool.lease()) {
                assertEquals(1, lease.resource().number);
            }
        }
    }

    @Test
    void aFactoryThatFailsCostsNoPlace() throws Exception {
        var failure = new IOException("no route");
        List<Exception> failures = new ArrayList<>(List.of(failure, failure));
        PoolOptions<Resource> flaky =
                PoolOptions.of(
                        () -> {
                            if (!failures.isEmpty()) {
                                throw failures.remove(0);
                            }
                            return make();
                        });
        try (var pool = new Pool<>(1, flaky)) {
            assertSame(failure, assertThrows(ResourceException.class, pool::lease).getCause());
            assertThrows(ResourceException.class, pool::tryLease);
            assertEquals(0, pool.statistics().size());
            assertEquals(2, pool.statistics().factoryFailures());
            pool.lease().close();
        }
        try (var pool = new Pool<Resource>(1, PoolOptions.of(() -> null))) {
            assertThrows(ResourceException.class, pool::lease);
            assertEquals(0, pool.statistics().size());
        }
    }

    /** If another thread's factory call fails, the next waiting thread creates the resource. */
    @Test
    void theNextWaiterTriesWhenAFactoryFails() throws Exception {
        var entered = new CountDownLatch(1);
        var fail = new CountDownLatch(1);
        PoolOptions<Resource> slow =
                PoolOptions.of(
                        () -> {
                            if (entered.getCount() > 0) {
                                entered.countDown();
                                fail.await();
                                throw new IOException("the first one fails");
                            }
                            return make();
                        });
        try (var pool = new Pool<>(1, slow)) {
            Future<?> first = threads.submit(() -> pool.lease());
            entered.await();
            Future<Lease<Resource>> second = threads.submit(() -> pool.lease());
            until(() -> pool.statistics().waiting() == 1);
            fail.countDown();
            assertEquals(0, second.get().resource().number);
            assertTrue(
                    assertThrows(ExecutionException.class, first::get).getCause()
                            instanceof ResourceException);
        }
    }

    @Test
    void growsWhileInUse() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            Lease<Resource> first = pool.lease();
            Future<Lease<Resource>> second = threads.submit(() -> pool.lease());
            until(() -> pool.statistics().waiting() == 1);
            pool.resize(2);
            assertEquals(1, second.get().resource().number);
            first.close();
            second.get().close();
            assertEquals(2, pool.statistics().idle());
        }
    }

    @Test
    void shrinksWhileInUse() throws Exception {
        try (var pool = new Pool<>(3, options)) {
            List<Lease<Resource>> leases = List.of(pool.lease(), pool.lease(), pool.lease());
            leases.get(0).close();
            pool.resize(1);
            assertEquals(1, resources.get(0).destroyed);
            assertEquals(2, pool.statistics().size());
            assertFalse(pool.tryLease().isPresent());
            leases.get(1).close();
            assertEquals(1, resources.get(1).destroyed);
            assertFalse(pool.tryLease().isPresent());
            assertEquals(2, leases.get(2).resource().number);
            leases.get(2).close();
            assertEquals(0, resources.get(2).destroyed);
            try (var lease = pool.lease()) {
                assertEquals(2, lease.resource().number);
            }
            assertEquals(1, pool.statistics().size());
            assertEquals(3, pool.statistics().maxSize());
            assertEquals(4, pool.statistics().leases());
        }
        assertThrows(IllegalArgumentException.class, () -> new Pool<>(0, options));
    }

    @Test
    void closesWhileInUse() throws Exception {
        var pool = new Pool<>(2, options);
        Lease<Resource> leased = pool.lease();
        pool.lease().close();
        Lease<Resource> second = pool.lease();
        Future<Lease<Resource>> waiting = threads.submit(() -> pool.lease());
        until(() -> pool.statistics().waiting() == 1);
        second.close();
        waiting.get().close();
        Lease<Resource> again = pool.lease();
        Future<Lease<Resource>> refused = threads.submit(() -> pool.lease());
        until(() -> pool.statistics().waiting() == 1);
        pool.close();
        assertTrue(
                assertThrows(ExecutionException.class, refused::get).getCause()
                        instanceof PoolClosedException);
        assertThrows(PoolClosedException.class, pool::lease);
        assertThrows(PoolClosedException.class, pool::tryLease);
        assertThrows(PoolClosedException.class, () -> pool.resize(5));
        again.close();
        assertFalse(pool.awaitTermination(Duration.ofMillis(1)));
        assertEquals(0, leased.resource().destroyed);
        leased.close();
        assertTrue(pool.awaitTermination(LONG));
        assertEquals(List.of(1, 1), resources.stream().map(r -> r.destroyed).toList());
        pool.close();
        assertEquals(0, pool.statistics().size());
    }

    @Test
    void aHolderThatDiesGivesBack() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            var holder =
                    new Thread(
                            () -> {
                                try (var lease = pool.lease()) {
                                    throw new IllegalStateException("dies with a lease");
                                } catch (InterruptedException e) {
                                    throw new AssertionError(e);
                                }
                            });
            holder.setUncaughtExceptionHandler((thread, failure) -> {});
            holder.start();
            holder.join();
            assertTrue(pool.tryLease().isPresent());
        }
    }

    /**
     * The waiting thread gets a new resource, because the thread that lost its lease may still use
     * the old resource.
     */
    @Test
    void aLostLeaseIsReclaimed() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            Lease<Resource> closed = pool.lease();
            closed.close();
            var holder = new Thread(() -> lose(pool));
            holder.start();
            holder.join();
            Future<Lease<Resource>> waiting = threads.submit(() -> pool.lease());
            until(
                    () -> {
                        System.gc();
                        return waiting.isDone();
                    });
            assertEquals(1, waiting.get().resource().number);
            assertEquals(1, resources.get(0).destroyed);
            assertEquals(1, pool.statistics().reclaimed());
            waiting.get().close();
            assertThrows(IllegalStateException.class, closed::close);
        }
    }

    private static void lose(Pool<Resource> pool) {
        try {
            pool.lease().resource();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void timesUsesIfAsked() throws Exception {
        try (var timed = new Pool<>(1, options.recordHoldTime(true));
                var untimed = new Pool<>(1, options)) {
            for (var pool : List.of(timed, untimed)) {
                try (var lease = pool.lease()) {
                    Thread.sleep(5);
                }
            }
            assertTrue(timed.statistics().holdTime().compareTo(Duration.ofMillis(5)) >= 0);
            assertEquals(Duration.ZERO, untimed.statistics().holdTime());
        }
    }

    private static void until(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            Thread.sleep(1);
        }
    }
}
