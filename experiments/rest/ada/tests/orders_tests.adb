--  SPDX-License-Identifier: Apache-2.0

with Ada.Command_Line;
with Ada.Directories;
with Ada.Streams.Stream_IO;
with Ada.Strings.Fixed;
with Appserver.Documents;
with Appserver.Text_Sinks;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Dice;
with Orders;

package body Orders_Tests is

   use Appserver;
   use AUnit.Assertions;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   function Content (Name : String) return String is
      use Ada.Streams.Stream_IO;

      Path   : constant String := Ada.Command_Line.Argument (1) & "/" & Name;
      File   : File_Type;
      Result : String (1 .. Natural (Ada.Directories.Size (Path)));
   begin
      Open (File, In_File, Path);
      String'Read (Stream (File), Result);
      Close (File);
      return Result;
   end Content;

   --  Reads and writes an order; returns "refused" if the text is not an order

   function Copy (Source : String; Items, Tags : Natural) return String is
      Order    : Orders.Order (Source'Length, Items, Tags);
      Buffer   : aliased Text_Sinks.Text_Buffer (2 * Source'Length + 100);
      Document : Documents.Writer (Buffer'Access, Documents.As_JSON);
      Is_Order : Boolean;
   begin
      Order.Read (Source, Is_Order);
      if not Is_Order then
         return "refused";
      end if;
      Order.Write (Document);
      return Buffer.Content;
   end Copy;

   function Copy (Source : String) return String is
     (Copy (Source, Orders.Max_Items (Source'Length), Orders.Max_Tags (Source'Length)));

   procedure Comes_Back (T : in out Fixture) is
      pragma Unreferenced (T);

      Euro : constant String :=
        Character'Val (16#E2#) & Character'Val (16#82#) & Character'Val (16#AC#);
      Mark : constant String :=
        Character'Val (16#E2#) & Character'Val (16#80#) & Character'Val (16#99#);
      Text : constant String := Copy (Content ("order-other.json"));
   begin
      Assert
        (Text,
         "{""id"":1,""customer"":{""name"":""Grace Hopper \\ \"" " & Euro
         & """,""city"":""London"",""since"":1815},""express"":false,""note"":""call\tfirst"","
         & """remark"":""send by rail, to the engine" & Mark
         & "s mill at noon."",""discount"":0,""items"":["
         & "{""sku"":""AE-1837"",""name"":""punched cards, boxed"",""quantity"":1,"
         & """price"":0.25,""tags"":[]},"
         & "{""sku"":""AE-1868"",""name"":""brass gear wheel, 40 teeth"",""quantity"":8,"
         & """price"":18.75,""tags"":[""t1"",""store""]}]}",
         "what was read");
      Assert (Copy (Text), Text, "and read again");
      Assert (Copy (Copy (Content ("order.json"))), Copy (Content ("order.json")), "the other one");
      Assert (Copy (Content ("order.json")) /= "refused", "is an order");
   end Comes_Back;

   --  Returns a minimal order, in which members can be omitted or replaced

   function Item_With (Rest : String) return String is
     ("{""sku"":"""",""name"":""""," & Rest & "}");

   Customer : constant String := "{""name"":"""",""city"":"""",""since"":0}";
   Item     : constant String := Item_With ("""quantity"":0,""price"":0,""tags"":[]");

   function Smallest (Items : String := ""; Buyer : String := Customer) return String is
     ("{""id"":1,""customer"":" & Buyer & ",""express"":true,""note"":null,""remark"":"""","
      & """discount"":0,""items"":[" & Items & "]}");

   function Without (Text, Part : String) return String is
      First : constant Positive := Ada.Strings.Fixed.Index (Text, Part);
   begin
      return Text (Text'First .. First - 1) & Text (First + Part'Length .. Text'Last);
   end Without;

   procedure Refuses_Others (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Refuses (Source : String) is
      begin
         Assert (Copy (Source), "refused", Source);
      end Refuses;
   begin
      Assert (Copy (Smallest), Smallest, "the smallest");
      Assert (Copy (Smallest (Item)), Smallest (Item), "an item");
      Assert (Copy ("{""x"":[{}]," & Smallest (2 .. Smallest'Last)), Smallest, "more than it has");
      Refuses ("");
      Refuses ("{}");
      Refuses ("[]");
      Refuses ("null");
      Refuses (Content ("order-torn.json"));
      Refuses (Smallest & "x");
      Refuses (Smallest (1 .. Smallest'Last - 1));
      Refuses (Without (Smallest, """id"":1,"));
      Refuses (Without (Smallest, """note"":null,"));
      Refuses ("{""id"":2," & Smallest (2 .. Smallest'Last));
      Refuses (Smallest (Buyer => "null"));
      Refuses (Smallest (Buyer => "{}"));
      Refuses (Smallest (Buyer => Without (Customer, """city"":"""",")));
      Refuses (Smallest ("{}"));
      Refuses (Smallest ("1"));
      Refuses (Smallest (Without (Item, """tags"":[]")));
      Refuses (Smallest (Without (Item, """quantity"":0,")));
      Refuses (Smallest (Item_With ("""quantity"":-1,""price"":0,""tags"":[]")));
      Refuses (Smallest (Item_With ("""quantity"":1.5,""price"":0,""tags"":[]")));
      Refuses (Smallest (Item_With ("""quantity"":1,""price"":1e999,""tags"":[]")));
      Refuses (Smallest (Item_With ("""quantity"":1,""price"":0,""tags"":[1]")));
   end Refuses_Others;

   --  An order with the maximum number of items and tags for the length of its text fits. An order
   --  that does not fit is rejected completely.

   procedure Has_Room (T : in out Fixture) is
      pragma Unreferenced (T);

      function Many (Count : Positive; Text : String) return String is
        (if Count = 1 then Text else Text & "," & Many (Count - 1, Text));

      Items : constant String := Smallest (Many (100, Item));
      Tags  : constant String := Smallest
        (Item_With
           ("""quantity"":0,""price"":0,""tags"":[" & Many (1_000, """""") & "]"));
   begin
      Assert (Copy (Items) = Items, "items");
      Assert (Copy (Tags) = Tags, "tags");
      Assert (Copy (Items, 100, 0) = Items, "just enough for the items");
      Assert (Copy (Items, 99, 0), "refused", "too little for the items");
      Assert (Copy (Tags, 1, 1_000) = Tags, "just enough for the tags");
      Assert (Copy (Tags, 1, 999), "refused", "too little for the tags");
   end Has_Room;

   procedure Nothing_Is_Raised (T : in out Fixture) is
      pragma Unreferenced (T);

      Source : constant String := Content ("order.json");
      Taken  : Natural := 0;
   begin
      for Round in 1 .. 20_000 loop
         declare
            Text : String := Source;
         begin
            for Change in 0 .. Dice.Next (3) loop
               Text (1 + Dice.Next (Text'Length)) := Character'Val (Dice.Next (256));
            end loop;
            Taken := Taken + Boolean'Pos (Copy (Text) /= "refused");
         end;
      end loop;
      Assert (Taken in 1 .. 19_999, "some are orders still:" & Taken'Image);
   end Nothing_Is_Raised;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("orders: " & Name, Test));
      end Add;

   begin
      Add ("come back", Comes_Back'Access);
      Add ("others are refused", Refuses_Others'Access);
      Add ("have room", Has_Room'Access);
      Add ("damaged ones raise nothing", Nothing_Is_Raised'Access);
      return Result;
   end Suite;

end Orders_Tests;
