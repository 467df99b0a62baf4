// SPDX-License-Identifier: Apache-2.0
// Protects that this server answers what all answer.
package benchlab.rest;

class JettyTest extends ContractTest {
    JettyTest() {
        super(JettySubject.class, "java-jetty");
    }
}
