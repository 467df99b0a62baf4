// SPDX-License-Identifier: Apache-2.0
// Checks for lost updates: threads change a counter concurrently, for the duration that Stress
// defines.
package benchlab.appserver.counter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.Stress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CounterStressTest {

    private static final int THREADS = 4;
    private static final int PARTS = 3 + 3 * 2;
    private static final int ROUND = 1000;

    @ParameterizedTest
    @MethodSource("benchlab.appserver.counter.CounterTest#counters")
    void losesNoIncrement(Counter counter) throws Exception {
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        Callable<Long> task =
                () -> {
                    long added = 0;
                    do {
                        for (int k = 0; k < ROUND; k++) {
                            counter.increment();
                        }
                        added += ROUND;
                    } while (!deadline.passed());
                    return added;
                };
        assertEquals(sum(Stress.together(Collections.nCopies(THREADS, task))), counter.value());
    }

    @ParameterizedTest
    @MethodSource("benchlab.appserver.counter.CounterTest#linearizableCounters")
    void losesNoCompareAndSet(LinearizableCounter counter) throws Exception {
        long start = counter.value();
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        Callable<Long> task =
                () -> {
                    long added = 0;
                    do {
                        for (int k = 0; k < ROUND; k++) {
                            long before = counter.value();
                            added += counter.compareAndSet(before, before + 3) ? 3 : 0;
                        }
                    } while (!deadline.passed());
                    return added;
                };
        long added = sum(Stress.together(Collections.nCopies(THREADS, task)));
        assertEquals(start + added, counter.value());
    }

    /** Every previous value is returned once: two threads never get the same ticket. */
    @ParameterizedTest
    @MethodSource("benchlab.appserver.counter.CounterTest#linearizableCounters")
    void givesEveryTicketOnce(LinearizableCounter counter) throws Exception {
        long start = counter.value();
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        do {
            long first = counter.value();
            Callable<long[]> task =
                    () -> LongStream.generate(() -> counter.fetchAndAdd(1)).limit(ROUND).toArray();
            long[] tickets =
                    Stress.together(Collections.nCopies(THREADS, task)).stream()
                            .flatMapToLong(LongStream::of)
                            .sorted()
                            .toArray();
            assertEquals(THREADS * ROUND, tickets.length);
            for (int k = 0; k < tickets.length; k++) {
                assertEquals(first + k, tickets[k]);
            }
        } while (!deadline.passed());
        assertEquals(0, (counter.value() - start) % (THREADS * ROUND));
    }

    @Test
    void atomicTellsZeroToOneThread() throws Exception {
        tellsZeroToOneThread(AtomicCounter::new);
    }

    @Test
    void lockedTellsZeroToOneThread() throws Exception {
        tellsZeroToOneThread(LockedCounter::new);
    }

    /**
     * Checks that the thread that reaches zero sees the plain writes of all threads that counted
     * down before.
     */
    private static void tellsZeroToOneThread(LongFunction<LinearizableCounter> make)
            throws Exception {
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        do {
            LinearizableCounter[] counters = new LinearizableCounter[ROUND];
            Arrays.setAll(counters, k -> make.apply(THREADS));
            long[][] written = new long[ROUND][THREADS * 16];
            List<Callable<Long>> tasks = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int ownIndex = t * 16;
                tasks.add(
                        () -> {
                            long last = 0;
                            for (int k = 0; k < ROUND; k++) {
                                written[k][ownIndex] = 1;
                                if (counters[k].decrementAndTestZero()) {
                                    last++;
                                    assertEquals(THREADS, LongStream.of(written[k]).sum());
                                }
                            }
                            return last;
                        });
            }
            assertEquals(ROUND, sum(Stress.together(tasks)));
        } while (!deadline.passed());
    }

    /** The value of a striped counter that is only incremented never decreases. */
    @Test
    void stripedNeverGoesBackWhileItIsCountedUp() throws Exception {
        var counter = new StripedCounter();
        var deadline = new Stress.Deadline(Stress.part(PARTS));
        Callable<Long> writer =
                () -> {
                    long rounds = 0;
                    for (; !deadline.passed(); rounds++) {
                        counter.increment();
                    }
                    return rounds;
                };
        Callable<Long> reader =
                () -> {
                    long last = 0;
                    while (!deadline.passed()) {
                        long now = counter.value();
                        assertTrue(now >= last);
                        last = now;
                    }
                    return 0L;
                };
        assertEquals(sum(Stress.together(List.of(writer, writer, reader))), counter.value());
    }

    private static long sum(List<Long> values) {
        return values.stream().mapToLong(n -> n).sum();
    }
}
