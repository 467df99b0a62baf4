// SPDX-License-Identifier: Apache-2.0
// Tests each operation of a counter, and the layout of its value in memory.
package benchlab.appserver.counter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CounterTest {

    static Stream<Counter> counters() {
        return Stream.of(new AtomicCounter(), new LockedCounter(), new StripedCounter());
    }

    static Stream<LinearizableCounter> linearizableCounters() {
        return Stream.of(new AtomicCounter(7), new LockedCounter(7));
    }

    @ParameterizedTest
    @MethodSource("counters")
    void counts(Counter counter) {
        assertEquals(0, counter.value());
        counter.increment();
        counter.add(41);
        counter.decrement();
        counter.add(-100);
        assertEquals(-59, counter.value());
        assertEquals("-59", counter.toString());
    }

    @ParameterizedTest
    @MethodSource("counters")
    void wrapsAroundAtTheEndsOfItsRange(Counter counter) {
        counter.add(Long.MAX_VALUE);
        counter.increment();
        assertEquals(Long.MIN_VALUE, counter.value());
        counter.decrement();
        assertEquals(Long.MAX_VALUE, counter.value());
    }

    @Test
    void stripedStartsWhereItIsTold() {
        assertEquals(-3, new StripedCounter(-3).value());
    }

    @ParameterizedTest
    @MethodSource("linearizableCounters")
    void tellsTheValueBefore(LinearizableCounter counter) {
        assertEquals(7, counter.fetchAndAdd(5));
        assertEquals(12, counter.fetchAndAdd(-20));
        assertEquals(-8, counter.value());
        counter.set(Long.MIN_VALUE);
        assertEquals(Long.MIN_VALUE, counter.fetchAndAdd(0));
    }

    @ParameterizedTest
    @MethodSource("linearizableCounters")
    void setsOnlyWhatIsExpected(LinearizableCounter counter) {
        assertFalse(counter.compareAndSet(6, 100));
        assertEquals(7, counter.value());
        assertTrue(counter.compareAndSet(7, 100));
        assertEquals(100, counter.value());
    }

    @ParameterizedTest
    @MethodSource("linearizableCounters")
    void tellsZeroOnce(LinearizableCounter counter) {
        for (int value = 6; value >= -2; value--) {
            assertEquals(value == 0, counter.decrementAndTestZero());
        }
    }

    /**
     * Checks the distance to other fields: a field within 128 bytes would slow the counter down.
     */
    @Test
    void atomicValueHasItsCacheLinesToItself() throws Exception {
        // By reflection, because javac's warnings about Unsafe cannot be suppressed.
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field instance = type.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        Object unsafe = instance.get(null);
        var offset = type.getMethod("objectFieldOffset", Field.class);
        long value = (long) offset.invoke(unsafe, Padded.Value.class.getDeclaredField("value"));
        assertTrue(value >= 128, "before: " + value);
        for (Field field : Padded.Number.class.getDeclaredFields()) {
            assertTrue((long) offset.invoke(unsafe, field) > value, field.getName());
        }
        assertEquals(16, Padded.Number.class.getDeclaredFields().length);
    }
}
