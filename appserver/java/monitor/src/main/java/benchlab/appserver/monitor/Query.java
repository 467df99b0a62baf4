// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

/** A statement that a monitor counts, without its literals. Created by {@link Monitor#query}. */
public final class Query {

    static final Query OTHER = new Query(0, Monitor.OTHER);

    final int number;
    private final String name;

    Query(int number, String name) {
        this.number = number;
        this.name = name;
    }

    /**
     * Returns the text of the statement, with "?" for each literal.
     *
     * @return the text
     */
    public String name() {
        return name;
    }
}
