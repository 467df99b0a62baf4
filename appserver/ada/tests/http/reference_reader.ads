--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A second parser of requests, to which tests compare the parser. The reader gets the whole input,
--  reads a message when the header is complete, and limits only the content and chunk sizes. The
--  code follows RFC 9112 closely, and is not optimized for speed.

package Reference_Reader is

   function Outcome (Bytes : String; Max_Content : Natural) return String;
   --  Returns the outcome in the format of Parsed.Outcome. For a rejected request, the result is
   --  "refused" without a status.

end Reference_Reader;
