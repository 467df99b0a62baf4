// SPDX-License-Identifier: Apache-2.0
// A program and all that it started, found so that it can be killed.
package benchlab.appserver.process;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Java cannot start a program in a process group of its own. So each program gets an environment
 * variable that no other has and that its children inherit, also those that outlive it: Jenkins
 * finds what a build left behind in the same way. Where there is no {@code /proc}, there are its
 * descendants alone.
 */
final class ProcessGroup {

    private static final Path PROC = Path.of("/proc");

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
        signal(leader, new HashSet<>(), ProcessHandle::destroy);
    }

    /** Kills until it finds none that is new: what is started meanwhile is found the next time. */
    void kill(Process leader) {
        Set<ProcessHandle> killed = new HashSet<>();
        while (signal(leader, killed, ProcessHandle::destroyForcibly)) {
            Thread.yield();
        }
    }

    /** Whether there was one that had not had the signal. */
    private boolean signal(
            Process leader, Set<ProcessHandle> done, Predicate<ProcessHandle> signal) {
        Set<ProcessHandle> members = marked();
        members.add(leader.toHandle());
        leader.descendants().forEach(members::add);
        members.removeAll(done);
        members.forEach(signal::test);
        return done.addAll(members);
    }

    private Set<ProcessHandle> marked() {
        Set<ProcessHandle> found = new HashSet<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : processes) {
                // The handle first: it is of no later process with the same number.
                ProcessHandle.of(Long.parseLong(process.getFileName().toString()))
                        .filter(handle -> isMarked(process))
                        .ifPresent(found::add);
            }
        } catch (IOException e) {
            return found; // No /proc.
        }
        return found;
    }

    private boolean isMarked(Path process) {
        // No channel: one fails in a thread that is interrupted.
        try (var file = new FileInputStream(process.resolve("environ").toFile())) {
            return new String(file.readAllBytes(), StandardCharsets.ISO_8859_1)
                    .contains(variable + "=");
        } catch (IOException e) {
            return false; // It has ended, or is another user's.
        }
    }
}
