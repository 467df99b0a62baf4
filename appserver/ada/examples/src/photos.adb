--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Unchecked_Deallocation;
with Serving;

package body Photos is

   use Ada.Streams.Stream_IO;
   use Appserver.HTTP;

   use type Multipart.Outcome;

   type Upload_Reference is access all Upload;

   procedure Free is new Ada.Unchecked_Deallocation (Upload, Upload_Reference);

   --  Files get generated names, since names from clients must not be used as paths

   protected Names is
      procedure Take (Number : out Positive);
   private
      Last : Natural := 0;
   end Names;

   protected body Names is
      procedure Take (Number : out Positive) is
      begin
         Last   := Last + 1;
         Number := Last;
      end Take;
   end Names;

   overriding procedure Begin_Part (Self : in out Upload) is
      Number : Positive;
   begin
      if Self.Has_File_Name then
         Names.Take (Number);
         Create
           (Self.File, Out_File,
            Serving.Folder & "/photo-" & Number'Image (2 .. Number'Image'Last));
      end if;
   end Begin_Part;

   overriding procedure Receive_Part (Self : in out Upload; Bytes : String) is
   begin
      if Is_Open (Self.File) then
         String'Write (Stream (Self.File), Bytes);
      end if;
   end Receive_Part;

   overriding procedure End_Part (Self : in out Upload) is
   begin
      if Is_Open (Self.File) then
         Close (Self.File);
         Self.Count := Self.Count + 1;
      end if;
   end End_Part;

   overriding function Respond (Self : in out Upload; Request : HTTP.Request) return Response is
   begin
      if Self.Result /= Multipart.Complete then
         return Status_Only (Multipart.Status_Of (Self.Result));
      end if;
      Request.Builder.Append (Self.Count'Image (2 .. Self.Count'Image'Last) & " photos");
      return Text_Response (Plain_Text'Access);
   end Respond;

   --  Always called, even if the client has disconnected. Deletes an incomplete file.

   overriding procedure Close (Self : not null access Upload) is
      Reference : Upload_Reference := Upload_Reference (Self);
   begin
      if Is_Open (Self.File) then
         Delete (Self.File);
      end if;
      Free (Reference);
   end Close;

   function New_Upload (Request : HTTP.Request) return not null Upload_Reference is
   begin
      return Result : constant not null Upload_Reference := new Upload do
         Result.Start (Request);
      end return;
   end New_Upload;

   overriding function Policy_For
     (Self : in out Upload_Service; Request : HTTP.Request) return Services.Content_Policy is
     (if Request.Method = Post and then Request.Path_Is ("/photos")
      then Services.Stream
        (Services.Receiver_Reference (New_Upload (Request)), Limit => 1_000_000_000)
      else Services.Buffer (Limit => 0));

   overriding function Respond
     (Self : in out Upload_Service; Request : HTTP.Request) return Response is
     (if Request.Path_Is ("/photos") then Not_Allowed (Request, "POST")
      else Status_Only (Not_Found));

end Photos;
