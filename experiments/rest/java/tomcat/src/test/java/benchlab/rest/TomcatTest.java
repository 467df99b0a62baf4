// SPDX-License-Identifier: Apache-2.0
// Protects that this server answers what all answer.
package benchlab.rest;

class TomcatTest extends ContractTest {
    TomcatTest() {
        super(TomcatSubject.class, "java-tomcat");
    }
}
