--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.HTTP.Linux;
with Appserver.HTTP.Linux_Listeners;

package body Appserver.HTTP.Listeners is

   use type Linux_Listeners.Socket_Family;

   pragma Compile_Time_Error
     (Max_Path_Length /= Linux_Listeners.Max_Path_Length, "another maximum length");

   ------------------
   -- Constructors --
   ------------------

   procedure Set_Text (Self : in out Listener; Text : String) is
   begin
      Self.Last := Text'Length;
      Self.Text (1 .. Text'Length) := Text;
   end Set_Text;

   function TCP_Listener
     (Address   : String := "127.0.0.1";
      Port      : Port_Number := 0;
      Transport : Transports.Transport_Reference := null) return Listener is
   begin
      return Result : Listener :=
        (Kind => TCP, Port => Port, Transport => Transport, others => <>)
      do
         Set_Text (Result, Address);
      end return;
   end TCP_Listener;

   function Unix_Listener
     (Path      : String;
      Mode      : File_Mode := 8#600#;
      Transport : Transports.Transport_Reference := null) return Listener is
   begin
      return Result : Listener :=
        (Kind => Unix, Mode => Mode, Transport => Transport, others => <>)
      do
         Set_Text (Result, Path);
      end return;
   end Unix_Listener;

   function Passed_Count return Natural is (Linux_Listeners.Passed_Count);

   function Passed_Listener
     (Index : Positive; Transport : Transports.Transport_Reference := null) return Listener is
     (Kind => Passed, Index => Index, Transport => Transport, others => <>);

   function Passed_Listener
     (Name : String; Transport : Transports.Transport_Reference := null) return Listener is
   begin
      return Result : Listener :=
        (Kind => Passed_By_Name, Transport => Transport, others => <>)
      do
         Set_Text (Result, Name);
      end return;
   end Passed_Listener;

   -------------
   -- Opening --
   -------------

   procedure Open_Passed (Self : in out Listener) is
      Count  : constant Natural := Linux_Listeners.Passed_Count;
      Index  : constant Natural :=
        (if Self.Kind = Passed then Self.Index
         else Linux_Listeners.Passed_Index (Self.Text (1 .. Self.Last)));
      Socket : Descriptor;
      Family : Linux_Listeners.Socket_Family;
   begin
      if Index not in 1 .. Count then
         raise Network_Error with
           (if Self.Kind = Passed then "there is no passed socket" & Self.Index'Image
            else "there is no passed socket with the name " & Self.Text (1 .. Self.Last))
           & "; the number of passed sockets is" & Count'Image;
      end if;
      Linux_Listeners.Open_Passed_Socket (Index, Socket, Family);
      Self.Socket := Socket;
      if Family = Linux_Listeners.TCP_Family then
         Linux.Set_Up_Accepted (Socket);
         Self.Port := Linux.Port_Of (Socket);
      end if;
   end Open_Passed;

   procedure Open (Self : in out Listener; Backlog : Positive) is
      Text : constant String := Self.Text (1 .. Self.Last);
   begin
      case Self.Kind is
         when TCP =>
            Self.Socket := Linux.Listening_Socket (Text, Self.Port, Backlog);
            Self.Port   := Linux.Port_Of (Self.Socket);
         when Unix =>
            Linux_Listeners.Open_Unix_Socket
              (Text, Natural (Self.Mode), Backlog, Self.Socket, Self.Identity);
         when Passed | Passed_By_Name =>
            Open_Passed (Self);
      end case;
   exception
      when others =>
         Close (Self);
         raise;
   end Open;

   procedure Remove_File (Self : Listener) is
   begin
      if Self.Kind = Unix and then Is_Open (Self) then
         Linux_Listeners.Remove_Unix_Socket (Self.Text (1 .. Self.Last), Self.Identity);
      end if;
   end Remove_File;

   procedure Forget (Self : in out Listener) is
   begin
      Self.Socket := No_File;
   end Forget;

   procedure Close (Self : in out Listener) is
   begin
      if Is_Open (Self) then
         Remove_File (Self);
         Linux.Close (Self.Socket);
         Forget (Self);
      end if;
   end Close;

end Appserver.HTTP.Listeners;
