// SPDX-License-Identifier: Apache-2.0
// Talks to a subject as the lab does: commands in, replies out.
package benchlab.kit;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

final class Conversation {
    private Conversation() {}

    /** The replies to the commands, without the hello. */
    static List<String> with(Subject subject, String... commands) throws Exception {
        List<String> replies = transcript(subject, String.join("\n", commands) + "\n");
        return replies.subList(1, replies.size());
    }

    /** Every reply to an input, which is given byte for byte (ISO 8859-1). */
    static List<String> transcript(Subject subject, String input) throws Exception {
        var replies = new ByteArrayOutputStream();
        var commands = new ByteArrayInputStream(input.getBytes(StandardCharsets.ISO_8859_1));
        Lab.serve(subject, commands, replies);
        return replies.toString(StandardCharsets.ISO_8859_1).lines().toList();
    }
}
