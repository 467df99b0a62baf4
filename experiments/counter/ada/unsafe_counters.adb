--  SPDX-License-Identifier: Apache-2.0

package body Unsafe_Counters is

   procedure Increment (Self : in out Volatile_Counter) is
   begin
      Self.Total := @ + 1;
   end Increment;

   procedure Increment (Self : in out Plain_Counter) is
   begin
      Self.Total := @ + 1;
   end Increment;

end Unsafe_Counters;
