--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.HTTP.Channels.Events is

   use Channel_Cores;
   use Channels.Protocols;

   New_Line : constant String := [ASCII.CR, ASCII.LF];

   Max_Ignored : constant := 65_536;
   --  The maximum number of bytes that a client may send on a stream, which are ignored

   type Stream_Core is new Core (Channel_Cores.Event_Stream) with record
      Ignored : Natural := 0;
   end record;

   overriding procedure Parse
     (Self    : in out Stream_Core;
      Bytes   : in out String;
      Next    : in out Positive;
      Last    : Natural;
      Written : in out Natural;
      Result  : out Input_Event);
   overriding procedure Call_Open (Self : not null access Stream_Core) is null;
   overriding procedure Call_Message (Self : not null access Stream_Core; Message : String) is null;
   overriding procedure Call_Close (Self : not null access Stream_Core) is null;
   overriding procedure End_Session (Self : in out Stream_Core) is null;
   overriding procedure Finish (Self : in out Stream_Core; Reason : Ending);
   overriding procedure Send_Keep_Alive (Self : in out Stream_Core);
   overriding function Awaits_Client (Self : Stream_Core) return Boolean is (False);

   --------------
   -- Encoding --
   --------------

   --  Calls Take with each line of a text

   procedure For_Each_Line
     (Text : String; Take : not null access procedure (Line : String))
   is
      First : Positive := Text'First;
      Last  : Natural;
   begin
      loop
         Last := First - 1;
         while Last < Text'Last and then Text (Last + 1) not in ASCII.CR | ASCII.LF loop
            Last := Last + 1;
         end loop;
         Take (Text (First .. Last));
         exit when Last = Text'Last;
         First := Last + 2;
         if First <= Text'Last and then Text (Last + 1) = ASCII.CR and then Text (First) = ASCII.LF
         then
            First := First + 1;
         end if;
      end loop;
   end For_Each_Line;

   procedure Write_Line
     (Prefix, Text : String; Put : not null access procedure (Text : String)) is
   begin
      Put (Prefix);
      Put (Text);
      Put ([ASCII.LF]);
   end Write_Line;

   procedure Write_Lines
     (Prefix, Text : String; Put : not null access procedure (Text : String))
   is

      procedure Write (Line : String) is
      begin
         Write_Line (Prefix, Line, Put);
      end Write;

   begin
      For_Each_Line (Text, Write'Access);
   end Write_Lines;

   Max_Digits : constant := 8;

   --  Encodes as a chunk what Write produces, which is called twice: to count, and to write. The
   --  number of digits of the size is fixed.

   function Encoded
     (Write : not null access procedure
        (Put : not null access procedure (Text : String))) return Message
   is
      Digit_Texts : constant String := "0123456789ABCDEF";

      Result : Message_Reference;
      Length : Natural := 0;
      Last   : Natural := Max_Digits;
      Rest   : Natural;

      procedure Count (Text : String) is
      begin
         Length := Length + Text'Length;
      end Count;

      procedure Put (Text : String) is
      begin
         Result.Bytes (Last + 1 .. Last + Text'Length) := Text;
         Last := Last + Text'Length;
      end Put;

   begin
      Write (Count'Access);
      Result := new Encoded_Message'
        (Length        => Max_Digits + New_Line'Length + Length + New_Line'Length,
         References    => 1,
         Used_By       => Channel_Cores.Event_Stream,
         Content_First => Max_Digits + New_Line'Length + 1,
         Content_Last  => Max_Digits + New_Line'Length + Length,
         Bytes         => <>);
      Rest := Length;
      for K in reverse 1 .. Max_Digits loop
         Result.Bytes (K) := Digit_Texts (Rest mod 16 + 1);
         Rest := Rest / 16;
      end loop;
      Put (New_Line);
      Write (Put'Access);
      Put (New_Line);
      return Adopted (Result);
   end Encoded;

   function Event
     (Data  : String;
      Name  : String := "";
      ID    : String := "";
      Retry : Retry_Time := 0.0) return Message
   is
      procedure Write_Retry (Put : not null access procedure (Text : String)) is
         Image : String (1 .. 8);
         First : Positive := Image'Last + 1;
         Rest  : Natural  := Natural (Retry * 1_000);
      begin
         while Rest > 0 loop
            First := First - 1;
            Image (First) := Character'Val (Character'Pos ('0') + Rest mod 10);
            Rest := Rest / 10;
         end loop;
         Write_Line ("retry: ", Image (First .. Image'Last), Put);
      end Write_Retry;

      procedure Write (Put : not null access procedure (Text : String)) is
      begin
         if Name /= "" then
            Write_Line ("event: ", Name, Put);
         end if;
         if ID /= "" then
            Write_Line ("id: ", ID, Put);
         end if;
         if Natural (Retry * 1_000) > 0 then
            Write_Retry (Put);
         end if;
         Write_Lines ("data: ", Data, Put);
         Put ([ASCII.LF]);
      end Write;

   begin
      return Encoded (Write'Access);
   end Event;

   function Comment (Text : String := "") return Message is

      procedure Write (Put : not null access procedure (Text : String)) is
      begin
         Write_Lines (": ", Text, Put);
         Put ([ASCII.LF]);
      end Write;

   begin
      return Encoded (Write'Access);
   end Comment;

   --  The end of a chunked response, which has no content

   function Last_Chunk return Message is
     (Adopted
        (new Encoded_Message'
           (Length  => 5,
            Used_By => Channel_Cores.Event_Stream,
            Bytes   => "0" & New_Line & New_Line,
            others  => <>)));

   --  Shared by all streams

   The_Keep_Alive : constant Message := Comment;
   The_End        : constant Message := Last_Chunk;

   ------------
   -- Stream --
   ------------

   --  A client has nothing to send on a stream

   overriding procedure Parse
     (Self    : in out Stream_Core;
      Bytes   : in out String;
      Next    : in out Positive;
      Last    : Natural;
      Written : in out Natural;
      Result  : out Input_Event)
   is
      pragma Unreferenced (Bytes, Written);
   begin
      Self.Ignored := Self.Ignored + (Last - Next + 1);
      Next         := Last + 1;
      Result       := Needs_More;
      if Self.Ignored > Max_Ignored then
         Result := Has_Ended;
         Stream_Core'Class (Self).Finish (Normal);
      end if;
   end Parse;

   overriding procedure Finish (Self : in out Stream_Core; Reason : Ending) is
      pragma Unreferenced (Reason);
   begin
      Channel_Cores.Close (Self, The_End.Bytes.Reference);
   end Finish;

   overriding procedure Send_Keep_Alive (Self : in out Stream_Core) is
   begin
      Send_Control (Self, The_Keep_Alive.Bytes.Reference);
   end Send_Keep_Alive;

   function Open
     (Request : HTTP.Request;
      Stream  : out Channel;
      Options : Settings := Default_Settings) return Response
   is
      Builder : Response_Builder renames Request.Builder.all;
      Core    : Core_Reference;
   begin
      Builder.Add_Field ("Cache-Control", "no-store");
      Builder.Add_Field ("X-Accel-Buffering", "no");
      Core   := new Stream_Core;
      Stream := Adopted (Core);
      Set_Limits (Core.all, Options);
      Core.Is_Raw     := Request.Minor_Version = 0;
      Builder.Drop_Channel;
      Take (Core);
      Builder.Channel := Channel_Reference (Core);
      return
        (Status     => OK,
         Kind       => Channel_Bytes,
         Media_Type => Event_Stream'Access,
         Content    => null);
   end Open;

   function Last_Event_ID (Request : HTTP.Request) return String is
     (Request.Field ("Last-Event-ID"));

   procedure Send
     (Stream : Channel;
      Data   : String;
      Result : out Send_Result;
      Name   : String := "";
      ID     : String := "") is
   begin
      Send (Stream, Event (Data, Name, ID), Result);
   end Send;

   procedure Close (Stream : Channel) is
   begin
      Stream.Core.Finish (Normal);
   end Close;

end Appserver.HTTP.Channels.Events;
