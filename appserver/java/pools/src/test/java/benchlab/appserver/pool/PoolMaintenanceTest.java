// SPDX-License-Identifier: Apache-2.0
// Tests a pool's own maintenance: the ends of resources, checks of idle resources, and reports of
// leaks.
package benchlab.appserver.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.pool.PoolOptions.RequestOrder;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class PoolMaintenanceTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private static final class Resource {
        private final int number;
        private volatile boolean valid = true;
        private final AtomicInteger checks = new AtomicInteger();
        private final AtomicInteger destroyed = new AtomicInteger();

        Resource(int number) {
            this.number = number;
        }
    }

    private final List<Resource> resources = Collections.synchronizedList(new ArrayList<>());
    // The number of calls to the factory that still fail.
    private final AtomicInteger failures = new AtomicInteger();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final PoolOptions<Resource> options =
            PoolOptions.of(this::make)
                    .destroy(resource -> resource.destroyed.incrementAndGet())
                    .order(RequestOrder.LIFO);

    private Resource make() throws IOException {
        if (failures.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
            throw new IOException("no route");
        }
        var resource = new Resource(resources.size());
        resources.add(resource);
        return resource;
    }

    private boolean isValid(Resource resource) {
        resource.checks.incrementAndGet();
        return resource.valid;
    }

    private int destroyed() {
        synchronized (resources) {
            return resources.stream().mapToInt(resource -> resource.destroyed.get()).sum();
        }
    }

    /** Leases {@code count} resources at the same time, and then returns them. */
    private static void leaseAtOnce(Pool<Resource> pool, int count) throws InterruptedException {
        List<Lease<Resource>> leases = new ArrayList<>();
        for (int k = 0; k < count; k++) {
            leases.add(pool.lease());
        }
        leases.forEach(Lease::close);
    }

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    @Test
    void anIdleResourceIsDestroyedAtTheEndOfItsLife() throws Exception {
        try (var pool = new Pool<>(3, options.maxLifetime(Duration.ofMillis(50)))) {
            leaseAtOnce(pool, 3);
            until(() -> pool.statistics().size() == 0);
            assertEquals(3, pool.statistics().expired());
            assertEquals(3, destroyed());
        }
        assertEquals(3, destroyed());
    }

    @Test
    void aLeasedResourceOutlivesItsLifeUntilItIsReturned() throws Exception {
        try (var pool = new Pool<>(1, options.maxLifetime(Duration.ofMillis(20)))) {
            Lease<Resource> lease = pool.lease();
            Thread.sleep(100);
            assertEquals(0, lease.resource().destroyed.get());
            lease.close();
            assertEquals(1, destroyed());
            try (var next = pool.lease(LONG)) {
                assertEquals(1, next.resource().number);
            }
        }
    }

    @Test
    void livesDifferByUpToAQuarter() {
        var limit = Duration.ofMinutes(30);
        long[] lives = LongStream.generate(() -> Pool.lifetime(limit)).limit(1000).toArray();
        assertTrue(Arrays.stream(lives).allMatch(life -> life <= limit.toNanos()));
        assertTrue(Arrays.stream(lives).allMatch(life -> life >= limit.toNanos() / 4 * 3));
        assertTrue(Arrays.stream(lives).distinct().count() > 900);
        assertTrue(Pool.lifetime(Duration.ofNanos(1)) > 0);
    }

    @Test
    void idleResourcesAboveTheMinimumAreDestroyed() throws Exception {
        var idle = options.idleTimeout(Duration.ofMillis(40)).minIdle(1);
        try (var pool = new Pool<>(4, idle)) {
            leaseAtOnce(pool, 4);
            until(() -> pool.statistics().size() == 1);
            assertEquals(3, pool.statistics().timedOut());
            Thread.sleep(100);
            assertEquals(1, pool.statistics().idle());
            assertEquals(3, destroyed());
        }
        try (var pool = new Pool<>(2, idle.minIdle(0))) {
            Lease<Resource> lease = pool.lease();
            Thread.sleep(100);
            assertEquals(0, lease.resource().destroyed.get());
            lease.close();
            until(() -> pool.statistics().size() == 0);
        }
    }

    @Test
    void idleResourcesAreCreatedInAdvance() throws Exception {
        var pool = new Pool<>(3, options.minIdle(2));
        try (pool) {
            until(() -> pool.statistics().made() == 2);
            Lease<Resource> first = pool.lease();
            until(() -> pool.statistics().made() == 3);
            assertEquals(2, pool.statistics().idle());
            Lease<Resource> second = pool.lease();
            assertEquals(3, pool.statistics().size());
            pool.softEvict();
            until(() -> pool.statistics().made() == 4);
            assertEquals(1, pool.statistics().idle());
            first.close();
            second.close();
            until(() -> pool.statistics().made() == 5);
            assertEquals(2, pool.statistics().idle());
            assertTrue(pool.statistics().maxSize() <= 3);
        }
        assertTrue(pool.awaitTermination(LONG)); // A thread of the pool may still own a resource.
        assertEquals(resources.size(), destroyed());
    }

    /** The minimum does not exceed the capacity, and is reached although the factory fails at first. */
    @Test
    void idleResourcesAreCreatedOnceTheFactorySucceeds() throws Exception {
        failures.set(3);
        try (var pool = new Pool<>(2, options.minIdle(10))) {
            until(() -> pool.statistics().idle() == 2);
            assertEquals(3, pool.statistics().factoryFailures());
            assertEquals(0, pool.statistics().leases());
            assertTrue(
                    pool.statistics()
                                    .creationTime()
                                    .compareTo(pool.statistics().maxCreationTime())
                            >= 0);
        }
    }

    @Test
    void idleResourcesAreKeptAlive() throws Exception {
        var checked =
                options.validate(this::isValid).keepAlive(Duration.ofMillis(10)).minIdle(2);
        try (var pool = new Pool<>(2, checked)) {
            until(() -> resources.size() == 2);
            until(() -> resources.stream().allMatch(resource -> resource.checks.get() >= 3));
            until(() -> pool.statistics().keepAlives() >= 6); // Counted after the check.
            assertEquals(0, destroyed());
            resources.get(0).valid = false;
            until(() -> resources.get(0).destroyed.get() == 1);
            until(() -> pool.statistics().made() == 3);
            assertEquals(2, pool.statistics().idle());
            assertEquals(1, pool.statistics().broken());
        }
    }

    /** A check does not count as use: otherwise no resource would ever reach its idle time. */
    @Test
    void aCheckDoesNotEndTheIdleTime() throws Exception {
        var checked =
                options.validate(this::isValid)
                        .keepAlive(Duration.ofMillis(5))
                        .idleTimeout(Duration.ofMillis(200));
        try (var pool = new Pool<>(1, checked)) {
            // On a busy machine, an idle time may pass without a check.
            for (int times = 1; pool.statistics().keepAlives() == 0; times++) {
                int expected = times;
                pool.lease().close();
                until(() -> pool.statistics().timedOut() == expected);
            }
        }
    }

    @Test
    void aLeaseThatIsHeldForLongIsReportedOnceAndContinues() throws Exception {
        List<LeakReport> reports = Collections.synchronizedList(new ArrayList<>());
        var watched =
                options.leakThreshold(Duration.ofMillis(20)).leakListener(reports::add);
        try (var pool = new Pool<>(2, watched)) {
            Lease<Resource> lease = threads.submit(() -> takeInThread(pool)).get();
            until(() -> reports.size() == 1);
            Thread.sleep(100);
            LeakReport report = reports.get(0);
            assertEquals("forgetful", report.thread());
            assertTrue(report.held().compareTo(Duration.ofMillis(20)) >= 0);
            assertTrue(
                    Arrays.stream(report.origin().getStackTrace())
                            .anyMatch(frame -> frame.getMethodName().equals("takeInThread")));
            assertEquals(1, reports.size());
            assertEquals(1, pool.statistics().leaks());
            assertEquals(0, lease.resource().destroyed.get());
            lease.close();
            try (var next = pool.lease()) {
                assertSame(resources.get(0), next.resource());
                until(() -> reports.size() == 2);
            }
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> new Pool<>(1, options.leakListener(reports::add)));
    }

    private static Lease<Resource> takeInThread(Pool<Resource> pool) throws InterruptedException {
        Thread.currentThread().setName("forgetful");
        return pool.lease();
    }

    @Test
    void aLeakIsLoggedWithItsStackTraceByDefault() throws Exception {
        List<LogRecord> records = Collections.synchronizedList(new ArrayList<>());
        var handler =
                new Handler() {
                    @Override
                    public void publish(LogRecord logged) {
                        // Threads of the pools of other tests may still log other messages.
                        if (logged.getMessage().contains("has held a lease of")) {
                            records.add(logged);
                        }
                    }

                    @Override
                    public void flush() {}

                    @Override
                    public void close() {}
                };
        Logger logger = Logger.getLogger(Pool.class.getName());
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        try (var pool = new Pool<>(1, options.leakThreshold(Duration.ofMillis(20)));
                var lease = pool.lease()) {
            until(() -> records.size() == 1);
            assertTrue(
                    Arrays.stream(records.get(0).getThrown().getStackTrace())
                            .anyMatch(frame -> frame.getClassName().equals(getClass().getName())));
            assertEquals(0, lease.resource().number);
        } finally {
            logger.setUseParentHandlers(true);
            logger.removeHandler(handler);
        }
    }

    @Test
    void softEvictionReplacesAllResourcesAndInterruptsNoLease() throws Exception {
        try (var pool = new Pool<>(3, options)) {
            Lease<Resource> leased = pool.lease();
            pool.lease().close();
            assertEquals(2, resources.size());
            pool.softEvict();
            assertEquals(1, resources.get(1).destroyed.get());
            assertEquals(0, leased.resource().destroyed.get());
            try (var next = pool.lease()) {
                assertEquals(2, next.resource().number);
            }
            leased.close();
            assertEquals(1, resources.get(0).destroyed.get());
            leaseAtOnce(pool, 3);
            assertEquals(2, pool.statistics().evicted());
            assertEquals(5, pool.statistics().made());
            assertEquals(0, pool.statistics().broken());
        }
    }

    @Test
    void softEvictionServesWaitingThreadsWithNewResources() throws Exception {
        try (var pool = new Pool<>(1, options)) {
            Lease<Resource> leased = pool.lease();
            Future<Lease<Resource>> waiting = threads.submit(() -> pool.lease(LONG));
            until(() -> pool.statistics().waiting() == 1);
            pool.softEvict();
            leased.close();
            assertEquals(1, waiting.get().resource().number);
            waiting.get().close();
        }
    }

    /**
     * Evicts a resource whose creation began before the eviction, because it may belong to the old
     * server.
     */
    @Test
    void softEvictionAlsoCoversResourcesThatAreBeingCreated() throws Exception {
        var goesOn = new CountDownLatch(1);
        var slow =
                PoolOptions.of(
                                () -> {
                                    Resource made = make();
                                    goesOn.await();
                                    return made;
                                })
                        .destroy(resource -> resource.destroyed.incrementAndGet());
        try (var pool = new Pool<>(1, slow)) {
            assertThrows(TimeoutException.class, () -> pool.lease(Duration.ofMillis(20)));
            until(() -> resources.size() == 1);
            pool.softEvict();
            goesOn.countDown();
            try (var lease = pool.lease(LONG)) {
                assertEquals(1, lease.resource().number);
            }
            assertEquals(1, resources.get(0).destroyed.get());
        }
    }

    @Test
    void aStartFailsIfNoResourceCanBeCreated() throws Exception {
        try (var pool = new Pool<>(2, options)) {
            failures.set(2);
            assertThrows(ResourceException.class, () -> pool.start(Duration.ZERO));
            assertEquals(1, pool.statistics().factoryFailures());
            pool.start(LONG); // Tries again.
            assertEquals(2, pool.statistics().factoryFailures());
            assertEquals(1, pool.statistics().idle());
            pool.start(Duration.ZERO);
            assertEquals(1, pool.statistics().made());
        }
        var hanging = new CountDownLatch(1);
        var silent =
                PoolOptions.of(
                        () -> {
                            hanging.await();
                            return new Object();
                        });
        try (var pool = new Pool<>(1, silent)) {
            assertThrows(TimeoutException.class, () -> pool.start(Duration.ofMillis(20)));
            hanging.countDown();
            pool.start(LONG);
        }
    }

    /** If the application does not call start, a failure of the factory affects only leases. */
    @Test
    void aPoolIsCreatedAlthoughTheFactoryFails() throws Exception {
        failures.set(1);
        try (var pool = new Pool<>(2, options)) {
            assertThrows(ResourceException.class, pool::lease);
            pool.lease().close();
        }
    }

    @Test
    void settingsAreChecked() {
        assertThrows(IllegalArgumentException.class, () -> options.minIdle(-1));
        assertThrows(IllegalArgumentException.class, () -> options.idleTimeout(Duration.ZERO));
        assertThrows(
                IllegalArgumentException.class, () -> options.maxLifetime(Duration.ofDays(40_000)));
        assertThrows(
                IllegalArgumentException.class,
                () -> new Pool<>(1, options.keepAlive(Duration.ofSeconds(1))));
        assertThrows(
                IllegalArgumentException.class,
                () ->
                        new Pool<>(
                                1,
                                options.validate(this::isValid)
                                        .keepAlive(Duration.ofSeconds(2))
                                        .maxLifetime(Duration.ofSeconds(2))));
    }

    /**
     * Starts more waiting threads than the JVM has carrier threads, and checks that other threads
     * still run. The JVM would replace pinned carriers by at most 256 threads in total.
     */
    @Test
    void virtualThreadsThatWaitOccupyNoCarrier() throws Exception {
        ExecutorService virtual = VirtualThreads.executor();
        try (var pool = new Pool<>(1, options)) {
            assertTrue(virtual.submit(VirtualThreads::isCurrentThreadVirtual).get());
            Lease<Resource> lease = pool.lease();
            List<Future<Integer>> waiting = new ArrayList<>();
            for (int k = 0; k < 400; k++) {
                boolean isTimed = k % 2 == 0;
                waiting.add(
                        virtual.submit(
                                () -> {
                                    try (var own = isTimed ? pool.lease(LONG) : pool.lease()) {
                                        return own.resource().number;
                                    }
                                }));
            }
            until(() -> pool.statistics().waiting() == 400);
            assertTrue(virtual.submit(VirtualThreads::isCurrentThreadVirtual).get());
            lease.close();
            for (Future<Integer> number : waiting) {
                assertEquals(0, number.get());
            }
        } finally {
            virtual.shutdown();
        }
    }

    /** A factory that blocks in a monitor pins no carrier thread if the lease has a timeout. */
    @Test
    void hooksOfVirtualThreadsRunOnPlatformThreads() throws Exception {
        ExecutorService virtual = VirtualThreads.executor();
        var isVirtual = new ArrayList<Boolean>();
        var seen =
                PoolOptions.of(
                        () -> {
                            isVirtual.add(VirtualThreads.isCurrentThreadVirtual());
                            return new Object();
                        });
        try (var pool = new Pool<>(1, seen)) {
            virtual.submit(
                            () -> {
                                pool.lease(LONG).close();
                                return null;
                            })
                    .get();
            assertEquals(List.of(false), isVirtual);
            assertFalse(pool.statistics().made() == 0);
        } finally {
            virtual.shutdown();
        }
    }

    /** Rejects some tasks, as an executor that cannot create a thread. */
    private final class Helpers implements Executor {
        private final AtomicInteger rejections;

        Helpers(int rejections) {
            this.rejections = new AtomicInteger(rejections);
        }

        @Override
        public void execute(Runnable task) {
            if (rejections.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            threads.execute(task);
        }
    }

    @Test
    void oldResourcesAreDestroyedAlthoughNoThreadIsAvailable() throws Exception {
        var idle = options.idleTimeout(Duration.ofMillis(40));
        try (var pool = new Pool<>(3, idle, new Helpers(1))) {
            leaseAtOnce(pool, 3);
            until(() -> pool.statistics().size() == 0);
            assertEquals(3, destroyed());
            leaseAtOnce(pool, 3);
        }
    }

    @Test
    void aLeakIsReportedOnceAThreadIsAvailable() throws Exception {
        var reports = new AtomicInteger();
        var watched =
                options.leakThreshold(Duration.ofMillis(2))
                        .leakListener(report -> reports.incrementAndGet());
        try (var pool = new Pool<>(1, watched, new Helpers(2));
                var lease = pool.lease()) {
            assertEquals(0, lease.resource().number);
            until(() -> reports.get() == 1);
            assertEquals(1, pool.statistics().leaks());
        }
    }

    @Test
    void maintenanceHasTheClassLoaderOfThePoolsCreator() throws Exception {
        Thread creator = Thread.currentThread();
        ClassLoader before = creator.getContextClassLoader();
        var loaders = new ConcurrentLinkedQueue<String>();
        try (var application = new URLClassLoader("application", new URL[0], before)) {
            var recording =
                    PoolOptions.of(
                                    () -> {
                                        loaders.add(loaderOf("factory"));
                                        return make();
                                    })
                            .destroy(resource -> loaders.add(loaderOf("destroy")))
                            .minIdle(1)
                            .maxLifetime(Duration.ofMillis(20));
            creator.setContextClassLoader(application);
            try (var pool = new Pool<>(1, recording)) {
                creator.setContextClassLoader(before);
                until(() -> pool.statistics().expired() > 0 && loaders.size() >= 3);
            }
        } finally {
            creator.setContextClassLoader(before);
        }
        assertEquals(
                List.of("factory of application", "destroy of application", "factory of application"),
                loaders.stream().limit(3).toList());
    }

    private static String loaderOf(String hook) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        return hook + " of " + (loader == null ? null : loader.getName());
    }

    /** Tests a factory that fails at the moment at which a lease times out. */
    @Test
    void aFailureAtTheTimeoutIsThrownAsItIs() {
        var failure = new ResourceException(new IOException("no route"));
        var failing =
                new CompletableFuture<Object>() {
                    @Override
                    public Object get(long time, TimeUnit unit) throws TimeoutException {
                        completeExceptionally(failure);
                        throw new TimeoutException();
                    }
                };
        assertSame(failure, assertThrows(ResourceException.class, () -> Pool.await(failing, 1)));
    }

    private static void until(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            Thread.sleep(1);
        }
    }
}
