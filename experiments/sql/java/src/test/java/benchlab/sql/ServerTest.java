// SPDX-License-Identifier: Apache-2.0
// Tests the conversion of benchlab's target to the driver's URL and properties; no server is needed.
package benchlab.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerTest {

    @ParameterizedTest
    @CsvSource({
        "postgresql://u:p@127.0.0.1:5432/lab?options=-cx%3Dy, jdbc:postgresql://127.0.0.1:5432/lab",
        "mariadb://u:p@[::1]:3306/lab, jdbc:mariadb://[::1]:3306/lab",
        "mariadb://u:p@localhost/lab, jdbc:mariadb://localhost/lab",
    })
    void makesTheUrl(String target, String url) throws Exception {
        assertEquals(url, Server.url(URI.create(target)));
    }

    @Test
    void decodesUserPasswordAndParameters() {
        var target =
                URI.create(
                        "postgresql://a%40b%3A+:p%2F%3A:%C3%A9+%20@h:1/d"
                                + "?options=-csearch_path%3Dx%26y&empty=&bare");
        assertEquals(
                Map.of(
                        "user", "a@b:+",
                        "password", "p/::é+ ",
                        "options", "-csearch_path=x&y",
                        "empty", "",
                        "bare", "",
                        "sslmode", "disable"),
                Server.properties(target, Map.of("sslmode", "disable")));
    }

    @ParameterizedTest
    @CsvSource({
        "postgresql:127.0.0.1, unsupported",
        "mariadb:/d, unsupported",
        "mariadb://u:p@h/d?socket=%2Fs, unsupported",
        "postgresql://a b, usage",
        "postgresql:///d, usage",
        "postgresql://u:p@/d?host=/tmp&port=1, unsupported",
    })
    void refusesOtherTargets(String target, String code) throws Exception {
        SqlSubject subject =
                target.startsWith("mariadb")
                        ? SqlSubject.mariaDb("java-test")
                        : SqlSubject.postgresql("java-test");
        String open = "open case=connect seed=7 settings=x target=";
        String reply = Dialogue.replies(subject, open + Dialogue.encode(target)).get(0);
        assertTrue(reply.startsWith("@lab error code=" + code + " message="), reply);
    }
}
