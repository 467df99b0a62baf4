--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A service for the tests of REST.

with Appserver.Documents;
with Appserver.HTTP.REST;

package Shop is

   use Appserver;
   use Appserver.HTTP;

   Routes : constant REST.Route_List;

   function Handle (Request : HTTP.Request) return HTTP.Response;

private

   package Named is
      function Is_Valid (Text : String) return Boolean is
        (Text'Length in 1 .. 32
         and then (for all C of Text => C in 'A' .. 'Z' | 'a' .. 'z' | ' ' | '"' | '<' | '%'));
   end Named;

   type Amount is range -10 .. 999_999;
   type Color is (Red, Green, Dark_Blue);

   package Names is new REST.Text_Parameters ("name", Is_Valid => Named.Is_Valid);
   package Amounts is new REST.Integer_Parameters (Amount, "amount");
   package Colors is new REST.Choice_Parameters (Color, "color");
   package Query_Amounts is new REST.Integer_Parameters (Amount, "amount", REST.In_Query);
   package Query_Colors is new REST.Choice_Parameters
     (Color, "color", REST.In_Query, Default => "green");

   function Is_Not_Empty (Text : String) return Boolean is (Text /= "");

   package Firsts is new REST.Text_Parameters ("first", Is_Valid => Is_Not_Empty);
   package Rests is new REST.Text_Parameters ("rest", Is_Valid => Is_Not_Empty);

   procedure Show_Root (Response : in out REST.Document_Response);
   procedure Show_Name (Name : String; Response : in out REST.Document_Response);
   procedure Show_Amount (Value : Amount; Response : in out REST.Document_Response);
   procedure Show_Two
     (Value : Amount; Paint : Color; Response : in out REST.Document_Response);
   procedure Show_Three
     (Name : String; Value : Amount; Paint : Color; Response : in out REST.Document_Response);
   procedure Show_First (First : String; Response : in out REST.Document_Response);
   procedure Show_Rest (Value : String; Response : in out REST.Document_Response);
   procedure Show_First_And_Rest (First, Last : String; Response : in out REST.Document_Response);
   procedure Show_Nothing (Response : in out REST.Document_Response);
   procedure Create (Response : in out REST.Document_Response);
   procedure Refuse (Response : in out REST.Document_Response);
   procedure Forget (Response : in out REST.Document_Response);

   procedure Write_Constant (Document : in out Documents.Writer);

   procedure Name_Route is new REST.With_Parameter (Names.Parameter, Show_Name);
   procedure Amount_Route is new REST.With_Parameter (Amounts.Parameter, Show_Amount);
   procedure Two_Route is new REST.With_Two_Parameters
     (Query_Amounts.Parameter, Query_Colors.Parameter, Show_Two);
   procedure Three_Route is new REST.With_Three_Parameters
     (Names.Parameter, Amounts.Parameter, Colors.Parameter, Show_Three);

   procedure First_Route is new REST.With_Parameter (Firsts.Parameter, Show_First);
   procedure Rest_Route is new REST.With_Parameter (Rests.Parameter, Show_Rest);
   procedure First_And_Rest_Route is new REST.With_Two_Parameters
     (Firsts.Parameter, Rests.Parameter, Show_First_And_Rest);

   Text : aliased constant String := "always the same";

   function Plain (Request : HTTP.Request) return HTTP.Response is
     (if Request.Method = Get then Static_Response (Plain_Text'Access, Text'Access)
      else Status_Only (Not_Implemented));

   use REST;

   Routes : constant Route_List :=
     [Route (Get, "/", Show_Root'Access),
      Route (Get, "/hello/{name}", Name_Route'Access),
      Route (Get, "/hello/nobody", Show_Root'Access),
      Route (Post, "/hello/{name}", Create'Access),
      Route (Delete, "/hello/nobody", Show_Nothing'Access),
      Route (Get, "/amounts/{amount}", Amount_Route'Access),
      Route (Get, "/ask", Two_Route'Access),
      Route (Get, "/a/{name}/b/{amount}/c/{color}", Three_Route'Access),
      Route (Get, "/a/x/b/y", Show_Root'Access),
      Route (Get, "/slash/", Show_Root'Access),
      Route (Get, "/it's", Show_Root'Access),
      Route (Put, "/nothing", Show_Nothing'Access),
      Route (Get, "/refused", Refuse'Access),
      Route (Get, "/forgotten", Forget'Access),
      Route (Get, "/plain", Plain'Access),
      Constant_Route ("/constant", Write_Constant'Access),
      Route (Get, "/rest/{name...}", Name_Route'Access),
      Route (Get, "/rest/of/it", Show_Root'Access),
      Route (Get, "/turn/a/{first}/x", First_Route'Access),
      Route (Get, "/turn/{first}/b/x", First_Route'Access),
      Route (Get, "/turn/{first}/{rest...}", First_And_Rest_Route'Access),
      Route (Get, "/turn/{rest...}", Rest_Route'Access)];

end Shop;
