// SPDX-License-Identifier: Apache-2.0
// The SQL experiment's subject in Java: JDBC, with one driver for each database.
package benchlab.sql;

import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Lab;
import benchlab.kit.Refusal;
import benchlab.kit.Sequence;
import benchlab.kit.Subject;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

/**
 * @param name this subject's name in the experiment
 * @param library the driver with its version
 * @param opener opens the databases that this process serves; no other driver is loaded
 */
public record SqlSubject(String name, String library, Opener opener) implements Subject {

    /**
     * Opens the database that the arguments of {@code open} specify, without connecting to it yet.
     */
    @FunctionalInterface
    public interface Opener {
        /**
         * @param prepared true if the case's statements are prepared, false if they are sent as
         *     text
         */
        Database open(Arguments arguments, boolean prepared) throws Refusal;
    }

    /**
     * @param arguments the target, {@code sqlite}, {@code postgresql} or {@code mariadb}, and the
     *     subject's name, {@code java} by default; any other first argument is the name of a
     *     subject on SQLite
     */
    public static void main(String[] arguments) throws Exception {
        String target = arguments.length == 0 ? "sqlite" : arguments[0];
        String name = arguments.length < 2 ? "java" : arguments[1];
        Lab.serve(
                switch (target) {
                    case "sqlite" -> sqlite(name);
                    case "postgresql" -> postgresql(name);
                    case "mariadb" -> mariaDb(name);
                    default -> sqlite(target);
                });
    }

    static SqlSubject sqlite(String name) {
        return sqlite(name, Map.of());
    }

    /**
     * @param pragmas pragmas that the driver knows, such as {@code busy_timeout}; they are reported
     *     as settings too
     */
    public static SqlSubject sqlite(String name, Map<String, String> pragmas) {
        return new SqlSubject(
                name, Sqlite.library(), (arguments, prepared) -> new Sqlite(arguments, pragmas));
    }

    public static SqlSubject postgresql(String name) {
        return new SqlSubject(name, Postgresql.library(), Postgresql::new);
    }

    public static SqlSubject mariaDb(String name) {
        return new SqlSubject(name, MariaDb.library(), MariaDb::new);
    }

    @Override
    public Case open(String name, Arguments arguments)
            throws Refusal, SQLException, IOException {
        Database database = opener.open(arguments, isPrepared(name, arguments));
        if (name.equals("connect")) {
            return new Connect(database);
        }
        if (name.equals("connections")) {
            return new Connections(database, ids(arguments), count(arguments, "connections"));
        }
        Connection connection = database.connect();
        try {
            return open(name, arguments, database, connection);
        } catch (Refusal | SQLException | IOException e) {
            connection.close();
            throw e;
        }
    }

    private static Case open(
            String name, Arguments arguments, Database database, Connection connection)
            throws Refusal, SQLException, IOException {
        boolean prepared = isPrepared(name, arguments);
        return switch (name) {
            case "select_1" -> prepared
                    ? new SelectOne.Prepared(database, connection)
                    : new SelectOne.Text(database, connection);
            case "do_1" -> {
                if (!database.hasDo()) {
                    throw Refusal.unsupported("the database does not support DO");
                }
                yield new DoOne(database, connection);
            }
            case "select" -> prepared
                    ? new Select.Prepared(database, connection, count(arguments, "limit"))
                    : new Select.Text(database, connection, count(arguments, "limit"));
            case "point" -> prepared
                    ? new Point.Prepared(database, connection, ids(arguments))
                    : new Point.Text(database, connection, ids(arguments));
            case "mixed" -> new Mixed(database, connection, ids(arguments));
            case "insert" -> prepared
                    ? new Insert.Prepared(database, connection, values(arguments))
                    : new Insert.Text(database, connection, values(arguments));
            case "insert_tx" -> new InsertTransaction(
                    database, connection, values(arguments), count(arguments, "rows_tx"));
            case "update_point" -> new UpdatePoint(
                    database, connection, amounts(arguments), ids(arguments));
            case "transfer" -> new Transfer(
                    database,
                    connection,
                    amounts(arguments),
                    ids(arguments),
                    destinations(arguments));
            case "drop_create" -> new DropCreate(database, connection, arguments.text("table"));
            case "own" -> new Own(database, connection, arguments);
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Returns true if the case's statements are prepared: always, or as requested. */
    private static boolean isPrepared(String name, Arguments arguments) throws Refusal {
        return switch (name) {
            case "connect", "do_1", "drop_create" -> false;
            case "mixed", "insert_tx", "update_point", "transfer", "connections", "own" -> true;
            case "select_1", "select", "point", "insert" -> switch (arguments.text("statement")) {
                case "prepared" -> true;
                case "text" -> false;
                default ->
                        throw Refusal.unsupported("expected statement=prepared or statement=text");
            };
            default -> throw Refusal.unsupported("there is no case " + name);
        };
    }

    /** Returns the ids of existing rows to select. */
    private static Sequence ids(Arguments arguments) throws Refusal {
        long rows = count(arguments, "rows");
        return arguments.sequence().map(input -> 1 + Long.remainderUnsigned(input, rows));
    }

    /** Returns the ids of the rows that transfers add to. */
    private static Sequence destinations(Arguments arguments) throws Refusal {
        long rows = count(arguments, "rows");
        return arguments.sequence().map(input -> 1 + (input >>> 32) % rows);
    }

    /** Returns the amounts by which values change, from 1 to 100. */
    private static Sequence amounts(Arguments arguments) throws Refusal {
        return arguments.sequence().map(input -> 1 + (input >>> 20) % 100);
    }

    /** Returns the values to insert, from 0 to 2<sup>31</sup>-1. */
    private static Sequence values(Arguments arguments) throws Refusal {
        return arguments.sequence().map(input -> input >>> 33);
    }

    private static int count(Arguments arguments, String key) throws Refusal {
        return (int) arguments.integer(key, 1, Integer.MAX_VALUE);
    }
}
