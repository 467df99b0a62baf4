--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Characters.Handling;
with Appserver.HTTP.Linux;

package body Appserver.HTTP is

   function Reason (Status : Status_Code) return String is
     (case Status is
         when OK                     => "OK",
         when Created                => "Created",
         when Accepted               => "Accepted",
         when No_Content             => "No Content",
         when Partial_Content        => "Partial Content",
         when Moved_Permanently      => "Moved Permanently",
         when Found                  => "Found",
         when See_Other              => "See Other",
         when Not_Modified           => "Not Modified",
         when Temporary_Redirect     => "Temporary Redirect",
         when Permanent_Redirect     => "Permanent Redirect",
         when Bad_Request            => "Bad Request",
         when Unauthorized           => "Unauthorized",
         when Forbidden              => "Forbidden",
         when Not_Found              => "Not Found",
         when Method_Not_Allowed     => "Method Not Allowed",
         when Not_Acceptable         => "Not Acceptable",
         when Request_Timeout        => "Request Timeout",
         when Conflict               => "Conflict",
         when Gone                   => "Gone",
         when Length_Required        => "Length Required",
         when Precondition_Failed    => "Precondition Failed",
         when Content_Too_Large      => "Content Too Large",
         when URI_Too_Long           => "URI Too Long",
         when Unsupported_Media_Type => "Unsupported Media Type",
         when Range_Not_Satisfiable  => "Range Not Satisfiable",
         when Expectation_Failed     => "Expectation Failed",
         when Misdirected_Request    => "Misdirected Request",
         when Unprocessable_Content  => "Unprocessable Content",
         when Upgrade_Required       => "Upgrade Required",
         when Too_Many_Requests      => "Too Many Requests",
         when Fields_Too_Large       => "Request Header Fields Too Large",
         when Internal_Error         => "Internal Server Error",
         when Not_Implemented        => "Not Implemented",
         when Service_Unavailable    => "Service Unavailable",
         when Version_Not_Supported  => "HTTP Version Not Supported",
         when others                 => "Status");

   -------------
   -- Builder --
   -------------

   overriding procedure Append (Self : in out Response_Builder; Text : String) is
   begin
      if Text'Length > Self.Capacity - Self.Text_Length then
         raise Response_Too_Large with
           "the content of the response is longer than the server allows (Response_Content)";
      end if;
      Self.Text (Self.Text_Length + 1 .. Self.Text_Length + Text'Length) := Text;
      Self.Text_Length := Self.Text_Length + Text'Length;
   end Append;

   procedure Append (Self : in out Response_Builder; Byte : Character) is
   begin
      if Self.Text_Length = Self.Capacity then
         raise Response_Too_Large with
           "the content of the response is longer than the server allows (Response_Content)";
      end if;
      Self.Text_Length := Self.Text_Length + 1;
      Self.Text (Self.Text_Length) := Byte;
   end Append;

   procedure Append (Self : in out Response_Builder; Number : Long_Long_Integer) is
      Digit : String (1 .. 20);
      First : Positive := Digit'Last + 1;
      Rest  : Long_Long_Integer := Number;
   begin
      --  Uses negative numbers, since -Rest may overflow
      loop
         First := First - 1;
         Digit (First) := Character'Val (Character'Pos ('0') + abs (Rest rem 10));
         Rest := Rest / 10;
         exit when Rest = 0;
      end loop;
      if Number < 0 then
         First := First - 1;
         Digit (First) := '-';
      end if;
      Self.Append (Digit (First .. Digit'Last));
   end Append;

   procedure Truncate (Self : in out Response_Builder; Length : Natural := 0) is
   begin
      Self.Text_Length := Length;
   end Truncate;

   function Is_Reserved (Name : String) return Boolean is
     (case Name'Length is
         when 4      => Same (Name, "Date"),
         when 7      => Same (Name, "Trailer") or else Same (Name, "Upgrade"),
         when 10     => Same (Name, "Connection") or else Same (Name, "Keep-Alive"),
         when 12     => Same (Name, "Content-Type"),
         when 14     => Same (Name, "Content-Length"),
         when 17     => Same (Name, "Transfer-Encoding"),
         when others => False);

   procedure Add_Field (Self : in out Response_Builder; Name, Value : String) is

      procedure Add (Text : String) is
      begin
         Self.Fields (Self.Fields_Length + 1 .. Self.Fields_Length + Text'Length) := Text;
         Self.Fields_Length := Self.Fields_Length + Text'Length;
      end Add;

      Available : constant Natural := Fields_Capacity - Self.Fields_Length;
   begin
      if Name'Length > Available
        or else Value'Length > Available
        or else Name'Length + Value'Length + 4 > Available
      then
         raise Response_Too_Large with
           "the header fields of the response are longer than the server allows";
      end if;
      Add (Name);
      Add (": ");
      Add (Value);
      Add (ASCII.CR & ASCII.LF);
   end Add_Field;

   procedure Attach
     (Self   : in out Response_Builder;
      File   : Descriptor;
      Offset : Byte_Count;
      Length : Byte_Count) is
   begin
      Self.File        := File;
      Self.Offset      := Offset;
      Self.File_Length := Length;
   end Attach;

   procedure Drop_File (Self : in out Response_Builder) is
   begin
      if Self.File /= No_File then
         Linux.Close (Self.File);
         Self.File := No_File;
      end if;
   end Drop_File;

   procedure Attach (Self : in out Response_Builder; Source : not null Source_Reference) is
   begin
      Self.Source     := Source;
      Self.Is_Counted := False;
   end Attach;

   procedure Attach
     (Self : in out Response_Builder; Source : not null Source_Reference; Length : Byte_Count) is
   begin
      Self.Source      := Source;
      Self.Is_Counted  := True;
      Self.File_Length := Length;
   end Attach;

   procedure Drop_Source (Self : in out Response_Builder) is
      Source : constant Source_Reference := Self.Source;
   begin
      Self.Source := null;
      if Source /= null then
         Source.Close;
      end if;
   exception
      when others =>
         null;
   end Drop_Source;

   procedure Drop_Channel (Self : in out Response_Builder) is
      Channel : constant Channel_Reference := Self.Channel;
   begin
      Self.Channel := null;
      if Channel /= null then
         Channel.Abandon;
      end if;
   exception
      when others =>
         null;
   end Drop_Channel;

   procedure Clear (Self : in out Response_Builder) is
   begin
      Self.Text_Length   := 0;
      Self.Fields_Length := 0;
      Self.Drop_File;
      Self.Drop_Source;
      if Self.Channel /= null then
         Drop_Channel (Self);
      end if;
   end Clear;

   -------------
   -- Request --
   -------------

   function Lower (C : Character) return Character is
     (if C in 'A' .. 'Z' then Character'Val (Character'Pos (C) + 32) else C) with Inline;

   function Same (Left, Right : String) return Boolean is
     (Left'Length = Right'Length
      and then (for all K in Left'Range =>
                  Lower (Left (K)) = Lower (Right (K - Left'First + Right'First))));

   function Has_Field (Self : Request; Name : String) return Boolean is
     (for some Line of Self.Lines (1 .. Self.Line_Count) =>
        Same (Self.Bytes (Line.Name.First .. Line.Name.Last), Name));

   Between_Lines : constant String := ", ";

   function Joined (Self : Request; Name : String; Length : Positive) return String is
      Result : String (1 .. Length);
      Last   : Natural := 0;
      Count  : Natural := 0;

      procedure Add (Text : String) is
      begin
         Result (Last + 1 .. Last + Text'Length) := Text;
         Last := Last + Text'Length;
      end Add;

   begin
      for Line of Self.Lines (1 .. Self.Line_Count) loop
         if Same (Self.Bytes (Line.Name.First .. Line.Name.Last), Name) then
            if Count > 0 then
               Add (Between_Lines);
            end if;
            Count := Count + 1;
            Add (Self.Bytes (Line.Value.First .. Line.Value.Last));
         end if;
      end loop;
      return Result;
   end Joined;

   function Field (Self : Request; Name : String; Default : String := "") return String is
      Count  : Natural := 0;
      Length : Natural := 0;
      Found  : Span;
   begin
      for Line of Self.Lines (1 .. Self.Line_Count) loop
         if Same (Self.Bytes (Line.Name.First .. Line.Name.Last), Name) then
            Count  := Count + 1;
            Length := Length + HTTP.Length (Line.Value);
            Found  := Line.Value;
         end if;
      end loop;
      return
        (case Count is
            when 0      => Default,
            when 1      => Self.Bytes (Found.First .. Found.Last),
            when others => Joined (Self, Name, Length + (Count - 1) * Between_Lines'Length));
   end Field;

   function Line (Self : Request) return String is
     (Self.Kind'Image & ' ' & Self.Path
      & (if Length (Self.Query_Part) = 0 then "" else '?' & Self.Query)
      & (if Self.Minor_Version = 0 then " HTTP/1.0" else " HTTP/1.1"));

   procedure Read_Content
     (Self : Request; Read : not null access procedure (Content : String)) is
   begin
      Read (Self.Bytes (Self.State.Header_Last + 1 .. Self.State.Content_Last));
   end Read_Content;

   procedure Read_Path (Self : Request; Read : not null access procedure (Path : String)) is
   begin
      Read (Self.Bytes (Self.Target.First .. Self.Target.Last));
   end Read_Path;

   function Trimmed (Text : String; Within : Span) return Span is
      Result : Span := Within;
   begin
      while Result.First <= Result.Last and then Text (Result.First) in ' ' | ASCII.HT loop
         Result.First := Result.First + 1;
      end loop;
      while Result.Last >= Result.First and then Text (Result.Last) in ' ' | ASCII.HT loop
         Result.Last := Result.Last - 1;
      end loop;
      return Result;
   end Trimmed;

   --------------
   -- Encoding --
   --------------

   function Is_Escape (Text : String; First : Positive) return Boolean is
     (Text (First) = '%'
      and then Text'Last - First >= 2
      and then Ada.Characters.Handling.Is_Hexadecimal_Digit (Text (First + 1))
      and then Ada.Characters.Handling.Is_Hexadecimal_Digit (Text (First + 2)));

   function Is_Encoded (Text : String) return Boolean is
     (for all K in Text'Range => Text (K) /= '%' or else Is_Escape (Text, K));

   function Digit_Value (C : Character) return Natural is
     (Character'Pos (C)
      - (case C is
            when '0' .. '9' => Character'Pos ('0'),
            when 'A' .. 'F' => Character'Pos ('A') - 10,
            when others     => Character'Pos ('a') - 10));

   procedure Take_Decoded
     (Text : String; Next : in out Positive; Byte : out Character; Plus_Is_Space : Boolean) is
   begin
      if Is_Escape (Text, Next) then
         Byte := Character'Val
           (Digit_Value (Text (Next + 1)) * 16 + Digit_Value (Text (Next + 2)));
         Next := Next + 3;
      else
         Byte := (if Plus_Is_Space and then Text (Next) = '+' then ' ' else Text (Next));
         Next := Next + 1;
      end if;
   end Take_Decoded;

   procedure Decode
     (Text : String; Plus_Is_Space : Boolean; Result : out String; Last : out Natural)
   is
      Next : Positive := Text'First;
      Size : Natural  := 0;
   begin
      while Next <= Text'Last loop
         Size := Size + 1;
         if Text (Next) in '%' | '+' then
            Take_Decoded (Text, Next, Result (Size), Plus_Is_Space);
         else
            Result (Size) := Text (Next);
            Next := Next + 1;
         end if;
      end loop;
      Last := Size;
   end Decode;

   function Decoded (Text : String; Plus_Is_Space : Boolean := False) return String is
      Result : String (1 .. Text'Length);
      Last   : Natural;
   begin
      Decode (Text, Plus_Is_Space, Result, Last);
      return Result (1 .. Last);
   end Decoded;

   --  Returns the range from "="; Last is 0 if there is no parameter with this name

   function Found_Parameter (Self : Request; Name : String) return Span is
      Query : String renames Self.Bytes (Self.Query_Part.First .. Self.Query_Part.Last);
      First : Positive := Query'First;
      Last  : Natural;
      Sign  : Natural;
   begin
      while First <= Query'Last loop
         Last := First - 1;
         Sign := 0;
         while Last < Query'Last and then Query (Last + 1) /= '&' loop
            Last := Last + 1;
            if Sign = 0 and then Query (Last) = '=' then
               Sign := Last;
            end if;
         end loop;
         if Sign = 0 then
            Sign := Last + 1;
         end if;
         if Decoded (Query (First .. Sign - 1), Plus_Is_Space => True) = Name then
            return (Sign, Last);
         end if;
         First := Last + 2;
      end loop;
      return (Self.Query_Part.Last + 1, 0);
   end Found_Parameter;

   function Has_Parameter (Self : Request; Name : String) return Boolean is
     (Found_Parameter (Self, Name).Last > 0);

   function Parameter (Self : Request; Name : String; Default : String := "") return String is
      Place : constant Span := Found_Parameter (Self, Name);
   begin
      return
        (if Place.Last = 0 then Default
         else Decoded (Self.Bytes (Place.First + 1 .. Place.Last), Plus_Is_Space => True));
   end Parameter;

   ----------------
   -- Exceptions --
   ----------------

   procedure Report_On_Standard_Error
     (Error : Ada.Exceptions.Exception_Occurrence; Request_Line : String)
   is
      Text : String :=
        (if Request_Line = "" then "server" else Request_Line) & ": "
        & Ada.Exceptions.Exception_Name (Error) & ": "
        & Ada.Exceptions.Exception_Message (Error) & ASCII.LF;
   begin
      --  Replace control characters, which a terminal would interpret
      for C of Text (Text'First .. Text'Last - 1) loop
         if C < ' ' or else C = ASCII.DEL then
            C := '?';
         end if;
      end loop;
      Linux.Write_Error (Text);
   end Report_On_Standard_Error;

   --------------
   -- Response --
   --------------

   function Not_Allowed (Request : HTTP.Request; Allow : String) return Response is
   begin
      Request.Builder.Add_Field ("Allow", Allow);
      return Status_Only (if Request.Kind = Options then No_Content else Method_Not_Allowed);
   end Not_Allowed;

end Appserver.HTTP;
