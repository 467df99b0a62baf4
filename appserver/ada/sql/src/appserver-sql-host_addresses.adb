--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Conversion;
with Ada.Unchecked_Deallocation;
with Appserver.SQL.Detached_Calls;
with Interfaces.C.Strings;
with System;

package body Appserver.SQL.Host_Addresses is

   use Interfaces.C;

   --  Binding to getaddrinfo(3) of Linux's C libraries

   type Address_Info;
   type Address_Info_Access is access all Address_Info with Convention => C;

   type Address_Info is record
      Flags, Family, Socket_Type, Protocol : int := 0;
      Length                               : unsigned := 0;
      Address                              : System.Address := System.Null_Address;
      Name                                 : System.Address := System.Null_Address;
      Next                                 : Address_Info_Access;
   end record with Convention => C;

   Stream_Socket : constant := 1;
   Numeric_Host  : constant := 1;
   --  SOCK_STREAM; NI_NUMERICHOST

   function getaddrinfo
     (Host    : char_array;
      Service : System.Address;
      Hints   : Address_Info;
      Found   : out Address_Info_Access) return int
     with Import, Convention => C, External_Name => "getaddrinfo";
   procedure freeaddrinfo (Found : Address_Info_Access)
     with Import, Convention => C, External_Name => "freeaddrinfo";
   function gai_strerror (Error : int) return Strings.chars_ptr
     with Import, Convention => C, External_Name => "gai_strerror";
   function getnameinfo
     (Address        : System.Address;
      Length         : unsigned;
      Host           : out char_array;
      Host_Length    : unsigned;
      Service        : System.Address;
      Service_Length : unsigned;
      Flags          : int) return int
     with Import, Convention => C, External_Name => "getnameinfo";

   type Search (Length : size_t) is limited record
      Host  : char_array (0 .. Length);
      Found : Address_Info_Access;
      Error : int := 0;
   end record;

   type Search_Access is access all Search;
   procedure Free is new Ada.Unchecked_Deallocation (Search, Search_Access);
   function To_Search is new Ada.Unchecked_Conversion (System.Address, Search_Access);

   procedure Look_Up (Argument : System.Address) with Convention => C;
   procedure Look_Up (Argument : System.Address) is
      Work : constant Search_Access := To_Search (Argument);
   begin
      Work.Error := getaddrinfo
        (Work.Host, System.Null_Address, (Socket_Type => Stream_Socket, others => <>), Work.Found);
   end Look_Up;

   procedure Drop (Argument : System.Address) with Convention => C;
   procedure Drop (Argument : System.Address) is
      Work : Search_Access := To_Search (Argument);
   begin
      if Work.Error = 0 and then Work.Found /= null then
         freeaddrinfo (Work.Found);
      end if;
      Free (Work);
   end Drop;

   function Numeric (Info : Address_Info) return String is
      Text  : char_array (0 .. 99);
      Error : constant int := getnameinfo
        (Info.Address, Info.Length, Text, Text'Length, System.Null_Address, 0, Numeric_Host);
   begin
      return (if Error = 0 then To_Ada (Text) else "");
   end Numeric;

   function Addresses_Of (Host : String; Timeout : Duration) return Text_Vectors.Vector is
      use type Ada.Containers.Count_Type;

      Name    : constant char_array := To_C (Host);
      Result  : Text_Vectors.Vector;
      Call    : Detached_Calls.Detached_Call (Look_Up'Access, Drop'Access);
      Work    : constant Search_Access := new Search (Name'Last);
      Info    : Address_Info_Access;
      Is_Done : Boolean;
   begin
      Call.Own (Work.all'Address);
      Work.Host := Name;
      Call.Run (Timeout, Is_Done);
      if not Is_Done then
         Raise_Error ("08001", 0, "the host name was not resolved in time: " & Host);
      elsif Work.Error /= 0 then
         Raise_Error
           ("08001", 0,
            "unknown host: " & Host & ": " & Strings.Value (gai_strerror (Work.Error)));
      end if;
      Info := Work.Found;
      while Info /= null and then Result.Length < Max_Addresses loop
         declare
            Address : constant String := Numeric (Info.all);
         begin
            if Address /= "" and then not Result.Contains (Address) then
               Result.Append (Address);
            end if;
         end;
         Info := Info.Next;
      end loop;
      if Result.Is_Empty then
         Raise_Error ("08001", 0, "the host has no address: " & Host);
      end if;
      return Result;
   end Addresses_Of;

end Appserver.SQL.Host_Addresses;
