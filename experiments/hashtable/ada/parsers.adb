--  SPDX-License-Identifier: Apache-2.0
--
--  parsers BUCKETS [SYMBOLS]: runs 127 parsers sequentially, each with a table of BUCKETS buckets,
--  which looks up SYMBOLS symbols (400 by default). Prints the sum of the symbols' numbers, which
--  does not depend on the number of buckets.

with Ada.Command_Line;
with Ada.Text_IO;
with Benchlab.Seeded_Sequences;
with Interfaces;
with Parsing;
with Symbol_Tables;

procedure Parsers is

   use Ada.Command_Line;

   Parser_Count : constant := 127;
   --  The same number as in the published measurement

   Default_Symbols : constant := 400;

   Sum : Interfaces.Unsigned_64 := 0;
begin
   if Argument_Count not in 1 .. 2 then
      raise Constraint_Error;
   end if;
   declare
      Buckets : constant Symbol_Tables.Bucket_Count := Positive'Value (Argument (1));
      Symbols : constant Parsing.Symbol_Count       :=
        (if Argument_Count = 2 then Positive'Value (Argument (2)) else Default_Symbols);
      Names   : constant Benchlab.Seeded_Sequences.Sequence :=
        Benchlab.Seeded_Sequences.Values (Seed => 1);
   begin
      for Parser in 1 .. Parser_Count loop
         Parsing.Parse (Names, Buckets, Symbols, Sum);
      end loop;
   end;
   Ada.Text_IO.Put_Line ("sum:" & Sum'Image);
exception
   when Constraint_Error =>
      Ada.Text_IO.Put_Line
        (Ada.Text_IO.Standard_Error,
         "usage: parsers BUCKETS [SYMBOLS], buckets from 1 to 16777216, symbols from 1 to"
         & Integer'Image (Parsing.Max_Symbols) & "; such as parsers 65536");
      Set_Exit_Status (2);
end Parsers;
