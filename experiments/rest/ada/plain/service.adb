--  SPDX-License-Identifier: Apache-2.0

with Appserver.Documents;
with Appserver.HTTP.Files;
with Appserver.JSON.Writers;
with Greetings;
with Orders;

package body Service is

   use HTTP;

   Folder : Files.Folder;

   procedure Open (Folder : String) is
   begin
      Service.Folder.Open (Folder);
   end Open;

   procedure Close is
   begin
      Folder.Close;
   end Close;

   --------------
   -- Greeting --
   --------------

   Greeting : aliased constant String := "{""greeting"":""Hello World!""}";

   function Greet (Request : HTTP.Request) return Response is
     (if Request.Method = Get then Static_Response (JSON_Text'Access, Greeting'Access)
      else Not_Allowed (Request, "GET, HEAD"));

   function Greet_With_Number (Request : HTTP.Request) return Response is
      Number : constant String := Request.Parameter ("number");
      JSON   : Appserver.JSON.Writers.Writer (Request.Builder);
   begin
      if Request.Method /= Get then
         return Not_Allowed (Request, "GET, HEAD");
      elsif not Greetings.Is_Number (Number) then
         return Status_Only (Bad_Request);
      end if;
      JSON.Start_Object;
      JSON.Write_Name ("greeting");
      JSON.Write ("Hello World!");
      JSON.Write_Name ("number");
      JSON.Write (Greetings.Number_Of (Number));
      JSON.End_Object;
      return Text_Response (JSON_Text'Access);
   end Greet_With_Number;

   Hello_Path : constant String := "/api/hello/";

   function Greet_By_Name (Request : HTTP.Request) return Response is
      Path : constant String := Request.Path;
      Last : constant String := Path (Path'First + Hello_Path'Length .. Path'Last);
      Name : constant String := Decoded (Last);
      JSON : Appserver.JSON.Writers.Writer (Request.Builder);
   begin
      if (for some C of Last => C = '/') then
         return Status_Only (Not_Found);
      elsif Request.Method /= Get then
         return Not_Allowed (Request, "GET, HEAD");
      elsif not Greetings.Is_Name (Name) then
         return Status_Only (Bad_Request);
      end if;
      JSON.Start_Object;
      JSON.Write_Name ("greeting");
      JSON.Write ("Hello " & Name & "!");
      JSON.End_Object;
      return Text_Response (JSON_Text'Access);
   end Greet_By_Name;

   ----------
   -- Echo --
   ----------

   function Echo (Request : HTTP.Request) return Response is
      Size     : constant Natural := Request.Content_Length;
      Order    : Orders.Order (Size, Orders.Max_Items (Size), Orders.Max_Tags (Size));
      Document : Documents.Writer (Request.Builder, Documents.As_JSON);
      Is_Order : Boolean;

      procedure Read (Content : String) is
      begin
         Order.Read (Content, Is_Order);
      end Read;

   begin
      if Request.Method /= Post then
         return Not_Allowed (Request, "POST");
      end if;
      Request.Read_Content (Read'Access);
      if not Is_Order then
         return Status_Only (Bad_Request);
      end if;
      Order.Write (Document);
      return Text_Response (JSON_Text'Access);
   end Echo;

   -----------
   -- Paths --
   -----------

   Files_Path : constant String := "/files/";

   function File (Request : HTTP.Request) return Response is
     (if Request.Method = Get then Folder.Respond (Request, Files_Path)
      else Not_Allowed (Request, "GET, HEAD"));

   function Respond (Request : HTTP.Request) return Response is
     (if Request.Path_Is ("/api") then Greet (Request)
      elsif Request.Path_Is ("/api/built") then Greet_With_Number (Request)
      elsif Request.Path_Is ("/api/echo") then Echo (Request)
      elsif Request.Path_Starts_With (Hello_Path) then Greet_By_Name (Request)
      elsif Request.Path_Starts_With (Files_Path) then File (Request)
      else Status_Only (Not_Found));

end Service;
