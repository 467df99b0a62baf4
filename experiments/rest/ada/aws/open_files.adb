--  SPDX-License-Identifier: Apache-2.0

with Interfaces.C;

package body Open_Files is

   use Interfaces.C;

   type Resource_Limit is record
      Current : unsigned_long;
      Most    : unsigned_long;
   end record
     with Convention => C;

   Number_Of_Files : constant int := 7;
   --  RLIMIT_NOFILE

   function Get_Limit (Resource : int; Limit : out Resource_Limit) return int
     with Import, Convention => C, External_Name => "getrlimit";

   function Set_Limit (Resource : int; Limit : Resource_Limit) return int
     with Import, Convention => C, External_Name => "setrlimit";

   procedure Raise_Limit is
      Limit : Resource_Limit;
   begin
      if Get_Limit (Number_Of_Files, Limit) = 0 then
         Limit.Current := Limit.Most;
         if Set_Limit (Number_Of_Files, Limit) /= 0 then
            null;  --  the limit does not change
         end if;
      end if;
   end Raise_Limit;

end Open_Files;
