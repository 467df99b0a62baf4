// SPDX-License-Identifier: Apache-2.0
// Checks for lost records: threads record concurrently, for the duration that Stress defines.
package benchlab.appserver.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.Stress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class MonitorStressTest {

    private static final int THREADS = 4;
    private static final int PAGES = 12;

    /** Uses more pages and queries than can be named, while another thread reads all metrics. */
    @Test
    void losesNothing() throws Exception {
        var monitor = new Monitor(8, 4, 2);
        var deadline = new Stress.Deadline(Stress.part(1));
        Callable<Long> writer =
                () -> {
                    long requests = 0;
                    for (; requests % 100 != 0 || !deadline.passed(); requests++) {
                        monitor.begin("GET", "/page" + (char) ('a' + requests % PAGES));
                        for (int k = 0; k < requests % 4; k++) {
                            monitor.record(monitor.query("SELECT 1"), k, k == 2);
                        }
                        monitor.end(requests % 10 == 0 ? 500 : 200, "/");
                    }
                    return requests;
                };
        Callable<Long> reader =
                () -> {
                    while (!deadline.passed()) {
                        assertTrue(MonitorTexts.json(monitor, "").endsWith("]}"));
                        assertTrue(MonitorTexts.prometheus(monitor).endsWith("\n"));
                        Thread.sleep(10);
                    }
                    return 0L;
                };
        List<Callable<Long>> tasks = new ArrayList<>(Collections.nCopies(THREADS, writer));
        tasks.add(reader);
        long requests = Stress.together(tasks).stream().mapToLong(n -> n).sum();

        long count = 0;
        long errors = 0;
        long queries = 0;
        long failed = 0;
        for (Page page : monitor.pages()) {
            count += page.statistics().count();
            errors += page.statistics().errors();
            for (String query : List.of("SELECT ?", Monitor.OTHER)) {
                queries += monitor.statistics(page.name, query).count();
                failed += monitor.statistics(page.name, query).errors();
            }
            assertEquals(
                    page.statistics().count(),
                    page.hours().stream().mapToLong(Page.Hour::count).sum(),
                    "the hours of " + page.name);
        }
        assertEquals(requests, count);
        assertEquals(requests / 10, errors);
        assertEquals(requests / 4 * 6, queries);
        assertEquals(requests / 4, failed);
    }
}
