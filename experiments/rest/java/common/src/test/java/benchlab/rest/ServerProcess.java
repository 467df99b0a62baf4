// SPDX-License-Identifier: Apache-2.0
// A subject in a process of its own, as the lab runs it, and the server that it opened.
package benchlab.rest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

final class ServerProcess implements AutoCloseable {
    private final Process process;
    private final Writer commands;
    private final BufferedReader replies;
    private final BufferedReader log;
    private final String hello;

    /** Starts the subject on this process's class path. */
    ServerProcess(Class<?> subject) throws IOException {
        process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                subject.getName())
                        .start();
        commands = process.outputWriter(StandardCharsets.US_ASCII);
        replies = process.inputReader(StandardCharsets.US_ASCII);
        log = process.errorReader(StandardCharsets.UTF_8);
        hello = replies.readLine();
    }

    String hello() {
        return hello;
    }

    /** The reply to a command. */
    String tell(String command) throws IOException {
        commands.write(command + "\n");
        commands.flush();
        return replies.readLine();
    }

    /** Opens the server; the settings that it replies with. */
    Map<String, String> open(int workers, Path files) throws IOException {
        String reply = tell("open case=serve seed=7 workers=" + workers + " files=" + files);
        return Stream.of(reply.split(" "))
                .filter(word -> word.contains("="))
                .map(word -> word.split("=", 2))
                .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
    }

    /** Ends the process; what it logged. */
    String end() throws IOException, InterruptedException {
        commands.close();
        String logged = log.lines().collect(Collectors.joining("\n"));
        int status = process.waitFor();
        return status == 0 ? logged : "exit status " + status + "\n" + logged;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
