--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Decodes forms that browsers send as application/x-www-form-urlencoded (WHATWG URL, 5.1), into a
--  buffer of fixed size.
--
--     Form   : HTTP.Forms.Form (Capacity => 4_096, Max_Fields => 20);
--     Result : HTTP.Forms.Outcome;
--     …
--     Form.Read (Request, Result);
--     if Result /= HTTP.Forms.Complete then
--        return HTTP.Status_Only (HTTP.Forms.Status_Of (Result));
--     end if;

pragma Ada_2022;

package Appserver.HTTP.Forms is

   pragma Assertion_Policy (Pre => Check, Pre'Class => Check);

   type Form (Capacity, Max_Fields : Positive) is tagged limited private;
   --  A decoded form. Capacity is the maximum number of bytes for all decoded names and values
   --  together.

   type Outcome is (Complete, Not_A_Form, Too_Long, Too_Many_Fields);
   --  The result of decoding. Not_A_Form means that the request's Content-Type is not
   --  application/x-www-form-urlencoded.

   subtype Problem is Outcome range Not_A_Form .. Outcome'Last;

   function Status_Of (Result : Problem) return Status_Code is
     (if Result = Not_A_Form then Unsupported_Media_Type else Content_Too_Large);
   --  @param Result an outcome other than Complete
   --  @return the status code for the response

   procedure Read (Self : in out Form; Request : HTTP.Request; Result : out Outcome)
     with Post => Result = Complete or else Self.Count = 0;
   --  Decodes the content of a request.
   --  @param Self the form
   --  @param Request the request
   --  @param Result the outcome

   procedure Read_Text (Self : in out Form; Text : String; Result : out Outcome)
     with Post => Result = Complete or else Self.Count = 0;
   --  Decodes an encoded text, such as a query.
   --  @param Self the form
   --  @param Text the text
   --  @param Result the outcome

   function Count (Self : Form) return Natural;
   --  @param Self the form
   --  @return the number of fields

   function Name (Self : Form; Index : Positive) return String
     with Pre => Index <= Self.Count or else raise Misuse_Error with "there is no such field";
   --  @param Self the form
   --  @param Index the number of the field, from 1
   --  @return the decoded name, which may contain any bytes, even invalid UTF-8

   function Value (Self : Form; Index : Positive) return String
     with Pre => Index <= Self.Count or else raise Misuse_Error with "there is no such field";
   --  @param Self the form
   --  @param Index the number of the field, from 1
   --  @return the decoded value, which may contain any bytes, even invalid UTF-8

   function Has (Self : Form; Name : String) return Boolean;
   --  @param Self the form
   --  @param Name the name of a field
   --  @return True if the form has a field with that name

   function Value (Self : Form; Name : String; Default : String := "") return String;
   --  @param Self the form
   --  @param Name the name of a field
   --  @param Default the result if there is no such field
   --  @return the value of the first field with that name

private

   type Form_Field is record
      Name, Value : Span;
   end record;

   type Form_Fields is array (Positive range <>) of Form_Field;

   type Form (Capacity, Max_Fields : Positive) is tagged limited record
      Count  : Natural := 0;
      Last   : Natural := 0;
      Fields : Form_Fields (1 .. Max_Fields);
      Text   : String (1 .. Capacity);
   end record;

   function Count (Self : Form) return Natural is (Self.Count);
   function Name (Self : Form; Index : Positive) return String is
     (Self.Text (Self.Fields (Index).Name.First .. Self.Fields (Index).Name.Last));
   function Value (Self : Form; Index : Positive) return String is
     (Self.Text (Self.Fields (Index).Value.First .. Self.Fields (Index).Value.Last));

end Appserver.HTTP.Forms;
