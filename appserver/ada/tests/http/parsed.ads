--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The parser's results as text, for comparison: a line such as "POST /a?b|host|content" for each
--  request, and then the outcome for the remaining bytes.

with Appserver.HTTP.Parsing;

package Parsed is

   package HTTP renames Appserver.HTTP;
   use HTTP;

   New_Line : constant String := [ASCII.CR, ASCII.LF];

   Small : constant Parsing.Limits := (Request_Line => 200, Header => 600, Content => 300);

   type Cutting is access function (Left : Positive) return Positive;
   --  Returns the number of bytes that arrive next. Left is the number of bytes that have not
   --  arrived yet.

   function Uncut (Left : Positive) return Positive is (Left);
   function Byte_By_Byte (Left : Positive) return Positive is (Positive'Min (Left, 1));

   function Outcome
     (Bytes  : String;
      Limits : Parsing.Limits := (others => <>);
      Cut    : not null Cutting := Uncut'Access) return String;

   function Streamed_Outcome
     (Bytes  : String;
      Limits : Parsing.Limits := (others => <>);
      Cut    : not null Cutting := Uncut'Access) return String;
   --  Returns the outcome in the format of Outcome, but streams the content: removes each piece
   --  from the request as it arrives

end Parsed;
