// SPDX-License-Identifier: Apache-2.0
// pooled: lease a connection, SELECT 1, return the connection.
package benchlab.sql;

import benchlab.kit.Case;
import benchlab.kit.Result;
import java.util.Map;

record Pooled(ConnectionPool pool) implements Case {

    @Override
    public Map<String, String> settings() throws Exception {
        return pool.settings();
    }

    @Override
    public Result perform(long operations) throws Exception {
        long check = 0;
        for (long k = 0; k < operations; k++) {
            check += pool.request();
        }
        return new Result(operations, check);
    }

    @Override
    public void close() {
        pool.close();
    }
}
