// SPDX-License-Identifier: Apache-2.0
// Resources that a program may leak when it starts other programs: open descriptors and child
// processes.
package benchlab.process;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

final class Left {

    private Left() {}

    /**
     * Returns the number of open descriptors: the lower of two counts, because the JVM sometimes
     * opens its own files.
     */
    static int descriptors() {
        return Math.min(descriptorsNow(), descriptorsNow());
    }

    /**
     * Returns the number of open descriptors in excess of {@code before}: the minimum within 100 ms, because the JVM
     * opens its own files, and its reaper closes the streams of a child after its exit. The earlier count may be too
     * high for the same reasons.
     */
    static int descriptorsBeyond(int before) throws InterruptedException {
        int fewest = descriptors();
        for (int i = 0; fewest > before && i < 20; i++) {
            Thread.sleep(5);
            fewest = Math.min(fewest, descriptors());
        }
        return Math.max(0, fewest - before);
    }

    private static int descriptorsNow() {
        return new File("/proc/self/fd").list().length - 1; // Without the descriptor of the directory itself.
    }

    /** Returns the number of child processes, including zombies. */
    static int children() throws IOException {
        int count = 0;
        for (File thread : new File("/proc/self/task").listFiles()) {
            try {
                String list = Files.readString(Path.of(thread.getPath(), "children")).strip();
                count += list.isEmpty() ? 0 : list.split(" ").length;
            } catch (NoSuchFileException e) {
                // The thread has exited in the meantime.
            }
        }
        return count;
    }
}
