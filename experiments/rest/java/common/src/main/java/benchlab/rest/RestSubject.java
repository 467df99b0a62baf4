// SPDX-License-Identifier: Apache-2.0
// The REST experiment's subjects in Java: what is the same for every server.
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
 * @param name as the experiment calls this subject
 * @param library the server with its version, and what its resources are written for
 * @param opener starts the server
 */
public record RestSubject(String name, String library, Opener opener) implements Subject {

    /** The address that every server listens on, on a port that the system chooses. */
    static final String HOST = "127.0.0.1";

    /** How many connections may wait to be accepted. */
    static final int BACKLOG = 1024;

    /** How long a connection may be idle: servers are stopped for a minute at times, and then go on. */
    static final Duration IDLE = Duration.ofMinutes(10);

    /** How long requests that are under way may take once a server is closed. */
    static final Duration GRACE = Duration.ofSeconds(4);

    /** The largest body that is taken, in bytes. */
    static final int MAX_BODY = 64 * 1024;

    /** Starts a server. */
    @FunctionalInterface
    interface Opener {
        /**
         * @param workers the size of the pool of threads that run handlers
         * @param files the folder of the static files, an absolute path
         */
        Serving open(int workers, Path files) throws Exception;
    }

    /** Serves the lab until the end, and logs nothing but what goes wrong. */
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
            throw Refusal.usage("files is not a folder");
        }
        return opener.open(workers, files.toRealPath());
    }
}
