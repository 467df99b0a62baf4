// SPDX-License-Identifier: Apache-2.0
// A subject and a database, and the commands sent to the subject over the protocol.
package benchlab.sql;

import static org.junit.jupiter.api.Assertions.assertTrue;

import benchlab.kit.Lab;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

record Dialogue(TestDatabase database) {

    /** Returns the subject's replies to the commands. */
    static List<String> replies(SqlSubject subject, String... commands) throws Exception {
        var replies = new ByteArrayOutputStream();
        byte[] input = (String.join("\n", commands) + "\n").getBytes(StandardCharsets.US_ASCII);
        Lab.serve(subject, new ByteArrayInputStream(input), replies);
        return replies.toString(StandardCharsets.US_ASCII).lines().skip(1).toList();
    }

    /** Returns the replies to opening the case on the database, and to the commands that follow. */
    List<String> answers(String selection, String... commands) throws Exception {
        var all = new ArrayList<String>();
        all.add("open case=" + selection + " seed=7 target=" + encode(database.target()));
        all.addAll(List.of(commands));
        return replies(database.subject(), all.toArray(String[]::new));
    }

    /**
     * Requires that the first reply confirms that the case is open, and returns the other replies.
     */
    List<String> work(String selection, String... commands) throws Exception {
        List<String> replies = answers(selection, commands);
        assertTrue(replies.get(0).startsWith("@lab opened "), replies.get(0));
        return replies.subList(1, replies.size());
    }

    static String verified(long operations, long units, long check) {
        return "@lab verified operations="
                + operations
                + " units="
                + units
                + " check="
                + Long.toUnsignedString(check);
    }

    /** Returns the value percent-encoded, as in an argument. */
    static String encode(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("*", "%2A");
    }
}
