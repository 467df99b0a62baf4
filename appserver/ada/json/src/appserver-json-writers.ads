--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Writes one JSON value, without white space, to a text sink. Preconditions enforce a valid order
--  of calls.

pragma Ada_2022;

with Appserver.Text_Sinks;
with Interfaces;

package Appserver.JSON.Writers is

   use Appserver.Text_Sinks;

   --  Preconditions are checked in every build, since the exceptions that they raise are part of
   --  the contract
   pragma Assertion_Policy (Pre => Check);

   subtype Integer_64 is Interfaces.Integer_64;

   type Writer (To : not null access Text_Sink'Class) is tagged limited private;
   --  Writes one value. Texts must be UTF-8; invalid bytes are written as U+FFFD.

   function Expects_Name (Self : Writer) return Boolean;
   --  @param Self the writer
   --  @return True if a name, or the end of the object, must come next

   function Expects_Value (Self : Writer) return Boolean;
   --  @param Self the writer
   --  @return True if a value may come next

   function Is_In_Array (Self : Writer) return Boolean;
   --  @param Self the writer
   --  @return True if the innermost open value is an array, so the next call must write a value or
   --  end the array

   function Is_Complete (Self : Writer) return Boolean;
   --  @param Self the writer
   --  @return True if the value is complete

   function Depth (Self : Writer) return Natural;
   --  @param Self the writer
   --  @return the number of open objects and arrays

   procedure Start_Object (Self : in out Writer)
     with Pre => (Self.Expects_Value and then Self.Depth < Deepest)
                 or else raise Misuse_Error with "no value is expected, or the nesting is too deep";
   procedure End_Object (Self : in out Writer)
     with Pre => Self.Expects_Name or else raise Misuse_Error with "no name is expected";
   --  Start or end an object.
   --  @param Self the writer

   procedure Start_Array (Self : in out Writer)
     with Pre => (Self.Expects_Value and then Self.Depth < Deepest)
                 or else raise Misuse_Error with "no value is expected, or the nesting is too deep";
   procedure End_Array (Self : in out Writer)
     with Pre => Self.Is_In_Array or else raise Misuse_Error with "not in an array";
   --  Start or end an array.
   --  @param Self the writer

   procedure Write_Name (Self : in out Writer; Name : String)
     with Pre => Self.Expects_Name
                 or else raise Misuse_Error with "no name is expected",
          Post => Self.Expects_Value;
   --  Writes the name of a member.
   --  @param Self the writer
   --  @param Name the name

   procedure Write (Self : in out Writer; Value : String)
     with Pre => Self.Expects_Value or else raise Misuse_Error with "no value is expected";
   procedure Write (Self : in out Writer; Value : Integer_64)
     with Pre => Self.Expects_Value or else raise Misuse_Error with "no value is expected";
   procedure Write (Self : in out Writer; Value : Long_Float)
     with Pre => (Self.Expects_Value and then Value'Valid)
                 or else raise Misuse_Error with "no value is expected, or the value is invalid";
   procedure Write (Self : in out Writer; Value : Boolean)
     with Pre => Self.Expects_Value or else raise Misuse_Error with "no value is expected";
   --  Write a value.
   --  @param Self the writer
   --  @param Value the value

   procedure Write_Null (Self : in out Writer)
     with Pre => Self.Expects_Value or else raise Misuse_Error with "no value is expected";
   --  Writes null.
   --  @param Self the writer

private

   --  The kinds of token that may come next. The values with the suffix First apply directly after
   --  an opening bracket or brace.

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
