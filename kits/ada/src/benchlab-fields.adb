--  SPDX-License-Identifier: Apache-2.0

with Ada.Characters.Handling;
with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;
with Ada.Text_IO;
with Benchlab.Percent_Coding;

package body Benchlab.Fields is

   function Text (Self : Field_List; Key : String) return String is
   begin
      for Field of Self.Fields loop
         if Field.Key = Key then
            return Field.Value;
         end if;
      end loop;
      raise Usage_Error with "the argument " & Key & " is missing";
   end Text;

   --  The longest number is 2 ** 64 - 1

   Max_Digits : constant := 20;

   function Number
     (Self  : Field_List;
      Key   : String;
      First : Interfaces.Unsigned_64 := 0;
      Last  : Interfaces.Unsigned_64 := Interfaces.Unsigned_64'Last)
      return Interfaces.Unsigned_64
   is
      Text  : constant String := Self.Text (Key);
      Value : Long_Long_Long_Integer := 0;
   begin
      if Text'Length in 1 .. Max_Digits
        and then (for all C of Text => C in '0' .. '9')
      then
         Value := Long_Long_Long_Integer'Value (Text);
         if Value in Long_Long_Long_Integer (First) .. Long_Long_Long_Integer (Last) then
            return Interfaces.Unsigned_64 (Value);
         end if;
      end if;
      raise Usage_Error with
        Key & " is not a whole number from" & First'Image & " to" & Last'Image;
   end Number;

   function Choice_Of (Self : Field_List'Class; Key : String) return Choice is
      Name : constant String := Self.Text (Key);
   begin
      for Value in Choice loop
         if Ada.Characters.Handling.To_Lower (Value'Image) = Name then
            return Value;
         end if;
      end loop;
      raise Unsupported_Error with "unsupported value " & Key & "=" & Name;
   end Choice_Of;

   procedure Add (Self : in out Field_List; Key, Value : String) is
   begin
      Self.Fields.Append (Field'(Key'Length, Value'Length, Key, Value));
   end Add;

   procedure Add (Self : in out Field_List; Key : String; Value : Interfaces.Unsigned_64) is
   begin
      Self.Add (Key, Ada.Strings.Fixed.Trim (Value'Image, Ada.Strings.Left));
   end Add;

   package Metric_IO is new Ada.Text_IO.Float_IO (Metric_Value);

   procedure Add (Self : in out Field_List; Key : String; Value : Metric_Value) is
      Image : String (1 .. 32);
   begin
      Metric_IO.Put (Image, Value, Aft => (if abs Value < 1.0E8 then 9 else 1), Exp => 0);
      Self.Add (Key, Ada.Strings.Fixed.Trim (Image, Ada.Strings.Left));
   end Add;

   procedure Append (Self : in out Field_List; More : Field_List'Class) is
   begin
      Self.Fields.Append (More.Fields);
   end Append;

   function Image (Self : Field_List) return String is
      use Ada.Strings.Unbounded;

      Result : Unbounded_String;
   begin
      for Field of Self.Fields loop
         Append (Result, " " & Field.Key & "=" & Percent_Coding.Encoded (Field.Value));
      end loop;
      return To_String (Result);
   end Image;

   procedure Add_Word (Self : in out Field_List; Word : String) is
      Equals : constant Natural := Ada.Strings.Fixed.Index (Word, "=");
   begin
      if Equals = 0 or else not Is_Key (Word (Word'First .. Equals - 1)) then
         raise Usage_Error with "expected an argument such as key=value";
      end if;
      declare
         Key : String renames Word (Word'First .. Equals - 1);
      begin
         if Self.Has (Key) then
            raise Usage_Error with "the argument " & Key & " occurs twice";
         end if;
         Self.Add (Key, Percent_Coding.Decoded (Word (Equals + 1 .. Word'Last)));
      end;
   end Add_Word;

   function Parsed (Words : String) return Field_List is
      Start : Positive := Words'First;
      Space : Natural;
   begin
      return Result : Field_List do
         while Words'Length > 0 loop
            Space := Ada.Strings.Fixed.Index (Words, " ", From => Start);
            Add_Word (Result, Words (Start .. (if Space = 0 then Words'Last else Space - 1)));
            exit when Space = 0;
            Start := Space + 1;
         end loop;
      end return;
   end Parsed;

end Benchlab.Fields;
