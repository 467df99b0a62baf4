// SPDX-License-Identifier: Apache-2.0
// Jackson's JSON mapper with default settings, apart from one.
package benchlab.rest;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

final class Json {
    /** A mapper that rejects text after a document, which Jackson ignores by default. */
    static final ObjectMapper MAPPER =
            JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

    private Json() {}
}
