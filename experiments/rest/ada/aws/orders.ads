--  SPDX-License-Identifier: Apache-2.0
--
--  The order that clients send and receive.

with Ada.Containers.Vectors;
with Ada.Strings.Unbounded;
with GNATCOLL.JSON;

package Orders is

   use Ada.Strings.Unbounded;

   package Text_Vectors is new Ada.Containers.Vectors (Positive, Unbounded_String);

   type Person is record
      Name  : Unbounded_String;
      City  : Unbounded_String;
      Since : Integer;
   end record;

   type Item is record
      SKU      : Unbounded_String;
      Name     : Unbounded_String;
      Quantity : Natural;
      Price    : Long_Float;
      Tags     : Text_Vectors.Vector;
   end record;

   package Item_Vectors is new Ada.Containers.Vectors (Positive, Item);

   type Optional_Text (Given : Boolean := False) is record
      case Given is
         when True => Text : Unbounded_String;
         when False => null;
      end case;
   end record;

   type Order is record
      Id       : Long_Long_Integer;
      Customer : Person;
      Express  : Boolean;
      Note     : Optional_Text;
      Remark   : Unbounded_String;
      Discount : Long_Float;
      Items    : Item_Vectors.Vector;
   end record;

   Not_An_Order : exception;

   function From_JSON (Value : GNATCOLL.JSON.JSON_Value) return Order;
   --  Converts a JSON value to an order. Raises Not_An_Order if a member is missing or has another
   --  type.

   function To_JSON (Value : Order) return GNATCOLL.JSON.JSON_Value;

end Orders;
