// SPDX-License-Identifier: Apache-2.0
// Checks that the Java examples in the README are excerpts of sources that the tests compile and
// run.
package benchlab.appserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ReadmeTest {

    private static final Path LIBRARIES = Path.of("..", "..");
    private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @Test
    void examplesAreTestedCode() throws Exception {
        List<String> sources = new ArrayList<>();
        try (var files = Files.walk(LIBRARIES)) {
            files.filter(file -> file.toString().endsWith("Example.java"))
                    .map(ReadmeTest::withoutIndent)
                    .forEach(sources::add);
        }
        List<String> examples =
                EXAMPLE.matcher(Files.readString(LIBRARIES.resolve("README.md")))
                        .results()
                        .map(match -> withoutIndent(match.group(1)))
                        .toList();
        assertEquals(11, examples.size());
        for (String example : examples) {
            assertTrue(sources.stream().anyMatch(source -> source.contains(example)), example);
        }
    }

    private static String withoutIndent(Path file) {
        try {
            return withoutIndent(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String withoutIndent(String text) {
        return text.lines().map(String::strip).collect(Collectors.joining("\n"));
    }
}
