// SPDX-License-Identifier: Apache-2.0
// Tests the protocol: the replies to all commands, in and out of order.
package benchlab.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LabTest {
    private static final String ECHO = "open case=echo seed=7 count=3 text=x";

    private final Probe probe = new Probe();

    @Test
    void saysHelloOnce() throws Exception {
        List<String> replies = Conversation.transcript(probe, "");
        assertEquals(1, replies.size());
        String number = System.getProperty("java.version");
        assertTrue(
                replies.get(0)
                        .matches(
                                "@lab hello protocol=1 subject=probe thread=[0-9]+"
                                        + " runtime=[^ ]+%20" + number.replace(".", "\\.") + "\\+[0-9]+"
                                        + " library=none%201\\.0"),
                replies.get(0));
    }

    /**
     * Checks the name of the reported thread. HotSpot gives the kernel's thread the name of the
     * Java thread.
     */
    @Test
    void namesTheThreadThatDoesTheWork() throws Exception {
        var task = new FutureTask<>(() -> {
            String hello = Conversation.transcript(probe, "").get(0);
            String id = hello.replaceAll(".* thread=([0-9]+) .*", "$1");
            return Files.readString(Path.of("/proc/self/task", id, "comm")).strip();
        });
        new Thread(task, "the-worker").start();
        assertEquals("the-worker", task.get());
    }

    @Test
    void hasTheCaseNoop() throws Exception {
        assertEquals(
                List.of(
                        "@lab opened",
                        "@lab verified operations=1 units=1 check=1",
                        "@lab verified operations=9007199254740992"
                                + " units=9007199254740992 check=9007199254740992",
                        "@lab closed"),
                Conversation.with(
                        probe,
                        "open case=noop seed=0",
                        "verify",
                        "verify operations=9007199254740992",
                        "close"));
    }

    @Test
    void tellsWhatARunAllocatesIfAsked() throws Exception {
        List<String> replies =
                Conversation.with(
                        probe, "open case=noop seed=7", "run operations=5 count=allocations");
        assertTrue(replies.get(1).matches(".* allocated_bytes=[0-9]+"), replies.get(1));
    }

    @Test
    void answersWithSettingsAndUnsignedResults() throws Exception {
        assertEquals(
                List.of(
                        "@lab opened text=x a_1=fixed",
                        "@lab verified operations=5 units=3 check=18446744073709551615",
                        "@lab closed"),
                Conversation.with(probe, ECHO + " unknown=ignored", "verify operations=5", "close"));
        assertEquals(0, probe.open);
    }

    @Test
    void readsTheClockAroundTheWork() throws Exception {
        long before = System.nanoTime();
        String reply = Conversation.with(probe, ECHO, "run operations=2").get(1);
        long after = System.nanoTime();
        assertTrue(
                reply.matches("@lab ran start=[0-9]+ end=[0-9]+ operations=2 units=3 check=[0-9]+"),
                reply);
        long start = Long.parseLong(reply.replaceAll(".* start=([0-9]+) .*", "$1"));
        long end = Long.parseLong(reply.replaceAll(".* end=([0-9]+) .*", "$1"));
        assertTrue(before <= start && start <= end && end <= after);
    }

    @Test
    void tellsMetricsAsDecimalNumbersOfARun() throws Exception {
        List<String> replies =
                Conversation.with(
                        probe, "open case=metrics seed=7", "run operations=3", "verify operations=3");
        assertTrue(
                replies.get(1)
                        .endsWith(
                                " check=3 large=98000000000000000 lost=33.333333333333336"
                                        + " none=0 small=-0.000012"),
                replies.get(1));
        assertEquals("@lab verified operations=3 units=3 check=3", replies.get(2));
    }

    /**
     * Checks that the reported times are the threads' own clock readings. They lie between the
     * kit's readings, which would include the time to wake up.
     */
    @Test
    void tellsTheLatenciesOfOperationsDoneAtOnce() throws Exception {
        List<String> replies =
                Conversation.with(
                        probe,
                        "open case=crowd seed=7",
                        "verify operations=3",
                        "run operations=1",
                        "run operations=100");
        assertEquals(
                "@lab verified operations=3 units=3 check=5670136646593388021", replies.get(1));
        assertTrue(
                replies.get(2)
                        .matches(
                                "@lab ran start=[0-9]+ end=[0-9]+ operations=1 units=1"
                                        + " check=7191089600892374487 latencies=[0-9]+:1"),
                replies.get(2));
        String latencies = replies.get(3).replaceAll(".* latencies=", "");
        long total = 0;
        for (String pair : latencies.split(",")) {
            total += Long.parseLong(pair.substring(pair.indexOf(':') + 1));
        }
        assertEquals(100, total);
        assertEquals(0, probe.open);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "3789; none; 3,7-9,13,17-19",
                "901; 0-1; 0-1,9-11,19",
                "x; none; none",
                "0123456789; 0-2; 0-19",
            })
    void tellsTheOperationsThatFailedAsAscendingRanges(String digits, String of3, String of20)
            throws Exception {
        List<String> replies =
                Conversation.with(
                        probe,
                        "open case=fallible seed=7 digits=" + digits,
                        "verify operations=3",
                        "verify operations=20",
                        "run operations=20");
        assertEquals(
                List.of(
                        "@lab verified operations=3 units=3 check=3 failed=" + of3,
                        "@lab verified operations=20 units=20 check=20 failed=" + of20),
                replies.subList(1, 3));
        assertTrue(
                replies.get(3)
                        .matches(
                                "@lab ran start=[0-9]+ end=[0-9]+ operations=20 units=20 check=20"
                                        + " lost=0\\.5 latencies=[0-9:,]+ failed=" + of20),
                replies.get(3));
    }

    @Test
    void refusesAReplyThatNoLineHolds() throws Exception {
        assertEquals(
                List.of(
                        "@lab error code=failed message=the%20reply%20would%20be%20longer%20than"
                                + "%2065536%20bytes%3B%20perform%20fewer%20operations",
                        "@lab verified operations=4 units=4 check=4 failed=1,3",
                        "@lab closed"),
                Conversation.with(
                                probe,
                                "open case=fallible seed=7 digits=13579",
                                "verify operations=100000",
                                "verify operations=4",
                                "close")
                        .subList(1, 4));
    }

    @Test
    void asksNothingOfAServer() throws Exception {
        String refused =
                "@lab error code=unsupported"
                        + " message=the%20case%20is%20a%20server%20and%20has%20no%20operations";
        assertEquals(
                List.of(
                        "@lab opened url=http://127.0.0.1:40123 workers=8 loops=2",
                        refused,
                        refused,
                        "@lab closed"),
                Conversation.with(
                        probe, "open case=serves seed=7", "verify", "run operations=2", "close"));
        assertEquals(0, probe.open);
    }

    @Test
    void beginsTheInputsAnewInEveryBatch() throws Exception {
        // The sum of the three reference values of docs/protocol.md, modulo 2^64.
        String sum = "@lab verified operations=3 units=3 check=5670136646593388021";
        assertEquals(
                List.of(sum, sum),
                Conversation.with(
                                probe,
                                "open case=sum seed=7",
                                "verify operations=3",
                                "verify operations=3")
                        .subList(1, 3));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Open case=noop seed=7",
                "opened",
                " verify",
                "verify ",
                "verify  operations=1",
                "verify operations",
                "verify =1",
                "verify Operations=1",
                "verify 1a=1",
                "verify operations=1 operations=1",
                "verify",
                "run operations=1",
                "close",
                "open seed=7",
                "open case=noop",
                "open case=noop seed=",
                "open case=noop seed=-1",
                "open case=noop seed=+1",
                "open case=noop seed=0x7",
                "open case=noop seed=18446744073709551616",
                "open case=echo seed=7 text=x",
                "open case=echo seed=7 text=x count=0",
                "open case=echo seed=7 text=x count=101",
                "open case=echo seed=7 text=x count=99999999999999999999",
                "open case=echo seed=7 text=x count=1.5",
            })
    void refusesWhatIsMalformedOrOutOfOrder(String command) throws Exception {
        List<String> replies = Conversation.with(probe, command, ECHO);
        assertTrue(replies.get(0).startsWith("@lab error code=usage message="), replies.get(0));
        assertEquals("@lab opened text=x a_1=fixed", replies.get(1));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                ECHO,
                "run",
                "run operations=0",
                "run operations=-1",
                "run operations=9007199254740993",
                "verify operations=",
                "verify operations=1e3",
            })
    void refusesWhatAnOpenCaseCannotTake(String command) throws Exception {
        List<String> replies = Conversation.with(probe, ECHO, command, "close");
        assertTrue(replies.get(1).startsWith("@lab error code=usage message="), replies.get(1));
        assertEquals("@lab closed", replies.get(2));
    }

    @Test
    void takesTheLargestSeed() throws Exception {
        assertEquals(
                List.of("@lab opened"),
                Conversation.with(probe, "open case=noop seed=18446744073709551615"));
    }

    @Test
    void saysWhichCaseItDoesNotHave() throws Exception {
        assertEquals(
                List.of("@lab error code=unsupported message=there%20is%20no%20case%20other"),
                Conversation.with(probe, "open case=other seed=7"));
    }

    @ParameterizedTest
    @CsvSource({"open, 0", "settings, 0", "perform, 1", "close, 2"})
    void survivesAFailure(String phase, int place) throws Exception {
        List<String> replies =
                Conversation.with(
                        probe,
                        "open case=fails seed=7 message=disk%20full when=" + phase,
                        "verify",
                        "close",
                        ECHO);
        assertEquals(
                "@lab error code=failed message=disk%20full%20%28SQLSTATE%20HY000%29",
                replies.get(place));
        assertEquals("@lab opened text=x a_1=fixed", replies.get(3));
        assertEquals(0, probe.open);
    }

    @ParameterizedTest
    @CsvSource({
        "null, java.lang.IllegalStateException",
        "cause, full:%20no%20disk",
        "link, full",
    })
    void describesAFailure(String phase, String message) throws Exception {
        assertEquals(
                List.of("@lab error code=failed message=" + message, "@lab closed"),
                Conversation.with(
                                probe,
                                "open case=fails seed=7 message=full when=" + phase,
                                "verify",
                                "close")
                        .subList(1, 3));
    }

    @Test
    void keepsALongMessageWithinALine() throws Exception {
        String reply =
                Conversation.with(
                                probe,
                                "open case=fails seed=7 when=open message=" + "%E2%82%AC".repeat(7_000))
                        .get(0);
        assertTrue(reply.startsWith("@lab error code=failed message=%E2%82%AC%E2%82%AC"));
        assertTrue(reply.length() < 65_536, "length " + reply.length());
    }

    @Test
    void endsAtQuitAndClosesTheCase() throws Exception {
        assertEquals(
                List.of("@lab opened text=x a_1=fixed"),
                Conversation.with(probe, ECHO, "quit", "verify"));
        assertEquals(0, probe.open);
    }

    @Test
    void endsWithItsInputAndClosesTheCase() throws Exception {
        List<String> replies = Conversation.transcript(probe, ECHO + "\nverify");
        assertEquals("@lab verified operations=1 units=3 check=18446744073709551615", replies.get(2));
        assertEquals(3, replies.size());
        assertEquals(0, probe.open);
    }

    @Test
    void takesTheLongestLineAndRefusesALongerOne() throws Exception {
        String longest = ECHO + "x".repeat(65_536 - ECHO.length());
        List<String> replies =
                Conversation.with(probe, longest, "close", longest + "x", "verify", ECHO);
        assertEquals(
                "@lab opened text=x" + "x".repeat(65_536 - ECHO.length()) + " a_1=fixed",
                replies.get(0));
        assertEquals(
                "@lab error code=usage message=the%20line%20is%20longer%20than%2065536%20bytes",
                replies.get(2));
        assertTrue(replies.get(3).startsWith("@lab error code=usage"));
        assertEquals("@lab opened text=x a_1=fixed", replies.get(4));
    }
}
