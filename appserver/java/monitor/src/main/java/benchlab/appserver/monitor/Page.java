// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/** The counts of one page. Threads write to different stripes if possible. */
final class Page {

    /** The maximum number of slow requests to store. */
    static final int EXAMPLES = 10;

    private static final long KEEP_EXAMPLE_MILLIS = 24L * 3_600_000;
    private static final long HOUR_MILLIS = 3_600_000;

    /**
     * An hour that had requests.
     *
     * @param hour the hours since 1970
     * @param count the number of requests
     * @param errors the number of failed requests
     * @param total the total time in nanoseconds
     */
    record Hour(long hour, long count, long errors, long total) {}

    final String name;
    final char[] characters;
    private final Counted[] stripes;
    private final AtomicReferenceArray<Counted> queries;
    private final AtomicReferenceArray<Example> slowest = new AtomicReferenceArray<>(EXAMPLES);
    private final Hour[] hours;
    private final AtomicBoolean turning = new AtomicBoolean();
    private int hourNumber;
    private volatile long nextLook = Long.MIN_VALUE;
    private volatile long threshold;

    Page(String name, int stripes, int queries, int hours) {
        this.name = name;
        characters = name.toCharArray();
        this.stripes = new Counted[stripes];
        for (int k = 0; k < stripes; k++) {
            this.stripes[k] = new Counted();
        }
        this.queries = new AtomicReferenceArray<>(queries + 1);
        this.hours = new Hour[hours];
    }

    Counted stripe(int number) {
        return stripes[number];
    }

    /**
     * Returns the counts of a query, or null if there are none. ID 0 stands for all queries without
     * an ID.
     */
    Counted query(int number) {
        return queries.get(number);
    }

    int queryNumbers() {
        return queries.length();
    }

    void addQuery(int number) {
        queries.set(number, new Counted());
    }

    boolean hasRequests() {
        for (Counted each : stripes) {
            if (each.count() > 0) {
                return true;
            }
        }
        return false;
    }

    Statistics statistics() {
        var sum = new Statistics();
        for (Counted each : stripes) {
            each.addTo(sum);
        }
        return sum;
    }

    // Hours. Each stored element contains the totals at the start of the hour. The counts of the
    // hour are the difference between these totals and those at the start of the next hour.

    /**
     * Begins a new hour if the previous one has ended. Must be called before each request is
     * counted. The time of day is read once a minute, in case the clock was set. If it was set
     * back, the current hour continues.
     */
    void lookAtClock(long now) {
        if (now >= nextLook && turning.compareAndSet(false, true)) {
            try {
                turn(now);
            } finally {
                turning.set(false);
            }
        }
    }

    private void turn(long now) {
        long time = System.currentTimeMillis();
        long hour = time / HOUR_MILLIS;
        if (hourNumber == 0 || hours[(hourNumber - 1) % hours.length].hour < hour) {
            hours[hourNumber % hours.length] = totals(hour);
            hourNumber++;
            threshold = 0; // Some examples have expired.
        }
        nextLook = now + Math.min(60_000, HOUR_MILLIS - time % HOUR_MILLIS) * 1_000_000;
    }

    private Hour totals(long hour) {
        long count = 0;
        long errors = 0;
        long total = 0;
        for (Counted each : stripes) {
            count += each.count();
            errors += each.errors();
            total += each.total();
        }
        return new Hour(hour, count, errors, total);
    }

    /**
     * Returns the stored hours, oldest first. The counts of an hour do not include earlier hours.
     */
    List<Hour> hours() {
        while (!turning.compareAndSet(false, true)) {
            Thread.onSpinWait();
        }
        List<Hour> starts = new ArrayList<>();
        try {
            for (int k = Math.max(0, hourNumber - hours.length); k < hourNumber; k++) {
                starts.add(hours[k % hours.length]);
            }
            starts.add(totals(0));
        } finally {
            turning.set(false);
        }
        return IntStream.range(0, starts.size() - 1)
                .mapToObj(k -> difference(starts.get(k), starts.get(k + 1)))
                .toList();
    }

    private static Hour difference(Hour start, Hour next) {
        return new Hour(
                start.hour,
                next.count - start.count,
                next.errors - start.errors,
                next.total - start.total);
    }

    // Examples

    /**
     * Returns true if a request that took {@code nanos} nanoseconds should be stored as an example.
     */
    boolean isSlow(long nanos) {
        return nanos > threshold;
    }

    /**
     * Stores an example in place of the fastest stored example, or of an example that is a day old,
     * unless all stored examples are slower.
     */
    void keep(Example example) {
        long now = System.currentTimeMillis();
        while (true) {
            int place = fastest(now);
            Example before = slowest.get(place);
            if (countsAs(before, now) >= example.nanos()) {
                break;
            }
            if (slowest.compareAndSet(place, before, example)) {
                break;
            }
        }
        long least;
        do {
            least = countsAs(slowest.get(fastest(now)), now);
            threshold = least;
        } while (least != countsAs(slowest.get(fastest(now)), now));
    }

    private int fastest(long now) {
        int best = 0;
        for (int k = 1; k < EXAMPLES; k++) {
            if (countsAs(slowest.get(k), now) < countsAs(slowest.get(best), now)) {
                best = k;
            }
        }
        return best;
    }

    private static long countsAs(Example example, long now) {
        return example == null || example.startedMillis() + KEEP_EXAMPLE_MILLIS < now
                ? 0
                : example.nanos();
    }

    /** Returns the examples, slowest first. */
    List<Example> slowest() {
        long now = System.currentTimeMillis();
        List<Example> examples =
                new ArrayList<>(
                        IntStream.range(0, EXAMPLES)
                                .mapToObj(slowest::get)
                                .filter(Objects::nonNull)
                                .filter(each -> countsAs(each, now) > 0)
                                .toList());
        examples.sort(Collections.reverseOrder(Comparator.comparingLong(Example::nanos)));
        return examples;
    }
}
