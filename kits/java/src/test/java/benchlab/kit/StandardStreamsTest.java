// SPDX-License-Identifier: Apache-2.0
// Tests that a subject's output cannot corrupt replies, in a separate process as in benchlab.
package benchlab.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class StandardStreamsTest {

    /** A subject that prints an incomplete line while it works. */
    static final class Noisy {
        private Noisy() {}

        public static void main(String[] arguments) throws Exception {
            Lab.serve(
                    new Subject() {
                        @Override
                        public String name() {
                            return "noisy";
                        }

                        @Override
                        public String library() {
                            return "none";
                        }

                        @Override
                        public Case open(String name, Arguments arguments) {
                            System.out.print("stray words");
                            return new Noop();
                        }
                    });
        }
    }

    @Test
    void straysBecomeLogLinesAndTheProcessEndsWell() throws Exception {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                place(Lab.class) + ":" + place(Noisy.class),
                                Noisy.class.getName())
                        .start();
        try (OutputStream commands = process.getOutputStream()) {
            commands.write("open case=any seed=1\nverify\n".getBytes(StandardCharsets.US_ASCII));
        }
        String replies = new String(process.getInputStream().readAllBytes());
        String log = new String(process.getErrorStream().readAllBytes());
        assertEquals(0, process.waitFor());
        assertEquals(
                List.of("@lab opened", "@lab verified operations=1 units=1 check=1"),
                replies.lines().skip(1).toList());
        assertEquals("stray words", log);
    }

    private static Path place(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
