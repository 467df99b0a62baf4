// SPDX-License-Identifier: Apache-2.0
// The operations of three subjects, measured by JMH.
package benchlab.outside;

import benchlab.cache.CacheSubject;
import benchlab.counter.CounterSubject;
import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Result;
import benchlab.kit.Subject;
import benchlab.pool.PoolSubject;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Each benchmark opens a subject's case as benchlab does, and calls it with a number of operations.
 * The loop is the subject's own, so it costs the same under both tools. An invocation lasts 10 ms
 * or more. Handing the batch to the case's threads takes less than a hundredth of this time. JMH
 * keeps the result, which contains the sum of all values read.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Operations {
    private static final int INCREMENTS = 4_000_000;
    private static final int READS = 4_000_000;
    private static final int LEASES = 1_000_000;

    /** Opens the case, and closes it after the measurement. */
    @State(Scope.Benchmark)
    public abstract static class Opened {
        @Param("1")
        public String threads;

        private Case opened;

        abstract Subject subject();

        abstract String name();

        abstract String scheme();

        @Setup
        public void open() throws Exception {
            var arguments = Map.of("seed", "1", "threads", threads, "scheme", scheme());
            opened = subject().open(name(), new Arguments(arguments));
        }

        @TearDown
        public void close() throws Exception {
            opened.close();
        }

        Result perform(long operations) throws Exception {
            Result result = opened.perform(operations);
            if (result.units() != operations) {
                throw new IllegalStateException(result.units() + " operations instead of " + operations);
            }
            return result;
        }
    }

    public static class Counter extends Opened {
        @Override
        Subject subject() {
            return new CounterSubject();
        }

        @Override
        String name() {
            return "increment";
        }

        @Override
        String scheme() {
            return "atomic";
        }
    }

    public static class Cache extends Opened {
        @Override
        Subject subject() {
            return new CacheSubject();
        }

        @Override
        String name() {
            return "read_only";
        }

        @Override
        String scheme() {
            return "concurrent";
        }
    }

    public static class Pool extends Opened {
        @Override
        Subject subject() {
            return new PoolSubject("java");
        }

        @Override
        String name() {
            return "uncontended";
        }

        @Override
        String scheme() {
            return ""; // This subject's target has no scheme.
        }
    }

    @Benchmark
    @OperationsPerInvocation(INCREMENTS)
    public Result counter(Counter counter) throws Exception {
        return counter.perform(INCREMENTS);
    }

    @Benchmark
    @OperationsPerInvocation(READS)
    public Result cache(Cache cache) throws Exception {
        return cache.perform(READS);
    }

    @Benchmark
    @OperationsPerInvocation(LEASES)
    public Result pool(Pool pool) throws Exception {
        return pool.perform(LEASES);
    }
}
