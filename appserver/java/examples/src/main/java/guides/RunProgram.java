// SPDX-License-Identifier: Apache-2.0
package guides;

import benchlab.appserver.process.Command;
import benchlab.appserver.process.ExitStatus.Exited;
import benchlab.appserver.process.ExitStatus.Signaled;
import benchlab.appserver.process.Output;
import benchlab.appserver.process.OutputLimitException;
import benchlab.appserver.process.StartException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeoutException;

/** Runs a program and reads its output: {@code RunProgram SECONDS PROGRAM [ARGUMENT...]}. */
final class RunProgram {

    private RunProgram() {}

    public static void main(String[] arguments) throws Exception {
        Duration timeout = Duration.ofMillis(Math.round(1_000 * Double.parseDouble(arguments[0])));
        String[] rest = Arrays.copyOfRange(arguments, 2, arguments.length);
        try {
            Output output = Command.of(arguments[1], rest).run("", timeout);
            if (output.status() instanceof Exited exited) {
                System.out.println("exit code " + exited.code());
            } else if (output.status() instanceof Signaled signaled) {
                System.out.println("killed by signal " + signaled.number());
            }
            System.out.println("output: " + output.stdout().length + " bytes");
            System.out.println("errors: " + output.stderr().length + " bytes");
            System.out.write(output.stdout(), 0, Math.min(output.stdout().length, 200));
            System.out.flush();
        } catch (TimeoutException e) {
            System.out.println("timeout: the program and its children were killed");
        } catch (StartException | OutputLimitException e) {
            System.out.println(e.getMessage());
        }
    }
}
