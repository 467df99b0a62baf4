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

   overriding procedure Take_Part (Self : in out Recorder; Bytes : String) is
   begin
      Append (Self.Text, Bytes);
   end Take_Part;

   overriding procedure End_Part (Self : in out Recorder) is
   begin
      Append (Self.Text, ';');
   end End_Part;

   overriding function Answer
     (Self : in out Recorder; Request : HTTP.Request) return HTTP.Response is
   begin
      Request.Draft.Append (To_String (Self.Text));
      return HTTP.Written
        (HTTP.Plain_Text'Access, HTTP.Multipart.Status_Of (Self.Result));
   end Answer;

end Form_Reader;
