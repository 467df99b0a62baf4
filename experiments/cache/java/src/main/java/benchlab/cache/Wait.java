// SPDX-License-Identifier: Apache-2.0
// The case wait: one thread reads while another one writes continuously.
package benchlab.cache;

import benchlab.kit.Case;
import benchlab.kit.Result;
import benchlab.kit.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

final class Wait implements Case {
    private final SharedMap map;
    private final Trace trace;
    private final Workers reader;
    private volatile boolean over;

    Wait(SharedMap map, Trace trace) {
        this.map = map;
        this.trace = trace;
        reader = new Workers(List.of(k -> map.get(trace.key(k))));
    }

    @Override
    public Result perform(long operations) throws Exception {
        var begun = new CountDownLatch(1);
        var writer = new Thread(() -> writeUntilOver(begun), "writer");
        resetPeak();
        over = false;
        writer.start();
        begun.await();
        try {
            Result result = reader.perform(operations);
            return result.with("peak", peak());
        } finally {
            over = true;
            writer.join();
        }
    }

    private void writeUntilOver(CountDownLatch begun) {
        begun.countDown();
        for (long k = 0; !over; k++) {
            map.put(trace.key(k), trace.value(k));
        }
    }

    /** Resets the peak resident set size to the current size (proc(5), clear_refs). */
    private static void resetPeak() throws IOException {
        Files.writeString(Path.of("/proc/self/clear_refs"), "5");
    }

    /** Returns the peak resident set size in bytes, from a line such as {@code VmHWM: 1234 kB}. */
    private static double peak() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            String line = lines.filter(each -> each.startsWith("VmHWM:")).findFirst().orElseThrow();
            return 1024.0 * Long.parseLong(line.replaceAll("[^0-9]", ""));
        }
    }

    @Override
    public void close() throws InterruptedException {
        reader.close();
    }
}
