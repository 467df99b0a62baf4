// SPDX-License-Identifier: Apache-2.0
// Tests the example: a failed commit is retried, and the container finds the interceptors.
package benchlab.appserver.retry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class AccountsExampleTest {

    /** Tests a busy commit: in rollback journal mode, a reader keeps the writer from committing. */
    @Test
    void aCommitThatIsBusyIsRetried() throws Exception {
        try (var application = new Application()) {
            application.database.execute("PRAGMA journal_mode = DELETE");
            try (var reader = application.database.connect();
                    var query = reader.prepareStatement("SELECT id FROM account");
                    var rows = query.executeQuery()) {
                var injector = application.injector;
                injector.beforeNextCommit(
                        () -> injector.beforeNextCommit(rows::close)); // In the second attempt.
                application.bean(AccountsExample.class).add(1, 5);
            }
            assertEquals(5, application.balance());
        }
    }

    /** Checks that the retry and a repeated request find the key. */
    @Test
    void withAKeyALostAnswerLeavesOneEffect() throws Exception {
        try (var application = new Application()) {
            application.database.execute(
                    "CREATE TABLE retry_key (id text PRIMARY KEY, result text)");
            application.injector.afterNextCommit(
                    () -> {
                        throw new SQLException("lost", "08006");
                    });
            var accounts = application.bean(AccountsExample.class);
            assertEquals(5, accounts.addOnce("request 1", 1, 5));
            assertEquals(5, accounts.addOnce("request 1", 1, 7));
            assertEquals(5, application.balance());
        }
    }
}
