// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Request and query metrics. For each page of a server, and for each query of a page, a monitor
 * records the number of executions, their times, CPU time and errors, and the slowest requests. No
 * count is lost, no thread waits for another one, and a request of a known page allocates no memory
 * unless it is one of the slowest.
 *
 * <p>{@link MonitoredDataSource} records JDBC queries. In a servlet container, the filter of {@code
 * appserver-monitor-servlet} records the requests; other servers call {@link #begin} and {@link
 * #end} on one thread:
 *
 * <pre>
 * monitor.begin("GET", "/users/7");
 * …
 * monitor.end(200, "/users/7");
 * </pre>
 */
public final class Monitor {

    /** The name that stands for all pages, or all queries, beyond the maximum number. */
    public static final String OTHER = "(other)";

    /** The page for queries outside of requests. Each such query counts as one request. */
    public static final String NO_REQUEST = "(no request)";

    private static final ThreadLocal<TimedRequest> CURRENT =
            ThreadLocal.withInitial(TimedRequest::new);

    private static final ThreadMXBean THREADS =
            ManagementFactory.getThreadMXBean();

    private static final Monitor SHARED = new Monitor();

    private final int maxPages;
    private final int maxQueries;
    private final int hours;
    private final int stripes;
    private final long startedMillis = System.currentTimeMillis();

    /** A hash table that only grows, with at least two cells for each page. */
    private final AtomicReferenceArray<Page> table;

    private final List<Page> pages = new CopyOnWriteArrayList<>();
    private final Page other;
    private final Page noRequest;
    private final Map<String, Query> queries = new ConcurrentHashMap<>();
    private final List<String> queryNames = new CopyOnWriteArrayList<>();
    private volatile int pairs;
    private volatile boolean isFull;

    /** Creates a monitor with at most 256 pages, at most 1,024 queries and a history of 5 weeks. */
    public Monitor() {
        this(256, 1_024, 840);
    }

    /**
     * Creates a monitor. A page takes 40 KB, plus about 10 KB for each stripe; there is one stripe
     * for each processor, up to 8. A query takes 10 KB.
     *
     * @param maxPages the maximum number of named pages; further pages count as {@link #OTHER}
     * @param maxQueries the maximum number of named queries; a query counts once for each page that
     *     executes it
     * @param hours the history of each page in hours
     */
    public Monitor(int maxPages, int maxQueries, int hours) {
        if (maxPages < 1 || maxQueries < 1 || hours < 1) {
            throw new IllegalArgumentException("maxPages, maxQueries and hours must be at least 1");
        }
        this.maxPages = maxPages;
        this.maxQueries = maxQueries;
        this.hours = hours;
        int processors = Math.min(8, Runtime.getRuntime().availableProcessors());
        stripes = Integer.highestOneBit(2 * processors - 1);
        table = new AtomicReferenceArray<>(Integer.highestOneBit(4 * maxPages - 1));
        other = newPage(OTHER);
        noRequest = newPage(NO_REQUEST);
    }

    /**
     * Returns the shared monitor, for containers that create the filter by its class name.
     *
     * @return the monitor
     */
    public static Monitor shared() {
        return SHARED;
    }

    // Requests

    /**
     * Starts a request on this thread. Queries of the thread count for this request until it ends
     * or another one begins.
     *
     * @param method the HTTP method
     * @param path the path
     */
    public void begin(String method, String path) {
        CURRENT.get().begin(this, method, path);
    }

    /**
     * Ends the request of this thread. The request counts for the page that {@link #page} named, or
     * otherwise for the page of its method and path, in which segments that look like keys become
     * "{id}". Clients must not be able to fill the monitor with the names of pages that do not exist.
     * So a new page is added only if the status is below 400 or at least 500, but not 501 or 505, and
     * only for GET, HEAD, POST, PUT, PATCH, DELETE, QUERY and the methods of WebDAV, or if {@link
     * #page} named it.
     *
     * @param status the status code of the response
     * @param path the path, whose first 120 characters are shown if this is one of the slowest
     *     requests
     * @throws IllegalStateException if this thread is not serving a request of this monitor
     */
    public void end(int status, String path) {
        TimedRequest request = current();
        long now = System.nanoTime();
        long cpu = request.cpuStarted < 0 ? -1 : threadCpuNanos() - request.cpuStarted;
        request.monitor = null;
        count(request, now, cpu, status, path);
    }

    /**
     * Names the page of the request that this thread serves, if there is one. Use this for names
     * that cannot be derived from the path, such as "GET /articles/{slug}".
     *
     * @param name the name of the page
     */
    public static void page(String name) {
        TimedRequest request = CURRENT.get();
        if (request.monitor != null) {
            request.name.set(name);
            request.mayAddPage = true;
        }
    }

    /**
     * Detaches the request from this thread, so that another thread can end it. Later queries of
     * this thread do not count for the request.
     *
     * @return the request
     * @throws IllegalStateException if this thread is not serving a request of this monitor
     */
    public DetachedRequest detach() {
        TimedRequest request = current();
        TimedRequest copy = request.detached();
        request.monitor = null;
        return new DetachedRequest(this, copy);
    }

    private TimedRequest current() {
        TimedRequest request = CURRENT.get();
        if (request.monitor != this) {
            throw new IllegalStateException("this thread is not serving a request of this monitor");
        }
        return request;
    }

    void end(TimedRequest detached, int status, String path) {
        count(detached, System.nanoTime(), -1, status, path);
    }

    private void count(TimedRequest request, long now, long cpu, int status, String path) {
        long nanos = now - request.started;
        Page page = pageOf(request, request.mayAddPage && isOfPage(status));
        Counted stripe = page.stripe(request.stripe(stripes));
        page.lookAtClock(now);
        stripe.record(nanos, status >= 500, status >= 400 && status < 500);
        if (cpu >= 0) {
            stripe.recordCpu(cpu);
        }
        if (page.isSlow(nanos)) {
            request.sumUp();
            page.keep(example(request, nanos, cpu, status, path));
        }
        countParts(request, page);
    }

    /** Returns false for the status codes that a server also sends for paths without a page. */
    private static boolean isOfPage(int status) {
        return status < 400 || status >= 500 && status != 501 && status != 505;
    }

    private static Example example(
            TimedRequest request, long nanos, long cpu, int status, String path) {
        return new Example(
                nanos,
                System.currentTimeMillis() - nanos / 1_000_000,
                cpu,
                status,
                path.substring(0, Math.min(path.length(), Example.MAX_PATH)),
                request.sums());
    }

    private void countParts(TimedRequest request, Page page) {
        for (int part = 0; part < request.parts; part++) {
            queryOf(page, request.queries[part])
                    .record(request.nanos[part], request.failed[part], false);
        }
        request.parts = 0;
    }

    // Queries

    /**
     * Returns the query of a statement in standard SQL, ignoring its literals.
     *
     * @param text the SQL statement
     * @return the query
     */
    public Query query(String text) {
        return query(text, TextRules.STANDARD);
    }

    /**
     * Returns the query of a statement, ignoring its literals.
     *
     * @param text the SQL statement
     * @param rules the database's rules for the text
     * @return the query
     */
    public Query query(String text, TextRules rules) {
        Objects.requireNonNull(rules, "rules");
        String name = Folding.query(Objects.requireNonNull(text, "text"), rules);
        Query found = queries.get(name);
        return found != null ? found : newQuery(name);
    }

    private synchronized Query newQuery(String name) {
        Query found = queries.get(name);
        if (found != null || queries.size() == maxQueries) {
            return found != null ? found : Query.OTHER;
        }
        queryNames.add(name);
        var query = new Query(queryNames.size(), name);
        queries.put(name, query);
        return query;
    }

    /**
     * Records an execution of a query by the request that this thread serves.
     *
     * @param query the query
     * @param elapsed the duration of the execution
     * @param failed true if the execution failed
     */
    public void record(Query query, Duration elapsed, boolean failed) {
        record(query, elapsed.toNanos(), failed);
    }

    /** Records an execution without allocating an object for its time. */
    void record(Query query, long nanos, boolean failed) {
        TimedRequest request = CURRENT.get();
        if (request.monitor != this) {
            recordAlone(query, nanos, failed, request);
            return;
        }
        if (request.parts == TimedRequest.PARTS) {
            request.sumUp();
            countParts(request, pageOf(request, request.mayAddPage));
        }
        request.queries[request.parts] = query.number;
        request.nanos[request.parts] = nanos;
        request.failed[request.parts] = failed;
        request.parts++;
    }

    private void recordAlone(Query query, long nanos, boolean failed, TimedRequest thread) {
        noRequest.lookAtClock(System.nanoTime());
        noRequest.stripe(thread.stripe(stripes)).record(nanos, failed, false);
        queryOf(noRequest, query.number).record(nanos, failed, false);
    }

    private Counted queryOf(Page page, int number) {
        Counted found = page.query(number);
        if (found == null && isFull) {
            found = page.query(0);
        }
        return found != null ? found : newPair(page, number);
    }

    private synchronized Counted newPair(Page page, int number) {
        int place = page.query(number) == null && pairs == maxQueries ? 0 : number;
        if (page.query(place) == null) {
            if (place > 0) {
                pairs++;
                isFull = pairs == maxQueries;
            }
            page.addQuery(place);
        }
        return page.query(place);
    }

    // Pages

    private Page pageOf(TimedRequest request, boolean mayAdd) {
        Folding.PageName name = request.name;
        int mask = table.length() - 1;
        for (int place = name.hash() & mask; ; place = place + 1 & mask) {
            Page page = table.get(place);
            if (page == null) {
                return mayAdd && pages.size() < maxPages ? added(name) : other;
            } else if (name.is(page.characters)) {
                return page;
            }
        }
    }

    private synchronized Page added(Folding.PageName name) {
        int mask = table.length() - 1;
        int place = name.hash() & mask;
        for (; table.get(place) != null; place = place + 1 & mask) {
            if (name.is(table.get(place).characters)) {
                return table.get(place);
            }
        }
        if (pages.size() == maxPages) {
            return other;
        }
        Page page = newPage(new String(name.text, 0, name.length));
        pages.add(page);
        table.set(place, page);
        return page;
    }

    private Page newPage(String name) {
        return new Page(name, stripes, maxQueries, hours);
    }

    // Statistics

    /**
     * Returns the statistics of a page.
     *
     * @param page the name of the page, such as "GET /users/{id}"
     * @return the statistics; all zero if there is no such page
     */
    public Statistics statistics(String page) {
        return pages().stream()
                .filter(each -> each.name.equals(page))
                .findFirst()
                .map(Page::statistics)
                .orElseGet(Statistics::new);
    }

    /**
     * Returns the statistics of a query of a page.
     *
     * @param page the name of the page
     * @param query the name of the query, which is the statement without literals
     * @return the statistics; all zero if there is no such query
     */
    public Statistics statistics(String page, String query) {
        var sum = new Statistics();
        Query found = query.equals(OTHER) ? Query.OTHER : queries.get(query);
        for (Page each : pages()) {
            if (found != null && each.name.equals(page) && each.query(found.number) != null) {
                each.query(found.number).addTo(sum);
            }
        }
        return sum;
    }

    /** Returns the pages that had a request. */
    List<Page> pages() {
        List<Page> list = new ArrayList<>(pages);
        list.add(other);
        list.add(noRequest);
        list.removeIf(page -> !page.hasRequests());
        return list;
    }

    String queryName(int number) {
        return number == 0 ? OTHER : queryNames.get(number - 1);
    }

    long startedMillis() {
        return startedMillis;
    }

    static long threadCpuNanos() {
        return THREADS.isCurrentThreadCpuTimeSupported() ? THREADS.getCurrentThreadCpuTime() : -1;
    }
}
