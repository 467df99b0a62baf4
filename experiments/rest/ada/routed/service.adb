--  SPDX-License-Identifier: Apache-2.0

with Appserver.Documents;
with Appserver.HTTP.Files;
with Appserver.HTTP.REST;
with Greetings;
with Orders;

package body Service is

   use HTTP;
   use REST;

   Folder : Files.Folder;

   procedure Open (Folder : String) is
   begin
      Service.Folder.Open (Folder);
   end Open;

   procedure Close is
   begin
      Folder.Close;
   end Close;

   ---------------
   -- Greetings --
   ---------------

   procedure Greet (Document : in out Documents.Writer) is
   begin
      Document.Start_Document;
      Document.Write_Entity ("greeting", "Hello World!");
      Document.End_Document;
   end Greet;

   type Greeting_Number is range 0 .. 999_999;

   procedure Greet_With_Number (Number : Greeting_Number; Response : in out Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("greeting", "Hello World!");
      Response.Write_Entity ("number", Documents.Integer_64 (Number));
      Response.End_Document;
   end Greet_With_Number;

   procedure Greet_By_Name (Name : String; Response : in out Document_Response) is
   begin
      Response.Start_Document;
      Response.Write_Entity ("greeting", "Hello " & Name & "!");
      Response.End_Document;
   end Greet_By_Name;

   ------------
   -- Orders --
   ------------

   procedure Echo (Response : in out Document_Response) is
      Size     : constant Natural := Response.Request.Content_Length;
      Order    : Orders.Order (Size, Orders.Max_Items (Size), Orders.Max_Tags (Size));
      Is_Order : Boolean;

      procedure Read (Content : String) is
      begin
         Order.Read (Content, Is_Order);
      end Read;

   begin
      Response.Request.Read_Content (Read'Access);
      if Is_Order then
         Order.Write (Documents.Writer (Response));
      else
         Response.Refuse (Bad_Request, "this is not an order");
      end if;
   end Echo;

   -----------
   -- Files --
   -----------

   function File (Request : HTTP.Request) return Response is
     (Folder.Respond (Request, "/files/"));

   ------------
   -- Routes --
   ------------

   package Numbers is new Integer_Parameters (Greeting_Number, "number", In_Query);
   package Names is new Text_Parameters ("name", Is_Valid => Greetings.Is_Name);

   procedure Number_Route is new With_Parameter (Numbers.Parameter, Greet_With_Number);
   procedure Name_Route is new With_Parameter (Names.Parameter, Greet_By_Name);

   API : constant REST.Service := Service_Of
     ([Constant_Route ("/api",           Greet'Access),
       Route (Get,  "/api/built",        Number_Route'Access),
       Route (Get,  "/api/hello/{name}", Name_Route'Access),
       Route (Post, "/api/echo",         Echo'Access),
       Route (Get,  "/files/{name...}",  File'Access)]);

   function Respond (Request : HTTP.Request) return Response is (API.Respond (Request));

end Service;
