--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A pull parser for tokens or values. The reader fails if the text is malformed, or if a value
--  does not have the type or the range that the program requests. After a failure, the reader
--  ignores all further calls, so a program needs to check for a failure only once, at the end.

pragma Ada_2022;

with Interfaces;

package Appserver.JSON.Readers is

   --  Preconditions are checked in every build, since the exceptions that they raise are part of
   --  the contract
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
      --  Other_Kind: the value is well-formed, but is not of the requested kind
      Other_Kind,
      Out_Of_Range,
      Too_Long,
      Missing_Member,
      Repeated_Member,
      Refused);

   type Reader is tagged limited private;
   --  A parser, which stores its position in a text but not the text itself. Pass the same text to
   --  each call. If a name occurs twice in an object, the reader returns both members.

   procedure Start (Self : in out Reader)
     with Post => Self.Kind = Nothing;
   --  Moves the reader to the beginning of the text.
   --  @param Self the reader

   procedure Next (Self : in out Reader; Source : String);
   --  Moves to the next token. The token after the text's single value is Finish. After Finish or
   --  Failure, the token no longer changes.
   --  @param Self the reader
   --  @param Source the text

   function Kind (Self : Reader) return Token_Kind;
   --  @param Self the reader
   --  @return the kind of the current token

   function Raw (Self : Reader; Source : String) return String
     with Pre => Self.Kind in Member_Name | Text_Value | Number_Value
                 or else raise Misuse_Error with "the token is not a name, a text or a number";
   --  Returns the characters of the token as they appear in the text.
   --  @param Self the reader
   --  @param Source the text
   --  @return the characters. For a name or a text, escapes are not decoded, and quotation marks
   --  are not included.

   --  Subprograms that return the value of the current token. If the value does not fit, the reader
   --  fails.

   function Integer_Value
     (Self        : in out Reader;
      Source      : String;
      First, Last : Integer_64) return Integer_64
     with Pre  => (Self.Kind = Number_Value and then First <= Last)
                  or else raise Misuse_Error with
                    "the token is not a number, or the range is empty",
          Post => Integer_Value'Result in First .. Last;
   --  Converts a number that has neither a fraction nor an exponent.
   --  @param Self the reader
   --  @param Source the text
   --  @param First the minimum valid value
   --  @param Last the maximum valid value
   --  @return the value; First if the reader fails

   function Float_Value (Self : in out Reader; Source : String) return Long_Float
     with Pre  => Self.Kind = Number_Value
                  or else raise Misuse_Error with "the token is not a number",
          Post => Float_Value'Result'Valid;
   --  Converts a number.
   --  @param Self the reader
   --  @param Source the text
   --  @return the nearest floating-point value; 0.0 if the reader fails

   procedure Read_Text
     (Self : in out Reader; Source : String; Into : in out String; Last : out Natural)
     with Pre  => Self.Kind in Member_Name | Text_Value
                  or else raise Misuse_Error with "the token is not a name or a text",
          Post => Last <= Into'Last;
   --  Decodes a name or a text. If the decoded characters do not fit into Into, the reader fails
   --  with Too_Long.
   --  @param Self the reader
   --  @param Source the text
   --  @param Into receives the decoded characters, in Into (Into'First .. Last)
   --  @param Last set to the index of the last decoded character

   function Has_Failed (Self : Reader) return Boolean is (Self.Kind = Failure);
   --  @param Self the reader
   --  @return True if the reader has failed

   function Fault (Self : Reader) return Problem
     with Post => (Fault'Result = None) = not Self.Has_Failed;
   --  @param Self the reader
   --  @return the reason for the failure; None if the reader has not failed

   function Position (Self : Reader) return Positive;
   --  @param Self the reader
   --  @return the position in bytes, from 1, of the token or the error

   procedure Fail (Self : in out Reader; Why : Problem := Refused)
     with Pre => Why /= None
                 or else raise Misuse_Error with "the reason must not be None",
          Post => Self.Has_Failed;
   --  Makes the reader fail. Call this procedure if the program does not accept a value.
   --  @param Self the reader
   --  @param Why the reason

   --  Subprograms that read the next value. If the next value is of another kind, the reader fails,
   --  and the result is First for an integer, 0.0 for a number, False, or an empty text.

   procedure Enter_Object (Self : in out Reader; Source : String);
   --  Enters an object, which must be the next value.
   --  @param Self the reader
   --  @param Source the text

   procedure Enter_Array (Self : in out Reader; Source : String);
   --  Enters an array, which must be the next value.
   --  @param Self the reader
   --  @param Source the text

   function Next_Name (Self : in out Reader; Source : String) return Boolean;
   --  Moves to the next member of an object, or leaves the object.
   --  @param Self the reader
   --  @param Source the text
   --  @return True if there is another member, whose value can be read next

   function Name_Is (Self : Reader; Source, Wanted : String) return Boolean
     with Pre => Self.Kind = Member_Name or else raise Misuse_Error with "the token is not a name";
   --  Decodes the current name and compares it.
   --  @param Self the reader
   --  @param Source the text
   --  @param Wanted the expected name
   --  @return True if they are equal

   function Next_Element (Self : in out Reader; Source : String) return Boolean;
   --  Moves to the next element of an array, or leaves the array.
   --  @param Self the reader
   --  @param Source the text
   --  @return True if there is another element, which can be read next

   function Next_Is_Null (Self : in out Reader; Source : String) return Boolean;
   --  Skips the next value if it is null.
   --  @param Self the reader
   --  @param Source the text
   --  @return True if it is null

   function Next_Boolean (Self : in out Reader; Source : String) return Boolean;
   --  @param Self the reader
   --  @param Source the text
   --  @return the next value

   function Next_Integer
     (Self        : in out Reader;
      Source      : String;
      First, Last : Integer_64) return Integer_64
     with Pre => First <= Last
                 or else raise Misuse_Error with "the range is empty",
          Post => Next_Integer'Result in First .. Last;
   --  @param Self the reader
   --  @param Source the text
   --  @param First the minimum valid value
   --  @param Last the maximum valid value
   --  @return the next value

   function Next_Float (Self : in out Reader; Source : String) return Long_Float
     with Post => Next_Float'Result'Valid;
   --  @param Self the reader
   --  @param Source the text
   --  @return the next value

   procedure Next_Text
     (Self : in out Reader; Source : String; Into : in out String; Last : out Natural)
     with Post => Last <= Into'Last;
   --  Decodes the next text.
   --  @param Self the reader
   --  @param Source the text
   --  @param Into receives the decoded characters, in Into (Into'First .. Last)
   --  @param Last set to the index of the last decoded character

   function Next_Text (Self : in out Reader; Source : String) return String;
   --  Decodes the next text. It may be as long as the source: for texts of limited length, use the
   --  procedure.
   --  @param Self the reader
   --  @param Source the text
   --  @return the decoded characters

   procedure Skip (Self : in out Reader; Source : String);
   --  Skips the next value of any kind.
   --  @param Self the reader
   --  @param Source the text

   procedure Finish_Reading (Self : in out Reader; Source : String)
     with Post => Self.Kind in Finish | Failure;
   --  Checks that only white space follows.
   --  @param Self the reader
   --  @param Source the text

private

   --  The kinds of token that may come next. The values with the suffix First apply directly after
   --  an opening bracket or brace.

   type Expectation is (Value_Due, Value_First, Member_First, Separator);

   type Reader is tagged limited record
      Kind      : Token_Kind := Nothing;
      Fault     : Problem := None;
      Is_Peeked : Boolean := False;
      --  True if Peek has read the current token, but Next has not consumed the token yet
      Escaped   : Boolean := False;
      Expected  : Expectation := Value_Due;
      Consumed  : Natural := 0;
      --  The number of consumed bytes
      Begins    : Natural := 0;
      Ends      : Natural := 0;
      --  The range of the token: its bytes are Begins + 1 .. Ends, counted from 1
      Depth     : Natural := 0;
      Objects   : Container_Kinds := [others => False];
   end record;

   function Kind (Self : Reader) return Token_Kind is (Self.Kind);
   function Fault (Self : Reader) return Problem is (Self.Fault);
   function Position (Self : Reader) return Positive is (Self.Begins + 1);

   function Raw (Self : Reader; Source : String) return String is
     (Source (Source'First + Self.Begins .. Source'First - 1 + Self.Ends));

end Appserver.JSON.Readers;
