--  SPDX-License-Identifier: Apache-2.0

package body Orders is

   use GNATCOLL.JSON;

   function Member (Of_Value : JSON_Value; Name : String; Kind : JSON_Value_Type) return JSON_Value;
   --  Returns a member. Raises Not_An_Order if the member is missing or has another kind.

   -------------
   -- Members --
   -------------

   function Is_Null (Of_Value : JSON_Value; Name : String) return Boolean is
     (Of_Value.Kind = JSON_Object_Type
      and then Of_Value.Has_Field (Name)
      and then JSON_Value'(Of_Value.Get (Name)).Kind = JSON_Null_Type);

   function Text (Of_Value : JSON_Value; Name : String) return Unbounded_String is
     (Member (Of_Value, Name, JSON_String_Type).Get);

   function Number (Of_Value : JSON_Value; Name : String) return Long_Long_Integer is
     (Member (Of_Value, Name, JSON_Int_Type).Get);

   function Elements (Of_Value : JSON_Value; Name : String) return JSON_Array is
     (Member (Of_Value, Name, JSON_Array_Type).Get);

   function Quantity (Of_Value : JSON_Value; Name : String) return Long_Float is
     (if Of_Value.Kind = JSON_Object_Type
        and then Of_Value.Has_Field (Name)
        and then JSON_Value'(Of_Value.Get (Name)).Kind = JSON_Int_Type
      then Long_Float (Number (Of_Value, Name))
      else Member (Of_Value, Name, JSON_Float_Type).Get_Long_Float);

   function Member (Of_Value : JSON_Value; Name : String; Kind : JSON_Value_Type) return JSON_Value
   is
   begin
      if Of_Value.Kind /= JSON_Object_Type or else not Of_Value.Has_Field (Name) then
         raise Not_An_Order with "no " & Name;
      end if;

      return Result : constant JSON_Value := Of_Value.Get (Name) do
         if Result.Kind /= Kind then
            raise Not_An_Order with Name & " has another type";
         end if;
      end return;
   end Member;

   ---------------
   -- From_JSON --
   ---------------

   function Tags_From_JSON (Values : JSON_Array) return Text_Vectors.Vector is
   begin
      return Tags : Text_Vectors.Vector do
         for Value of Values loop
            if Value.Kind /= JSON_String_Type then
               raise Not_An_Order with "a tag is not a string";
            end if;
            Tags.Append (Unbounded_String'(Value.Get));
         end loop;
      end return;
   end Tags_From_JSON;

   function Item_From_JSON (Value : JSON_Value) return Item is
     (SKU      => Text (Value, "sku"),
      Name     => Text (Value, "name"),
      Quantity => Natural (Number (Value, "quantity")),
      Price    => Quantity (Value, "price"),
      Tags     => Tags_From_JSON (Elements (Value, "tags")));

   function Person_From_JSON (Value : JSON_Value) return Person is
     (Name  => Text (Value, "name"),
      City  => Text (Value, "city"),
      Since => Integer (Number (Value, "since")));

   function From_JSON (Value : JSON_Value) return Order is
      Items : Item_Vectors.Vector;
   begin
      for Element of Elements (Value, "items") loop
         Items.Append (Item_From_JSON (Element));
      end loop;

      return
        (Id       => Number (Value, "id"),
         Customer => Person_From_JSON (Member (Value, "customer", JSON_Object_Type)),
         Express  => Member (Value, "express", JSON_Boolean_Type).Get,
         Note     => (if Is_Null (Value, "note") then (Given => False)
                      else (Given => True, Text => Text (Value, "note"))),
         Remark   => Text (Value, "remark"),
         Discount => Quantity (Value, "discount"),
         Items    => Items);
   exception
      when Constraint_Error => raise Not_An_Order with "a number is out of range";
   end From_JSON;

   -------------
   -- To_JSON --
   -------------

   function To_JSON (Value : Person) return JSON_Value is
   begin
      return Object : constant JSON_Value := Create_Object do
         Object.Set_Field ("name", Value.Name);
         Object.Set_Field ("city", Value.City);
         Object.Set_Field ("since", Value.Since);
      end return;
   end To_JSON;

   function To_JSON (Value : Item) return JSON_Value is
      Tags : JSON_Array;
   begin
      for Tag of Value.Tags loop
         Append (Tags, Create (Tag));
      end loop;

      return Object : constant JSON_Value := Create_Object do
         Object.Set_Field ("sku", Value.SKU);
         Object.Set_Field ("name", Value.Name);
         Object.Set_Field ("quantity", Value.Quantity);
         Object.Set_Field_Long_Float ("price", Value.Price);
         Object.Set_Field ("tags", Tags);
      end return;
   end To_JSON;

   function To_JSON (Value : Order) return JSON_Value is
      Items : JSON_Array;
   begin
      for Element of Value.Items loop
         Append (Items, To_JSON (Element));
      end loop;

      return Object : constant JSON_Value := Create_Object do
         Object.Set_Field ("id", Create (Value.Id));
         Object.Set_Field ("customer", To_JSON (Value.Customer));
         Object.Set_Field ("express", Value.Express);
         Object.Set_Field
           ("note", (if Value.Note.Given then Create (Value.Note.Text) else JSON_Null));
         Object.Set_Field ("remark", Value.Remark);
         Object.Set_Field_Long_Float ("discount", Value.Discount);
         Object.Set_Field ("items", Items);
      end return;
   end To_JSON;

end Orders;
