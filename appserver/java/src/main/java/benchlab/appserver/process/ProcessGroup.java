// SPDX-License-Identifier: Apache-2.0
// A program and all that it started, found so that it can be killed.
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

/**
 * Java cannot start a program in a process group of its own, and a wrapper that does so (setsid)
 * would hide that the program cannot be started. So each program gets an environment variable that
 * no other has and that its children inherit, also those that outlive it: Jenkins finds what a
 * build left behind in the same way. Where there is no {@code /proc}, there are its descendants
 * alone.
 */
final class ProcessGroup {

    private static final Path PROC = Path.of("/proc");
    private static final Duration SWEEP_TIMEOUT = Duration.ofSeconds(5);

    /** A name for each, so that programs that start programs in this way keep all their marks. */
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

    /** Asks all that there are now to end (SIGTERM). */
    void terminate(Process leader) {
        var sweep = new Sweep(ProcessHandle::destroy);
        sweep.signalTree(leader);
        sweep.signalMarked();
    }

    /**
     * Kills until it finds none that is new: what is started meanwhile is found the next time. It
     * gives up after some seconds, as where programs are started faster than they are killed.
     */
    void kill(Process leader) {
        var sweep = new Sweep(ProcessHandle::destroyForcibly);
        sweep.signalTree(leader);
        long start = System.nanoTime();
        while (sweep.signalMarked() && System.nanoTime() - start < SWEEP_TIMEOUT.toNanos()) {
            Thread.yield();
        }
    }

    private boolean isMarked(String environment) {
        return environment != null && environment.contains(variable + "=");
    }

    /** Null if it has ended or is another user's. Empty also while it becomes another program. */
    private static String environment(Path process) {
        return read(process.resolve("environ"));
    }

    /**
     * True if one that was read as empty is not, or not for long. execve(2) sets the start of the
     * code last of all. Kernel threads and zombies have no memory. Fields of proc_pid_stat(5).
     */
    private static boolean hasEnvironment(Path process) {
        String stat = read(process.resolve("stat"));
        if (stat == null) {
            return false;
        }
        // From the third field on; the second is a name, which may have spaces and parentheses.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        String memory = fields[23 - 3];
        String code = fields[26 - 3];
        String start = fields[50 - 3];
        String end = fields[51 - 3];
        return !memory.equals("0") && (code.equals("0") || !start.equals(end));
    }

    static String read(Path file) {
        // No channel: one fails in a thread that is interrupted.
        try (var stream = new FileInputStream(file.toFile())) {
            return new String(stream.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return null;
        }
    }

    /** Sends each member a signal once. */
    private final class Sweep {

        private final Predicate<ProcessHandle> signal;
        private final Set<ProcessHandle> done = new HashSet<>();

        /** Those that had no mark the last time, and need not be looked at: it is inherited. */
        private Set<Path> strangers = Set.of();

        /** How many had the signal when it last looked for marks. */
        private int counted;

        private boolean isIncomplete;

        Sweep(Predicate<ProcessHandle> signal) {
            this.signal = signal;
        }

        /** Parents first, so that they start nothing in place of a child that has gone. */
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

        /** True if some had the signal since the last time, so that there may be more. */
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
                return false; // No /proc.
            }
            strangers = unmarked; // Not those of before: their numbers may be others' by now.
            boolean isMore = isIncomplete || done.size() > counted;
            counted = done.size();
            return isMore;
        }

        /** Looks again, with the handle: that is of no later process with the same number. */
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
