// SPDX-License-Identifier: Apache-2.0
// A subject whose cases return their inputs or fail.
package benchlab.kit;

import java.net.URI;
import java.sql.SQLException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

final class Probe implements Subject {
    /** The number of open cases. */
    int open;

    @Override
    public String name() {
        return "probe";
    }

    @Override
    public String library() {
        return "none 1.0";
    }

    @Override
    public Case open(String name, Arguments arguments) throws Exception {
        Case opened =
                switch (name) {
                    case "echo" -> new Echo(arguments);
                    case "sum" -> new Sum(arguments.sequence());
                    case "crowd" -> new Crowd(arguments.sequence());
                    case "metrics" -> new Metrics();
                    case "fallible" -> new Fallible(arguments.text("digits"));
                    case "serves" -> new Serves();
                    case "fails" -> new Fails(arguments.text("when"), arguments.text("message"));
                    default -> throw Refusal.unsupported("there is no case " + name);
                };
        open++;
        return opened;
    }

    private abstract class Counted implements Case {
        @Override
        public void close() throws Exception {
            open--;
        }
    }

    /**
     * Reports its argument {@code text} as a setting, and its argument {@code count} as the result.
     */
    private final class Echo extends Counted {
        private final String text;
        private final long count;

        Echo(Arguments arguments) throws Refusal {
            text = arguments.text("text");
            count = arguments.integer("count", 1, 100);
        }

        @Override
        public Map<String, String> settings() {
            var settings = new LinkedHashMap<String, String>();
            settings.put("text", text);
            settings.put("a_1", "fixed");
            return settings;
        }

        @Override
        public Result perform(long operations) {
            return new Result(count, -1);
        }
    }

    /** Sums its inputs. */
    private final class Sum extends Counted {
        private final Sequence inputs;

        Sum(Sequence inputs) {
            this.inputs = inputs;
        }

        @Override
        public Result perform(long operations) {
            long sum = 0;
            for (long k = 0; k < operations; k++) {
                sum += inputs.at(k);
            }
            return new Result(operations, sum);
        }
    }

    /** Sums its inputs with four threads. */
    private final class Crowd extends Counted {
        private final Workers workers;

        Crowd(Sequence inputs) {
            workers = new Workers(Collections.nCopies(4, inputs::at));
        }

        @Override
        public Result perform(long operations) throws Exception {
            return workers.perform(operations);
        }

        @Override
        public void close() throws Exception {
            workers.close();
            super.close();
        }
    }

    /** Reports metrics. */
    private final class Metrics extends Counted {
        @Override
        public Result perform(long operations) {
            return new Result(operations, operations)
                    .with("small", -1.2e-5)
                    .with("lost", 100 / 3.0)
                    .with("none", 0)
                    .with("large", 9.8e16);
        }
    }

    /**
     * Does its operations in four threads. An operation fails if its number ends with one of {@code
     * digits}.
     */
    private final class Fallible extends Counted {
        private final Set<Long> failed = ConcurrentHashMap.newKeySet();
        private final Workers workers;

        Fallible(String digits) {
            Workers.Worker worker =
                    k -> {
                        if (digits.indexOf('0' + (int) (k % 10)) >= 0) {
                            failed.add(k);
                        }
                        return 1;
                    };
            workers = new Workers(Collections.nCopies(4, worker));
        }

        @Override
        public Result perform(long operations) throws Exception {
            failed.clear();
            return workers.perform(operations).withFailed(failed).with("lost", 0.5);
        }

        @Override
        public void close() throws Exception {
            workers.close();
            super.close();
        }
    }

    /** Acts as a server. */
    private final class Serves extends Counted implements Serving {
        @Override
        public URI url() {
            return URI.create("http://127.0.0.1:40123");
        }

        @Override
        public int workers() {
            return 8;
        }

        @Override
        public int loops() {
            return 2;
        }
    }

    /** Fails in one phase. */
    private final class Fails extends Counted {
        private final String phase;
        private final String message;

        Fails(String phase, String message) throws SQLException {
            this.phase = phase;
            this.message = message;
            failAt("open");
        }

        @Override
        public Map<String, String> settings() throws SQLException {
            failAt("settings");
            return Map.of();
        }

        @Override
        public Result perform(long operations) throws SQLException {
            failAt("perform");
            switch (phase) {
                case "null" -> throw new IllegalStateException();
                case "cause" -> throw new SQLException(message, new RuntimeException("no disk"));
                case "link" -> throw new UnsatisfiedLinkError(message);
                default -> {}
            }
            return new Result(operations, 0);
        }

        @Override
        public void close() throws Exception {
            super.close();
            failAt("close");
        }

        private void failAt(String point) throws SQLException {
            if (phase.equals(point)) {
                throw new SQLException(message, "HY000");
            }
        }
    }
}
