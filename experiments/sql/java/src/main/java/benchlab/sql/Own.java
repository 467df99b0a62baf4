// SPDX-License-Identifier: Apache-2.0
// own: the user's own statements, prepared, with values to bind from a file (docs/protocol.md, The case `own`).
package benchlab.sql;

import benchlab.kit.Arguments;
import benchlab.kit.Refusal;
import benchlab.kit.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

final class Own extends SqlCase {
    private static final int MAX_STATEMENTS = 100;

    /** The types of columns. Only the first three are also types of parameters. */
    private enum Type {
        INTEGER,
        FLOAT,
        TEXT,
        BOOLEAN,
        DECIMAL,
        BYTES,
        DATE,
        TIMESTAMP;

        static List<Type> list(Arguments arguments, String key) throws Refusal {
            String text = arguments.text(key);
            var types = new ArrayList<Type>();
            for (String word : text.equals("none") ? new String[0] : text.split(",")) {
                types.add(of(word));
            }
            return types;
        }

        private static Type of(String word) throws Refusal {
            for (Type type : values()) {
                if (type.name().toLowerCase(Locale.ROOT).equals(word)) {
                    return type;
                }
            }
            throw Refusal.unsupported("unknown type " + word);
        }
    }

    /** @param columns the types of the columns; empty if the statement returns no rows */
    private record Prepared(PreparedStatement statement, Type[] parameters, Type[] columns) {}

    private final List<Prepared> statements = new ArrayList<>();
    private final boolean isTransaction;

    /** The values of all parameters of an operation: a Long, a Double or a String each. */
    private final List<Object[]> inputs;

    private long check;
    private long units;

    Own(Database database, Connection connection, Arguments arguments)
            throws Refusal, SQLException, IOException {
        super(database, connection);
        int count = (int) arguments.integer("statements", 1, MAX_STATEMENTS);
        isTransaction = arguments.text("transaction").equals("yes");
        var kinds = new ArrayList<Type>();
        for (int n = 1; n <= count; n++) {
            List<Type> parameters = Type.list(arguments, "parameters" + n);
            List<Type> columns = Type.list(arguments, "columns" + n);
            kinds.addAll(parameters);
            statements.add(
                    new Prepared(
                            connection.prepareStatement(arguments.text("sql" + n)),
                            parameters.toArray(Type[]::new),
                            columns.toArray(Type[]::new)));
        }
        inputs = new ArrayList<>();
        if (kinds.isEmpty()) {
            inputs.add(new Object[0]);
        } else {
            for (String line : Files.readAllLines(Path.of(arguments.text("inputs")))) {
                inputs.add(values(line.split("\t", -1), kinds));
            }
        }
    }

    private static Object[] values(String[] fields, List<Type> kinds) throws Refusal {
        var values = new Object[kinds.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] =
                    switch (kinds.get(i)) {
                        case INTEGER -> (Object) Long.parseLong(fields[i]);
                        case FLOAT -> (Object) Double.parseDouble(fields[i]);
                        case TEXT -> fields[i];
                        default -> throw Refusal.unsupported(
                                "a parameter of the type " + kinds.get(i));
                    };
        }
        return values;
    }

    /**
     * Returns the settings, and turns autocommit mode off if the statements are one transaction.
     * This is the last step of opening the case. From now on, each commit begins the next
     * transaction.
     */
    @Override
    public Map<String, String> settings() throws SQLException {
        Map<String, String> settings = super.settings();
        if (isTransaction) {
            connection.setAutoCommit(false);
        }
        return settings;
    }

    @Override
    public Result perform(long operations) throws SQLException {
        check = 0;
        units = 0;
        try {
            for (long k = 0; k < operations; k++) {
                operate(inputs.get((int) (k % inputs.size())));
                if (isTransaction) {
                    connection.commit();
                }
            }
        } catch (SQLException e) {
            if (isTransaction) {
                connection.rollback();
            }
            throw e;
        }
        return new Result(units, check);
    }

    private void operate(Object[] values) throws SQLException {
        int next = 0;
        for (Prepared own : statements) {
            PreparedStatement statement = own.statement();
            for (int p = 1; p <= own.parameters().length; p++) {
                bind(statement, p, values[next++]);
            }
            if (own.columns().length == 0) {
                statement.executeUpdate();
                check++;
                units++;
            } else {
                try (ResultSet rows = statement.executeQuery()) {
                    fetch(rows, own.columns());
                }
            }
        }
    }

    private void bind(PreparedStatement statement, int parameter, Object value) throws SQLException {
        if (value instanceof Long number) {
            statement.setLong(parameter, number);
        } else if (value instanceof Double number) {
            statement.setDouble(parameter, number);
        } else {
            database.bindText(statement, parameter, (String) value);
        }
    }

    private void fetch(ResultSet rows, Type[] columns) throws SQLException {
        while (rows.next()) {
            for (int c = 0; c < columns.length; c++) {
                long fold = fold(rows, c + 1, columns[c]);
                check += rows.wasNull() ? 1 : fold;
            }
            units++;
        }
    }

    /** Returns the fold of a value that is not NULL. */
    private static long fold(ResultSet row, int column, Type type) throws SQLException {
        return switch (type) {
            case INTEGER -> row.getLong(column);
            case BOOLEAN -> row.getBoolean(column) ? 1 : 0;
            case FLOAT -> Double.doubleToRawLongBits(row.getDouble(column));
            case TEXT -> {
                String text = row.getString(column);
                yield text == null ? 0 : codePoints(text);
            }
            case DECIMAL -> {
                var decimal = row.getBigDecimal(column);
                yield decimal == null ? 0 : codePoints(decimal.toPlainString());
            }
            case BYTES -> {
                byte[] bytes = row.getBytes(column);
                long sum = 0;
                for (int i = 0; bytes != null && i < bytes.length; i++) {
                    sum += bytes[i] & 0xff;
                }
                yield sum;
            }
            case DATE, TIMESTAMP -> {
                var moment = row.getTimestamp(column);
                yield moment == null ? 0 : moment.getTime();
            }
        };
    }

    private static long codePoints(String text) {
        return text.codePoints().asLongStream().sum();
    }
}
