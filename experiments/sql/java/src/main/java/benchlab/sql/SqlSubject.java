// SPDX-License-Identifier: Apache-2.0
// The SQL experiment's subject in Java: JDBC with the driver sqlite-jdbc.
package benchlab.sql;

import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Lab;
import benchlab.kit.Refusal;
import benchlab.kit.Subject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import org.sqlite.SQLiteJDBCLoader;

/** @param name as the experiment calls this subject */
public record SqlSubject(String name) implements Subject {
    private static final String TARGET = "sqlite:";
    private static final Set<String> CASES =
            Set.of("connect", "select_1", "select", "point", "insert", "insert_tx", "drop_create");

    /** @param arguments the subject's name; {@code java} if there is none */
    public static void main(String[] arguments) throws Exception {
        Lab.serve(new SqlSubject(arguments.length == 0 ? "java" : arguments[0]));
    }

    @Override
    public String library() {
        return "sqlite-jdbc " + SQLiteJDBCLoader.getVersion();
    }

    @Override
    public Case open(String name, Arguments arguments) throws Refusal, SQLException {
        if (!CASES.contains(name)) {
            throw Refusal.unsupported("there is no case " + name);
        }
        Database database = database(arguments);
        if (name.equals("connect")) {
            return new Connect(database);
        }
        Connection connection = database.connect();
        try {
            return open(name, arguments, connection);
        } catch (Refusal | SQLException e) {
            connection.close();
            throw e;
        }
    }

    private static Case open(String name, Arguments arguments, Connection connection)
            throws Refusal, SQLException {
        return switch (name) {
            case "select_1" -> isPrepared(arguments)
                    ? new SelectOne.Prepared(connection)
                    : new SelectOne.Text(connection);
            case "select" -> isPrepared(arguments)
                    ? new Select.Prepared(connection, count(arguments, "limit"))
                    : new Select.Text(connection, count(arguments, "limit"));
            case "point" -> new Point(connection, arguments.sequence(), count(arguments, "rows"));
            case "insert" -> isPrepared(arguments)
                    ? new Insert.Prepared(connection, arguments.sequence())
                    : new Insert.Text(connection, arguments.sequence());
            case "insert_tx" -> new InsertTransaction(
                    connection, arguments.sequence(), count(arguments, "rows_tx"));
            case "drop_create" -> new DropCreate(connection);
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Database database(Arguments arguments) throws Refusal {
        String target = arguments.text("target");
        if (!target.startsWith(TARGET)) {
            throw Refusal.unsupported("the target is not " + TARGET + "PATH");
        }
        return new Database("jdbc:" + target);
    }

    private static boolean isPrepared(Arguments arguments) throws Refusal {
        return switch (arguments.text("statement")) {
            case "prepared" -> true;
            case "text" -> false;
            default -> throw Refusal.unsupported("statement is neither prepared nor text");
        };
    }

    private static long count(Arguments arguments, String key) throws Refusal {
        return arguments.integer(key, 1, Integer.MAX_VALUE);
    }
}
