// SPDX-License-Identifier: Apache-2.0
// Communicates with a subject as benchlab does: sends commands and reads replies.
package benchlab.kit;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

final class Conversation {
    private Conversation() {}

    /** Returns the replies to the commands, without the hello. */
    static List<String> with(Subject subject, String... commands) throws Exception {
        List<String> replies = transcript(subject, String.join("\n", commands) + "\n");
        return replies.subList(1, replies.size());
    }

    /** Returns all replies to an input, whose characters are bytes (ISO 8859-1). */
    static List<String> transcript(Subject subject, String input) throws Exception {
        var replies = new ByteArrayOutputStream();
        var commands = new ByteArrayInputStream(input.getBytes(StandardCharsets.ISO_8859_1));
        Lab.serve(subject, commands, replies);
        return replies.toString(StandardCharsets.ISO_8859_1).lines().toList();
    }
}
