--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Reads and writes text with an encoding, and iterates over lines:
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
     with Pre => To.Has_Input
                 or else raise Misuse_Error with "the input is not a pipe, or is closed";
   --  Writes text.
   --  @param To the process
   --  @param Item the text
   --  @param As the encoding
   --  @param Timeout the maximum time in seconds
   --  @exception Encoding_Error the text cannot be encoded

   procedure Put_Line
     (To      : in out Process;
      Item    : Wide_Wide_String;
      As      : Encoding := UTF_8;
      Timeout : Duration := Forever)
     with Pre => To.Has_Input
                 or else raise Misuse_Error with "the input is not a pipe, or is closed";
   --  Writes text followed by a line feed.
   --  @param To the process
   --  @param Item the text
   --  @param As the encoding
   --  @param Timeout the maximum time in seconds
   --  @exception Encoding_Error the text cannot be encoded

   function Get_Line
     (Child   : in out Process;
      From    : Source := Output;
      As      : Encoding := UTF_8;
      Timeout : Duration := Forever) return Wide_Wide_String;
   --  Reads the next line, like Appserver.Processes.Get_Line. After Encoding_Error, the next line
   --  can be read.
   --  @param Child the process
   --  @param From the stream
   --  @param As the encoding
   --  @param Timeout the maximum time in seconds
   --  @return the line
   --  @exception Encoding_Error the line is not valid in the encoding
   --  @exception End_Error there are no more lines

   function Decoded (Bytes : String; From : Encoding) return Wide_Wide_String;
   --  Decodes bytes.
   --  @param Bytes the bytes
   --  @param From the encoding of the bytes
   --  @return the text
   --  @exception Encoding_Error the bytes are not valid in the encoding

   function Encoded (Item : Wide_Wide_String; As : Encoding) return String;
   --  Encodes text.
   --  @param Item the text
   --  @param As the encoding
   --  @return the bytes
   --  @exception Encoding_Error the text cannot be encoded

   --------------
   -- Iterator --
   --------------

   type Cursor is private;

   function Has_Element (Position : Cursor) return Boolean;
   --  @param Position a position
   --  @return True if there is a line at Position

   package Line_Iterators is new Ada.Iterator_Interfaces (Cursor, Has_Element);

   type Line_Sequence (<>) is tagged limited private
     with Constant_Indexing => Line,
          Default_Iterator  => Iterate,
          Iterator_Element  => String;
   --  The lines that a program writes, as bytes. A loop over the sequence waits for each line and
   --  consumes it.

   function Lines
     (Child   : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return Line_Sequence;
   --  Returns the lines of a stream.
   --  @param Child the process, which must outlive the sequence
   --  @param From the stream
   --  @param Timeout the maximum time for each line, in seconds
   --  @return the lines

   function Line (Self : Line_Sequence; Position : Cursor) return String;
   --  @param Self the lines
   --  @param Position the position of a line
   --  @return the line

   function Iterate
     (Self : Line_Sequence) return Line_Iterators.Forward_Iterator'Class;
   --  @param Self the lines
   --  @return an iterator

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
