// SPDX-License-Identifier: Apache-2.0
// What a program that starts others may leave behind: open descriptors, and children.
package benchlab.process;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

final class Left {

    private Left() {}

    /** Open descriptors: the fewer of two counts, as the JVM reads files of its own now and then. */
    static int descriptors() {
        return Math.min(descriptorsNow(), descriptorsNow());
    }

    /**
     * Open descriptors beyond those before, the fewest within a tenth of a second: the JVM reads files of its own, and
     * its reaper closes the streams of a child that has ended. That may also have been so before.
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
        return new File("/proc/self/fd").list().length - 1; // Without the folder's own.
    }

    /** Its child processes, zombies included. */
    static int children() throws IOException {
        int count = 0;
        for (File thread : new File("/proc/self/task").listFiles()) {
            try {
                String list = Files.readString(Path.of(thread.getPath(), "children")).strip();
                count += list.isEmpty() ? 0 : list.split(" ").length;
            } catch (NoSuchFileException e) {
                // The thread has ended since.
            }
        }
        return count;
    }
}
