--  SPDX-License-Identifier: Apache-2.0
--
--  The key=value words of a protocol line: the arguments of a command, or the fields of a reply.

with Interfaces;

private with Ada.Containers.Indefinite_Vectors;

package Benchlab.Fields is

   type Field_List is tagged private;
   --  Fields in the order in which they were added. Keys are unique.

   None : constant Field_List;

   function Is_Key (Text : String) return Boolean is
     (Text'Length > 0
      and then Text (Text'First) in 'a' .. 'z'
      and then (for all C of Text => C in 'a' .. 'z' | '0' .. '9' | '_'));

   -------------
   -- Reading --
   -------------

   function Has (Self : Field_List; Key : String) return Boolean;

   function Text (Self : Field_List; Key : String) return String;
   --  Returns the value of a field. Raises Usage_Error if the field is missing.

   function Number
     (Self  : Field_List;
      Key   : String;
      First : Interfaces.Unsigned_64 := 0;
      Last  : Interfaces.Unsigned_64 := Interfaces.Unsigned_64'Last)
      return Interfaces.Unsigned_64;
   --  Returns the value of a field as a number. Raises Usage_Error if the field is missing, or is
   --  not a decimal integer in First .. Last.

   generic
      type Choice is (<>);
   function Choice_Of (Self : Field_List'Class; Key : String) return Choice;
   --  Returns the enumeration value whose name, in lower case, is the value of a field. Raises
   --  Usage_Error if the field is missing, and Unsupported_Error if there is no such enumeration
   --  value.

   function Parsed (Words : String) return Field_List;
   --  Parses fields that are separated by single spaces. Words may be an empty text. Raises
   --  Usage_Error if a word is not a field, or if a key occurs twice.

   -------------
   -- Writing --
   -------------

   procedure Add (Self : in out Field_List; Key, Value : String)
     with Pre => Is_Key (Key) and then not Self.Has (Key);

   procedure Add (Self : in out Field_List; Key : String; Value : Interfaces.Unsigned_64)
     with Pre => Is_Key (Key) and then not Self.Has (Key);

   type Metric_Value is digits 15 range -1.0E15 .. 1.0E15;

   procedure Add (Self : in out Field_List; Key : String; Value : Metric_Value)
     with Pre => Is_Key (Key) and then not Self.Has (Key);
   --  Adds a decimal number without an exponent, with 9 decimals if the number is below 10 ** 8,
   --  otherwise with 1 decimal

   procedure Append (Self : in out Field_List; More : Field_List'Class);
   --  Adds the fields of More. Self must not contain fields with the same keys.

   function Image (Self : Field_List) return String;
   --  Returns the fields, each preceded by a space

private

   type Field (Key_Length, Value_Length : Natural) is record
      Key   : String (1 .. Key_Length);
      Value : String (1 .. Value_Length);
   end record;

   package Field_Vectors is new Ada.Containers.Indefinite_Vectors (Positive, Field);

   type Field_List is tagged record
      Fields : Field_Vectors.Vector;
   end record;

   None : constant Field_List := (Fields => <>);

   function Has (Self : Field_List; Key : String) return Boolean is
     (for some Field of Self.Fields => Field.Key = Key);

end Benchlab.Fields;
