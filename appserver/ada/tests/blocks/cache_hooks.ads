--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A clock that tests move, weights, times to live, and a listener that records removals

with Ada.Real_Time;
with Item_Caches;
with Tracked;

package Cache_Hooks is

   use Item_Caches.Caches;

   procedure Reset;
   --  Forgets all removals. The clock stays as it is.

   procedure Advance (Time : Milliseconds);

   procedure Set_Back (Time : Milliseconds);
   --  Lets the next operation read the clock like a task that was delayed after it had read it

   function Now return Natural;
   --  Returns the time of the clock in milliseconds

   function Clock return Ada.Real_Time.Time;

   function Weight_Of (Key : Integer; Element : Tracked.Item) return Natural;
   --  Returns the number of the element modulo 100

   function Time_Of (Key : Integer; Element : Tracked.Item) return Milliseconds;
   --  Returns the number of the element; Forever if it is 0

   type Removal is record
      Key, Number : Integer;
      Cause       : Removal_Cause;
   end record;

   type Removal_List is array (Positive range <>) of Removal;

   procedure Listen (Key : Integer; Element : Tracked.Item; Cause : Removal_Cause);
   --  Records a removal

   procedure Fail (Key : Integer; Element : Tracked.Item; Cause : Removal_Cause);
   --  Records a removal, and raises an exception

   procedure Sum_Up (Key : Integer; Element : Tracked.Item; Cause : Removal_Cause);
   --  Counts the removal, and adds up the numbers. Any number of tasks may call it concurrently.

   function Count return Natural;
   function Sum return Natural;
   --  Return the number of calls of Sum_Up since Reset, and the sum of their numbers

   function Removals return Removal_List;
   --  Returns the removals since the last call

end Cache_Hooks;
