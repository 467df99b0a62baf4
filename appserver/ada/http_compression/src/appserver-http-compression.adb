--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.Media_Ranges;

package body Appserver.HTTP.Compression is

   pragma Linker_Options ("-lz");

   use System;

   ----------
   -- zlib --
   ----------

   Z_OK         : constant := 0;
   Z_STREAM_END : constant := 1;
   Z_FINISH     : constant := 4;
   Z_DEFLATED   : constant := 8;
   Level        : constant := 6;
   Window_Bits  : constant := 15 + 16;
   --  16 selects the header and trailer of gzip
   Memory_Level : constant := 8;

   function Version return Address
     with Import, Convention => C, External_Name => "zlibVersion";

   function Deflate_Init
     (Self                                                     : in out Stream;
      Level, Method, Window_Bits, Memory_Level, Strategy : int;
      Version                                                  : Address;
      Size                                                     : int) return int
     with Import, Convention => C, External_Name => "deflateInit2_";

   function Deflate (Self : in out Stream; Flush : int) return int
     with Import, Convention => C, External_Name => "deflate";

   function Deflate_Reset (Self : in out Stream) return int
     with Import, Convention => C, External_Name => "deflateReset";

   --  zlib allocates memory from the compressor's arena, and does not free it

   function Allocate (Self : in out Arena; Count, Size : unsigned) return Address
     with Convention => C;

   procedure Free (Self : in out Arena; Place : Address) is null
     with Convention => C;

   function Allocate (Self : in out Arena; Count, Size : unsigned) return Address is
      Alignment    : constant := 16;
      Rounded_Size : constant size_t :=
        (size_t (Count) * size_t (Size) + Alignment - 1) / Alignment * Alignment;
      First        : constant size_t := Self.Used + 1;
   begin
      if Rounded_Size = 0 or else Rounded_Size > Self.Bytes'Length - Self.Used then
         return Null_Address;
      end if;
      Self.Used := Self.Used + Rounded_Size;
      return Self.Bytes (First)'Address;
   end Allocate;

   procedure Make_Ready (Self : in out Compressor) is
      Result : int;
   begin
      if Self.State = Unused then
         Self.Stream.Allocate := Allocate'Address;
         Self.Stream.Free     := Free'Address;
         Self.Stream.Opaque   := Self.Arena'Address;
         Result := Deflate_Init
           (Self.Stream, Level, Z_DEFLATED, Window_Bits, Memory_Level, Strategy => 0,
            Version => Version, Size => Stream'Size / 8);
         Self.State := (if Result = Z_OK then Ready else Broken);
      elsif Self.State = Ready and then Deflate_Reset (Self.Stream) /= Z_OK then
         Self.State := Broken;
      end if;
   end Make_Ready;

   --  Sets Length to 0 if the output would have more than Max bytes

   procedure Compress
     (Self : in out Compressor; Text : String; Max : Positive; Length : out Natural) is
   begin
      Length := 0;
      Make_Ready (Self);
      if Self.State = Ready then
         Self.Stream.Next_In   := Text'Address;
         Self.Stream.Avail_In  := Text'Length;
         Self.Stream.Next_Out  := Self.Output'Address;
         Self.Stream.Avail_Out := unsigned (Max);
         if Deflate (Self.Stream, Z_FINISH) = Z_STREAM_END then
            Length := Max - Natural (Self.Stream.Avail_Out);
         end if;
      end if;
   end Compress;

   protected body Reserve is

      procedure Get (Index : out Natural) is
      begin
         Index := 0;
         for K in In_Use'Range loop
            if not In_Use (K) then
               In_Use (K) := True;
               Index := K;
               return;
            end if;
         end loop;
      end Get;

      procedure Release (Index : Positive) is
      begin
         In_Use (Index) := False;
      end Release;

   end Reserve;

   -----------
   -- Types --
   -----------

   function Is_Compressible (Media_Type : String) return Boolean is
      Last : Natural := Media_Type'First - 1;

      function Starts_With (Word : String) return Boolean is
        (Last - Media_Type'First + 1 >= Word'Length
         and then Same (Media_Type (Media_Type'First .. Media_Type'First + Word'Length - 1), Word));
      function Ends_With (Word : String) return Boolean is
        (Last - Media_Type'First + 1 >= Word'Length
         and then Same (Media_Type (Last - Word'Length + 1 .. Last), Word));
      function Is_Type (Word : String) return Boolean is
        (Same (Media_Type (Media_Type'First .. Last), Word));
   begin
      while Last < Media_Type'Last and then Media_Type (Last + 1) not in ';' | ' ' | ASCII.HT loop
         Last := Last + 1;
      end loop;
      return Starts_With ("text/")
        or else Is_Type ("application/json")
        or else Is_Type ("application/xml")
        or else Is_Type ("application/javascript")
        or else Ends_With ("+json")
        or else Ends_With ("+xml");
   end Is_Compressible;

   ------------
   -- Fields --
   ------------

   --  Returns the start of the next line. The fields in a response builder are lines such as "Name:
   --  value".

   function Line_Behind (Builder : Response_Builder; First : Positive) return Positive is
      Next : Positive := First;
   begin
      while Builder.Fields (Next) /= ASCII.LF loop
         Next := Next + 1;
      end loop;
      return Next + 1;
   end Line_Behind;

   --  Returns the position of a field's value in the builder, or 0 if there is no such field

   function Value_Of
     (Builder : Response_Builder; Name : String; From : Positive := 1) return Natural is
      First : Positive := From;
   begin
      while First <= Builder.Fields_Length loop
         if Builder.Fields_Length - First > Name'Length + 1
           and then Builder.Fields (First + Name'Length) = ':'
           and then Same (Builder.Fields (First .. First + Name'Length - 1), Name)
         then
            return First + Name'Length + 2;
         end if;
         First := Line_Behind (Builder, First);
      end loop;
      return 0;
   end Value_Of;

   function Has_Word (Builder : Response_Builder; Name, Word : String) return Boolean is
      Value : Natural := Value_Of (Builder, Name);
      Next  : Positive;
   begin
      while Value > 0 loop
         Next := Line_Behind (Builder, Value);
         if (for some K in Value .. Next - 2 - Word'Length =>
               Same (Builder.Fields (K .. K + Word'Length - 1), Word))
         then
            return True;
         end if;
         Value := Value_Of (Builder, Name, From => Next);
      end loop;
      return False;
   end Has_Word;

   Max_Addition_Length : constant := 80;
   --  The maximum number of bytes of all added fields and of the prefix of a weak tag

   --  Makes the entity tag weak, since compression changes the bytes (RFC 9110, 8.8.1)

   procedure Weaken_Tag (Builder : in out Response_Builder) is
      Place : constant Natural := Value_Of (Builder, "ETag");
   begin
      if Place > 0 and then Builder.Fields (Place) = '"' then
         Builder.Fields (Place + 2 .. Builder.Fields_Length + 2) :=
           Builder.Fields (Place .. Builder.Fields_Length);
         Builder.Fields (Place .. Place + 1) := "W/";
         Builder.Fields_Length := Builder.Fields_Length + 2;
      end if;
   end Weaken_Tag;

   ---------------
   -- Responses --
   ---------------

   function Wants_Gzip (Accepted : String) return Boolean is
      Weight : constant Media_Ranges.Listed_Weight :=
        Media_Ranges.Coding_Weight (Accepted, "gzip");
   begin
      return Weight > 0 and then Weight >= Media_Ranges.Own_Weight (Accepted, "identity");
   end Wants_Gzip;

   function Accepts_Gzip (Request : HTTP.Request) return Boolean is
     (Request.Has_Field ("Accept-Encoding")
      and then Wants_Gzip (Request.Field ("Accept-Encoding")));

   function Length_Of (Builder : Response_Builder; Response : HTTP.Response) return Natural is
     (case Response.Kind is
         when Static_Text  => Response.Content'Length,
         when Builder_Text => Builder.Text_Length,
         when others     => 0);

   --  Returns True if the response would be compressed for a client that accepts gzip

   function Is_Text (Builder : Response_Builder; Response : HTTP.Response) return Boolean is
     (Length_Of (Builder, Response) >= Min_Length
      and then Response.Status not in No_Content | Partial_Content | Not_Modified
      and then Is_Compressible (Response.Media_Type.all)
      and then Builder.Fields_Length <= Fields_Capacity - Max_Addition_Length
      and then Value_Of (Builder, "Content-Encoding") = 0
      and then not Has_Word (Builder, "Cache-Control", "no-transform"));

   procedure Replace
     (Builder : in out Response_Builder; Response : in out HTTP.Response; Text : String) is
   begin
      Builder.Text (1 .. Text'Length) := Text;
      Builder.Text_Length := Text'Length;
      Builder.Add_Field ("Content-Encoding", "gzip");
      Weaken_Tag (Builder);
      Response := (Response.Status, Builder_Text, Response.Media_Type, null);
   end Replace;

   procedure Compress_Response
     (Self : in out Compressor; Builder : in out Response_Builder; Response : in out HTTP.Response)
   is
      Max   : constant Positive := Positive'Min
        (Positive'Min (Max_Output_Length, Builder.Capacity), Length_Of (Builder, Response) - 1);
      Length : Natural;
   begin
      if Response.Kind = Static_Text then
         Compress (Self, Response.Content.all, Max, Length);
      else
         Compress (Self, Builder.Text (1 .. Builder.Text_Length), Max, Length);
      end if;
      if Length > 0 then
         Replace (Builder, Response, Self.Output (1 .. Length));
      end if;
   end Compress_Response;

   overriding procedure After
     (Self : in out Gzip_Filter; Request : HTTP.Request; Response : in out HTTP.Response)
   is
      Builder : Response_Builder renames Request.Builder.all;
      Index   : Natural;
   begin
      if not Is_Text (Builder, Response) then
         return;
      end if;
      if not Has_Word (Builder, "Vary", "Accept-Encoding") then
         Builder.Add_Field ("Vary", "Accept-Encoding");
      end if;
      if Accepts_Gzip (Request) then
         Self.Reserve.Get (Index);
         if Index > 0 then
            begin
               Compress_Response (Self.Each (Index), Builder, Response);
            exception
               when others =>
                  Self.Reserve.Release (Index);
                  raise;
            end;
            Self.Reserve.Release (Index);
         end if;
      end if;
   end After;

end Appserver.HTTP.Compression;
