// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A cache that copies its map on every write. Reads take no lock, and each sees a consistent
 * version of the cache. A write takes time and memory proportional to the size of the cache, so use
 * {@link #putAll} to store many values. Writers wait for each other, and each copies the latest
 * published version, so no update is lost.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class CopyOnWriteCache<K, V> extends LoadingCache<K, V> {

    private final Object writing = new Object();

    /**
     * The published map, which is never modified. {@code writing} guards the policy, which is not
     * copied.
     */
    private volatile Map<K, Entry<K, V>> map = new HashMap<>();

    /**
     * Creates a cache.
     *
     * @param options the limits and features of the cache
     */
    public CopyOnWriteCache(CacheOptions<? super K, ? super V> options) {
        super(options);
    }

    @Override
    public @Nullable V get(K key) {
        return read(find(key));
    }

    @Override
    @Nullable Entry<K, V> find(K key) {
        return map.get(Objects.requireNonNull(key, "key"));
    }

    @Override
    public int size() {
        return map.size();
    }

    @Override
    void putEntry(Entry<K, V> entry, Removals<K, V> removals) {
        write(removals, copy -> copy.put(entry, removals));
    }

    @Override
    void putEntries(Map<K, Entry<K, V>> entries, Removals<K, V> removals) {
        write(
                removals,
                copy -> entries.values().forEach(entry -> copy.put(entry, removals)));
    }

    @Override
    Entry<K, V> putIfAbsent(Entry<K, V> entry, Removals<K, V> removals) {
        return replace(removals, copy -> copy.putIfAbsent(entry, removals));
    }

    @Override
    boolean removeEntry(K key, Removals<K, V> removals) {
        synchronized (writing) {
            return find(key) != null && replace(removals, copy -> copy.remove(key, removals));
        }
    }

    @Override
    void removeEntries(Removals<K, V> removals) {
        write(removals, copy -> copy.clear(removals));
    }

    @Override
    void removeExpired(Removals<K, V> removals) {
        synchronized (writing) {
            if (policy != null && policy.hasDue()) { // Otherwise it would copy for nothing.
                write(removals, copy -> copy.removeExpired(removals));
            }
        }
    }

    private void write(Removals<K, V> removals, Consumer<Table<K, V>> change) {
        replace(
                removals,
                copy -> {
                    change.accept(copy);
                    return null;
                });
    }

    private <T> T replace(Removals<K, V> removals, Function<Table<K, V>, T> change) {
        synchronized (writing) {
            var copy = new HashMap<>(map);
            try {
                T result = change.apply(new Table<>(copy, policy));
                map = copy;
                return result;
            } catch (Throwable e) {
                if (policy != null) {
                    policy.rebuild(map.values());
                    removals.discard();
                }
                throw e;
            }
        }
    }
}
