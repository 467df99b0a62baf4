// SPDX-License-Identifier: Apache-2.0
// A directory that is deleted when it is closed.
package benchlab.rest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

record TemporaryFolder(Path path) implements AutoCloseable {
    TemporaryFolder() throws IOException {
        this(Files.createTempDirectory("benchlab-"));
    }

    @Override
    public void close() throws IOException {
        List<Path> contentFirst;
        try (Stream<Path> all = Files.walk(path)) {
            contentFirst = all.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path each : contentFirst) {
            Files.delete(each);
        }
    }
}
