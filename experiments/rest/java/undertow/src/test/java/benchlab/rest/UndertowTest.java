// SPDX-License-Identifier: Apache-2.0
// Protects that this server answers what all answer.
package benchlab.rest;

class UndertowTest extends ContractTest {
    UndertowTest() {
        super(UndertowSubject.class, "java-undertow");
    }
}
