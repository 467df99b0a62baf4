--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Text with an encoding that programs read and write; and lines as an iterator:
--
--     for Line of Lines (Child) loop

pragma Ada_2022;

with Ada.Iterator_Interfaces;
with Ada.Strings.UTF_Encoding;

package Appserver.Processes.Text is

   pragma Assertion_Policy (Pre => Check);

   type Encoding is (UTF_8, Latin_1);

   Encoding_Error : exception renames Ada.Strings.UTF_Encoding.Encoding_Error;
   --  Bytes are not valid in the encoding, or a text cannot be encoded

   procedure Put
     (To      : in out Process;
      Item    : Wide_Wide_String;
      As      : Encoding := UTF_8;
      Timeout : Duration := Forever)
     with Pre => To.Has_Input;

   procedure Put_Line
     (To      : in out Process;
      Item    : Wide_Wide_String;
      As      : Encoding := UTF_8;
      Timeout : Duration := Forever)
     with Pre => To.Has_Input;
   --  Writes Text and a line feed

   function Get_Line
     (Child   : in out Process;
      From    : Source := Output;
      As      : Encoding := UTF_8;
      Timeout : Duration := Forever) return Wide_Wide_String;
   --  As Appserver.Processes.Get_Line. After Encoding_Error, the next line can be read.

   function Decoded (Bytes : String; From : Encoding) return Wide_Wide_String;
   function Encoded (Item : Wide_Wide_String; As : Encoding) return String;

   --------------
   -- Iterator --
   --------------

   type Cursor is private;

   function Has_Element (Position : Cursor) return Boolean;

   package Line_Iterators is new Ada.Iterator_Interfaces (Cursor, Has_Element);

   type Line_Sequence (<>) is tagged limited private
     with Constant_Indexing => Line,
          Default_Iterator  => Iterate,
          Iterator_Element  => String;
   --  The lines that a program writes, as bytes, in order. The loop waits for each line, and
   --  consumes it.

   function Lines
     (Child   : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return Line_Sequence;
   --  Timeout, in seconds, is for each line. The sequence does not outlive the process.

   function Line (Self : Line_Sequence; Position : Cursor) return String;

   function Iterate
     (Self : Line_Sequence) return Line_Iterators.Forward_Iterator'Class;

private

   type Cursor is record
      Is_There : Boolean := False;
      Line     : Unbounded_String;
   end record;

   type Process_Access is access all Process;

   type Line_Sequence is tagged limited record
      Process : Process_Access;
      From    : Source;
      Timeout : Duration;
   end record;

   type Line_Iterator is limited new Line_Iterators.Forward_Iterator with record
      Process : Process_Access;
      From    : Source;
      Timeout : Duration;
   end record;

   overriding function First (Self : Line_Iterator) return Cursor;
   overriding function Next (Self : Line_Iterator; Position : Cursor) return Cursor;

   function Has_Element (Position : Cursor) return Boolean is (Position.Is_There);

   function Line (Self : Line_Sequence; Position : Cursor) return String is
     (To_String (Position.Line));

end Appserver.Processes.Text;
