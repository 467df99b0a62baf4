--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Hooks for tests of caches: a clock that tests set, weights, times to live, and a listener that
--  records removals

with Ada.Real_Time;
with Item_Caches;
with Tracked;

package Cache_Hooks is

   use Item_Caches.Caches;

   procedure Reset;
   --  Clears the recorded removals and the counts of Sum_Up. Does not reset the clock.

   procedure Advance (Time : Milliseconds);

   procedure Set_Back (Time : Milliseconds);
   --  Sets the clock back by Time. The next operation then runs as if its task had been delayed
   --  after it read the clock.

   function Now return Natural;
   --  Returns the time of the test clock in milliseconds

   function Clock return Ada.Real_Time.Time;

   function Weight_Of (Key : Integer; Element : Tracked.Item) return Natural;
   --  Returns the number of the element modulo 100 as its weight

   function Time_Of (Key : Integer; Element : Tracked.Item) return Milliseconds;
   --  Returns the number of the element as its time to live in milliseconds; Forever if the number
   --  is 0

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
   --  Counts a removal, and adds the element's number to the sum. Any number of tasks may call this
   --  procedure concurrently.

   function Count return Natural;
   --  Returns the number of calls to Sum_Up since Reset

   function Sum return Natural;
   --  Returns the sum of the numbers of the elements that Sum_Up has received since Reset

   function Removals return Removal_List;
   --  Returns the removals that were recorded since the last call of this function

end Cache_Hooks;
