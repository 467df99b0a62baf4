// SPDX-License-Identifier: Apache-2.0
package benchlab.rest;

import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Lab;
import benchlab.kit.Refusal;
import benchlab.kit.Serving;
import benchlab.kit.Subject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The REST experiment in Java: the common code of all servers.
 *
 * @param name the name of the subject in the experiment
 * @param library the server, and the library that implements the API if there is one, with their
 *     versions
 * @param opener starts the server
 */
public record RestSubject(String name, String library, Opener opener) implements Subject {

    /** The address that all servers listen on, with a port that the system chooses. */
    static final String HOST = "127.0.0.1";

    /** The maximum number of connections that wait to be accepted. */
    static final int BACKLOG = 1024;

    /**
     * The maximum idle time of a connection. It exceeds the minute for which benchlab may stop a
     * server.
     */
    static final Duration IDLE = Duration.ofMinutes(10);

    /**
     * The maximum time for requests in progress after a server is closed. In tests, an environment
     * variable sets it.
     */
    static final Duration GRACE =
            Duration.ofSeconds(Long.parseLong(System.getenv().getOrDefault("CLOSE_TIMEOUT_S", "4")));

    /** The maximum size of a body in bytes. */
    static final int MAX_BODY = 64 * 1024;

    /** Starts a server. */
    @FunctionalInterface
    interface Opener {
        /**
         * Starts a server.
         *
         * @param workers the size of the thread pool that runs handlers
         * @param files the directory of the static files, an absolute path
         * @return the running server
         * @throws Exception if the server cannot be started
         */
        Serving open(int workers, Path files) throws Exception;
    }

    /** Runs the subject until the end of its input. Only warnings and errors are logged. */
    static void serve(String name, String library, Opener opener) throws Exception {
        Logger.getLogger("").setLevel(Level.WARNING);
        Lab.serve(new RestSubject(name, library, opener));
    }

    @Override
    public Case open(String name, Arguments arguments) throws Exception {
        if (!name.equals("serve")) {
            throw Refusal.unsupported("there is no case " + name);
        }
        int workers = (int) arguments.integer("workers", 1, 1000);
        Path files = Path.of(arguments.text("files"));
        if (!Files.isDirectory(files)) {
            throw Refusal.usage("the argument files is not a directory");
        }
        return opener.open(workers, files.toRealPath());
    }
}
