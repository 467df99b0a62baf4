// SPDX-License-Identifier: Apache-2.0
// JSON by Jackson, as it is but in one thing.
package benchlab.rest;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

final class Json {
    /** Text after a document makes it invalid, which Jackson does not notice by default. */
    static final ObjectMapper MAPPER =
            JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

    private Json() {}
}
