--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.HTTP.Linux;
with Appserver.HTTP.Parsing;

package body Appserver.HTTP.Contexts is

   New_Line : constant String := [ASCII.CR, ASCII.LF];

   Max_Copy_Length : constant := 8_192;
   --  The maximum length of constant text that is copied. Longer text is sent in place.

   Max_Size   : constant := 10;
   --  The maximum length of a chunk-size line: 8 digits and the line end
   Last_Chunk : constant String := "0" & New_Line & New_Line;

   Max_Piece_Length : constant := 32_768;
   --  The maximum number of bytes that are read from a source at a time. This many bytes may have
   --  to be stored for a client that does not read.

   procedure Drop (Self : in out Tail) is
      Source : constant Source_Reference := Self.Source;
   begin
      if Self.File /= No_File then
         Linux.Close (Self.File);
      end if;
      Self := No_Tail;
      if Source /= null then
         Source.Close;
      end if;
   exception
      when others =>
         null;
   end Drop;

   procedure Close (Receiver : in out Services.Receiver_Reference) is
      use type Services.Receiver_Reference;
      Closed : constant Services.Receiver_Reference := Receiver;
   begin
      Receiver := null;
      if Closed /= null then
         Closed.Close;
      end if;
   exception
      when others =>
         null;
   end Close;

   procedure Pass_On
     (Report       : Exception_Report;
      Error        : Ada.Exceptions.Exception_Occurrence;
      Request_Line : String := "") is
   begin
      if Report /= null then
         Report (Error, Request_Line);
      end if;
   exception
      when others =>
         null;
   end Pass_On;

   function Receiver_Response
     (Service  : Services.Service_Reference;
      Receiver : not null Services.Receiver_Reference;
      Self     : Context) return Response is
   begin
      return Response : HTTP.Response := Receiver.Respond (Self.Request) do
         Services.Content_Service'Class (Service.all).Complete (Self.Request, Response);
      end return;
   end Receiver_Response;

   function Handler_Response
     (Handle   : Handler;
      Service  : Services.Service_Reference;
      Receiver : Services.Receiver_Reference;
      Self     : Context;
      Report   : Exception_Report) return Response
   is
      use type Services.Receiver_Reference;
      use type Services.Service_Reference;
   begin
      Self.Request.Builder.Clear;
      return
        (if Service = null then Handle (Self.Request)
         elsif Receiver = null then Service.Respond (Self.Request)
         else Receiver_Response (Service, Receiver, Self));
   exception
      when Error : others =>
         Pass_On (Report, Error, Self.Request.Line);
         Self.Request.Builder.Clear;
         return Status_Only (Internal_Error);
   end Handler_Response;

   function Policy_Of
     (Service : not null Services.Service_Reference; Self : Context; Report : Exception_Report)
      return Services.Content_Policy
   is
      use type Services.Policy_Kind;
   begin
      Self.Request.Builder.Clear;
      return Policy : constant Services.Content_Policy :=
        Services.Content_Service'Class (Service.all).Policy_For (Self.Request)
      do
         if Services.Kind_Of (Policy) /= Services.Reject then
            Self.Request.Builder.Clear;
         end if;
      end return;
   exception
      when Error : others =>
         Pass_On (Report, Error, Self.Request.Line);
         Self.Request.Builder.Clear;
         return Services.Reject (Status_Only (Internal_Error));
   end Policy_Of;

   procedure Deliver
     (Self     : in out Context;
      Receiver : not null Services.Receiver_Reference;
      Report   : Exception_Report;
      Result   : out Delivery)
   is
      Wants_More : Boolean := True;
   begin
      Receiver.Receive
        (Self.Request.Bytes (1 .. Parsing.Streamed_Last (Self.Request)), Wants_More);
      Parsing.Drop_Streamed (Self.Request);
      Result := (if Wants_More then Is_Wanted else Is_Enough);
   exception
      when Error : others =>
         Pass_On (Report, Error);
         Result := Has_Failed;
   end Deliver;

   -------------
   -- Writing --
   -------------

   procedure Put (Self : in out Context; Text : String) with Inline;

   procedure Put (Self : in out Context; Text : String) is
   begin
      Self.Output (Self.Last + 1 .. Self.Last + Text'Length) := Text;
      Self.Last := Self.Last + Text'Length;
   end Put;

   procedure Put_Number (Self : in out Context; Number : Byte_Count) is
      Image : String (1 .. 19);
      First : Positive   := Image'Last + 1;
      Rest  : Byte_Count := Number;
   begin
      loop
         First := First - 1;
         Image (First) := Character'Val (Character'Pos ('0') + Rest mod 10);
         Rest := Rest / 10;
         exit when Rest = 0;
      end loop;
      Put (Self, Image (First .. Image'Last));
   end Put_Number;

   procedure Put_Status (Self : in out Context; Status : Status_Number; Date : Dates.Date_Text) is
   begin
      Self.Status := Status;
      Self.Length := 0;
      if Status = OK then
         Put (Self, "HTTP/1.1 200 OK" & New_Line & "Date: ");
      else
         Put (Self, "HTTP/1.1 ");
         Put_Number (Self, Byte_Count (Status));
         Put (Self, " " & Reason (Status) & New_Line & "Date: ");
      end if;
      Put (Self, Date);
      Put (Self, New_Line);
   end Put_Status;

   --  Announces to an HTTP/1.0 client that the connection stays open, and to an HTTP/1.1 client
   --  that it closes (RFC 9112, 9.3)

   procedure Put_Connection (Self : in out Context; Closes : Boolean) is
   begin
      if Closes then
         Put (Self, "Connection: close" & New_Line);
      elsif Parsing.Is_Old (Self.Request) then
         Put (Self, "Connection: keep-alive" & New_Line);
      end if;
   end Put_Connection;

   procedure Put_Length (Self : in out Context; Length : Byte_Count) is
   begin
      Self.Length := Length;
      Put (Self, "Content-Length: ");
      Put_Number (Self, Length);
      Put (Self, New_Line);
   end Put_Length;

   -------------
   -- Content --
   -------------

   --  204 and 304 have no content, and no Content-Length (RFC 9110, 8.6)

   function Has_Content (Status : Status_Number) return Boolean is
     (Status not in No_Content | Not_Modified);

   function Content_Length (Self : Context; Response : HTTP.Response) return Byte_Count is
     (case Response.Kind is
         when None         => 0,
         when Static_Text  => Response.Content'Length,
         when Builder_Text => Byte_Count (Self.Builder.Text_Length),
         when File_Bytes   => Self.Builder.File_Length,
         when Source_Bytes | Channel_Bytes => 0);

   function Framing_Of (Self : Context) return Framing is
     (if Self.Builder.Is_Counted then Counted
      elsif Parsing.Is_Old (Self.Request) then To_The_End
      else Chunked);

   function Ends_With_Connection (Self : Context; Response : HTTP.Response) return Boolean is
     (Response.Kind = Source_Bytes
      and then Framing_Of (Self) = To_The_End
      and then Has_Content (Response.Status));

   procedure Put_Framing (Self : in out Context; Response : HTTP.Response) is
   begin
      if Response.Kind not in Source_Bytes | Channel_Bytes then
         Put_Length (Self, Content_Length (Self, Response));
      elsif Response.Kind = Source_Bytes then
         case Framing_Of (Self) is
            when Counted    => Put_Length (Self, Self.Builder.File_Length);
            when Chunked    => Put (Self, "Transfer-Encoding: chunked" & New_Line);
            when To_The_End => null;
         end case;
      end if;
   end Put_Framing;

   procedure Put_Source (Self : in out Context) is
      Framing : constant Contexts.Framing := Framing_Of (Self);
   begin
      Self.Tail :=
        (Source  => Self.Builder.Source,
         Framing => Framing,
         Length  => (if Framing = Counted then Self.Builder.File_Length else Byte_Count'Last),
         others  => <>);
      Self.Builder.Source := null;
      if Self.Tail.Length = 0 then
         Drop (Self.Tail);
      end if;
   end Put_Source;

   procedure Put_Content (Self : in out Context; Response : HTTP.Response) is
   begin
      case Response.Kind is
         when None | Channel_Bytes =>
            null;
         when Static_Text =>
            if Response.Content'Length <= Max_Copy_Length
              and then Response.Content'Length <= Self.Output_Capacity - Self.Last
            then
               Put (Self, Response.Content.all);
            else
               Self.Tail :=
                 (Text => Response.Content, Length => Response.Content'Length, others => <>);
            end if;
         when Builder_Text =>
            Put (Self, Self.Builder.Text (1 .. Self.Builder.Text_Length));
         when File_Bytes =>
            Self.Tail :=
              (File   => Self.Builder.File,
               Offset => Self.Builder.Offset,
               Length => Self.Builder.File_Length,
               others => <>);
            Self.Builder.File := No_File;
            if Self.Tail.Length = 0 then
               Drop (Self.Tail);
            end if;
         when Source_Bytes =>
            Put_Source (Self);
      end case;
   end Put_Content;

   ---------------
   -- Responses --
   ---------------

   procedure Put_Attached
     (Self     : in out Context;
      Response : HTTP.Response;
      Date     : Dates.Date_Text;
      Closes   : Boolean) is
   begin
      Put_Status (Self, Response.Status, Date);
      if Has_Content (Response.Status) then
         if Response.Media_Type /= null then
            Put (Self, "Content-Type: ");
            Put (Self, Response.Media_Type.all);
            Put (Self, New_Line);
         end if;
         Put_Framing (Self, Response);
      end if;
      Put_Connection (Self, Closes);
      Put (Self, Self.Builder.Fields (1 .. Self.Builder.Fields_Length));
      Put (Self, New_Line);
      if Has_Content (Response.Status) and then not Self.Request.Is_Head then
         Put_Content (Self, Response);
      end if;
      if Self.Builder.Has_File
        or else Self.Builder.Has_Source
        or else Self.Builder.Channel /= null
      then
         Self.Builder.Clear;
      end if;
   end Put_Attached;

   procedure Put_Channel_Header
     (Self : in out Context; Response : HTTP.Response; Date : Dates.Date_Text) is
   begin
      if Response.Status = Switching_Protocols then
         Self.Status := Response.Status;
         Self.Length := 0;
         Put (Self, "HTTP/1.1 101 Switching Protocols" & New_Line & "Date: ");
         Put (Self, Date);
         Put (Self, New_Line & "Upgrade: websocket" & New_Line & "Connection: Upgrade" & New_Line);
      else
         Put_Status (Self, Response.Status, Date);
         Put (Self, "Content-Type: ");
         Put (Self, Response.Media_Type.all);
         Put (Self, New_Line);
         if not Parsing.Is_Old (Self.Request) then
            Put (Self, "Transfer-Encoding: chunked" & New_Line);
         end if;
         Put_Connection (Self, Closes => True);
      end if;
      Put (Self, Self.Builder.Fields (1 .. Self.Builder.Fields_Length));
      Put (Self, New_Line);
   end Put_Channel_Header;

   procedure Put_Response
     (Self     : in out Context;
      Response : HTTP.Response;
      Date     : Dates.Date_Text;
      Closes   : Boolean) is
   begin
      if (Response.Kind = File_Bytes and then not Self.Builder.Has_File)
        or else (Response.Kind = Source_Bytes and then not Self.Builder.Has_Source)
        or else (Response.Kind = Channel_Bytes and then not Self.Request.Is_Head)
      then
         --  The handler did not attach the file or the source that its response requires, or a
         --  channel cannot be opened here
         Self.Builder.Clear;
         Put_Attached (Self, Status_Only (Internal_Error), Date, Closes);
      else
         Put_Attached (Self, Response, Date, Closes);
      end if;
   end Put_Response;

   --  Writes the size of a chunk so that it ends at Last, and sets Self.First to its first byte

   procedure Put_Size (Self : in out Context; Last : Positive; Size : Positive) is
      Digit_Texts : constant String := "0123456789ABCDEF";
      Rest        : Natural := Size;
   begin
      Self.Output (Last - 1 .. Last) := New_Line;
      Self.First := Last - 1;
      while Rest > 0 loop
         Self.First := Self.First - 1;
         Self.Output (Self.First) := Digit_Texts (Rest mod 16 + 1);
         Rest := Rest / 16;
      end loop;
   end Put_Size;

   --  Adds the chunk framing. The bytes of the source are already in the output, after room for the
   --  size.

   procedure Frame_Piece (Self : in out Context; Count : Natural; Is_Cut : out Boolean) is
   begin
      Is_Cut := Count = 0 and then Self.Tail.Framing = Counted;
      Self.First := Max_Size + 1;
      Self.Last  := Max_Size + Count;
      if Self.Tail.Framing = Counted then
         Self.Tail.Length := Self.Tail.Length - Byte_Count (Count);
      elsif Self.Tail.Framing = Chunked and then Count > 0 then
         Put_Size (Self, Last => Max_Size, Size => Count);
         Put (Self, New_Line);
      elsif Self.Tail.Framing = Chunked then
         Put (Self, Last_Chunk);
      end if;
      if Count = 0 or else Self.Tail.Length = 0 then
         Drop (Self.Tail);
      end if;
   end Frame_Piece;

   procedure Put_Piece (Self : in out Context; Report : Exception_Report; Is_Cut : out Boolean) is
      Available : constant Positive := Positive'Min
        (Max_Piece_Length, Self.Output_Capacity - Max_Size - New_Line'Length);
      Max      : constant Positive :=
        Positive (Byte_Count'Min (Byte_Count (Available), Self.Tail.Length));
      Count     : Natural;
   begin
      Self.Tail.Source.Read (Self.Output (Max_Size + 1 .. Max_Size + Max), Count);
      if Count > Max then
         raise Constraint_Error with "a content source set Count to more than the length of Into";
      end if;
      Frame_Piece (Self, Count, Is_Cut);
   exception
      when Error : others =>
         Pass_On (Report, Error);
         Self.First := 1;
         Self.Last  := 0;
         Drop (Self.Tail);
         Is_Cut := True;
   end Put_Piece;

   procedure Put_File_Piece (Self : in out Context; Is_Cut : out Boolean) is
      Room  : constant Integer := Integer'Min
        (Max_Record_Length - (Self.Last - Self.First + 1), Self.Output_Capacity - Self.Last);
      Size  : constant Natural :=
        Natural (Byte_Count'Min (Byte_Count (Integer'Max (Room, 0)), Self.Tail.Length));
      Count : Natural;
   begin
      Is_Cut := False;
      if Size > 0 then
         Linux.Read_File
           (Self.Tail.File, Self.Tail.Offset, Self.Output (Self.Last + 1 .. Self.Last + Size),
            Count);
         Is_Cut    := Count = 0;
         Self.Last := Self.Last + Count;
         Self.Tail.Offset := Self.Tail.Offset + Byte_Count (Count);
         Self.Tail.Length := Self.Tail.Length - Byte_Count (Count);
         if Self.Tail.Length = 0 then
            Drop (Self.Tail);
         end if;
      end if;
   end Put_File_Piece;

   procedure Put_Server_Response
     (Self : in out Context; Date : Dates.Date_Text; Closes : Boolean) is
   begin
      Put_Status (Self, No_Content, Date);
      Put (Self, "Allow: GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS" & New_Line);
      Put_Connection (Self, Closes);
      Put (Self, New_Line);
   end Put_Server_Response;

   function Refusal (Status : Status_Code; Date : Dates.Date_Text) return String is
     ("HTTP/1.1" & Status'Image & " " & Reason (Status) & New_Line
      & "Date: " & String (Date) & New_Line
      & "Content-Length: 0" & New_Line
      & "Connection: close" & New_Line & New_Line);

   procedure Put_Refusal
     (Self : in out Context; Status : Status_Code; Date : Dates.Date_Text) is
   begin
      Self.Status := Status;
      Self.Length := 0;
      Put (Self, Refusal (Status, Date));
   end Put_Refusal;

   procedure Put_Continue (Self : in out Context) is
   begin
      Put (Self, "HTTP/1.1 100 Continue" & New_Line & New_Line);
   end Put_Continue;

end Appserver.HTTP.Contexts;
