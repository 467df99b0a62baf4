// SPDX-License-Identifier: Apache-2.0
// A database file as seen from outside the subject.
package benchlab.sql;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

record DatabaseFile(Path path) implements TestDatabase {

    @Override
    public SqlSubject subject() {
        return SqlSubject.sqlite("java-test");
    }

    @Override
    public String target() {
        return "sqlite:" + path;
    }

    @Override
    public String columns() {
        return "id integer primary key autoincrement, value integer";
    }

    @Override
    public String suffix() {
        return "";
    }

    @Override
    public String mixedColumns() {
        return "id integer primary key, small integer, big integer, amount real, name text,"
                + " \"nothing\" integer, moment text";
    }

    @Override
    public Connection connect() throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + path);
    }

    /**
     * Returns the file change counter, which every transaction that writes increases by one
     * (fileformat2.html).
     */
    long changes() throws IOException {
        return Integer.toUnsignedLong(ByteBuffer.wrap(Files.readAllBytes(path)).getInt(24));
    }

    /** Returns true if this process has the file open. */
    boolean isOpen() throws IOException {
        try (var descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                // The descriptor that lists the directory is among them, and may be closed by now.
                if (Files.exists(descriptor)
                        && Files.readSymbolicLink(descriptor).equals(path)) {
                    return true;
                }
            }
        }
        return false;
    }
}
