--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Characters.Conversions;
with Ada.Strings.UTF_Encoding.Wide_Wide_Strings;

package body Appserver.Processes.Text is

   use Ada.Characters.Conversions;
   use Ada.Strings.UTF_Encoding.Wide_Wide_Strings;

   function Decoded (Bytes : String; From : Encoding) return Wide_Wide_String is
     (case From is
         when UTF_8   => Decode (Bytes),
         when Latin_1 => To_Wide_Wide_String (Bytes));

   function Encoded (Item : Wide_Wide_String; As : Encoding) return String is
     (case As is
         when UTF_8   => Encode (Item),
         when Latin_1 =>
           (if Is_String (Item) then To_String (Item)
            else raise Encoding_Error with "the text has characters that are not in Latin-1"));

   procedure Put
     (To      : in out Process;
      Item    : Wide_Wide_String;
      As      : Encoding := UTF_8;
      Timeout : Duration := Forever) is
   begin
      To.Write (Encoded (Item, As), Timeout);
   end Put;

   procedure Put_Line
     (To      : in out Process;
      Item    : Wide_Wide_String;
      As      : Encoding := UTF_8;
      Timeout : Duration := Forever) is
   begin
      To.Write (Encoded (Item, As) & Character'Val (10), Timeout);
   end Put_Line;

   function Get_Line
     (Child   : in out Process;
      From    : Source := Output;
      As      : Encoding := UTF_8;
      Timeout : Duration := Forever) return Wide_Wide_String is
     (Decoded (Child.Get_Line (From, Timeout), As));

   --------------
   -- Iterator --
   --------------

   function Lines
     (Child   : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return Line_Sequence is
     (Process => Child'Unchecked_Access, From => From, Timeout => Timeout);

   function Iterate
     (Self : Line_Sequence) return Line_Iterators.Forward_Iterator'Class is
     (Line_Iterator'(Process => Self.Process, From => Self.From, Timeout => Self.Timeout));

   overriding function First (Self : Line_Iterator) return Cursor is
     (if Self.Process.Has_Line (Self.From, Self.Timeout)
      then
        (Is_There => True,
         Line     => To_Unbounded_String (Self.Process.Get_Line (Self.From, Self.Timeout)))
      else (Is_There => False, Line => <>));

   overriding function Next (Self : Line_Iterator; Position : Cursor) return Cursor is
     (Self.First);

end Appserver.Processes.Text;
