// SPDX-License-Identifier: Apache-2.0
package benchlab.kit;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Collectors;

/**
 * The entry point of the kit, which turns a Java program into a subject: {@code main} calls {@link
 * #serve(Subject)} and returns.
 */
public final class Lab {
    private Lab() {}

    /**
     * Serves the subject on this process's standard input and output, on the calling thread, until
     * {@code quit} or the end of the input. Standard output is reserved for replies: from this call
     * on, {@link System#out} writes to standard error, which is a log.
     *
     * @param subject the subject
     * @throws IOException if a stream fails
     * @throws Exception if a case is still open at the end and cannot be closed
     */
    public static void serve(Subject subject) throws Exception {
        System.setOut(System.err);
        serve(subject, System.in, new FileOutputStream(FileDescriptor.out));
    }

    /**
     * Serves the subject on the given streams, which stay open.
     *
     * @param subject the subject
     * @param commands the stream of commands
     * @param replies the stream of replies
     * @throws IOException if a stream fails
     * @throws Exception if a case is still open at the end and cannot be closed
     */
    public static void serve(Subject subject, InputStream commands, OutputStream replies)
            throws Exception {
        var lines = new LineReader(commands);
        try (var session = new Session(subject)) {
            send(replies, hello(subject));
            boolean more = true;
            while (more) {
                more = answer(session, lines, replies);
            }
        }
    }

    /** Replies to one command; returns false after the last command. */
    private static boolean answer(Session session, LineReader lines, OutputStream replies)
            throws IOException {
        Message reply;
        try {
            String line = lines.read();
            if (line == null) {
                return false;
            }
            Message command = Message.parse(line);
            if (command.verb().equals("quit")) {
                return false;
            }
            reply = session.reply(command);
        } catch (Refusal refusal) {
            reply = Session.error(refusal);
        }
        send(replies, reply);
        return true;
    }

    /** Sends a reply with one write, so that benchlab wakes up once. */
    private static void send(OutputStream replies, Message reply) throws IOException {
        String line = reply.format() + "\n";
        replies.write(line.getBytes(StandardCharsets.US_ASCII));
        replies.flush();
    }

    private static Message hello(Subject subject) throws IOException {
        return new Message("hello")
                .with("protocol", 1)
                .with("subject", System.getProperty("benchlab.subject", subject.name()))
                .with("thread", thread())
                .with("runtime", runtime())
                .with("library", subject.library());
    }

    /** Returns the kernel's ID of the calling thread: the link leads to PID/task/TID, proc(5). */
    private static long thread() throws IOException {
        return Long.parseLong(Path.of("/proc/thread-self").toRealPath().getFileName().toString());
    }

    /** Returns the runtime, such as {@code OpenJDK 17.0.15+6}, without the vendor's suffix. */
    private static String runtime() {
        String name = System.getProperty("java.runtime.name").replace(" Runtime Environment", "");
        Runtime.Version version = Runtime.version();
        String numbers =
                version.version().stream().map(String::valueOf).collect(Collectors.joining("."));
        String threads = Workers.isVirtual() ? ", virtual threads" : "";
        return name + " " + numbers + version.build().map(build -> "+" + build).orElse("") + threads;
    }
}
