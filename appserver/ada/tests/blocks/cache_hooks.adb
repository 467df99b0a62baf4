--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.Counters.Atomic;

package body Cache_Hooks is

   use type Ada.Real_Time.Time;

   Elapsed : Natural := 0;

   Max_Removals : constant := 10_000;

   Recorded : Removal_List (1 .. Max_Removals);
   Length   : Natural := 0;

   Counted, Summed : Appserver.Counters.Atomic.Counter;

   procedure Reset is
   begin
      Length := 0;
      Counted.Set (0);
      Summed.Set (0);
   end Reset;

   procedure Advance (Time : Milliseconds) is
   begin
      Elapsed := Elapsed + Natural (Time);
   end Advance;

   procedure Set_Back (Time : Milliseconds) is
   begin
      Elapsed := Elapsed - Natural (Time);
   end Set_Back;

   function Now return Natural is (Elapsed);

   function Clock return Ada.Real_Time.Time is
     (Ada.Real_Time.Time_Of (1_000, Ada.Real_Time.Time_Span_Zero)
      + Ada.Real_Time.Milliseconds (Elapsed));

   function Weight_Of (Key : Integer; Element : Tracked.Item) return Natural is
     (Tracked.Number (Element) mod 100);

   function Time_Of (Key : Integer; Element : Tracked.Item) return Milliseconds is
     (if Tracked.Number (Element) = 0 then Forever
      else Milliseconds (Tracked.Number (Element)));

   procedure Listen (Key : Integer; Element : Tracked.Item; Cause : Removal_Cause) is
   begin
      Length := Length + 1;
      Recorded (Length) := (Key, Tracked.Number (Element), Cause);
   end Listen;

   procedure Fail (Key : Integer; Element : Tracked.Item; Cause : Removal_Cause) is
   begin
      Listen (Key, Element, Cause);
      raise Program_Error with "as expected";
   end Fail;

   procedure Sum_Up (Key : Integer; Element : Tracked.Item; Cause : Removal_Cause) is
      pragma Unreferenced (Key, Cause);
   begin
      Counted.Increment;
      Summed.Add (Appserver.Counters.Integer_64 (Tracked.Number (Element)));
   end Sum_Up;

   function Count return Natural is (Natural (Counted.Value));

   function Sum return Natural is (Natural (Summed.Value));

   function Removals return Removal_List is
      Result : constant Removal_List := Recorded (1 .. Length);
   begin
      Length := 0;
      return Result;
   end Removals;

end Cache_Hooks;
