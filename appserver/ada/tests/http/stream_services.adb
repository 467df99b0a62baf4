--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Stream_Services is

   use HTTP;
   use HTTP.Services;
   use Interfaces;

   Max : constant := 16;
   --  The maximum number of concurrent uploads and of concurrent sources

   Max_Forms : constant := 4;

   Uploads : array (1 .. Max) of aliased Upload;
   Forms   : array (1 .. Max_Forms) of aliased Form_Upload;
   Sources : array (1 .. Max) of aliased Pattern_Source;

   type Flags is array (Positive range <>) of Boolean;

   protected type Reserve (Count : Positive) is
      procedure Get (Index : out Natural);
      --  Sets Index to 0 if all are in use
      procedure Release (Index : Positive);
      function In_Use return Natural;
   private
      Used : Flags (1 .. Count) := [others => False];
   end Reserve;

   protected body Reserve is

      procedure Get (Index : out Natural) is
      begin
         Index := 0;
         for K in Used'Range loop
            if not Used (K) then
               Used (K) := True;
               Index := K;
               return;
            end if;
         end loop;
      end Get;

      procedure Release (Index : Positive) is
      begin
         if not Used (Index) then
            raise Program_Error with "closed twice";
         end if;
         Used (Index) := False;
      end Release;

      function In_Use return Natural is
         Count : Natural := 0;
      begin
         for Each of Used loop
            Count := Count + Boolean'Pos (Each);
         end loop;
         return Count;
      end In_Use;

   end Reserve;

   Upload_Reserve, Source_Reserve : Reserve (Max);
   Form_Reserve : Reserve (Max_Forms);

   ------------
   -- CRC-32 --
   ------------

   type CRC_Table is array (Unsigned_32 range 0 .. 255) of Unsigned_32;

   function New_Table return CRC_Table is
      Rest : Unsigned_32;
   begin
      return Result : CRC_Table do
         for K in Result'Range loop
            Rest := K;
            for Bit in 1 .. 8 loop
               Rest := (if (Rest and 1) = 1 then Shift_Right (Rest, 1) xor 16#EDB8_8320#
                        else Shift_Right (Rest, 1));
            end loop;
            Result (K) := Rest;
         end loop;
      end return;
   end New_Table;

   Table : constant CRC_Table := New_Table;

   procedure Add (CRC : in out Unsigned_32; Bytes : String) is
   begin
      CRC := not CRC;
      for C of Bytes loop
         CRC := Shift_Right (CRC, 8) xor Table ((CRC xor Character'Pos (C)) and 255);
      end loop;
      CRC := not CRC;
   end Add;

   -------------
   -- Uploads --
   -------------

   overriding procedure Receive
     (Self : in out Upload; Bytes : String; Wants_More : in out Boolean) is
   begin
      Self.Length := Self.Length + Bytes'Length;
      Add (Self.CRC, Bytes);
      case Self.Kind is
         when Count   => null;
         when Enough  => Wants_More := Self.Length < 10;
         when Slow    => delay 0.1;
         when Raising =>
            if (for some C of Bytes => C = '!') then
               raise Constraint_Error with "asked for";
            end if;
      end case;
   end Receive;

   overriding function Respond (Self : in out Upload; Request : HTTP.Request) return Response is
   begin
      Request.Builder.Append (Self.Length);
      Request.Builder.Append (' ');
      Request.Builder.Append (Long_Long_Integer (Self.CRC));
      return Text_Response (Plain_Text'Access);
   end Respond;

   overriding procedure Close (Self : not null access Upload) is
   begin
      Upload_Reserve.Release (Self.Index);
   end Close;

   function New_Upload (Kind : Upload_Kind; Limit : Byte_Count) return Content_Policy is
      Index : Natural;
   begin
      Upload_Reserve.Get (Index);
      if Index = 0 then
         return Reject (Status_Only (Service_Unavailable));
      end if;
      Uploads (Index).Index  := Index;
      Uploads (Index).Kind   := Kind;
      Uploads (Index).Length := 0;
      Uploads (Index).CRC    := 0;
      return Stream (Uploads (Index)'Access, Limit);
   end New_Upload;

   -----------
   -- Forms --
   -----------

   overriding procedure Begin_Part (Self : in out Form_Upload) is
   begin
      Self.Length := 0;
      Self.CRC    := 0;
      Self.Lines.Append
        (Self.Name & '|' & (if Self.Has_File_Name then Self.File_Name else "") & '|'
         & Self.Media_Type & '|');
   end Begin_Part;

   overriding procedure Receive_Part (Self : in out Form_Upload; Bytes : String) is
   begin
      Self.Length := Self.Length + Bytes'Length;
      Add (Self.CRC, Bytes);
   end Receive_Part;

   overriding procedure End_Part (Self : in out Form_Upload) is
      Length : constant String := Self.Length'Image;
      CRC    : constant String := Self.CRC'Image;
   begin
      Self.Lines.Append
        (Length (2 .. Length'Last) & '|' & CRC (2 .. CRC'Last) & ASCII.LF);
   end End_Part;

   overriding function Respond (Self : in out Form_Upload; Request : HTTP.Request) return Response
   is
   begin
      Request.Builder.Append (Self.Lines.Content);
      return Text_Response (Plain_Text'Access, Multipart.Status_Of (Self.Result));
   end Respond;

   overriding procedure Close (Self : not null access Form_Upload) is
   begin
      Form_Reserve.Release (Self.Index);
   end Close;

   function New_Form (Request : HTTP.Request) return Content_Policy is
      Index : Natural;
   begin
      Form_Reserve.Get (Index);
      if Index = 0 then
         return Reject (Status_Only (Service_Unavailable));
      end if;
      Forms (Index).Index := Index;
      Forms (Index).Lines.Clear;
      Forms (Index).Start (Request, Max_Parts => 20);
      return Stream (Forms (Index)'Access, 2 ** 32);
   end New_Form;

   function Policy_For (Request : HTTP.Request) return Content_Policy is
     (if Request.Path_Is ("/upload/count") then New_Upload (Count, 2 ** 32)
      elsif Request.Path_Is ("/upload/short") then New_Upload (Count, 1_000)
      elsif Request.Path_Is ("/upload/enough") then New_Upload (Enough, 2 ** 32)
      elsif Request.Path_Is ("/upload/raise") then New_Upload (Raising, 2 ** 32)
      elsif Request.Path_Is ("/upload/slow") then New_Upload (Slow, 2 ** 32)
      elsif Request.Path_Is ("/upload/buffered") then Buffer (Limit => 100)
      elsif Request.Path_Is ("/upload/refused") then Reject (Status_Only (Unauthorized))
      elsif Request.Path_Is ("/upload/form") then New_Form (Request)
      elsif Request.Path_Is ("/upload/plan") then raise Constraint_Error with "asked for"
      else Buffer);

   -------------
   -- Sources --
   -------------

   function Byte (Offset : Byte_Count) return Character is
     (Character'Val (Offset mod 251));

   overriding procedure Read
     (Self : in out Pattern_Source; Into : out String; Count : out Natural) is
   begin
      if Self.Offset >= Self.Raise_At then
         raise Constraint_Error with "asked for";
      end if;
      Count := Natural (Byte_Count'Min
        (Byte_Count'Min (Self.Piece, Into'Length), Self.Size - Self.Offset));
      for K in 1 .. Count loop
         Into (Into'First + K - 1) := Byte (Self.Offset + Byte_Count (K - 1));
      end loop;
      Self.Offset := Self.Offset + Byte_Count (Count);
   end Read;

   overriding procedure Close (Self : not null access Pattern_Source) is
   begin
      Source_Reserve.Release (Self.Index);
   end Close;

   function Stream (Request : HTTP.Request) return Response is
      Size  : constant Byte_Count := Byte_Count'Value (Request.Parameter ("size"));
      Index : Natural;
   begin
      Source_Reserve.Get (Index);
      if Index = 0 then
         return Status_Only (Service_Unavailable);
      end if;
      Sources (Index).Index  := Index;
      Sources (Index).Offset := 0;
      Sources (Index).Size   := Size;
      Sources (Index).Piece  := Byte_Count'Value (Request.Parameter ("piece", "1000000"));
      Sources (Index).Raise_At :=
        Byte_Count'Value (Request.Parameter ("raise", Byte_Count'Image (Byte_Count'Last)));
      if Request.Has_Parameter ("counted") then
         Request.Builder.Attach
           (Sources (Index)'Access, Byte_Count'Value (Request.Parameter ("counted")));
      else
         Request.Builder.Attach (Sources (Index)'Access);
      end if;
      return Stream_Response (Octet_Stream'Access);
   end Stream;

   ---------------
   -- Responses --
   ---------------

   function Handles (Request : HTTP.Request) return Boolean is
     (Request.Path_Starts_With ("/upload/")
      or else Request.Path_Is ("/stream")
      or else Request.Path_Is ("/open")
      or else Request.Path_Is ("/text"));

   function Buffered_Content (Request : HTTP.Request) return Response is
   begin
      Request.Builder.Append (Request.Content);
      return Text_Response (Plain_Text'Access);
   end Buffered_Content;

   function Open (Request : HTTP.Request) return Response is
   begin
      Request.Builder.Append
        (Long_Long_Integer
           (Upload_Reserve.In_Use + Source_Reserve.In_Use + Form_Reserve.In_Use));
      return Text_Response (Plain_Text'Access);
   end Open;

   ----------
   -- Text --
   ----------

   function Text (Offset : Natural) return Character is
     (if Offset mod 10 = 9 then ASCII.LF
      else Character'Val (Character'Pos ('a') + Offset / 10 mod 26));

   HTML     : aliased constant String := "text/html";
   Image    : aliased constant String := "image/png";
   Problems : aliased constant String := "application/problem+json";

   Long_Text : aliased constant String := [for K in 1 .. 5_000 => Text (K - 1)];

   function Type_Of (Name : String) return not null Constant_Text is
     (if Name = HTML then HTML'Access
      elsif Name = Image then Image'Access
      elsif Name = Problems then Problems'Access
      else Plain_Text'Access);

   procedure Add_Field (Request : HTTP.Request; Name : String) is
   begin
      if Request.Has_Parameter (Name) then
         Request.Builder.Add_Field (Name, Request.Parameter (Name));
      end if;
   end Add_Field;

   function Text_Of (Request : HTTP.Request) return Response is
      Kind : constant not null Constant_Text := Type_Of (Request.Parameter ("type"));
   begin
      Add_Field (Request, "ETag");
      Add_Field (Request, "Content-Encoding");
      Add_Field (Request, "Cache-Control");
      Add_Field (Request, "Vary");
      if Request.Has_Parameter ("fixed") then
         return Static_Response (Kind, Long_Text'Access);
      end if;
      for K in 1 .. Natural'Value (Request.Parameter ("size")) loop
         Request.Builder.Append (Text (K - 1));
      end loop;
      return Text_Response (Kind);
   end Text_Of;

   function Respond (Request : HTTP.Request) return Response is
     (if Request.Path_Is ("/text") then Text_Of (Request)
      elsif Request.Path_Is ("/stream") then Stream (Request)
      elsif Request.Path_Is ("/open") then Open (Request)
      elsif Request.Path_Is ("/upload/buffered") then Buffered_Content (Request)
      else Status_Only (Not_Found));

end Stream_Services;
