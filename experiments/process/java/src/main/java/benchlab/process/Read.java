// SPDX-License-Identifier: Apache-2.0
// The case read: reads the output of a program until its end.
package benchlab.process;

import benchlab.appserver.process.Command;
import benchlab.appserver.process.RunningProcess;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

final class Read implements Operation {

    private final Content content;
    private final Path file;
    private final Command command;
    private final byte[] first = new byte[1 << 16];
    private long firstByte;

    Read(Content content) throws IOException {
        this.content = content;
        file = Files.createTempFile("benchlab-", null);
        Files.write(file, content.bytes());
        command = Programs.writing("/bin/cat", file.toString());
    }

    @Override
    public long perform() throws Exception {
        long before = System.nanoTime();
        try (RunningProcess process = command.start()) {
            InputStream stdout = process.stdout();
            int count = stdout.read(first);
            firstByte = System.nanoTime() - before;
            var output = new ByteArrayOutputStream();
            output.write(first, 0, Math.max(0, count));
            stdout.transferTo(output);
            content.mustBe(output.toByteArray());
            return content.hash() + Programs.number(process.waitFor());
        }
    }

    @Override
    public long units() {
        return content.bytes().length;
    }

    @Override
    public String metric() {
        return "first_byte";
    }

    @Override
    public double measured() {
        return firstByte;
    }

    @Override
    public void close() throws IOException {
        Files.delete(file);
    }
}
