--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Strings.Unbounded;
with Appserver.Documents;
with Appserver.HTTP.Files;
with Appserver.HTTP.REST;
with GNAT.Directory_Operations;
with GNAT.OS_Lib;
with Unprobed;

package body Test_Service is

   use Ada.Strings.Unbounded;
   use GNAT.OS_Lib;
   use HTTP;

   protected body Gate is

      procedure Shut is
      begin
         Is_Open := False;
      end Shut;

      procedure Open is
      begin
         Is_Open := True;
      end Open;

      entry Pass when Is_Open is
      begin
         null;
      end Pass;

      function Waiting return Natural is (Pass'Count);

   end Gate;

   function Byte (Offset : Natural) return Character is
     (Character'Val (32 + Offset mod 95));

   function Pattern (Offset, Length : Natural) return String is
     ([for K in 1 .. Length => Byte (Offset + K - 1)]);

   Short_Text : aliased constant String := "always the same";
   Long_Text  : aliased constant String := Pattern (0, 2 ** 18);

   -----------
   -- Files --
   -----------

   File_Name : Unbounded_String;
   Folder    : Files.Folder;

   procedure Make_File (Name : String; Size : Natural) is
      File  : constant File_Descriptor := Create_File (Name, Binary);
      Bytes : constant String := Pattern (0, Size);
   begin
      if Write (File, Bytes'Address, Size) /= Size then
         raise Program_Error with "the file cannot be written: " & Name;
      end if;
      Close (File);
      File_Name := To_Unbounded_String (Name);
      if not Folder.Is_Open then
         Folder.Open (GNAT.Directory_Operations.Dir_Name (Name));
      end if;
   end Make_File;

   function File (Request : HTTP.Request) return Response is
   begin
      Request.Builder.Attach
        (Descriptor (Open_Read (To_String (File_Name), Binary)),
         Offset => Byte_Count'Value (Request.Parameter ("first")),
         Length => Byte_Count'Value (Request.Parameter ("length")));
      if Request.Has_Parameter ("raise") then
         raise Program_Error;
      end if;
      return File_Response (Octet_Stream'Access);
   end File;

   ---------------
   -- Responses --
   ---------------

   function Text (Request : HTTP.Request; Content : String) return Response is
   begin
      Request.Builder.Append (Content);
      return Text_Response (Plain_Text'Access);
   end Text;

   function With_Fields (Request : HTTP.Request) return Response is
   begin
      Request.Builder.Add_Field ("X-One", "1");
      Request.Builder.Add_Field ("X-Two", "");
      return Status_Only (No_Content);
   end With_Fields;

   --  Uses 10,000 bytes of stack for each level. The bytes depend on the request, so that they
   --  cannot be optimized away.

   function Depth (Request : HTTP.Request; Levels : Natural) return Natural is
      Bytes : String (1 .. 10_000) := [others => Character'Val (Levels mod 128)] with Volatile;
   begin
      if Levels = 0 then
         return 0;
      end if;
      Bytes (Levels mod 10_000 + 1) := 'x';
      return Depth (Request, Levels - 1) + Boolean'Pos (Bytes (Levels mod 10_000 + 1) = 'x');
   end Depth;

   function Deep (Request : HTTP.Request) return Response is
   begin
      Request.Builder.Append
        (Long_Long_Integer (Depth (Request, Natural'Value (Request.Parameter ("levels")))));
      return Text_Response (Plain_Text'Access);
   end Deep;

   function Wide (Request : HTTP.Request) return Response is
   begin
      Request.Builder.Append
        (Long_Long_Integer (Unprobed.Sum (1 + Request.Builder.Capacity mod 100)));
      return Text_Response (Plain_Text'Access);
   end Wide;

   --  Requests a file of the directory after using 1,000 bytes of stack for each level

   function File_Below (Request : HTTP.Request; Levels : Natural) return Response is
      Bytes : String (1 .. 1_000) := [others => Character'Val (Levels mod 128)] with Volatile;
   begin
      Bytes (Levels mod 1_000 + 1) := 'x';
      return
        (if Levels = 0 then Folder.Respond (Request, "/folder/")
         else File_Below (Request, Levels - Boolean'Pos (Bytes (Levels mod 1_000 + 1) = 'x')));
   end File_Below;

   function Waited return Response is
   begin
      Gate.Pass;
      return Static_Response (Plain_Text'Access, Short_Text'Access);
   end Waited;

   function Slow return Response is
   begin
      delay 0.1;
      return Static_Response (Plain_Text'Access, Short_Text'Access);
   end Slow;

   function Raised return Response is
     (raise Constraint_Error with "asked for");

   procedure Write (Document : in out Documents.Writer) is
   begin
      Document.Start_Document;
      Document.Write_Entity ("text", Short_Text);
      Document.End_Document;
   end Write;

   Service : constant REST.Service :=
     REST.Service_Of ([REST.Constant_Route ("/document", Write'Access)]);

   function Respond (Request : HTTP.Request) return Response is
      Path : constant String := Request.Path;
   begin
      return
        (if Path = "/fixed" then Static_Response (Plain_Text'Access, Short_Text'Access)
         elsif Path = "/long" then Static_Response (Plain_Text'Access, Long_Text'Access)
         elsif Path = "/written" then
           Text (Request, Pattern (0, Natural'Value (Request.Parameter ("size"))))
         elsif Path = "/echo" then Text (Request, Request.Content)
         elsif Path = "/file" then File (Request)
         elsif Path = "/fields" then With_Fields (Request)
         elsif Path = "/wait" then Waited
         elsif Path = "/slow" then Slow
         elsif Path = "/deep" then Deep (Request)
         elsif Path = "/unprobed" then Wide (Request)
         elsif Path = "/raise" then Raised
         elsif Path = "/full" then Text (Request, [1 .. 65_537 => 'x'])
         elsif Path = "/missing" then File_Response (Octet_Stream'Access)
         elsif Path = "/document" then Service.Respond (Request)
         elsif Request.Path_Starts_With ("/folder/") then 
           File_Below (Request, Natural'Value (Request.Parameter ("levels", "0")))
         else Status_Only (Not_Found));
   end Respond;

end Test_Service;
