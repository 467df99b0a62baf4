--  SPDX-License-Identifier: Apache-2.0
--
--  The order that clients send and get back: read from JSON, written as a document. It has as much
--  room as it was declared with, and does not use the heap.

with Appserver.Documents;
with Interfaces;

package Orders is

   subtype Integer_64 is Interfaces.Integer_64;

   type Order (Text_Room, Item_Room, Tag_Room : Natural) is tagged limited private;
   --  Bytes of all its texts, items, and tags of all items

   function Max_Items (Bytes : Natural) return Natural;
   function Max_Tags (Bytes : Natural) return Natural;
   --  That a JSON text of so many bytes can have

   procedure Read (Self : in out Order; Source : String; Is_Order : out Boolean);
   --  Not one: Source is not JSON, or lacks a member, or has one twice or of another type, or there
   --  is no room for it. Members that an order does not have are passed over.

   procedure Write (Self : Order; To : in out Appserver.Documents.Writer);
   --  As a whole document

private

   --  Texts lie in the order, behind each other

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

   --  An item has 53 bytes at least, with all its members empty, and a tag 2. All but the last have
   --  a comma behind them.

   function Max_Items (Bytes : Natural) return Natural is (Bytes / 54 + 1);
   function Max_Tags (Bytes : Natural) return Natural is (Bytes / 3 + 1);

end Orders;
