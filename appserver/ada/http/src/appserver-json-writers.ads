--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A writer of one value, without spaces, into whatever takes text. Preconditions keep it in order.

pragma Ada_2022;

with Appserver.Text_Sinks;
with Interfaces;

package Appserver.JSON.Writers is

   use Appserver.Text_Sinks;

   --  What a program that breaks a precondition gets is part of the contract, so they are checked
   --  in every build.
   pragma Assertion_Policy (Pre => Check);

   subtype Integer_64 is Interfaces.Integer_64;

   type Writer (To : not null access Text_Sink'Class) is tagged limited private;
   --  Writes one value, without spaces. What the program gives it has to be UTF-8; what is not is
   --  written as U+FFFD.

   function Expects_Name (Self : Writer) return Boolean;
   function Expects_Value (Self : Writer) return Boolean;
   function Is_In_Array (Self : Writer) return Boolean;
   --  And right in it: a value, or its end, may come next

   function Is_Complete (Self : Writer) return Boolean;
   function Depth (Self : Writer) return Natural;

   procedure Start_Object (Self : in out Writer)
     with Pre => Self.Expects_Value and then Self.Depth < Deepest;
   procedure End_Object (Self : in out Writer)
     with Pre => Self.Expects_Name;

   procedure Start_Array (Self : in out Writer)
     with Pre => Self.Expects_Value and then Self.Depth < Deepest;
   procedure End_Array (Self : in out Writer)
     with Pre => Self.Is_In_Array;

   procedure Write_Name (Self : in out Writer; Name : String)
     with Pre => Self.Expects_Name, Post => Self.Expects_Value;

   procedure Write (Self : in out Writer; Value : String)
     with Pre => Self.Expects_Value;
   procedure Write (Self : in out Writer; Value : Integer_64)
     with Pre => Self.Expects_Value;
   procedure Write (Self : in out Writer; Value : Long_Float)
     with Pre => Self.Expects_Value and then Value'Valid;
   procedure Write (Self : in out Writer; Value : Boolean)
     with Pre => Self.Expects_Value;
   procedure Write_Null (Self : in out Writer)
     with Pre => Self.Expects_Value;

private

   --  What may come next. Those that end with First come right behind a bracket.

   type Expectation is (Value_Due, Value_First, Member_First, Separator);

   type Writer (To : not null access Text_Sink'Class) is tagged limited record
      Expected : Expectation := Value_Due;
      Depth    : Natural := 0;
      Objects  : Container_Kinds := [others => False];
   end record;

   function Is_In_Object (Self : Writer) return Boolean is
     (Self.Depth > 0 and then Self.Objects (Self.Depth));

   function Is_In_Array (Self : Writer) return Boolean is
     (Self.Depth > 0 and then not Self.Objects (Self.Depth));

   function Expects_Name (Self : Writer) return Boolean is
     (Self.Is_In_Object and then Self.Expected in Member_First | Separator);

   function Expects_Value (Self : Writer) return Boolean is
     (Self.Expected = Value_Due or else Self.Is_In_Array);

   function Is_Complete (Self : Writer) return Boolean is
     (Self.Depth = 0 and then Self.Expected = Separator);

   function Depth (Self : Writer) return Natural is (Self.Depth);

end Appserver.JSON.Writers;
