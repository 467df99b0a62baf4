// SPDX-License-Identifier: Apache-2.0
// Pooled connections in Java. In the package of the SQL experiment, whose code connects.
package benchlab.sql;

import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Lab;
import benchlab.kit.Refusal;
import benchlab.kit.Subject;

/**
 * The pool_sql experiment in Java.
 *
 * @param sql the SQL experiment's subject for the same target
 * @param isHikari true for HikariCP, false for the pool of appserver/java
 */
public record PoolSubject(SqlSubject sql, boolean isHikari) implements Subject {

    /**
     * Runs the subject.
     *
     * @param arguments the target, {@code sqlite}, {@code postgresql} or {@code mariadb}, and {@code
     *     hikari} for HikariCP
     * @throws Exception if a stream fails
     */
    public static void main(String[] arguments) throws Exception {
        boolean isHikari = arguments.length > 1 && arguments[1].equals("hikari");
        String name = isHikari ? "java-hikari" : "java";
        Lab.serve(
                new PoolSubject(
                        switch (arguments[0]) {
                            case "sqlite" -> SqlSubject.sqlite(name);
                            case "postgresql" -> SqlSubject.postgresql(name);
                            case "mariadb" -> SqlSubject.mariaDb(name);
                            default -> throw new IllegalArgumentException(arguments[0]);
                        },
                        isHikari));
    }

    @Override
    public String name() {
        return sql.name();
    }

    @Override
    public String library() {
        return sql.library() + (isHikari ? ", HikariCP" : ", benchlab.appserver.pool 1");
    }

    @Override
    public Case open(String name, Arguments arguments) throws Exception {
        return switch (name) {
            case "opened" -> new Connect(database(arguments));
            case "pooled" -> new Pooled(pool(arguments));
            case "shared" -> {
                int threads = (int) arguments.integer("threads", 1, 256);
                yield new Shared(pool(arguments), threads);
            }
            default -> throw Refusal.unsupported("there is no case " + name);
        };
    }

    private ConnectionPool pool(Arguments arguments) throws Exception {
        Database database = database(arguments);
        return isHikari ? new HikariConnections(database) : new AppserverConnections(database);
    }

    private Database database(Arguments arguments) throws Refusal {
        return sql.opener().open(arguments, false);
    }
}
