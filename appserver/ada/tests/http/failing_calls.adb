--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Text_IO;
with System;

package body Failing_Calls is

   use Interfaces.C;
   use System;

   No_Room : constant := 28;
   Removal : constant := 2;
   --  EPOLL_CTL_DEL

   To_Fail    : Natural := 0 with Atomic;
   Removed    : Natural := 0 with Atomic;
   Has_Failed : Natural := 0 with Atomic;

   Address_Space : constant := 9;

   type Limits is record
      Soft, Hard : unsigned_long;
   end record with Convention => C;

   function Get_Limits (Resource : int; Into : out Limits) return int
     with Import, Convention => C, External_Name => "getrlimit";
   function Set_Limits (Resource : int; To : Limits) return int
     with Import, Convention => C, External_Name => "setrlimit";

   procedure Limit_Memory (To : unsigned_long) is
      Current : Limits;
   begin
      if Get_Limits (Address_Space, Current) /= 0
        or else Set_Limits
          (Address_Space, (unsigned_long'Min (To, Current.Hard), Current.Hard)) /= 0
      then
         raise Program_Error with "the limit on memory cannot be set";
      end if;
   end Limit_Memory;

   --  The first number in the file is the count of all pages

   procedure Allow_Memory (Bytes : unsigned_long) is
      use Ada.Text_IO;

      package Numbers is new Modular_IO (unsigned_long);

      Page  : constant := 4_096;
      File  : File_Type;
      Pages : unsigned_long;
   begin
      Open (File, In_File, "/proc/self/statm");
      Numbers.Get (File, Pages);
      Close (File);
      Limit_Memory (Pages * Page + Bytes);
   end Allow_Memory;

   procedure Allow_All_Memory is
   begin
      Limit_Memory (unsigned_long'Last);
   end Allow_All_Memory;

   procedure Fail_Events (Count : Natural) is
   begin
      To_Fail    := Count;
      Has_Failed := 0;
   end Fail_Events;

   function Failed_Events return Natural is (Has_Failed);
   function Removed_Events return Natural is (Removed);

   ---------------------------
   -- Replacement functions --
   ---------------------------

   procedure Set_Error (Error : int)
     with Import, Convention => C, External_Name => "__set_errno";

   function Epoll_Ctl (Set, Operation, File : int; Event : Address) return int
     with Import, Convention => C, External_Name => "__real_epoll_ctl";

   function Change_Events (Set, Operation, File : int; Event : Address) return int
     with Export, Convention => C, External_Name => "__wrap_epoll_ctl";

   function Change_Events (Set, Operation, File : int; Event : Address) return int is
   begin
      if Operation = Removal then
         Removed := Removed + 1;
      elsif To_Fail > 0 then
         To_Fail    := To_Fail - 1;
         Has_Failed := Has_Failed + 1;
         Set_Error (No_Room);
         return -1;
      end if;
      return Epoll_Ctl (Set, Operation, File, Event);
   end Change_Events;

end Failing_Calls;
