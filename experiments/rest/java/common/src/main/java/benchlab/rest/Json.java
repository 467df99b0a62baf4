// SPDX-License-Identifier: Apache-2.0
// JSON by Jackson, as it is but in one thing.
package benchlab.rest;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

final class Json {
    /** What stands behind a document makes it none, which Jackson would not notice. */
    static final ObjectMapper MAPPER =
            JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

    private Json() {}
}
