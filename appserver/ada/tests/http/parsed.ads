--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  What the parser makes of bytes, as text to compare: "POST /a?b|host|content" and so on, a line
--  for each request, then what became of the rest.

with Appserver.HTTP.Parsing;

package Parsed is

   package HTTP renames Appserver.HTTP;
   use HTTP;

   New_Line : constant String := [ASCII.CR, ASCII.LF];

   Small : constant Parsing.Limits := (Request_Line => 200, Header => 600, Content => 300);

   type Cutting is access function (Left : Positive) return Positive;
   --  How many bytes arrive next, of Left that are still to come

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
   --  The same, with content that is taken out as it comes

end Parsed;
