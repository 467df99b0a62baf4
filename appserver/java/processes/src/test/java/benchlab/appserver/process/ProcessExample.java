// SPDX-License-Identifier: Apache-2.0
// An example of processes: a filter with a timeout, and lines that are read as they arrive.
package benchlab.appserver.process;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** Runs standard system programs. */
final class ProcessExample {

    private ProcessExample() {}

    static String sorted(String lines) throws IOException, InterruptedException, TimeoutException {
        return Command.of("sort", "--unique")
                .environment("LC_ALL", "C")
                .run(lines, Duration.ofMinutes(1))
                .orThrow()
                .text();
    }

    static List<String> firstFiles(Path folder, int count)
            throws IOException, InterruptedException, TimeoutException {
        List<String> found = new ArrayList<>();
        Command find = Command.of("find", ".", "-type", "f").directory(folder);
        try (RunningProcess process = find.start()) {
            for (String file : process.lines()) {
                found.add(file);
                if (found.size() == count) {
                    break; // Closing kills the program if it is still searching.
                }
            }
        }
        return found;
    }
}
