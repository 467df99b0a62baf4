// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(600)
class ProcessExampleTest {

    @Test
    void sorts() throws Exception {
        assertEquals("a\nb\n", ProcessExample.sorted("b\na\nb\n"));
    }

    @Test
    void findsTheFirstFiles(@TempDir Path folder) throws Exception {
        Files.createFile(folder.resolve("one"));
        assertEquals(List.of("./one"), ProcessExample.firstFiles(folder, 5));
        Files.createFile(folder.resolve("two"));
        assertEquals(1, ProcessExample.firstFiles(folder, 1).size());
    }
}
