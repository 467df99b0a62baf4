--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Streams;
with Ada.Strings.Fixed;
with Ada.Text_IO;
with Response_Texts;

package body Test_Clients is

   use Ada.Streams;
   use Ada.Strings.Unbounded;
   use GNAT.Sockets;

   Timeout : constant Duration := 60.0;

   procedure Connect (Self : in out Client; Port : Natural; Receive_Buffer : Natural := 0) is
   begin
      Self.Close;
      Create_Socket (Self.Socket);
      if Receive_Buffer > 0 then
         Set_Socket_Option
           (Self.Socket, Socket_Level, (GNAT.Sockets.Receive_Buffer, Receive_Buffer));
      end if;
      Set_Socket_Option (Self.Socket, Socket_Level, (Receive_Timeout, Timeout));
      Set_Socket_Option (Self.Socket, Socket_Level, (Send_Timeout, Timeout));
      Set_Socket_Option (Self.Socket, IP_Protocol_For_TCP_Level, (No_Delay, True));
      Connect_Socket
        (Self.Socket, (Family_Inet, Inet_Addr ("127.0.0.1"), Port_Type (Port)));
   end Connect;

   procedure Send (Self : in out Client; Bytes : String) is
      Data : Stream_Element_Array (1 .. Bytes'Length) with Import, Address => Bytes'Address;
      Last : Stream_Element_Offset := 0;
   begin
      while Last < Data'Last loop
         Send_Socket (Self.Socket, Data (Last + 1 .. Data'Last), Last);
      end loop;
   end Send;

   procedure Ask (Self : in out Client; Path : String; Method : String := "GET") is
   begin
      Self.Send (Method & ' ' & Path & " HTTP/1.1" & New_Line & "Host: h" & New_Line & New_Line);
   end Ask;

   --  Appends the received bytes. Sets Is_Ended to True if the server has closed the connection.

   procedure Receive (Self : in out Client; Is_Ended : out Boolean) is
      Data : Stream_Element_Array (1 .. 65_536);
      Last : Stream_Element_Offset;
      Text : String (1 .. Data'Length) with Import, Address => Data'Address;
   begin
      Receive_Socket (Self.Socket, Data, Last);
      Is_Ended := Last < Data'First;
      Append (Self.Bytes, Text (1 .. Natural (Last)));
   exception
      when Error : Socket_Error =>
         if Resolve_Exception (Error) in Resource_Temporarily_Unavailable then
            raise Too_Late;
         end if;
         raise;
   end Receive;

   function Response (Self : in out Client; Has_Content : Boolean := True) return String is
      Header   : Natural := 0;
      Size     : Natural := 0;
      Is_Ended : Boolean := False;
   begin
      loop
         Header := Index (Self.Bytes, New_Line & New_Line);
         exit when Header > 0 or else Is_Ended;
         Receive (Self, Is_Ended);
      end loop;
      if Header = 0 then
         return To_String (Self.Bytes);
      end if;
      declare
         Length : constant String :=
           Response_Texts.Field (Slice (Self.Bytes, 1, Header + 3), "Content-Length");
      begin
         Size := Header + 3
           + (if Has_Content and then Length /= "-" then Natural'Value (Length) else 0);
      end;
      while Ada.Strings.Unbounded.Length (Self.Bytes) < Size and then not Is_Ended loop
         Receive (Self, Is_Ended);
      end loop;
      Size := Natural'Min (Size, Length (Self.Bytes));
      return Result : constant String := Slice (Self.Bytes, 1, Size) do
         Delete (Self.Bytes, 1, Size);
      end return;
   end Response;

   function Received (Self : in out Client) return Natural is
      Before   : constant Natural := Length (Self.Bytes);
      Is_Ended : Boolean;
   begin
      Receive (Self, Is_Ended);
      return Length (Self.Bytes) - Before;
   end Received;

   function Rest (Self : in out Client) return String is
      Is_Ended : Boolean := False;
   begin
      while not Is_Ended loop
         Receive (Self, Is_Ended);
      end loop;
      return Result : constant String := To_String (Self.Bytes) do
         Self.Bytes := Null_Unbounded_String;
      end return;
   end Rest;

   procedure Close (Self : in out Client) is
   begin
      if Self.Socket /= No_Socket then
         Close_Socket (Self.Socket);
         Self.Socket := No_Socket;
      end if;
      Self.Bytes := Null_Unbounded_String;
   end Close;

   overriding procedure Finalize (Self : in out Client) is
   begin
      Self.Close;
   end Finalize;

   function Can_Connect (Port : Natural) return Boolean is
      Probe : Client;
   begin
      Probe.Connect (Port);
      return True;
   exception
      when Socket_Error =>
         return False;
   end Can_Connect;

   --  Returns True if a socket with the local port has unread bytes, or a connection that has not
   --  been accepted. A line of the file begins with a number, and continues with a fixed format:
   --  "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 ".

   function Has_Unread (Port : Natural) return Boolean is
      use Ada.Text_IO;

      File   : File_Type;
      Result : Boolean := False;

      function Value (Digits_16 : String) return Long_Long_Integer is
        (Long_Long_Integer'Value ("16#" & Digits_16 & "#"));
   begin
      Open (File, In_File, "/proc/net/tcp");
      Skip_Line (File);
      while not End_Of_File (File) loop
         declare
            Line  : constant String := Get_Line (File);
            First : constant Positive := Ada.Strings.Fixed.Index (Line, ": ") + 2;
         begin
            Result := Result
              or else (Value (Line (First + 9 .. First + 12)) = Long_Long_Integer (Port)
                       and then Value (Line (First + 40 .. First + 47)) > 0);
         end;
      end loop;
      Close (File);
      return Result;
   end Has_Unread;

   procedure Await_Read (Port : Natural) is
   begin
      for Wait in 1 .. 6_000 loop
         if not Has_Unread (Port) then
            return;
         end if;
         delay 0.01;
      end loop;
      raise Too_Late;
   end Await_Read;

end Test_Clients;
