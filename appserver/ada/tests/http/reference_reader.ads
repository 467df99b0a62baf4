--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A second reader of requests, to compare the parser with. It has the whole input, looks at a
--  message when all of its header is there, and knows no limits but those on the content and on the
--  sizes of chunks. It is written to be read beside RFC 9112, not to be quick.

package Reference_Reader is

   function Outcome (Bytes : String; Max_Content : Natural) return String;
   --  In the form of Parsed.Outcome, with "refused" without a status

end Reference_Reader;
