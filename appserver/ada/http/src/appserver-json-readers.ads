--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A reader that pulls tokens or values out of a text. A text that is malformed, or is not what the
--  program asks for, makes the reader fail, once, and what is asked of it after that is passed
--  over: a program looks at the end whether all went well.

pragma Ada_2022;

with Interfaces;

package Appserver.JSON.Readers is

   --  Preconditions are checked in every build: the exception of a broken one is part of the
   --  contract.
   pragma Assertion_Policy (Pre => Check);

   use type Interfaces.Integer_64;
   subtype Integer_64 is Interfaces.Integer_64;

   type Token_Kind is
     (Nothing, Object_Start, Object_End, Array_Start, Array_End, Member_Name, Text_Value,
      Number_Value, True_Value, False_Value, Null_Value, Finish, Failure);

   type Problem is
     (None,
      Unexpected_End,
      Unexpected_Character,
      Text_After_End,
      Bad_Literal,
      Bad_Number,
      Bad_Escape,
      Bad_UTF_8,
      Control_Character,
      Unpaired_Surrogate,
      Too_Deep,
      --  A well-formed value of another kind than the program asked for
      Other_Kind,
      Out_Of_Range,
      Too_Long,
      Missing_Member,
      Repeated_Member,
      Refused);

   type Reader is tagged limited private;
   --  At the beginning of a text. It holds no reference to the text, which is handed to it in each
   --  call and has to be the same one: so nothing can dangle. A name that occurs twice in an object
   --  is read twice.

   procedure Start (Self : in out Reader)
     with Post => Self.Kind = Nothing;
   --  Begins anew

   procedure Next (Self : in out Reader; Source : String);
   --  On to the next token. Finish follows the text's one value; Finish and Failure stay.

   function Kind (Self : Reader) return Token_Kind;

   function Raw (Self : Reader; Source : String) return String
     with Pre => Self.Kind in Member_Name | Text_Value | Number_Value;
   --  The token's characters in the text: of a name or a text with escapes, without quotes

   --  The value of the current token. The reader fails if the token does not fit.

   function Integer_Value
     (Self        : in out Reader;
      Source      : String;
      First, Last : Integer_64) return Integer_64
     with Pre  => Self.Kind = Number_Value and then First <= Last,
          Post => Integer_Value'Result in First .. Last;
   --  Of a number without a fraction and an exponent. First if the reader fails.

   function Float_Value (Self : in out Reader; Source : String) return Long_Float
     with Pre  => Self.Kind = Number_Value,
          Post => Float_Value'Result'Valid;
   --  The nearest one; 0.0 if the reader fails

   procedure Read_Text
     (Self : in out Reader; Source : String; Into : in out String; Last : out Natural)
     with Pre  => Self.Kind in Member_Name | Text_Value,
          Post => Last <= Into'Last;
   --  Its escapes decoded, in Into (Into'First .. Last). Too_Long if that has no room.

   function Has_Failed (Self : Reader) return Boolean is (Self.Kind = Failure);
   function Fault (Self : Reader) return Problem
     with Post => (Fault'Result = None) = not Self.Has_Failed;

   function Position (Self : Reader) return Positive;
   --  Of the token, or of what is wrong: its byte, counted from 1

   procedure Fail (Self : in out Reader; Why : Problem := Refused)
     with Pre => Why /= None, Post => Self.Has_Failed;
   --  The program does not want what it read

   --  Asking for the next value. Where the text has none of the kind, or one that does not fit, the
   --  reader fails, and the value is as above, or False, or an empty text.

   procedure Enter_Object (Self : in out Reader; Source : String);
   procedure Enter_Array (Self : in out Reader; Source : String);

   function Next_Name (Self : in out Reader; Source : String) return Boolean;
   --  In an object: whether it has another member, whose value comes next. It is left otherwise.

   function Name_Is (Self : Reader; Source, Wanted : String) return Boolean
     with Pre => Self.Kind = Member_Name;
   --  The current name, its escapes decoded

   function Next_Element (Self : in out Reader; Source : String) return Boolean;
   --  In an array: whether it has another element, which comes next. It is left otherwise.

   function Next_Is_Null (Self : in out Reader; Source : String) return Boolean;
   --  True if the next value is null; it is passed over if so

   function Next_Boolean (Self : in out Reader; Source : String) return Boolean;

   function Next_Integer
     (Self        : in out Reader;
      Source      : String;
      First, Last : Integer_64) return Integer_64
     with Pre => First <= Last, Post => Next_Integer'Result in First .. Last;

   function Next_Float (Self : in out Reader; Source : String) return Long_Float
     with Post => Next_Float'Result'Valid;

   procedure Next_Text
     (Self : in out Reader; Source : String; Into : in out String; Last : out Natural)
     with Post => Last <= Into'Last;

   procedure Skip (Self : in out Reader; Source : String);
   --  Passes over a value, whatever it is

   procedure Finish_Reading (Self : in out Reader; Source : String)
     with Post => Self.Kind in Finish | Failure;
   --  Nothing but space may be left

private

   --  What may come next. Those that end with First come right behind a bracket.

   type Expectation is (Value_Due, Value_First, Member_First, Separator);

   type Reader is tagged limited record
      Kind      : Token_Kind := Nothing;
      Fault     : Problem := None;
      Is_Peeked : Boolean := False;
      --  The token was looked at, and is still to be read
      Escaped   : Boolean := False;
      Expected  : Expectation := Value_Due;
      Consumed  : Natural := 0;
      --  Bytes of the text
      Begins    : Natural := 0;
      Ends      : Natural := 0;
      --  The token's bytes are Begins + 1 .. Ends, counted from 1
      Depth     : Natural := 0;
      Objects   : Container_Kinds := [others => False];
   end record;

   function Kind (Self : Reader) return Token_Kind is (Self.Kind);
   function Fault (Self : Reader) return Problem is (Self.Fault);
   function Position (Self : Reader) return Positive is (Self.Begins + 1);

   function Raw (Self : Reader; Source : String) return String is
     (Source (Source'First + Self.Begins .. Source'First - 1 + Self.Ends));

end Appserver.JSON.Readers;
