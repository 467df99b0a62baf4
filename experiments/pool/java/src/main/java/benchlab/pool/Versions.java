// SPDX-License-Identifier: Apache-2.0
// The versions of libraries, from Maven's metadata in their jars.
package benchlab.pool;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Properties;

final class Versions {

    private static final Map<String, String> GROUPS =
            Map.of("HikariCP", "com.zaxxer", "commons-pool2", "org.apache.commons");

    private Versions() {}

    static String of(Class<?> one, String artifact) {
        String path = "/META-INF/maven/%s/%s/pom.properties".formatted(GROUPS.get(artifact), artifact);
        try (InputStream file = one.getResourceAsStream(path)) {
            var properties = new Properties();
            properties.load(file);
            return properties.getProperty("version");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
