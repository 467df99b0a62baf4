--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.HTTP.Linux_Files;
with System.Atomic_Operations.Exchange;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.HTTP.Access_Logs is

   use type IP_Addresses.Address;
   use type Linux.Outcome;
   use type Linux.Word;
   use type Linux_Files.Failure;

   package Exchanges is new System.Atomic_Operations.Exchange (Position);
   package Sums is new System.Atomic_Operations.Modular_Arithmetic (Position);
   package Word_Exchanges is new System.Atomic_Operations.Exchange (Linux.Word);

   -------------
   -- Opening --
   -------------

   procedure Clear_Batch (Self : in out Access_Log) is
   begin
      Self.Batch_First := 1;
      Self.Batch_Last  := 0;
      Self.Batch_Lines := 0;
   end Clear_Batch;

   procedure Open
     (Self   : in out Access_Log;
      File   : Descriptor;
      Format : Line_Format;
      Client : Client_Finder := null) is
   begin
      Self.File        := File;
      Self.Owns_File   := False;
      Self.Is_Outdated := False;
      Self.Format      := Format;
      Self.Client      := Client;
      Self.Next_In     := 0;
      Self.Next_Out    := 0;
      Self.Dropped     := 0;
      Clear_Batch (Self);
      for Index in Self.Slots'Range loop
         Self.Slots (Index).Sequence := Position (Index - 1);
      end loop;
   end Open;

   procedure Open
     (Self   : in out Access_Log;
      Path   : String;
      Format : Line_Format;
      Client : Client_Finder := null)
   is
      File   : Descriptor;
      Result : Linux_Files.Failure;
   begin
      if Path'Length > Max_Path_Length then
         raise Log_Error with "the path is too long: " & Path;
      end if;
      Linux_Files.Open_To_Append (Path, File, Result);
      if Result /= Linux_Files.None then
         raise Log_Error with "cannot write to " & Path;
      end if;
      Self.Open (File, Format, Client);
      Self.Owns_File   := True;
      Self.Path_Length := Path'Length;
      Self.Path (1 .. Path'Length) := Path;
   end Open;

   procedure Reopen (Self : in out Access_Log) is
   begin
      Self.Is_Outdated := True;
   end Reopen;

   procedure Add_Dropped (Self : in out Access_Log; Count : Position) is
   begin
      Sums.Atomic_Add (Self.Dropped, Count);
   end Add_Dropped;

   procedure Close (Self : in out Access_Log) is
      Ignored : Boolean;
   begin
      if Self.Is_Open then
         Self.Write_Out (Ignored);
         --  Count the lines that the file did not accept
         Add_Dropped (Self, Self.Batch_Lines + Self.Next_In - Self.Next_Out);
         if Self.Owns_File then
            Linux.Close (Self.File);
         end if;
         Self.File := No_File;
      end if;
   end Close;

   overriding procedure Finalize (Self : in out Access_Log) is
   begin
      Self.Close;
   end Finalize;

   --------------
   -- Escaping --
   --------------

   Max_Line_Length  : constant := 1_024;
   --  The maximum number of bytes of the request line: half for the path, half for the query
   Max_Field_Length : constant := 256;

   Cut_Mark : constant String := "...";

   subtype Plain is Character with
     Static_Predicate => Plain in ' ' .. '~' and then Plain not in '"' | '\';

   Digit_Texts : constant String := "0123456789abcdef";

   function Hexadecimal (C : Character) return String is
     ([Digit_Texts (Character'Pos (C) / 16 + 1), Digit_Texts (Character'Pos (C) mod 16 + 1)]);

   function Escape (C : Character; Format : Line_Format) return String is
     (case C is
         when '"' | '\' => ['\', C],
         when others    => (if Format = JSON then "\u00" else "\x") & Hexadecimal (C));

   --  Appends at most Max bytes, without truncating inside an escape sequence

   procedure Append_Escaped
     (To : in out Text_Sinks.Text_Buffer; Text : String; Max : Positive; Format : Line_Format)
   is
      First : Positive := Text'First;
      --  The first of the plain characters that remain to be copied
      Used  : Natural := 0;

      function Size_Of (C : Character) return Positive is
        (if C in Plain then 1
         elsif C in '"' | '\' then 2
         elsif Format = JSON then 6
         else 4);

   begin
      for K in Text'Range loop
         Used := Used + Size_Of (Text (K));
         if Used > Max - Cut_Mark'Length then
            To.Append (Text (First .. K - 1));
            To.Append (Cut_Mark);
            return;
         elsif Text (K) not in Plain then
            To.Append (Text (First .. K - 1));
            To.Append (Escape (Text (K), Format));
            First := K + 1;
         end if;
      end loop;
      To.Append (Text (First .. Text'Last));
   end Append_Escaped;

   -----------
   -- Lines --
   -----------

   procedure Append_Number (To : in out Text_Sinks.Text_Buffer; Number : Byte_Count) is
      Image : constant String := Number'Image;
   begin
      To.Append (Image (2 .. Image'Last));
   end Append_Number;

   --  Returns the value of the first field line with this name

   function Field (Request : HTTP.Request; Name : String) return Span is
   begin
      for Line of Request.Lines (1 .. Request.Line_Count) loop
         if Same (Request.Bytes (Line.Name.First .. Line.Name.Last), Name) then
            return Line.Value;
         end if;
      end loop;
      return (1, 0);
   end Field;

   --  Convert "Sun, 06 Nov 1994 08:49:37 GMT" to other formats

   function Common_Date (Date : Dates.Date_Text) return String is
     (Date (6 .. 7) & '/' & Date (9 .. 11) & '/' & Date (13 .. 16) & ':' & Date (18 .. 25)
      & " +0000");

   Months : constant String := "JanFebMarAprMayJunJulAugSepOctNovDec";

   function Month (Name : String) return String is
   begin
      for K in 1 .. 12 loop
         if Months (3 * K - 2 .. 3 * K) = Name then
            return [Character'Val (Character'Pos ('0') + K / 10),
                    Character'Val (Character'Pos ('0') + K mod 10)];
         end if;
      end loop;
      return "00";
   end Month;

   function JSON_Date (Date : Dates.Date_Text) return String is
     (Date (13 .. 16) & '-' & Month (Date (9 .. 11)) & '-' & Date (6 .. 7)
      & 'T' & Date (18 .. 25) & 'Z');

   --  nginx writes the same for the client of a Unix socket

   function Image (Client : IP_Addresses.Address) return String is
     (if Client = IP_Addresses.No_Address then "unix:" else IP_Addresses.Image (Client));

   --  Writes the beginning of a line: the client and the time

   procedure Begin_Line
     (To     : in out Text_Sinks.Text_Buffer;
      Format : Line_Format;
      Client : IP_Addresses.Address;
      Date   : Dates.Date_Text) is
   begin
      To.Clear;
      if Format = JSON then
         To.Append ("{""time"":""" & JSON_Date (Date) & """,""client"":""");
         To.Append (Image (Client));
         To.Append ("""");
      else
         To.Append (Image (Client));
         To.Append (" - - [" & Common_Date (Date) & "] """);
      end if;
   end Begin_Line;

   procedure Add_Status
     (To     : in out Text_Sinks.Text_Buffer;
      Format : Line_Format;
      Status : Status_Number;
      Bytes  : Byte_Count) is
   begin
      To.Append (if Format = JSON then ",""status"":" else """ ");
      Append_Number (To, Byte_Count (Status));
      To.Append (if Format = JSON then ",""bytes"":" else " ");
      if Format /= JSON and then Bytes = 0 then
         To.Append ("-");
      else
         Append_Number (To, Bytes);
      end if;
   end Add_Status;

   function Version (Request : HTTP.Request) return String is
     (if Request.Minor_Version = 0 then "1.0" else "1.1");

   procedure Add_Request
     (To : in out Text_Sinks.Text_Buffer; Format : Line_Format; Request : HTTP.Request)
   is
      Bytes     : String renames Request.Bytes;
      Path      : Span renames Request.Target;
      Query     : Span renames Request.Query_Part;
      Has_Query : constant Boolean := Length (Query) > 0;
   begin
      if Format = JSON then
         To.Append (",""method"":""");
      end if;
      To.Append (Request.Kind'Image);
      To.Append (if Format = JSON then """,""path"":""" else " ");
      Append_Escaped (To, Bytes (Path.First .. Path.Last), Max_Line_Length / 2, Format);
      if Has_Query then
         To.Append (if Format = JSON then """,""query"":""" else "?");
         Append_Escaped (To, Bytes (Query.First .. Query.Last), Max_Line_Length / 2, Format);
      end if;
      To.Append (if Format = JSON then """,""version"":""" else " HTTP/");
      To.Append (Version (Request));
      if Format = JSON then
         To.Append ("""");
      end if;
   end Add_Request;

   procedure Add_Field
     (To      : in out Text_Sinks.Text_Buffer;
      Format  : Line_Format;
      Request : HTTP.Request;
      Name    : String;
      Member  : String)
   is
      Value : constant Span := Field (Request, Name);
   begin
      if Format = JSON and then Length (Value) = 0 then
         return;
      end if;
      To.Append (if Format = JSON then ",""" & Member & """:""" else " """);
      if Length (Value) = 0 then
         To.Append ("-");
      end if;
      Append_Escaped (To, Request.Bytes (Value.First .. Value.Last), Max_Field_Length, Format);
      To.Append ("""");
   end Add_Field;

   procedure Add_Fields
     (To : in out Text_Sinks.Text_Buffer; Format : Line_Format; Request : HTTP.Request) is
   begin
      if Format /= Common then
         Add_Field (To, Format, Request, "Referer", "referer");
         Add_Field (To, Format, Request, "User-Agent", "user_agent");
      end if;
   end Add_Fields;

   procedure End_Line (To : in out Text_Sinks.Text_Buffer; Format : Line_Format) is
   begin
      To.Append ((if Format = JSON then "}" else "") & ASCII.LF);
   end End_Line;

   ---------------
   -- The queue --
   ---------------

   function Index_Of (Self : Access_Log; Place : Position) return Positive is
     (Natural (Place mod Position (Self.Lines)) + 1);

   --  Claims a slot for a line. If all slots are in use, the line is dropped.

   procedure Claim (Self : in out Access_Log; Place : out Position; Is_Free : out Boolean) is
      Observed : aliased Position := Self.Next_In;
      Next     : Position;
   begin
      loop
         Place := Observed;
         Next  := Self.Slots (Index_Of (Self, Place)).Sequence;
         if Next = Place then
            Is_Free := Exchanges.Atomic_Compare_And_Exchange (Self.Next_In, Observed, Place + 1);
            exit when Is_Free;
         elsif Next - Place >= 2 ** 63 then
            --  The slot still contains the line of the previous round
            Add_Dropped (Self, 1);
            Is_Free := False;
            exit;
         else
            Observed := Self.Next_In;
         end if;
      end loop;
   end Claim;

   --  Marks the line at Place as ready to be written to the file

   procedure Publish (Self : in out Access_Log; Place : Position) is
   begin
      Self.Slots (Index_Of (Self, Place)).Sequence := Place + 1;
   end Publish;

   function Client_Of (Self : Access_Log; Request : HTTP.Request) return IP_Addresses.Address is
   begin
      return
        (if Self.Client = null then Request.Client_Address else Self.Client (Request));
   exception
      when others =>
         return Request.Client_Address;
   end Client_Of;

   procedure Note
     (Self         : in out Access_Log;
      Request      : HTTP.Request;
      Date         : Dates.Date_Text;
      Status       : Status_Number;
      Bytes        : Byte_Count;
      Microseconds : Byte_Count)
   is
      Client  : constant IP_Addresses.Address := Client_Of (Self, Request);
      Place   : Position;
      Is_Free : Boolean;
   begin
      Claim (Self, Place, Is_Free);
      if Is_Free then
         declare
            Line : Text_Sinks.Text_Buffer renames Self.Slots (Index_Of (Self, Place)).Line;
         begin
            Begin_Line (Line, Self.Format, Client, Date);
            Add_Request (Line, Self.Format, Request);
            Add_Status (Line, Self.Format, Status, Bytes);
            if Self.Format = JSON then
               Line.Append (",""microseconds"":");
               Append_Number (Line, Microseconds);
            end if;
            Add_Fields (Line, Self.Format, Request);
            End_Line (Line, Self.Format);
         end;
         Publish (Self, Place);
      end if;
   end Note;

   procedure Note_Refusal
     (Self   : in out Access_Log;
      Client : IP_Addresses.Address;
      Date   : Dates.Date_Text;
      Status : Status_Code)
   is
      Place   : Position;
      Is_Free : Boolean;
   begin
      Claim (Self, Place, Is_Free);
      if Is_Free then
         declare
            Line : Text_Sinks.Text_Buffer renames Self.Slots (Index_Of (Self, Place)).Line;
         begin
            Begin_Line (Line, Self.Format, Client, Date);
            if Self.Format /= JSON then
               Line.Append ("-");
            end if;
            Add_Status (Line, Self.Format, Status, 0);
            if Self.Format = Combined then
               Line.Append (" ""-"" ""-""");
            end if;
            End_Line (Line, Self.Format);
         end;
         Publish (Self, Place);
      end if;
   end Note_Refusal;

   -------------
   -- Writing --
   -------------

   --  Moves lines from the queue to the batch until the batch is full

   procedure Fill_Batch (Self : in out Access_Log) is
      Length : Natural;
   begin
      loop
         declare
            Slot : Access_Logs.Slot renames Self.Slots (Index_Of (Self, Self.Next_Out));
         begin
            exit when Slot.Sequence /= Self.Next_Out + 1;
            Length := Slot.Line.Length;
            exit when Length > Batch_Size - Self.Batch_Last;
            Self.Batch (Self.Batch_Last + 1 .. Self.Batch_Last + Length) := Slot.Line.Content;
            Slot.Sequence := Self.Next_Out + Position (Self.Lines);
         end;
         Self.Batch_Last  := Self.Batch_Last + Length;
         Self.Batch_Lines := Self.Batch_Lines + 1;
         Self.Next_Out    := Self.Next_Out + 1;
      end loop;
   end Fill_Batch;

   --  Writes the batch. Waits is True if the file currently accepts no more bytes.

   procedure Write_Batch (Self : in out Access_Log; Waits : out Boolean) is
      Count  : Natural;
      Result : Linux.Outcome;
   begin
      Waits := not Linux.Can_Write (Self.File);
      if not Waits then
         Linux.Write
           (Self.File, Self.Batch (Self.Batch_First .. Self.Batch_Last), Count, Result);
         Self.Batch_First := Self.Batch_First + Count;
         if Result = Linux.Failed then
            Add_Dropped (Self, Self.Batch_Lines);
            Clear_Batch (Self);
         elsif Self.Batch_First > Self.Batch_Last then
            Clear_Batch (Self);
         else
            Waits := True;
         end if;
      end if;
   end Write_Batch;

   --  Must be called only between lines

   procedure Change_File (Self : in out Access_Log) is
      File   : Descriptor;
      Result : Linux_Files.Failure;
   begin
      Self.Is_Outdated := False;
      if Self.Owns_File then
         Linux_Files.Open_To_Append (Self.Path (1 .. Self.Path_Length), File, Result);
         if Result = Linux_Files.None then
            Linux.Close (Self.File);
            Self.File := File;
         else
            Self.Is_Outdated := True;
         end if;
      end if;
   end Change_File;

   procedure Write_Out (Self : in out Access_Log; Is_Empty : out Boolean) is
      Waits : Boolean := False;
   begin
      Is_Empty := True;
      if Word_Exchanges.Atomic_Exchange (Self.Writer, 1) = 0 then
         if Self.Is_Outdated and then Self.Batch_First = 1 then
            Change_File (Self);
         end if;
         loop
            if Self.Batch_Last = 0 then
               Fill_Batch (Self);
            end if;
            exit when Self.Batch_Last = 0;
            Write_Batch (Self, Waits);
            exit when Waits;
         end loop;
         Is_Empty := not Waits;
         Self.Writer := 0;
      end if;
   exception
      when others =>
         Self.Writer := 0;
         raise;
   end Write_Out;

end Appserver.HTTP.Access_Logs;
