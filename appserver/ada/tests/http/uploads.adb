--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Unchecked_Deallocation;

package body Uploads is

   use Appserver.HTTP;

   type Upload_Reference is access all Upload;
   type Counting_Reference is access all Counting;

   procedure Free is new Ada.Unchecked_Deallocation (Upload, Upload_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Counting, Counting_Reference);

   overriding procedure Receive
     (Self : in out Upload; Bytes : String; Wants_More : in out Boolean)
   is
      pragma Unreferenced (Wants_More);
   begin
      Self.Length := Self.Length + Bytes'Length;
      for Byte of Bytes loop
         Self.Lines := Self.Lines + Boolean'Pos (Byte = ASCII.LF);
      end loop;
   end Receive;

   overriding function Respond (Self : in out Upload; Request : HTTP.Request) return Response is
   begin
      Request.Builder.Append (Self.Length);
      Request.Builder.Append (" bytes, lines: ");
      Request.Builder.Append (Self.Lines);
      return Text_Response (Plain_Text'Access);
   end Respond;

   overriding procedure Close (Self : not null access Upload) is
      Reference : Upload_Reference := Upload_Reference (Self);
   begin
      Free (Reference);
   end Close;

   overriding procedure Read (Self : in out Counting; Into : out String; Count : out Natural) is
   begin
      Count := 0;
      while Self.Next <= Self.Last and then Into'Length - Count >= 20 loop
         declare
            Line : constant String := Self.Next'Image & ASCII.LF;
         begin
            Into (Into'First + Count .. Into'First + Count + Line'Length - 1) := Line;
            Count := Count + Line'Length;
         end;
         Self.Next := Self.Next + 1;
      end loop;
   end Read;

   overriding procedure Close (Self : not null access Counting) is
      Reference : Counting_Reference := Counting_Reference (Self);
   begin
      Free (Reference);
   end Close;

   overriding function Policy_For
     (Self : in out Upload_Service; Request : HTTP.Request) return Services.Content_Policy is
     (if Request.Path_Is ("/upload") and then Request.Method = Put
      then Services.Stream (new Upload, Limit => 10_000_000_000)
      else Services.Buffer (Limit => 1_000));

   overriding function Respond
     (Self : in out Upload_Service; Request : HTTP.Request) return Response is
   begin
      if Request.Path_Is ("/numbers") then
         Request.Builder.Attach (Source => new Counting'(Next => 1, Last => 1_000_000));
         return Stream_Response (Plain_Text'Access);
      end if;
      return Status_Only (Not_Found);
   end Respond;

end Uploads;
