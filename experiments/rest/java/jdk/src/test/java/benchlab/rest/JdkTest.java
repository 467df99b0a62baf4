// SPDX-License-Identifier: Apache-2.0
// Protects that this server answers what all answer.
package benchlab.rest;

class JdkTest extends ContractTest {
    JdkTest() {
        super(JdkSubject.class, "java-jdk");
    }
}
