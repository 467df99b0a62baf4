--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with System;

package body MariaDB_Client_Calls is

   use System;

   Fails             : Boolean := False;
   Initialized_Count : Natural := 0;
   Closed_Count      : Natural := 0;
   Null_Count        : Natural := 0;

   procedure Start (Fail_Init : Boolean) is
   begin
      Fails             := Fail_Init;
      Initialized_Count := 0;
      Closed_Count      := 0;
      Null_Count        := 0;
   end Start;

   function Initialized return Natural is (Initialized_Count);
   function Closed return Natural is (Closed_Count);
   function Null_Closed return Natural is (Null_Count);

   ---------------------------
   -- Replacement functions --
   ---------------------------

   function Real_Init (Handle : Address) return Address
     with Import, Convention => C, External_Name => "__real_mysql_init";

   function Init (Handle : Address) return Address
     with Export, Convention => C, External_Name => "__wrap_mysql_init";

   function Init (Handle : Address) return Address is
   begin
      if Fails then
         return Null_Address;
      end if;
      Initialized_Count := Initialized_Count + 1;
      return Real_Init (Handle);
   end Init;

   procedure Real_Close (Handle : Address)
     with Import, Convention => C, External_Name => "__real_mysql_close";

   procedure Close (Handle : Address)
     with Export, Convention => C, External_Name => "__wrap_mysql_close";

   procedure Close (Handle : Address) is
   begin
      if Handle = Null_Address then
         Null_Count := Null_Count + 1;
      else
         Closed_Count := Closed_Count + 1;
         Real_Close (Handle);
      end if;
   end Close;

end MariaDB_Client_Calls;
