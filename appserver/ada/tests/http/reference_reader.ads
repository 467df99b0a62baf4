--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A second reader of requests, with which the parser is compared. It gets the whole input, reads a
--  message when its header is complete, and has no limits except those on the content and on chunk
--  sizes. It is written to be compared with RFC 9112, not to be fast.

package Reference_Reader is

   function Outcome (Bytes : String; Max_Content : Natural) return String;
   --  Returns the outcome in the format of Parsed.Outcome, with "refused" without a status

end Reference_Reader;
