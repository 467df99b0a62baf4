--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Unchecked_Conversion;
with Interfaces.C;
with System.Storage_Elements;

package body Failing_Threads is

   use Interfaces.C;
   use System;

   Try_Again : constant := 11;

   Threads_Left : Natural := Natural'Last with Atomic;
   Has_Failed   : Natural := 0 with Atomic;

   procedure Allow_Threads (Count : Natural) is
   begin
      Threads_Left := Count;
      Has_Failed   := 0;
   end Allow_Threads;

   procedure Allow_All_Threads is
   begin
      Threads_Left := Natural'Last;
   end Allow_All_Threads;

   function Failures return Natural is (Has_Failed);

   --  The linker prefers this program's function to the C library's function

   function Create_Thread (Thread, Attributes, Start, Argument : Address) return int
     with Export, Convention => C, External_Name => "pthread_create";

   type Creation is access function (Thread, Attributes, Start, Argument : Address) return int
     with Convention => C;

   function To_Creation is new Ada.Unchecked_Conversion (Address, Creation);

   function Symbol (Library : Address; Name : char_array) return Address
     with Import, Convention => C, External_Name => "dlsym";

   Next_Library : constant Address := System.Storage_Elements.To_Address
     (System.Storage_Elements.Integer_Address'Last);

   function Create_Thread (Thread, Attributes, Start, Argument : Address) return int is
   begin
      if Threads_Left = 0 then
         Has_Failed := Has_Failed + 1;
         return Try_Again;
      end if;
      Threads_Left := Threads_Left - 1;
      return To_Creation (Symbol (Next_Library, To_C ("pthread_create")))
        (Thread, Attributes, Start, Argument);
   end Create_Thread;

end Failing_Threads;
