// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.monitor;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Maps paths to routes and SQL statements to their text without values, so that the number of names
 * stays bounded. The rules are the same as in the Ada library.
 */
final class Folding {

    /** The maximum length of a page's name in characters; longer names are truncated. */
    static final int MAX_PAGE = 128;

    private static final int MAX_QUERY = 500;

    private static final int DIGIT = 1;
    private static final int HEXADECIMAL = 2;
    private static final int DASH = 4;
    private static final int DOT = 8;
    private static final int OTHER = 16;

    private static final byte[] CLASSES = new byte[128];

    static {
        Arrays.fill(CLASSES, (byte) OTHER);
        Arrays.fill(CLASSES, '0', '9' + 1, (byte) DIGIT);
        Arrays.fill(CLASSES, 'a', 'f' + 1, (byte) HEXADECIMAL);
        Arrays.fill(CLASSES, 'A', 'F' + 1, (byte) HEXADECIMAL);
        CLASSES['-'] = DASH;
        CLASSES['.'] = DOT;
    }

    private Folding() {}

    /**
     * Returns true if requests with an HTTP method may add pages. Clients could otherwise add a page
     * for each method that they invent, and for each path, because servers respond to OPTIONS and
     * TRACE without looking for the resource.
     */
    static boolean isPageMethod(String method) {
        return switch (method) {
            case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "QUERY" -> true; // RFC 9110, 5789
            case "PROPFIND", "PROPPATCH", "REPORT", "SEARCH" -> true; // RFC 4918, 3253, 5323
            case "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK" -> true;
            default -> false;
        };
    }

    /** A reusable buffer for a name. */
    static final class PageName {
        final char[] text = new char[MAX_PAGE];
        int length;

        void set(String name) {
            length = 0;
            append(name, 0, name.length());
        }

        /**
         * Sets the name to a route such as "GET /users/{id}". A segment of the path is a variable
         * if it contains a digit and consists only of digits, dots and dashes, or of 8 or more
         * hexadecimal digits and dashes, or of 16 or more characters. The path ends at a ";".
         */
        void setRoute(String method, String path) {
            set(method);
            append(" ", 0, 1);
            int end = path.indexOf(';');
            end = end < 0 ? path.length() : end;
            for (int first = 0; first < end; ) {
                int has = 0;
                int last = first + 1;
                for (; last < end && path.charAt(last) != '/'; last++) {
                    char c = path.charAt(last);
                    has |= c < 128 ? CLASSES[c] : OTHER;
                }
                if (isVariable(has, last - first - 1)) {
                    append("/{id}", 0, 5);
                } else {
                    append(path, first, last);
                }
                first = last;
            }
        }

        int hash() {
            int hash = length;
            for (int k = 0; k < length; k++) {
                hash = 31 * hash + text[k];
            }
            return hash ^ hash >>> 15;
        }

        boolean is(char[] other) {
            return Arrays.equals(text, 0, length, other, 0, other.length);
        }

        private void append(String part, int from, int to) {
            int end = from + Math.min(to - from, MAX_PAGE - length);
            part.getChars(from, end, text, length);
            length += end - from;
        }

        private static boolean isVariable(int has, int length) {
            return (has & DIGIT) != 0
                    && (length >= 16
                            || (has & (HEXADECIMAL | OTHER)) == 0
                            || length >= 8 && (has & (OTHER | DOT)) == 0);
        }
    }

    /**
     * Replaces each literal and parameter of a statement with "?", lists of literals and parameters
     * with "?, ...", and blanks and comments with one space. Literals include E'…' and $tag$…$tag$
     * of PostgreSQL. The result is truncated to 500 bytes.
     */
    static String query(String text, TextRules rules) {
        String start = text.substring(0, Math.min(text.length(), 8 * MAX_QUERY));
        return new QueryFolding(start, rules).result();
    }

    /** Reads the text from left to right. Each step consumes a token and appends its replacement. */
    private static final class QueryFolding {
        private final String text;
        private final TextRules rules;
        private final StringBuilder result = new StringBuilder();
        private int next;

        QueryFolding(String text, TextRules rules) {
            this.text = text;
            this.rules = rules;
        }

        String result() {
            while (next < text.length() && result.length() < MAX_QUERY) {
                skipToken();
            }
            result.setLength(Math.min(result.length(), MAX_QUERY));
            while (result.length() > 0 && " ;".indexOf(result.charAt(result.length() - 1)) >= 0) {
                result.setLength(result.length() - 1);
            }
            return cut(result.toString());
        }

        private static String cut(String name) {
            int length = name.length();
            while (name.substring(0, length).getBytes(StandardCharsets.UTF_8).length
                    > MAX_QUERY) {
                length--;
            }
            return name.substring(0, length);
        }

        private char at(int ahead) {
            return next + ahead < text.length() ? text.charAt(next + ahead) : 0;
        }

        private void skipToken() {
            char c = at(0);
            if (isLiteral(c)) {
                putValue();
                skipLiteral(c);
            } else if (" \t\n\r\f".indexOf(c) >= 0) {
                putSpace();
                next++;
            } else if (c == '-' && at(1) == '-' || c == '#' && rules.hasHashComments()) {
                putSpace();
                skipBehind("\n");
            } else if (c == '/' && at(1) == '*') {
                putSpace();
                next += 2;
                skipBehind("*/");
            } else if (c == '"' || c == '`') {
                keepName();
            } else if (c == '?' || isNamedParameter(c)) {
                putValue();
                next++;
                skipWord(false);
            } else if (isWord(c)) {
                skipWord(true);
            } else {
                result.append(c < ' ' ? ' ' : c);
                next++;
            }
        }

        private boolean isLiteral(char c) {
            return isDigit(c) || isText(c) || isEscapedText(c) || dollarLength() > 0;
        }

        private boolean isText(char c) {
            return c == '\'' || c == '"' && rules.hasDoubleQuotedTexts();
        }

        private boolean isEscapedText(char c) {
            return (c == 'e' || c == 'E') && at(1) == '\'';
        }

        private void skipLiteral(char c) {
            if (isDigit(c)) {
                skipWord(false);
            } else if (isText(c)) {
                skipText(rules.hasBackslashEscapes());
            } else if (isEscapedText(c)) {
                next++;
                skipEscapedText();
            } else {
                String mark = text.substring(next, next + dollarLength());
                next += mark.length();
                skipBehind(mark);
            }
        }

        private boolean isNamedParameter(char c) {
            return "$:@".indexOf(c) >= 0
                    && isWord(at(1))
                    && (c == '$' || next == 0 || text.charAt(next - 1) != c);
        }

        private static boolean isDigit(char c) {
            return c >= '0' && c <= '9';
        }

        private static boolean isWord(char c) {
            return c >= 'a' && c <= 'z'
                    || c >= 'A' && c <= 'Z'
                    || isDigit(c)
                    || c == '_'
                    || c >= 128;
        }

        private void putSpace() {
            if (result.length() > 0 && !endsWith(" ")) {
                result.append(' ');
            }
        }

        private void putValue() {
            if (endsWith("?, ...,") || endsWith("?, ..., ")) {
                result.setLength(result.length() - (endsWith(", ") ? 2 : 1));
            } else if (endsWith("?,") || endsWith("?, ")) {
                result.append(endsWith(" ") ? "..." : " ...");
            } else {
                result.append('?');
            }
        }

        private boolean endsWith(String part) {
            int first = result.length() - part.length();
            return first >= 0 && result.indexOf(part, first) == first;
        }

        private void skipBehind(String end) {
            int found = text.indexOf(end, next);
            next = found < 0 ? text.length() : found + end.length();
        }

        /** Keeps a quoted name. A doubled quotation mark is a part of the name. */
        private void keepName() {
            int first = next;
            skipText(false);
            result.append(text, first, next);
        }

        /** Skips a text literal. A doubled quotation mark is a part of the text. */
        private void skipText(boolean hasEscapes) {
            char mark = at(0);
            next++;
            while (next < text.length() && (at(0) != mark || at(1) == mark)) {
                next += at(0) == mark || hasEscapes && at(0) == '\\' ? 2 : 1;
            }
            next = Math.min(next + 1, text.length());
        }

        /**
         * Skips a text literal with escapes. After a line end it may go on with another quotation
         * mark; there it has escapes too.
         */
        private void skipEscapedText() {
            for (int start = next; start >= 0; start = continuation()) {
                next = start;
                skipText(true);
            }
        }

        /** Returns the quotation mark with which a text literal goes on, or -1. */
        private int continuation() {
            boolean hasLine = false;
            int place = next;
            while (place < text.length() && " \t\n\013\f\r".indexOf(text.charAt(place)) >= 0) {
                hasLine |= text.charAt(place) == '\n' || text.charAt(place) == '\r';
                place++;
            }
            return hasLine && text.startsWith("'", place) ? place : -1;
        }

        /** Returns the length of the mark $$ or $tag$ at the next character; 0 if there is none. */
        private int dollarLength() {
            if (at(0) != '$' || isDigit(at(1))) {
                return 0;
            }
            int length = 1;
            while (isWord(at(length))) {
                length++;
            }
            return at(length) == '$' ? length + 1 : 0;
        }

        private void skipWord(boolean keeps) {
            int first = next;
            while (isWord(at(0)) || at(0) == (keeps ? '$' : '.')) {
                next++;
            }
            if (keeps) {
                result.append(text, first, next);
            }
        }
    }
}
