// SPDX-License-Identifier: Apache-2.0
// Protects that this server answers what all answer.
package benchlab.rest;

class GrizzlyTest extends ContractTest {
    GrizzlyTest() {
        super(GrizzlySubject.class, "java-grizzly");
    }
}
