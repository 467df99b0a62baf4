// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// lineMax is the maximum length of a line in bytes, without its LF.
const lineMax = 65_536

var errTooLong = usage("the line is longer than %d bytes", lineMax)

// lineReader splits its input into lines. It reads ahead at most one line's buffer, and only on
// demand.
type lineReader struct{ input *bufio.Reader }

func newLineReader(input io.Reader) lineReader {
	return lineReader{bufio.NewReaderSize(input, lineMax+1)}
}

// next returns a line without its LF, errTooLong for a line that is too long, or the error that
// ended the input.
func (r lineReader) next() (string, error) {
	line, err := r.input.ReadSlice('\n')
	switch {
	case err == nil:
		return string(line[:len(line)-1]), nil
	case err == io.EOF && len(line) > 0: // the last line, which has no LF
		return string(line), nil
	case err == bufio.ErrBufferFull:
		for err == bufio.ErrBufferFull {
			_, err = r.input.ReadSlice('\n')
		}
		if err == nil || err == io.EOF {
			return "", errTooLong
		}
	}
	return "", err
}

// arguments contains the decoded values of a command by key.
type arguments map[string]string

// parse splits a line into its verb and its arguments. If a key is repeated, its first value is
// used.
func parse(line string) (string, arguments, error) {
	verb, rest, more := strings.Cut(line, " ")
	found := arguments{}
	for number := 1; more; number++ {
		var word string
		word, rest, more = strings.Cut(rest, " ")
		key, value, ok := parseArgument(word)
		if !ok {
			return "", nil, usage("argument %d is not key=value, percent-encoded", number)
		}
		if _, known := found[key]; !known {
			found[key] = value
		}
	}
	return verb, found, nil
}

func parseArgument(word string) (key, value string, ok bool) {
	key, encoded, ok := strings.Cut(word, "=")
	if !ok || !isKey(key) {
		return "", "", false
	}
	value, ok = decode(encoded)
	return key, value, ok
}

func isKey(key string) bool {
	for i := range len(key) {
		c := key[i]
		if !('a' <= c && c <= 'z' || i > 0 && ('0' <= c && c <= '9' || c == '_')) {
			return false
		}
	}
	return key != ""
}

// text returns the value of the argument key.
func (a arguments) text(key string) (string, error) {
	value, ok := a[key]
	if !ok {
		return "", usage("the argument %s is missing", key)
	}
	return value, nil
}

// integer returns the value of the argument key, a decimal integer from low to high.
func (a arguments) integer(key string, low, high uint64) (uint64, error) {
	text, err := a.text(key)
	if err != nil {
		return 0, err
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil || value < low || value > high {
		return 0, usage("%s is not a whole number from %d to %d", key, low, high)
	}
	return value, nil
}

// reply is a line to benchlab, without its LF.
type reply struct{ line []byte }

func newReply(verb string) *reply {
	return &reply{[]byte("@lab " + verb)}
}

// with adds an argument.
func (r *reply) with(key string, value any) *reply {
	r.line = append(append(append(r.line, ' '), key...), '=')
	r.line = appendEncoded(r.line, fmt.Sprint(value))
	return r
}

// -- Percent-encoding --------------------------------------------------------------------------

// standsForItself returns true if a byte of a value does not have to be encoded.
func standsForItself(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' ||
		strings.IndexByte("-._~/:,+", c) >= 0
}

func appendEncoded(line []byte, value string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(value) {
		if c := value[i]; standsForItself(c) {
			line = append(line, c)
		} else {
			line = append(line, '%', digits[c>>4], digits[c&15])
		}
	}
	return line
}

func decode(encoded string) (string, bool) {
	value := make([]byte, 0, len(encoded))
	for i := 0; i < len(encoded); i++ {
		switch c := encoded[i]; {
		case standsForItself(c):
			value = append(value, c)
		case c == '%' && i+2 < len(encoded):
			var err error
			if value, err = hex.AppendDecode(value, []byte(encoded[i+1:i+3])); err != nil {
				return "", false
			}
			i += 2
		default:
			return "", false
		}
	}
	return string(value), true
}
