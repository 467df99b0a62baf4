// SPDX-License-Identifier: Apache-2.0
// A statement that a monitor counts.
package benchlab.appserver.monitor;

/** A statement without its literals: of {@link Monitor#query}. */
public final class Query {

    static final Query OTHER = new Query(0, Monitor.OTHER);

    final int number;
    private final String name;

    Query(int number, String name) {
        this.number = number;
        this.name = name;
    }

    /** Its text, with "?" for each literal. */
    public String name() {
        return name;
    }
}
