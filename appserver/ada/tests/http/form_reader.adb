--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Form_Reader is

   use Ada.Strings.Unbounded;

   overriding procedure Begin_Part (Self : in out Recorder) is
   begin
      Append
        (Self.Text,
         Self.Name & '|' & (if Self.Has_File_Name then Self.File_Name else "-") & '|'
         & Self.Media_Type & ':');
   end Begin_Part;

   overriding procedure Receive_Part (Self : in out Recorder; Bytes : String) is
   begin
      Append (Self.Text, Bytes);
   end Receive_Part;

   overriding procedure End_Part (Self : in out Recorder) is
   begin
      Append (Self.Text, ';');
   end End_Part;

   overriding function Respond
     (Self : in out Recorder; Request : HTTP.Request) return HTTP.Response is
   begin
      Request.Builder.Append (To_String (Self.Text));
      return HTTP.Text_Response
        (HTTP.Plain_Text'Access, HTTP.Multipart.Status_Of (Self.Result));
   end Respond;

end Form_Reader;
