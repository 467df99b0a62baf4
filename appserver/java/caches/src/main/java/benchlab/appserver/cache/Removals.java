// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.cache;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The values that one write removed. They are reported after the write has released its lock. */
final class Removals<K, V> {

    private record Removal<K, V>(TrackedEntry<K, V> entry, RemovalCause cause) {}

    /** The policy with the listener and the statistics; null if nothing is reported. */
    private final @Nullable Policy<K, V> policy;

    private List<Removal<K, V>> removals = List.of();

    Removals(@Nullable Policy<K, V> policy) {
        this.policy = policy;
    }

    void add(TrackedEntry<K, V> entry, RemovalCause cause) {
        if (removals.isEmpty()) {
            removals = new ArrayList<>(1);
        }
        removals.add(new Removal<>(entry, cause));
    }

    /** Drops the values. Must be called if the write failed and changed nothing. */
    void discard() {
        removals = List.of();
    }

    void report() {
        if (policy != null) {
            for (Removal<K, V> removal : removals) {
                policy.count(removal.entry, removal.cause);
                report(removal, policy.options().removalListener());
            }
        }
        removals = List.of();
    }

    private void report(
            Removal<K, V> removal, @Nullable RemovalListener<? super K, ? super V> listener) {
        if (listener != null) {
            try {
                listener.onRemoval(removal.entry.key, removal.entry.value, removal.cause);
            } catch (RuntimeException e) {
                System.getLogger(Cache.class.getName())
                        .log(Level.WARNING, "a removal listener failed", e);
            }
        }
    }
}
