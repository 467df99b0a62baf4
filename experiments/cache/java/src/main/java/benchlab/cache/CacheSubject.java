// SPDX-License-Identifier: Apache-2.0
package benchlab.cache;

import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Lab;
import benchlab.kit.Refusal;
import benchlab.kit.Subject;

/** The cache experiment in Java: the caches of appserver/java. */
public class CacheSubject implements Subject {
    private static final int MAX_THREADS = 1024;

    /** The maximum number of entries in the case write. The case wait always uses this number. */
    private static final int MAX_ENTRIES = 1_000_000;

    public static void main(String[] arguments) throws Exception {
        Lab.serve(new CacheSubject());
    }

    @Override
    public String name() {
        return "java";
    }

    @Override
    public String library() {
        return "appserver caches, JDK " + Runtime.version().feature();
    }

    @Override
    public Case open(String name, Arguments arguments) throws Refusal {
        return switch (name) {
            case "read_only" ->
                    replay(maps().of(arguments.text("scheme"), Trace.ZIPF_KEYS), arguments, 100);
            case "read_mostly" ->
                    replay(
                            maps().written(arguments.text("scheme"), Trace.ZIPF_KEYS),
                            arguments,
                            reads(arguments));
            case "write" -> write(arguments);
            case "wait" ->
                    new Wait(
                            maps().written(arguments.text("scheme"), MAX_ENTRIES),
                            Trace.uniform(arguments.sequence(), MAX_ENTRIES));
            case "evict" -> new Evict(bounded(), Trace.requests(arguments));
            case "lost" -> new Lost(maps(), arguments.text("scheme"), threads(arguments));
            default -> throw Refusal.unsupported("there is no case " + name);
        };
    }

    /** Returns the factory of unbounded maps. */
    SharedMap.Factory maps() {
        return SharedMap::of;
    }

    /** Returns the factory of bounded caches. */
    Evict.Factory bounded() {
        return Evict::appserver;
    }

    private Case replay(SharedMap map, Arguments arguments, int reads) throws Refusal {
        return new Replay(map, Trace.zipf(arguments.sequence(), reads), threads(arguments));
    }

    private Case write(Arguments arguments) throws Refusal {
        int entries = (int) arguments.integer("entries", 1, MAX_ENTRIES);
        return new Write(
                maps().written(arguments.text("scheme"), entries),
                Trace.uniform(arguments.sequence(), entries));
    }

    private static int threads(Arguments arguments) throws Refusal {
        return (int) arguments.integer("threads", 1, MAX_THREADS);
    }

    private static int reads(Arguments arguments) throws Refusal {
        String reads = arguments.text("reads");
        return switch (reads) {
            case "99" -> 99;
            case "90" -> 90;
            default -> throw Refusal.unsupported("expected 99 or 90 % reads, got " + reads);
        };
    }
}
