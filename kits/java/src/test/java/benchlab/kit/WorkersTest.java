// SPDX-License-Identifier: Apache-2.0
// Tests the distribution of work to threads, concurrency, and the reported results.
package benchlab.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.kit.Workers.Worker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkersTest {

    /** A worker that records its operations and its thread. */
    private static final class Scribe implements Worker {
        private final List<Long> operations = new ArrayList<>();
        private Thread thread;

        @Override
        public long perform(long k) {
            assertTrue(thread == null || thread == Thread.currentThread());
            thread = Thread.currentThread();
            operations.add(k);
            return 10 * k;
        }
    }

    @Test
    void sharesTheOperations() throws Exception {
        List<Scribe> scribes = Stream.generate(Scribe::new).limit(3).toList();
        try (var workers = new Workers(scribes)) {
            Result result = workers.perform(8);
            assertEquals(8, result.units());
            assertEquals(10 * 28, result.check());
            assertEquals(
                    List.of(List.of(0L, 3L, 6L), List.of(1L, 4L, 7L), List.of(2L, 5L)),
                    scribes.stream().map(scribe -> scribe.operations).toList());
            assertEquals(10, workers.perform(2).check());
            assertEquals(List.of(2L, 5L), scribes.get(2).operations);
        }
        assertFalse(Stream.of(0, 1, 2).anyMatch(c -> scribes.get(c).thread.isAlive()));
        assertEquals(3, scribes.stream().map(scribe -> scribe.thread).distinct().count());
    }

    /**
     * Checks that workers do not wait for each other. No operation ends before each worker has
     * started an operation, so the test would hang.
     */
    @Test
    void worksAllAtOnce() throws Exception {
        var meeting = new CyclicBarrier(4);
        Worker worker = k -> meeting.await(120, TimeUnit.SECONDS) - meeting.getParties();
        try (var workers = new Workers(Collections.nCopies(4, worker))) {
            assertEquals(12, workers.perform(12).units());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 100, 4097})
    void tellsEveryLatency(int operations) throws Exception {
        try (var workers = new Workers(Collections.nCopies(3, k -> k))) {
            for (int batch = 0; batch < 3; batch++) {
                long before = System.nanoTime();
                Result.Times times = workers.perform(operations).times();
                long after = System.nanoTime();
                assertTrue(before <= times.start() && times.end() <= after);
                assertTrue(times.start() <= times.end());
                Map<Integer, Long> counts = counts(times.latencies().format());
                assertEquals(operations, counts.values().stream().mapToLong(n -> n).sum());
                int longest = Latencies.index(times.end() - times.start());
                assertTrue(counts.keySet().stream().allMatch(index -> index <= longest));
            }
        }
    }

    /** Latencies only include the work, and follow each other without gaps in a batch. */
    @Test
    void measuresEachOperation() throws Exception {
        Worker sleeper =
                k -> {
                    Thread.sleep(k < 2 ? 5 : 50);
                    return 1;
                };
        try (var workers = new Workers(List.of(sleeper, sleeper))) {
            Result.Times times = workers.perform(4).times();
            assertTrue(times.end() - times.start() >= 55_000_000);
            List<Integer> indexes = new ArrayList<>();
            counts(times.latencies().format())
                    .forEach((index, count) -> indexes.addAll(Collections.nCopies(count.intValue(), index)));
            assertTrue(indexes.get(0) >= Latencies.index(5_000_000), indexes.toString());
            assertTrue(indexes.get(2) >= Latencies.index(50_000_000), indexes.toString());
        }
    }

    @Test
    void beginsNoOperationBeforeItIsDue() throws Exception {
        var begun = new long[20];
        Worker worker = k -> begun[(int) k] = System.nanoTime();
        try (var workers = new Workers(List.of(worker, worker, worker), 500)) {
            long start = workers.perform(20).times().start();
            for (int k = 0; k < begun.length; k++) {
                assertTrue(begun[k] - start >= k * 2_000_000L, "operation " + k);
            }
        }
    }

    /** The latency of an operation includes the time that it waits for the previous operation. */
    @Test
    void countsLatenciesFromWhenOperationsAreDue() throws Exception {
        Worker slowAtFirst =
                k -> {
                    Thread.sleep(k == 0 ? 50 : 0);
                    return 1;
                };
        try (var workers = new Workers(List.of(slowAtFirst), 1000)) {
            var latencies = counts(workers.perform(30).times().latencies().format());
            int least = Latencies.index(20_000_000);
            assertTrue(latencies.keySet().stream().allMatch(index -> index >= least));
        }
    }

    /**
     * Tests batches without latencies. In the second batch, only three of eight workers have
     * operations.
     */
    @Test
    void sharesWithoutLatencies() throws Exception {
        Workers.ShareWorker worker =
                share -> {
                    long sum = 0;
                    for (long k = share.first(); k < share.end(); k += share.step()) {
                        sum += k;
                    }
                    return 1_000 * share.size() + sum;
                };
        try (var workers = Workers.ofShares(Collections.nCopies(8, worker))) {
            for (long operations : new long[] {100, 3}) {
                long before = System.nanoTime();
                Result result = workers.perform(operations);
                assertEquals(operations, result.units());
                assertEquals(
                        1_000 * operations + operations * (operations - 1) / 2, result.check());
                assertNull(result.times().latencies());
                assertTrue(before <= result.times().start());
                assertTrue(result.times().start() <= result.times().end());
                assertTrue(result.times().end() <= System.nanoTime());
            }
        }
    }

    @Test
    void passesAFailureOnAndGoesOn() throws Exception {
        var failure = new IllegalStateException("not this one");
        var scribe = new Scribe();
        Worker failing =
                k -> {
                    if (k == 3) {
                        throw failure;
                    }
                    return 1;
                };
        try (var workers = new Workers(List.of(scribe, failing))) {
            assertSame(failure, assertThrows(Exception.class, () -> workers.perform(10)));
            assertEquals(List.of(0L, 2L, 4L, 6L, 8L), scribe.operations);
            assertEquals(21, workers.perform(3).check());
        }
    }

    @Test
    void survivesAnError() throws Exception {
        Worker missing =
                k -> {
                    throw new UnsatisfiedLinkError("no driver");
                };
        try (var workers = new Workers(List.of(missing))) {
            for (int batch = 0; batch < 2; batch++) {
                Exception failure =
                        assertThrows(ExecutionException.class, () -> workers.perform(1));
                assertEquals("no driver", failure.getCause().getMessage());
            }
        }
    }

    @Test
    void endsItsThreads() throws Exception {
        var workers = new Workers(IntStream.range(0, 50).mapToObj(c -> (Worker) k -> k).toList());
        assertEquals(50, living());
        workers.close();
        assertEquals(0, living());
    }

    private static long living() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("worker-"))
                .count();
    }

    private static Map<Integer, Long> counts(String latencies) {
        var counts = new TreeMap<Integer, Long>();
        for (String pair : latencies.split(",")) {
            String[] parts = pair.split(":");
            counts.put(Integer.valueOf(parts[0]), Long.valueOf(parts[1]));
        }
        return counts;
    }
}
