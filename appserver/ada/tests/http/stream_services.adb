--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Stream_Services is

   use HTTP;
   use HTTP.Services;
   use Interfaces;

   Most : constant := 16;
   --  At a time, of either kind

   Most_Forms : constant := 4;

   Uploads : array (1 .. Most) of aliased Upload;
   Forms   : array (1 .. Most_Forms) of aliased Form_Upload;
   Sources : array (1 .. Most) of aliased Pattern_Source;

   type Flags is array (Positive range <>) of Boolean;

   protected type Reserve (Count : Positive) is
      procedure Get (Index : out Natural);
      --  0: all are in use
      procedure Give_Back (Index : Positive);
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

      procedure Give_Back (Index : Positive) is
      begin
         if not Used (Index) then
            raise Program_Error with "closed twice";
         end if;
         Used (Index) := False;
      end Give_Back;

      function In_Use return Natural is
         Count : Natural := 0;
      begin
         for Each of Used loop
            Count := Count + Boolean'Pos (Each);
         end loop;
         return Count;
      end In_Use;

   end Reserve;

   Upload_Reserve, Source_Reserve : Reserve (Most);
   Form_Reserve : Reserve (Most_Forms);

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

   overriding procedure Take
     (Self : in out Upload; Bytes : String; Wants_More : in out Boolean) is
   begin
      Self.Length := Self.Length + Bytes'Length;
      Add (Self.CRC, Bytes);
      case Self.Kind is
         when Count   => null;
         when Enough  => Wants_More := Self.Length < 10;
         when Slow    => delay 0.01;
         when Raising =>
            if (for some C of Bytes => C = '!') then
               raise Constraint_Error with "asked for";
            end if;
      end case;
   end Take;

   overriding function Answer (Self : in out Upload; Request : HTTP.Request) return Response is
   begin
      Request.Draft.Append (Self.Length);
      Request.Draft.Append (' ');
      Request.Draft.Append (Long_Long_Integer (Self.CRC));
      return Written (Plain_Text'Access);
   end Answer;

   overriding procedure Close (Self : not null access Upload) is
   begin
      Upload_Reserve.Give_Back (Self.Index);
   end Close;

   function New_Upload (Kind : Upload_Kind; Limit : Byte_Count) return Content_Plan is
      Index : Natural;
   begin
      Upload_Reserve.Get (Index);
      if Index = 0 then
         return Refused (Empty (Service_Unavailable));
      end if;
      Uploads (Index).Index  := Index;
      Uploads (Index).Kind   := Kind;
      Uploads (Index).Length := 0;
      Uploads (Index).CRC    := 0;
      return Received (Uploads (Index)'Access, Limit);
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

   overriding procedure Take_Part (Self : in out Form_Upload; Bytes : String) is
   begin
      Self.Length := Self.Length + Bytes'Length;
      Add (Self.CRC, Bytes);
   end Take_Part;

   overriding procedure End_Part (Self : in out Form_Upload) is
      Length : constant String := Self.Length'Image;
      CRC    : constant String := Self.CRC'Image;
   begin
      Self.Lines.Append
        (Length (2 .. Length'Last) & '|' & CRC (2 .. CRC'Last) & ASCII.LF);
   end End_Part;

   overriding function Answer (Self : in out Form_Upload; Request : HTTP.Request) return Response
   is
   begin
      Request.Draft.Append (Self.Lines.Content);
      return Written (Plain_Text'Access, Multipart.Status_Of (Self.Result));
   end Answer;

   overriding procedure Close (Self : not null access Form_Upload) is
   begin
      Form_Reserve.Give_Back (Self.Index);
   end Close;

   function New_Form (Request : HTTP.Request) return Content_Plan is
      Index : Natural;
   begin
      Form_Reserve.Get (Index);
      if Index = 0 then
         return Refused (Empty (Service_Unavailable));
      end if;
      Forms (Index).Index := Index;
      Forms (Index).Lines.Clear;
      Forms (Index).Start (Request, Most_Parts => 20);
      return Received (Forms (Index)'Access, 2 ** 32);
   end New_Form;

   function Plan (Request : HTTP.Request) return Content_Plan is
     (if Request.Path_Is ("/upload/count") then New_Upload (Count, 2 ** 32)
      elsif Request.Path_Is ("/upload/short") then New_Upload (Count, 1_000)
      elsif Request.Path_Is ("/upload/enough") then New_Upload (Enough, 2 ** 32)
      elsif Request.Path_Is ("/upload/raise") then New_Upload (Raising, 2 ** 32)
      elsif Request.Path_Is ("/upload/slow") then New_Upload (Slow, 2 ** 32)
      elsif Request.Path_Is ("/upload/buffered") then Buffered (Limit => 100)
      elsif Request.Path_Is ("/upload/refused") then Refused (Empty (Unauthorized))
      elsif Request.Path_Is ("/upload/form") then New_Form (Request)
      elsif Request.Path_Is ("/upload/plan") then raise Constraint_Error with "asked for"
      else Buffered);

   -------------
   -- Sources --
   -------------

   function Byte (Offset : Byte_Count) return Character is
     (Character'Val (Offset mod 251));

   overriding procedure Give
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
   end Give;

   overriding procedure Close (Self : not null access Pattern_Source) is
   begin
      Source_Reserve.Give_Back (Self.Index);
   end Close;

   function Stream (Request : HTTP.Request) return Response is
      Size  : constant Byte_Count := Byte_Count'Value (Request.Parameter ("size"));
      Index : Natural;
   begin
      Source_Reserve.Get (Index);
      if Index = 0 then
         return Empty (Service_Unavailable);
      end if;
      Sources (Index).Index    := Index;
      Sources (Index).Offset   := 0;
      Sources (Index).Size     := Size;
      Sources (Index).Piece    := Byte_Count'Value (Request.Parameter ("piece", "1000000"));
      Sources (Index).Raise_At :=
        Byte_Count'Value (Request.Parameter ("raise", Byte_Count'Image (Byte_Count'Last)));
      if Request.Has_Parameter ("counted") then
         Request.Draft.Attach
           (Sources (Index)'Access, Byte_Count'Value (Request.Parameter ("counted")));
      else
         Request.Draft.Attach (Sources (Index)'Access);
      end if;
      return Streamed (Octet_Stream'Access);
   end Stream;

   -------------
   -- Answers --
   -------------

   function Handles (Request : HTTP.Request) return Boolean is
     (Request.Path_Starts_With ("/upload/")
      or else Request.Path_Is ("/stream")
      or else Request.Path_Is ("/open")
      or else Request.Path_Is ("/text"));

   function Buffered_Content (Request : HTTP.Request) return Response is
   begin
      Request.Draft.Append (Request.Content);
      return Written (Plain_Text'Access);
   end Buffered_Content;

   function Open (Request : HTTP.Request) return Response is
   begin
      Request.Draft.Append
        (Long_Long_Integer
           (Upload_Reserve.In_Use + Source_Reserve.In_Use + Form_Reserve.In_Use));
      return Written (Plain_Text'Access);
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
         Request.Draft.Add_Field (Name, Request.Parameter (Name));
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
         return Fixed (Kind, Long_Text'Access);
      end if;
      for K in 1 .. Natural'Value (Request.Parameter ("size")) loop
         Request.Draft.Append (Text (K - 1));
      end loop;
      return Written (Kind);
   end Text_Of;

   function Answer (Request : HTTP.Request) return Response is
     (if Request.Path_Is ("/text") then Text_Of (Request)
      elsif Request.Path_Is ("/stream") then Stream (Request)
      elsif Request.Path_Is ("/open") then Open (Request)
      elsif Request.Path_Is ("/upload/buffered") then Buffered_Content (Request)
      else Empty (Not_Found));

end Stream_Services;
