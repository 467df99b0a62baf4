// SPDX-License-Identifier: Apache-2.0
// Tests the example: the database is queried once for each article and change.
package benchlab.appserver.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CacheExampleTest {

    @Test
    void asksTheDatabaseOnce() throws Exception {
        var queried = new ArrayList<String>();
        var shop =
                new CacheExample(
                        article -> {
                            queried.add(article);
                            return (long) queried.size();
                        });
        assertEquals(1, shop.price("tea"));
        assertEquals(1, shop.price("tea"));
        assertEquals(2, shop.price("salt"));
        shop.changed("tea");
        assertEquals(3, shop.price("tea"));
        assertEquals(List.of("tea", "salt", "tea"), queried);
    }
}
