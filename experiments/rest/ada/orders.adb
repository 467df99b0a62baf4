--  SPDX-License-Identifier: Apache-2.0

with Appserver.JSON.Objects;
with Appserver.JSON.Readers;

package body Orders is

   use Appserver.JSON.Readers;

   -------------
   -- Reading --
   -------------

   procedure Read_Text
     (Self : in out Order; JSON : in out Reader; Source : String; Text : out Passage)
   is
      First : constant Positive := Self.Text_Last + 1;
   begin
      JSON.Next_Text (Source, Self.Text (First .. Self.Text_Room), Self.Text_Last);
      Text := (First, Self.Text_Last);
   end Read_Text;

   --  Customer

   type Customer_Member is (Name, City, Since);

   procedure Read_Member
     (Self : in out Order; Which : Customer_Member; JSON : in out Reader; Source : String)
   is
      First : constant := Integer_64 (Integer'First);
      Last  : constant := Integer_64 (Integer'Last);
   begin
      case Which is
         when Name  => Read_Text (Self, JSON, Source, Self.Customer.Name);
         when City  => Read_Text (Self, JSON, Source, Self.Customer.City);
         when Since => Self.Customer.Since := Integer (JSON.Next_Integer (Source, First, Last));
      end case;
   end Read_Member;

   package Customer_Objects is new Appserver.JSON.Objects (Customer_Member, Order, Read_Member);

   --  Item, always the last item of the order

   procedure Read_Tags
     (Self : in out Order; JSON : in out Reader; Source : String; Into : in out Item) is
   begin
      Into.First_Tag := Self.Tag_Count + 1;
      JSON.Enter_Array (Source);
      while JSON.Next_Element (Source) loop
         if Self.Tag_Count = Self.Tag_Room then
            JSON.Fail (Too_Long);
         else
            Self.Tag_Count := Self.Tag_Count + 1;
            Read_Text (Self, JSON, Source, Self.Tags (Self.Tag_Count));
         end if;
      end loop;
      Into.Last_Tag := Self.Tag_Count;
   end Read_Tags;

   type Item_Member is (SKU, Name, Quantity, Price, Tags);

   procedure Read_Member
     (Self : in out Order; Which : Item_Member; JSON : in out Reader; Source : String)
   is
      Last : constant := Integer_64 (Natural'Last);
      Into : Item renames Self.Items (Self.Item_Count);
   begin
      case Which is
         when SKU      => Read_Text (Self, JSON, Source, Into.SKU);
         when Name     => Read_Text (Self, JSON, Source, Into.Name);
         when Quantity => Into.Quantity := Natural (JSON.Next_Integer (Source, 0, Last));
         when Price    => Into.Price := JSON.Next_Float (Source);
         when Tags     => Read_Tags (Self, JSON, Source, Into);
      end case;
   end Read_Member;

   package Item_Objects is new Appserver.JSON.Objects (Item_Member, Order, Read_Member);

   procedure Read_Items (Self : in out Order; JSON : in out Reader; Source : String) is
   begin
      JSON.Enter_Array (Source);
      while JSON.Next_Element (Source) loop
         if Self.Item_Count = Self.Item_Room then
            JSON.Fail (Too_Long);
         else
            Self.Item_Count := Self.Item_Count + 1;
            Item_Objects.Read (Self, JSON, Source);
         end if;
      end loop;
   end Read_Items;

   --  Order

   procedure Read_Note (Self : in out Order; JSON : in out Reader; Source : String) is
   begin
      Self.Has_Note := not JSON.Next_Is_Null (Source);
      if Self.Has_Note then
         Read_Text (Self, JSON, Source, Self.Note);
      end if;
   end Read_Note;

   type Order_Member is (Id, Customer, Express, Note, Remark, Discount, Items);

   procedure Read_Member
     (Self : in out Order; Which : Order_Member; JSON : in out Reader; Source : String) is
   begin
      case Which is
         when Id       => Self.Id := JSON.Next_Integer (Source, Integer_64'First, Integer_64'Last);
         when Customer => Customer_Objects.Read (Self, JSON, Source);
         when Express  => Self.Express := JSON.Next_Boolean (Source);
         when Note     => Read_Note (Self, JSON, Source);
         when Remark   => Read_Text (Self, JSON, Source, Self.Remark);
         when Discount => Self.Discount := JSON.Next_Float (Source);
         when Items    => Read_Items (Self, JSON, Source);
      end case;
   end Read_Member;

   package Order_Objects is new Appserver.JSON.Objects (Order_Member, Order, Read_Member);

   procedure Read (Self : in out Order; Source : String; Is_Order : out Boolean) is
      JSON : Reader;
   begin
      Order_Objects.Read (Self, JSON, Source);
      JSON.Finish_Reading (Source);
      Is_Order := not JSON.Has_Failed;
   end Read;

   -------------
   -- Writing --
   -------------

   function Text_Of (Self : Order; Part : Passage) return String is
     (Self.Text (Part.First .. Part.Last)) with Inline;

   procedure Write_Customer (Self : Order; To : in out Appserver.Documents.Writer) is
   begin
      To.Start_Entity ("customer");
      To.Write_Entity ("name", Text_Of (Self, Self.Customer.Name));
      To.Write_Entity ("city", Text_Of (Self, Self.Customer.City));
      To.Write_Entity ("since", Integer_64 (Self.Customer.Since));
      To.End_Entity;
   end Write_Customer;

   procedure Write_Item
     (Self : Order; What : Item; To : in out Appserver.Documents.Writer) is
   begin
      To.Start_Item;
      To.Write_Entity ("sku", Text_Of (Self, What.SKU));
      To.Write_Entity ("name", Text_Of (Self, What.Name));
      To.Write_Entity ("quantity", Integer_64 (What.Quantity));
      To.Write_Entity ("price", What.Price);
      To.Start_List ("tags", Each => "tag");
      for Tag of Self.Tags (What.First_Tag .. What.Last_Tag) loop
         To.Write_Item (Text_Of (Self, Tag));
      end loop;
      To.End_List;
      To.End_Entity;
   end Write_Item;

   procedure Write (Self : Order; To : in out Appserver.Documents.Writer) is
   begin
      To.Start_Document ("order");
      To.Write_Entity ("id", Self.Id);
      Write_Customer (Self, To);
      To.Write_Entity ("express", Self.Express);
      if Self.Has_Note then
         To.Write_Entity ("note", Text_Of (Self, Self.Note));
      else
         To.Write_Null ("note");
      end if;
      To.Write_Entity ("remark", Text_Of (Self, Self.Remark));
      To.Write_Entity ("discount", Self.Discount);
      To.Start_List ("items");
      for What of Self.Items (1 .. Self.Item_Count) loop
         Write_Item (Self, What, To);
      end loop;
      To.End_List;
      To.End_Document;
   end Write;

end Orders;
