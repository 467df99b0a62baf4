// SPDX-License-Identifier: Apache-2.0
// A database file as it is seen from outside the subject.
package benchlab.sql;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

record DatabaseFile(Path path) {

    void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        }
    }

    /** The first column of a query, as integers. */
    List<Long> column(String sql) throws SQLException {
        var values = new ArrayList<Long>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                values.add(rows.getLong(1));
            }
        }
        return values;
    }

    /** The file change counter: every transaction that writes raises it by one, fileformat2.html. */
    long changes() throws IOException {
        return Integer.toUnsignedLong(ByteBuffer.wrap(Files.readAllBytes(path)).getInt(24));
    }

    /** Whether this process has the file open. */
    boolean isOpen() throws IOException {
        try (var descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                // The one that lists the folder is among them, and gone when its turn comes.
                if (Files.exists(descriptor)
                        && Files.readSymbolicLink(descriptor).equals(path)) {
                    return true;
                }
            }
        }
        return false;
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + path);
    }
}
