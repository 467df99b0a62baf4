--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Unbounded;

with AWS.Config;
with AWS.Dispatchers.Callback;
with AWS.Messages;
with AWS.MIME;
with AWS.Resources;
with AWS.Response.Set;
with AWS.Server;
with AWS.Services.Dispatchers.Method;
with AWS.Services.Dispatchers.URI;
with AWS.Status;

with GNATCOLL.JSON;

with Orders;

package body API is

   use Ada.Strings.Unbounded;
   use AWS;
   use GNATCOLL.JSON;

   package By_Method renames AWS.Services.Dispatchers.Method;
   package By_URI renames AWS.Services.Dispatchers.URI;

   Hello_Prefix : constant String := "/api/hello/";
   Files_Prefix : constant String := "/files/";

   Max_Bytes : constant := 65_536;
   --  The maximum length of a document in a request, in bytes

   subtype Name_Length is Natural range 1 .. 32;
   subtype Number_Length is Natural range 1 .. 6;

   subtype Name_Character is Character
     with Static_Predicate => Name_Character in
       'A' .. 'Z' | 'a' .. 'z' | '0' .. '9' | ' ' | '.' | ''' | '"' | '-';

   ---------------
   -- Responses --
   ---------------

   function Document (Text : String) return Response.Data is
     (Response.Build (MIME.Application_JSON, Text));

   function Refusal (Status : Messages.Status_Code) return Response.Data is
     (Response.Build (MIME.Text_Plain, Messages.Reason_Phrase (Status), Status));

   function Greeting (Of_Whom : String) return JSON_Value is
      Object : constant JSON_Value := Create_Object;
   begin
      Object.Set_Field ("greeting", "Hello " & Of_Whom & "!");
      return Object;
   end Greeting;

   function Behind (Prefix : String; Request : Status.Data) return String is
      Path : constant String := Status.URI (Request);
   begin
      return Path (Path'First + Prefix'Length .. Path'Last);
   end Behind;

   --------------
   -- Handlers --
   --------------

   function Constant_Greeting (Unused : Status.Data) return Response.Data is
     (Document ("{""greeting"":""Hello World!""}"));

   function Built (Request : Status.Data) return Response.Data is
      Number : constant String := Status.Parameter (Request, "number");
   begin
      if Number'Length not in Number_Length or else (for some C of Number => C not in '0' .. '9')
      then
         return Refusal (Messages.S400);
      end if;

      declare
         Object : constant JSON_Value := Greeting ("World");
      begin
         Object.Set_Field ("number", Integer'Value (Number));
         return Document (Object.Write);
      end;
   end Built;

   function Hello (Request : Status.Data) return Response.Data is
      Name : constant String := Behind (Hello_Prefix, Request);
   begin
      if (for some C of Name => C = '/') then
         return Refusal (Messages.S404);
      elsif Name'Length not in Name_Length or else (for some C of Name => C not in Name_Character)
      then
         return Refusal (Messages.S400);
      end if;

      return Document (Greeting (Name).Write);
   end Hello;

   function Echo (Request : Status.Data) return Response.Data is
   begin
      if Natural (Status.Binary_Size (Request)) > Max_Bytes then
         return Refusal (Messages.S413);
      end if;

      declare
         Text : constant Unbounded_String := Status.Binary_Data (Request);
         Read : constant Read_Result      := GNATCOLL.JSON.Read (Text);
      begin
         return
           (if Read.Success
            then Document (Orders.To_JSON (Orders.From_JSON (Read.Value)).Write)
            else Refusal (Messages.S400));
      end;
   exception
      when Orders.Not_An_Order => return Refusal (Messages.S400);
      when Storage_Error       => return Refusal (Messages.S400);
      --  The parser is recursive, so a text that consists only of brackets overflows a worker's
      --  stack
   end Echo;

   function Is_In_Folder (Name : String) return Boolean is
     (Name'Length > 0
      and then Name (Name'First) /= '.'
      and then (for all C of Name => C not in '/' | '\' | Character'First .. Character'Pred (' ')));
   --  AWS checks that a path does not leave "/"; this package must check that it does not leave the
   --  directory

   function File (Request : Status.Data) return Response.Data is
      Root : constant String := Config.WWW_Root (Server.Config (Server.Get_Current.all));
      Name : constant String := Behind (Files_Prefix, Request);
   begin
      return
        (if Is_In_Folder (Name) and then Resources.Is_Regular_File (Root & Name)
         then Response.File (MIME.Content_Type (Name), Root & Name)
         else Refusal (Messages.S404));
   end File;

   ------------
   -- Errors --
   ------------

   function Not_Found (Unused : Status.Data) return Response.Data is
     (Refusal (Messages.S404));

   function Not_Allowed (Allowed : String) return Response.Data is
   begin
      return Answer : Response.Data := Refusal (Messages.S405) do
         Response.Set.Add_Header (Answer, Messages.Allow_Token, Allowed);
      end return;
   end Not_Allowed;

   function Only_Reading (Unused : Status.Data) return Response.Data is
     (Not_Allowed ("GET, HEAD"));

   function Only_Posting (Unused : Status.Data) return Response.Data is
     (Not_Allowed ("POST"));

   ----------------
   -- Dispatcher --
   ----------------

   function Paths return AWS.Dispatchers.Handler'Class is

      function Reading (Action : Response.Callback) return By_Method.Handler is
      begin
         return Methods : By_Method.Handler do
            Methods.Register (Status.GET, Action);
            Methods.Register (Status.HEAD, Action);
            Methods.Register_Default_Callback
              (AWS.Dispatchers.Callback.Create (Only_Reading'Access));
         end return;
      end Reading;

      function Posting (Action : Response.Callback) return By_Method.Handler is
      begin
         return Methods : By_Method.Handler do
            Methods.Register (Status.POST, Action);
            Methods.Register_Default_Callback
              (AWS.Dispatchers.Callback.Create (Only_Posting'Access));
         end return;
      end Posting;

   begin
      return Routes : By_URI.Handler do
         Routes.Register ("/api", Reading (Constant_Greeting'Access));
         Routes.Register ("/api/built", Reading (Built'Access));
         Routes.Register (Hello_Prefix, Reading (Hello'Access), Prefix => True);
         Routes.Register ("/api/echo", Posting (Echo'Access));
         Routes.Register (Files_Prefix, Reading (File'Access), Prefix => True);
         Routes.Register_Default_Callback (AWS.Dispatchers.Callback.Create (Not_Found'Access));
      end return;
   end Paths;

   Handler : constant AWS.Dispatchers.Handler'Class := Paths;
   Kept    : Boolean := True with Atomic;

   function Answered (Request : Status.Data) return Response.Data is
   begin
      return Answer : Response.Data := AWS.Dispatchers.Dispatch (Handler, Request) do
         Response.Set.Keep_Alive (Answer, Kept);
      end return;
   end Answered;

   function Dispatcher return AWS.Dispatchers.Handler'Class is
     (AWS.Dispatchers.Callback.Create (Answered'Access));

   ----------------------
   -- Keep_Connections --
   ----------------------

   procedure Keep_Connections (Kept : Boolean) is
   begin
      API.Kept := Kept;
   end Keep_Connections;

end API;
