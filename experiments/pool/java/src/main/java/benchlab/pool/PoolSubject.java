// SPDX-License-Identifier: Apache-2.0
// The pool experiment in Java: the pool of appserver/java, and two others.
package benchlab.pool;

import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Lab;
import benchlab.kit.Refusal;
import benchlab.kit.Sequence;
import benchlab.kit.Subject;
import benchlab.pool.ResourcePool.Reuse;
import java.util.concurrent.locks.LockSupport;

public final class PoolSubject implements Subject {

    private static final int THREADS_MAX = 256;
    private static final int MAX_CROWD = 10_000;
    private static final int CROWD_SIZE = 10;
    private static final int UNCONTENDED_SIZE = 8;
    private static final int HOLD_NS = 100_000;
    private static final int WAIT_NS = 1_000_000;
    private static final int FAILS_EVERY = 8;

    private final String name;
    private final PoolKind pool;

    /** @param name the subject's name in the experiment */
    public PoolSubject(String name) {
        this.name = name;
        pool =
                switch (name) {
                    case "java" -> PoolKind.APPSERVER;
                    case "java-hikari" -> PoolKind.HIKARI;
                    case "java-commons" -> PoolKind.COMMONS;
                    default -> throw new IllegalArgumentException(name);
                };
    }

    /** @param arguments the subject's name */
    public static void main(String[] arguments) throws Exception {
        Lab.serve(new PoolSubject(arguments[0]));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String library() {
        return pool.library();
    }

    @Override
    public Case open(String name, Arguments arguments) throws Exception {
        return switch (name) {
            case "uncontended" -> new Uncontended(pool.make(UNCONTENDED_SIZE, Reuse.DEFAULT));
            case "lease" -> {
                int threads = threads(arguments);
                int size = size(arguments.text("size"), threads);
                Holder holder = holder(arguments.text("hold"));
                yield new Together(threads, pool.make(size, Reuse.DEFAULT), holder);
            }
            case "crowd" -> {
                int threads = (int) arguments.integer("threads", 1, MAX_CROWD);
                ResourcePool resources = pool.make(CROWD_SIZE, Reuse.DEFAULT);
                Holder holder = holder(arguments.text("hold"));
                yield new Crowd(new Together(threads, resources, holder));
            }
            case "fail" -> {
                int threads = threads(arguments);
                Holder holder = failing(arguments.sequence());
                yield new Together(threads, pool.make(size("half", threads), Reuse.DEFAULT), holder);
            }
            case "reuse" -> {
                int threads = threads(arguments);
                Reuse reuse = reuse(arguments.text("reuse"));
                yield new Together(
                        threads,
                        pool.make(size("eightfold", threads), reuse),
                        (resource, k) -> resource.sum());
            }
            default -> throw Refusal.unsupported("there is no case " + name);
        };
    }

    private static int threads(Arguments arguments) throws Refusal {
        return (int) arguments.integer("threads", 1, THREADS_MAX);
    }

    private static int size(String word, int threads) throws Refusal {
        return switch (word) {
            case "equal" -> threads;
            case "half" -> (threads + 1) / 2;
            case "eightfold" -> 8 * threads;
            default -> throw Refusal.unsupported("unknown size " + word);
        };
    }

    private static Holder holder(String word) throws Refusal {
        return switch (word) {
            case "0us" -> (resource, k) -> 1;
            case "100us" -> (resource, k) -> {
                long start = System.nanoTime();
                while (System.nanoTime() - start < HOLD_NS) {
                    Thread.onSpinWait();
                }
                return 1;
            };
            case "1ms" -> (resource, k) -> {
                long end = System.nanoTime() + WAIT_NS;
                long remaining = WAIT_NS;
                while (remaining > 0) {
                    LockSupport.parkNanos(remaining);
                    remaining = end - System.nanoTime();
                }
                return 1;
            };
            default -> throw Refusal.unsupported("unknown hold " + word);
        };
    }

    private static Holder failing(Sequence inputs) {
        return (resource, k) -> {
            if (Long.remainderUnsigned(inputs.at(k), FAILS_EVERY) == 0) {
                throw new Holder.Failed();
            }
            return 1;
        };
    }

    private static Reuse reuse(String word) throws Refusal {
        return switch (word) {
            case "lifo" -> Reuse.LIFO;
            case "fifo" -> Reuse.FIFO;
            default -> throw Refusal.unsupported("unknown reuse " + word);
        };
    }
}
