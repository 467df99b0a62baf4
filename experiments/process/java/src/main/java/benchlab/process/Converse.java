// SPDX-License-Identifier: Apache-2.0
// The case converse: writes lines to a filter, and reads each one back.
package benchlab.process;

import static java.nio.charset.StandardCharsets.US_ASCII;

import benchlab.appserver.process.Command;
import benchlab.appserver.process.RunningProcess;
import benchlab.kit.Arguments;
import benchlab.kit.Refusal;
import benchlab.kit.Sequence;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;

final class Converse implements Operation {

    private final Command command = Programs.filter();
    private final String[] lines;
    private final long outcome;

    Converse(Arguments arguments) throws Refusal {
        Sequence inputs = arguments.sequence();
        lines = new String[(int) arguments.integer("lines", 1, 10_000)];
        for (int i = 0; i < lines.length; i++) {
            lines[i] = Long.toUnsignedString(inputs.at(i));
        }
        outcome = new Content((String.join("\n", lines) + "\n").getBytes(US_ASCII)).hash();
    }

    @Override
    public long perform() throws Exception {
        try (RunningProcess process = command.start()) {
            BufferedWriter writer = process.writer(US_ASCII);
            BufferedReader reader = process.reader(US_ASCII);
            for (String line : lines) {
                writer.write(line);
                writer.write('\n');
                writer.flush();
                if (!line.equals(reader.readLine())) {
                    throw new IOException("the program returned a changed line");
                }
            }
            process.closeInput();
            return outcome + Programs.number(process.waitFor());
        }
    }

    @Override
    public long units() {
        return lines.length;
    }
}
