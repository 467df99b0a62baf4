// SPDX-License-Identifier: Apache-2.0
// The case exchange: writes everything to a filter, and reads it back concurrently.
package benchlab.process;

import benchlab.appserver.process.Command;
import benchlab.appserver.process.Output;

final class Exchange implements Operation {

    private final Command command = Programs.filter();
    private final Content content;

    Exchange(Content content) {
        this.content = content;
    }

    @Override
    public long perform() throws Exception {
        Output output = command.run(content.bytes());
        content.mustBe(output.stdout());
        return content.hash() + Programs.number(output.status());
    }

    @Override
    public long units() {
        return content.bytes().length;
    }
}
