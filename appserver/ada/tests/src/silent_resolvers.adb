--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Interfaces.C;
with System;

package body Silent_Resolvers is

   pragma Linker_Options ("-ldl");

   use Interfaces.C;
   use type System.Address;

   --  Called by threads that the Ada run-time system does not manage, so this must call only C
   --  functions

   function dlsym (Library : System.Address; Name : char_array) return System.Address
     with Import, Convention => C, External_Name => "dlsym";
   function strcmp (Left : System.Address; Right : char_array) return int
     with Import, Convention => C, External_Name => "strcmp";
   function sleep (Seconds : unsigned) return unsigned
     with Import, Convention => C, External_Name => "sleep";

   Next_Library : constant System.Address := System'To_Address (System.Memory_Size - 1);
   --  RTLD_NEXT: the next library after this program that defines the name

   Try_Again : constant := -3;
   --  EAI_AGAIN on Linux

   Own_Name    : constant char_array := "getaddrinfo" & nul;
   Silent_Name : constant char_array := To_C (Silent_Host);

   function Get_Address_Info (Host, Service, Hints, Found : System.Address) return int
     with Export, Convention => C, External_Name => "getaddrinfo";

   function Get_Address_Info (Host, Service, Hints, Found : System.Address) return int is

      function Real_Function (Host, Service, Hints, Found : System.Address) return int
        with Import, Convention => C, Address => dlsym (Next_Library, Own_Name);

      Ignored : unsigned;
   begin
      if Host /= System.Null_Address and then strcmp (Host, Silent_Name) = 0 then
         Ignored := sleep (60);
         return Try_Again;
      end if;
      return Real_Function (Host, Service, Hints, Found);
   end Get_Address_Info;

end Silent_Resolvers;
