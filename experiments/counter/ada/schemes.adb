--  SPDX-License-Identifier: Apache-2.0

with Ada.Unchecked_Deallocation;
with Appserver.Counters.Atomic;
with Appserver.Counters.Locked;
with Appserver.Counters.Striped;
with Counter_Loops;
with Unsafe_Counters;

package body Schemes is

   package Counters renames Appserver.Counters;

   package Unsafe_Loops is new Counter_Loops
     (Unsafe_Counters.Volatile_Counter, Unsafe_Counters.Increment, Unsafe_Counters.Value,
      Safe => False);

   package Unsafe_Plain_Loops is new Counter_Loops
     (Unsafe_Counters.Plain_Counter, Unsafe_Counters.Increment, Unsafe_Counters.Value,
      Safe => False);

   package Atomic_Loops is new Counter_Loops
     (Counters.Atomic.Counter, Counters.Atomic.Increment, Counters.Atomic.Value, Safe => True);

   package Lock_Loops is new Counter_Loops
     (Counters.Locked.Counter, Counters.Locked.Increment, Counters.Locked.Value, Safe => True);

   package Striped_Loops is new Counter_Loops
     (Counters.Striped.Counter, Counters.Striped.Increment, Counters.Striped.Value,
      Safe => True);

   function New_Counter (Kind : Scheme) return not null Counter_Reference is
     (case Kind is
         when Unsafe       => new Unsafe_Loops.Counter,
         when Unsafe_Plain => new Unsafe_Plain_Loops.Counter,
         when Atomic       => new Atomic_Loops.Counter,
         when Lock         => new Lock_Loops.Counter,
         when Striped      => new Striped_Loops.Counter);

   procedure Deallocate is new Ada.Unchecked_Deallocation
     (Shared_Counter'Class, Counter_Reference);

   procedure Free (Self : in out Counter_Reference) is
   begin
      Deallocate (Self);
   end Free;

end Schemes;
