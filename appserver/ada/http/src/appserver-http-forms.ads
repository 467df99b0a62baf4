--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Forms that browsers send as application/x-www-form-urlencoded (WHATWG URL, 5.1), decoded into
--  memory of a size that the handler chooses.
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
   --  Capacity: bytes of all names and values, decoded

   type Outcome is (Complete, Not_A_Form, Too_Long, Too_Many_Fields);
   --  Not_A_Form: by its Content-Type

   subtype Problem is Outcome range Not_A_Form .. Outcome'Last;

   function Status_Of (Result : Problem) return Status_Code is
     (if Result = Not_A_Form then Unsupported_Media_Type else Content_Too_Large);

   procedure Read (Self : in out Form; Request : HTTP.Request; Result : out Outcome)
     with Post => Result = Complete or else Self.Count = 0;
   --  The content of a request

   procedure Read_Text (Self : in out Form; Text : String; Result : out Outcome)
     with Post => Result = Complete or else Self.Count = 0;
   --  A text of that form, as a query is

   function Count (Self : Form) return Natural;

   function Name (Self : Form; Index : Positive) return String
     with Pre => Index <= Self.Count;
   function Value (Self : Form; Index : Positive) return String
     with Pre => Index <= Self.Count;
   --  In their order. They can have any bytes: UTF-8 is not checked.

   function Has (Self : Form; Name : String) return Boolean;

   function Value (Self : Form; Name : String; Default : String := "") return String;
   --  The first of that name

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
