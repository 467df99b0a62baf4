--  SPDX-License-Identifier: Apache-2.0
--
--  The order that clients send and receive. The server reads an order from JSON, and writes it as a
--  document. The declaration of an order sets its capacity. Orders do not use the heap.

with Appserver.Documents;
with Interfaces;

package Orders is

   subtype Integer_64 is Interfaces.Integer_64;

   type Order (Text_Room, Item_Room, Tag_Room : Natural) is tagged limited private;
   --  An order. Text_Room is the maximum number of bytes of all texts together, Item_Room the
   --  maximum number of items, and Tag_Room the maximum number of tags of all items together.

   function Max_Items (Bytes : Natural) return Natural;
   function Max_Tags (Bytes : Natural) return Natural;
   --  Returns the maximum number of items or tags in a JSON text of Bytes bytes

   procedure Read (Self : in out Order; Source : String; Is_Order : out Boolean);
   --  Reads an order. Sets Is_Order to False if Source is not JSON, if a member is missing, occurs
   --  twice or has another type, or if there is not enough room. Skips unknown members.

   procedure Write (Self : Order; To : in out Appserver.Documents.Writer);
   --  Writes the order as a complete document

private

   --  The order stores its texts consecutively

   type Passage is record
      First : Positive;
      Last  : Natural;
   end record;

   type Passages is array (Positive range <>) of Passage;

   type Item is record
      SKU       : Passage;
      Name      : Passage;
      Quantity  : Natural;
      Price     : Long_Float;
      First_Tag : Positive;
      Last_Tag  : Natural;
   end record;

   type Item_List is array (Positive range <>) of Item;

   type Person is record
      Name  : Passage;
      City  : Passage;
      Since : Integer;
   end record;

   type Order (Text_Room, Item_Room, Tag_Room : Natural) is tagged limited record
      Id         : Integer_64;
      Customer   : Person;
      Express    : Boolean;
      Has_Note   : Boolean;
      Note       : Passage;
      Remark     : Passage;
      Discount   : Long_Float;
      Item_Count : Natural := 0;
      Items      : Item_List (1 .. Item_Room);
      Tag_Count  : Natural := 0;
      Tags       : Passages (1 .. Tag_Room);
      Text_Last  : Natural := 0;
      Text       : String (1 .. Text_Room);
   end record;

   --  An item has at least 53 bytes (if all its members are empty), and a tag has at least 2 bytes.
   --  A comma follows each item and each tag except the last.

   function Max_Items (Bytes : Natural) return Natural is (Bytes / 54 + 1);
   function Max_Tags (Bytes : Natural) return Natural is (Bytes / 3 + 1);

end Orders;
