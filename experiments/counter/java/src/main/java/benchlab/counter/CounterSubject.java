// SPDX-License-Identifier: Apache-2.0
package benchlab.counter;

import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Lab;
import benchlab.kit.Refusal;
import benchlab.kit.Subject;

/** The counter experiment in Java: the counters of appserver/java. */
public final class CounterSubject implements Subject {
    private static final int MAX_THREADS = 1024;

    public static void main(String[] arguments) throws Exception {
        Lab.serve(new CounterSubject());
    }

    @Override
    public String name() {
        return "java";
    }

    @Override
    public String library() {
        return "appserver counters, JDK " + Runtime.version().feature();
    }

    @Override
    public Case open(String name, Arguments arguments) throws Refusal {
        return switch (name) {
            case "increment", "plain" -> Counting.increments(scheme(arguments), threads(arguments));
            case "read_mostly" -> Counting.incrementsAndReads(scheme(arguments), threads(arguments));
            case "side_by_side" -> new SideBySide(threads(arguments));
            default -> throw Refusal.unsupported("there is no case " + name);
        };
    }

    private static int threads(Arguments arguments) throws Refusal {
        return (int) arguments.integer("threads", 1, MAX_THREADS);
    }

    private static Scheme scheme(Arguments arguments) throws Refusal {
        String scheme = arguments.text("scheme");
        return switch (scheme) {
            case "unsafe" -> new UnsafeCounter();
            case "unsafe_plain" -> new UnsafePlainCounter();
            case "atomic" -> new AtomicScheme();
            case "lock" -> new LockScheme();
            case "striped" -> new StripedScheme();
            default -> throw Refusal.unsupported("unknown scheme " + scheme);
        };
    }
}
