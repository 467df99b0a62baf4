// SPDX-License-Identifier: Apache-2.0
package benchlab.process;

import benchlab.appserver.process.Command;
import benchlab.kit.Arguments;
import benchlab.kit.Case;
import benchlab.kit.Lab;
import benchlab.kit.Refusal;
import benchlab.kit.Subject;

/**
 * The process experiment in Java: appserver/java, based on ProcessBuilder. The property {@code
 * jdk.lang.Process.launchMechanism} selects the way in which the JVM starts a program; the default
 * is {@code POSIX_SPAWN}.
 */
public final class ProcessSubject implements Subject {

    private final String name;

    private ProcessSubject(String name) {
        this.name = name;
    }

    /** @param arguments the subject's name */
    public static void main(String[] arguments) throws Exception {
        // The JVM keeps descriptors open that it uses for the first program, and for the first
        // access to /proc.
        Command.of("/bin/true").run();
        Left.descriptors();
        Left.children();
        Lab.serve(new ProcessSubject(arguments[0]));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String library() {
        String mechanism = System.getProperty("jdk.lang.Process.launchMechanism", "POSIX_SPAWN");
        return "benchlab.appserver.process 1, " + mechanism;
    }

    @Override
    public Case open(String name, Arguments arguments) throws Exception {
        Maker maker =
                switch (name) {
                    case "start" -> inputs -> new Start();
                    case "fail" -> inputs -> new Fail();
                    case "read" -> inputs -> new Read(Content.of(inputs));
                    case "converse" -> Converse::new;
                    case "exchange" -> inputs -> new Exchange(Content.of(inputs));
                    case "write_then_read" -> inputs -> new WriteThenRead(Content.of(inputs));
                    case "kill" -> inputs -> new Kill();
                    default -> throw Refusal.unsupported("there is no case " + name);
                };
        return new ProcessCase(new Parent(arguments), maker.make(arguments));
    }

    @FunctionalInterface
    private interface Maker {
        Operation make(Arguments arguments) throws Exception;
    }
}
