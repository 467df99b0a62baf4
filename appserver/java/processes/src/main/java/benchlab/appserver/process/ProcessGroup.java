// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.process;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds a program and all processes that it started, to kill them.
 *
 * <p>Java cannot start a program in its own process group, and a wrapper that creates a group
 * (setsid) would hide that the program could not be started. Instead, each program gets a unique
 * environment variable that its children inherit, including children that outlive the program.
 * Jenkins finds the processes that a build left running in the same way. Without {@code /proc},
 * only the current descendants are found.
 */
final class ProcessGroup {

    private static final Path PROC = Path.of("/proc");
    private static final Duration SWEEP_TIMEOUT = Duration.ofSeconds(5);

    /**
     * The environment variable that marks the group. Its name is unique, so a program that also
     * uses this class passes all markers on to its children.
     */
    private final String variable;

    private ProcessGroup(String variable) {
        this.variable = variable;
    }

    static ProcessGroup mark(Map<String, String> environment) {
        String id = UUID.randomUUID().toString().replace('-', '_');
        var group = new ProcessGroup("APPSERVER_GROUP_" + id);
        environment.put(group.variable, "1");
        return group;
    }

    /** Sends SIGTERM to all current processes of the group. */
    void terminate(Process leader) {
        var sweep = new Sweep(ProcessHandle::destroy);
        sweep.signalTree(leader);
        sweep.signalMarked();
    }

    /**
     * Kills processes until it finds no new processes. Processes started during one pass are found
     * in the next. Gives up after some seconds, in case processes are started faster than they are
     * killed.
     */
    void kill(Process leader) {
        var sweep = new Sweep(ProcessHandle::destroyForcibly);
        sweep.signalTree(leader);
        long start = System.nanoTime();
        while (sweep.signalMarked() && System.nanoTime() - start < SWEEP_TIMEOUT.toNanos()) {
            Thread.yield();
        }
    }

    private boolean isMarked(@Nullable String environment) {
        return environment != null && environment.contains(variable + "=");
    }

    /**
     * Returns the environment of a process; null if the process has exited or belongs to another
     * user. The result is empty for a process without memory, and during execve(2).
     */
    private static @Nullable String environment(Path process) {
        return read(process.resolve("environ"));
    }

    /**
     * Returns true for a process whose environment was read as empty, but is not empty or is about
     * to be set. execve(2) sets the start of the code last. Kernel threads and zombies have no
     * memory. See proc_pid_stat(5) for the fields.
     */
    private static boolean hasEnvironment(Path process) {
        String stat = read(process.resolve("stat"));
        if (stat == null) {
            return false;
        }
        // Starts at the third field; the second is a name, which may contain spaces and
        // parentheses.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        String memory = fields[23 - 3];
        String code = fields[26 - 3];
        String start = fields[50 - 3];
        String end = fields[51 - 3];
        return !memory.equals("0") && (code.equals("0") || !start.equals(end));
    }

    static @Nullable String read(Path file) {
        // Not a channel: reading one fails if the thread is interrupted.
        try (var stream = new FileInputStream(file.toFile())) {
            return new String(stream.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return null;
        }
    }

    /** Sends a signal to each member once. */
    private final class Sweep {

        private final Predicate<ProcessHandle> signal;
        private final Set<ProcessHandle> done = new HashSet<>();

        /**
         * The processes without a marker in the previous pass. They need not be checked again,
         * because markers are inherited.
         */
        private Set<Path> strangers = Set.of();

        /** The number of signaled processes at the end of the previous pass. */
        private int counted;

        private boolean isIncomplete;

        Sweep(Predicate<ProcessHandle> signal) {
            this.signal = signal;
        }

        /** Signals parents first, so that they do not restart a child that exited. */
        void signalTree(Process leader) {
            List<ProcessHandle> descendants = leader.descendants().toList();
            signal(leader.toHandle());
            descendants.forEach(this::signal);
        }

        private void signal(ProcessHandle member) {
            if (done.add(member)) {
                signal.test(member);
            }
        }

        /** Returns true if a process was signaled since the previous pass, so there may be more. */
        boolean signalMarked() {
            isIncomplete = false;
            var unmarked = new HashSet<Path>();
            try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
                for (Path process : processes) {
                    String environment = strangers.contains(process) ? null : environment(process);
                    if (isMarked(environment)) {
                        signalMarked(process);
                    } else if (environment != null) {
                        if (environment.isEmpty() && hasEnvironment(process)) {
                            isIncomplete = true;
                        } else {
                            unmarked.add(process);
                        }
                    }
                }
            } catch (IOException e) {
                return false; // There is no /proc.
            }
            strangers = unmarked; // Older entries are dropped, because their IDs may have been reused.
            boolean isMore = isIncomplete || done.size() > counted;
            counted = done.size();
            return isMore;
        }

        /**
         * Signals a process if it has the marker. Checks again after getting the handle, so that
         * the handle cannot belong to a later process with the same ID.
         */
        private void signalMarked(Path process) {
            long number = Long.parseLong(process.getFileName().toString());
            ProcessHandle handle = ProcessHandle.of(number).orElse(null);
            if (handle == null || done.contains(handle)) {
                return;
            }
            if (isMarked(environment(process))) {
                signal(handle);
            } else {
                isIncomplete = true;
            }
        }
    }
}
