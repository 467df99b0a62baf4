--  SPDX-License-Identifier: Apache-2.0

with Interfaces.C;

package body Benchlab.Kernel is

   use Interfaces.C;

   --  clock_gettime(2) of 64-bit Linux

   type Timespec is record
      Seconds : long;
      Nanos   : long;
   end record with Convention => C;

   Clock_Monotonic : constant := 1;

   procedure Clock_Gettime (Clock : int; Now : out Timespec)
     with Import, Convention => C, External_Name => "clock_gettime";

   function Monotonic_Time return Nanoseconds is
      Now : Timespec;
   begin
      Clock_Gettime (Clock_Monotonic, Now);
      return Nanoseconds (Now.Seconds) * 1_000_000_000 + Nanoseconds (Now.Nanos);
   end Monotonic_Time;

end Benchlab.Kernel;
