// SPDX-License-Identifier: Apache-2.0
package benchlab.cache;

import benchlab.kit.Lab;
import benchlab.kit.Refusal;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Map;
import java.util.Objects;

/** The cache experiment with Caffeine, which maintains its caches in the calling thread. */
public final class CaffeineSubject extends CacheSubject {

    public static void main(String[] arguments) throws Exception {
        Lab.serve(new CaffeineSubject());
    }

    @Override
    public String name() {
        return "java-caffeine";
    }

    @Override
    public String library() {
        String version = Caffeine.class.getPackage().getImplementationVersion();
        return "Caffeine " + Objects.requireNonNullElse(version, "of an unknown version");
    }

    @Override
    SharedMap.Factory maps() {
        return CaffeineSubject::unbounded;
    }

    @Override
    Evict.Factory bounded() {
        return (capacity, loader) -> {
            Cache<Long, Long> cache =
                    Caffeine.newBuilder().maximumSize(capacity).executor(Runnable::run).build();
            return key -> cache.get(key, loader::applyAsLong);
        };
    }

    private static SharedMap unbounded(String scheme, int entries) throws Refusal {
        if (!scheme.equals("concurrent")) {
            throw Refusal.unsupported("Caffeine has only the scheme concurrent");
        }
        return new CaffeineMap(SharedMap.initial(entries));
    }

    private record CaffeineMap(Cache<Long, Long> cache) implements SharedMap {
        CaffeineMap(Map<Long, Long> initial) {
            this(Caffeine.newBuilder().executor(Runnable::run).build());
            cache.putAll(initial);
        }

        @Override
        public Long get(Long key) {
            return cache.getIfPresent(key);
        }

        @Override
        public void put(Long key, Long value) {
            cache.put(key, value);
        }

        @Override
        public int size() {
            return (int) cache.estimatedSize();
        }
    }
}
