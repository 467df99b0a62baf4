// SPDX-License-Identifier: Apache-2.0
// The subject's side of the protocol: one reply to each command, and the open case.
package benchlab.kit;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

final class Session implements AutoCloseable {
    private static final long MAX_OPERATIONS = 1L << 53;

    /** The maximum length of an error message in characters, so that a reply fits into a line. */
    private static final int MAX_MESSAGE = 4_000;

    private final Subject subject;
    private Case current;

    Session(Subject subject) {
        this.subject = subject;
    }

    /** Executes a command; a failure becomes the reply {@code error}. */
    Message reply(Message command) {
        var arguments = new Arguments(command.arguments());
        try {
            return switch (command.verb()) {
                case "open" -> open(arguments);
                case "verify" -> verify(arguments);
                case "run" -> run(arguments);
                case "close" -> closeCase();
                default -> throw Refusal.usage("there is no such command");
            };
        } catch (Refusal refusal) {
            return error(refusal);
        } catch (Exception | LinkageError failure) { // A native driver may be missing.
            failure.printStackTrace(); // To the log: the reply only contains the message.
            return error("failed", describe(failure));
        }
    }

    static Message error(Refusal refusal) {
        return error(refusal.code().name().toLowerCase(Locale.ROOT), refusal.getMessage());
    }

    @Override
    public void close() throws Exception {
        if (current != null) {
            closeCase();
        }
    }

    private Message open(Arguments arguments) throws Exception {
        if (current != null) {
            throw Refusal.usage("a case is already open");
        }
        String name = arguments.text("case");
        arguments.seed(); // Required for every case.
        Case opened = name.equals("noop") ? new Noop() : subject.open(name, arguments);
        try {
            var reply = new Message("opened");
            opened.settings().forEach(reply::with);
            current = opened;
            return reply;
        } finally {
            if (current == null) {
                opened.close();
            }
        }
    }

    private Message verify(Arguments arguments) throws Exception {
        Case open = opened();
        long operations = arguments.has("operations") ? operations(arguments) : 1;
        Result result = open.perform(operations);
        var reply =
                new Message("verified")
                        .with("operations", operations)
                        .with("units", result.units())
                        .with("check", result.check());
        return withFailed(reply, result);
    }

    /**
     * Runs a batch. On Linux, HotSpot's {@link System#nanoTime()} returns CLOCK_MONOTONIC without an
     * offset ({@code os::javaTimeNanos} in JDK 17's src/hotspot/os/posix/os_posix.cpp). If multiple
     * threads do the work, the batch uses their own clock readings.
     */
    private Message run(Arguments arguments) throws Exception {
        Case open = opened();
        long operations = operations(arguments);
        boolean counts = arguments.has("count") && arguments.text("count").equals("allocations");
        long before = counts ? allocatedBytes() : 0;
        long start = System.nanoTime();
        Result result = open.perform(operations);
        long end = System.nanoTime();
        long after = counts ? allocatedBytes() : 0;
        Result.Times times = result.times();
        var reply =
                new Message("ran")
                        .with("start", times == null ? start : times.start())
                        .with("end", times == null ? end : times.end())
                        .with("operations", operations)
                        .with("units", result.units())
                        .with("check", result.check());
        result.metrics().forEach((metric, value) -> reply.with(metric, decimal(value)));
        if (counts) {
            reply.with("allocated_bytes", Math.max(0, after - before));
        }
        if (times != null && times.latencies() != null) {
            reply.with("latencies", times.latencies().format());
        }
        return withFailed(reply, result);
    }

    /**
     * Returns the number of bytes allocated by all living threads. The JVM does not count objects.
     */
    private static long allocatedBytes() {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] bytes = threads.getThreadAllocatedBytes(threads.getAllThreadIds());
        return Arrays.stream(bytes).filter(b -> b > 0).sum(); // -1 for a thread that has ended.
    }

    /**
     * Adds the failed operations, if the case reports them. Throws an exception if the reply would
     * be too long for a line.
     */
    private static Message withFailed(Message reply, Result result) {
        if (result.failed() != null) {
            reply.with("failed", Ranges.format(result.failed()));
        }
        if (reply.format().length() > LineReader.LIMIT) {
            throw new IllegalStateException(
                    "the reply would be longer than %d bytes; perform fewer operations"
                            .formatted(LineReader.LIMIT));
        }
        return reply;
    }

    /** Formats a number without an exponent, which the protocol does not support. */
    private static String decimal(double value) {
        return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
    }

    /** Closes the case, which counts as closed even if this fails. */
    private Message closeCase() throws Exception {
        Case closing = opened();
        current = null;
        closing.close();
        return new Message("closed");
    }

    private Case opened() throws Refusal {
        if (current == null) {
            throw Refusal.usage("no case is open");
        }
        return current;
    }

    private static long operations(Arguments arguments) throws Refusal {
        return arguments.integer("operations", 1, MAX_OPERATIONS);
    }

    /**
     * Returns the messages of the failure and of its causes, each with its SQLSTATE if it has one.
     */
    private static String describe(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .map(Session::message)
                .collect(Collectors.joining(": "));
    }

    private static String message(Throwable failure) {
        String message = failure.getMessage() != null ? failure.getMessage() : failure.toString();
        return failure instanceof SQLException sql && sql.getSQLState() != null
                ? message + " (SQLSTATE " + sql.getSQLState() + ")"
                : message;
    }

    private static Message error(String code, String message) {
        return new Message("error")
                .with("code", code)
                .with("message", message.substring(0, Math.min(message.length(), MAX_MESSAGE)));
    }
}
