--  SPDX-License-Identifier: Apache-2.0
--
--  Counters that lose increments of concurrent tasks, since each increment is a read and a write,
--  and not one atomic operation.

with Interfaces;

package Unsafe_Counters is

   use Interfaces;

   type Volatile_Counter is limited private;
   --  A counter in memory. Every increment reads and writes this memory.

   procedure Increment (Self : in out Volatile_Counter) with Inline;
   function Value (Self : Volatile_Counter) return Integer_64 with Inline;

   type Plain_Counter is limited private;
   --  A counter that the compiler may keep in a register

   procedure Increment (Self : in out Plain_Counter) with Inline;
   function Value (Self : Plain_Counter) return Integer_64 with Inline;

private

   Line : constant := 128;
   --  The size of a cache line in bytes. Like the atomic counter, each of these counters has its
   --  own cache lines.

   type Volatile_Counter is limited record
      Total : Unsigned_64 := 0 with Volatile;
   end record
     with Alignment => Line;

   type Plain_Counter is limited record
      Total : Unsigned_64 := 0;
   end record
     with Alignment => Line;

   function Value (Self : Volatile_Counter) return Integer_64 is (Integer_64 (Self.Total));
   function Value (Self : Plain_Counter) return Integer_64 is (Integer_64 (Self.Total));

end Unsafe_Counters;
