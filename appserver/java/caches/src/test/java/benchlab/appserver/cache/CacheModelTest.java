// SPDX-License-Identifier: Apache-2.0
// Random operations on caches and on a simple model, with a clock that the test moves.
package benchlab.appserver.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.appserver.cache.CacheTest.Scheme;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CacheModelTest {

    private static final int KEYS = 40;

    /** The key and deadline of a value. Values are unique. */
    private static final class Item {
        final int key;
        final long deadline;
        long accessed;

        Item(int key, long deadline, long accessed) {
            this.key = key;
            this.deadline = deadline;
            this.accessed = accessed;
        }
    }

    private static final class Model {
        final Random random;
        final long timeToLive; // 0 for none
        final long timeToAccess;
        final int maximum;
        final Map<Integer, Item> items = new HashMap<>(); // by value
        final Map<Integer, Integer> current = new HashMap<>(); // key to value
        long now;
        int nextValue;
        int hits;
        int misses;
        int loads;
        int evictions;
        long evictedWeight;
        int expirations;

        Model(long seed) {
            random = new Random(seed);
            timeToLive = seed % 2 == 0 ? 0 : 1L << 4 + seed % 30;
            timeToAccess = seed % 3 == 0 ? 0 : 1L << 3 + seed % 25;
            maximum = seed % 5 == 0 ? Integer.MAX_VALUE : 5 + (int) (seed % 60);
        }

        static int weight(int value) {
            return value % 7;
        }

        CacheOptions<Integer, Integer> options() {
            CacheOptions<Integer, Integer> options =
                    CacheOptions.UNLIMITED
                            .recordStatistics()
                            .clock(() -> now)
                            .removalListener(this::onRemoval);
            if (maximum < Integer.MAX_VALUE) {
                options = options.maximumWeight(maximum, (key, value) -> weight(value));
            }
            if (timeToLive > 0) {
                options = options.timeToLive(Duration.ofNanos(timeToLive));
            }
            if (timeToAccess > 0) {
                options = options.expireAfterAccess(Duration.ofNanos(timeToAccess));
            }
            return options;
        }

        int newItem(int key, long ownTime) {
            int value = nextValue++;
            long time = ownTime > 0 ? ownTime : timeToLive;
            items.put(value, new Item(key, time == 0 ? Long.MAX_VALUE : now + time, now));
            current.put(key, value);
            return value;
        }

        boolean isExpired(Item item) {
            return item.deadline <= now
                    || timeToAccess > 0 && item.accessed + timeToAccess <= now;
        }

        /** Checks that each value is removed once, and for a valid reason. */
        void onRemoval(Integer key, Integer value, RemovalCause cause) {
            Item item = items.remove(value);
            assertNotNull(item, value + " was removed twice");
            assertEquals(item.key, key);
            switch (cause) {
                case EXPIRED -> {
                    assertTrue(isExpired(item), value + " has not expired");
                    expirations++;
                }
                case REPLACED -> assertTrue(current.get(key) != (int) value);
                case EXPLICIT -> assertTrue(!current.containsKey(key));
                case SIZE -> {
                    assertTrue(maximum < Integer.MAX_VALUE);
                    evictions++;
                    evictedWeight += weight(value);
                }
            }
            current.remove(key, value);
        }

        void check(int key, Integer found) {
            Integer expected = current.get(key);
            Item item = expected == null ? null : items.get(expected);
            if (item == null || isExpired(item)) {
                assertEquals(null, found);
                misses++;
            } else {
                assertEquals(expected, found);
                item.accessed = now;
                hits++;
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Scheme.class)
    void behavesLikeAModel(Scheme scheme) {
        for (long seed = 0; seed < 60; seed++) {
            var model = new Model(seed);
            Cache<Integer, Integer> cache = scheme.open(model.options());
            for (int turn = 0; turn < 700; turn++) {
                step(model, cache);
            }
            model.current.clear();
            cache.clear();
            assertTrue(model.items.isEmpty(), model.items.size() + " values were not reported");
            assertEquals(
                    new CacheStatistics(
                            model.hits,
                            model.misses,
                            model.loads,
                            0,
                            model.evictions,
                            model.evictedWeight,
                            model.expirations),
                    cache.statistics());
        }
    }

    private static void step(Model model, Cache<Integer, Integer> cache) {
        Random random = model.random;
        int key = random.nextInt(KEYS);
        if (random.nextInt(4) == 0) {
            model.now += 1L << random.nextInt(20);
        }
        switch (random.nextInt(12)) {
            case 0, 1 -> cache.put(key, model.newItem(key, 0));
            case 2 -> {
                if (model.timeToLive + model.timeToAccess > 0) {
                    long time = 1L << random.nextInt(30);
                    cache.put(key, model.newItem(key, time), Duration.ofNanos(time));
                }
            }
            case 3 -> {
                Integer value = model.current.get(key);
                boolean isThere = value != null && !model.isExpired(model.items.get(value));
                model.current.remove(key);
                assertEquals(isThere, cache.remove(key));
            }
            case 4 -> cache.removeExpired();
            case 5, 6, 7 -> load(model, cache, key);
            case 8 -> {
                if (random.nextInt(20) == 0) {
                    model.current.clear();
                    cache.clear();
                    assertEquals(0, cache.size());
                }
            }
            default -> model.check(key, cache.get(key));
        }
        long weight = 0;
        for (int value : model.items.keySet()) {
            weight += Model.weight(value);
        }
        assertEquals(model.items.size(), cache.size());
        assertTrue(model.maximum == Integer.MAX_VALUE || weight == cache.weight());
        assertTrue(weight <= model.maximum || model.maximum == Integer.MAX_VALUE);
    }

    private static void load(Model model, Cache<Integer, Integer> cache, int key) {
        Integer expected = model.current.get(key);
        boolean isThere = expected != null && !model.isExpired(model.items.get(expected));
        Integer found =
                cache.get(
                        key,
                        k -> {
                            assertTrue(!isThere, "must not be loaded");
                            model.loads++;
                            return model.newItem(key, 0);
                        });
        if (isThere) {
            model.check(key, found);
        } else {
            model.misses++;
            assertEquals(model.nextValue - 1, found);
        }
    }
}
