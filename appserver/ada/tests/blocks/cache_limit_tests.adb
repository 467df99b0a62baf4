--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Numerics.Discrete_Random;
with Ada.Numerics.Long_Elementary_Functions;
with Appserver;
with Appserver.Counters.Atomic;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Cache_Hooks;
with Interfaces;
with Parallel;
with Stress_Time;
with Tracked;

package body Cache_Limit_Tests is

   use AUnit.Assertions;
   use Cache_Hooks;
   use Item_Caches.Caches;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   Live_Before : Integer;

   overriding procedure Set_Up (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Live_Before := Tracked.Live;
      Cache_Hooks.Reset;
   end Set_Up;

   procedure Expect_Nothing_Left is
   begin
      if Has_Task then
         Tracked.Await_Live (Live_Before);
      end if;
      Assert (Tracked.Live = Live_Before, "left:" & Integer'Image (Tracked.Live - Live_Before));
      Assert (Tracked.Failures = 0, "used after it was freed:" & Tracked.Failures'Image);
   end Expect_Nothing_Left;

   Missing : constant := -1;

   function Found (Self : in out Cache'Class; Key : Integer) return Integer is
      Item     : Tracked.Item;
      Is_Found : Boolean;
   begin
      Self.Get (Key, Item, Is_Found);
      return (if Is_Found then Tracked.Number (Item) else Missing);
   end Found;

   procedure Put (Self : in out Cache'Class; Key, Number : Integer) is
   begin
      Self.Put (Key, Tracked.New_Item (Number));
   end Put;

   procedure Expect_Removals (Expected : Removal_List; Text : String) is
      Actual : constant Removal_List := Removals;
   begin
      Assert (Actual = Expected, Text & ":" & Actual'Image);
   end Expect_Removals;

   Hooks : constant Cache_Options :=
     (Clock => Clock'Access, Listener => Listen'Access, others => <>);

   Weighed : constant Cache_Options := (Hooks with delta Weigher => Weight_Of'Access);

   --------------
   -- Eviction --
   --------------

   procedure Scanned (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Cache (Capacity => 100, Time_To_Live => Forever);
   begin
      for Key in 1 .. 50 loop
         Put (Map, Key, Key);
         Assert (Found (Map, Key) = Key and then Found (Map, Key) = Key, "put");
      end loop;
      for Key in 1_000 .. 2_000 loop
         Put (Map, Key, Key);
      end loop;
      Assert
        ((for all Key in 1 .. 50 => Found (Map, Key) = Key),
         "a scan does not evict keys that are read");
      Assert (Map.Length = 100, "length:" & Map.Length'Image);
   end Scanned;

   procedure Returns (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Cache (Capacity => 20, Time_To_Live => Forever);
   begin
      for Key in 0 .. 20 loop
         Put (Map, Key, Key);
      end loop;
      Assert (Found (Map, 0) = Missing, "evicted");
      Put (Map, 0, 0);
      for Key in 1_000 .. 1_100 loop
         Put (Map, Key, Key);
      end loop;
      Assert (Found (Map, 0) = 0, "a key that is put again stays");
      Assert (Found (Map, 20) = Missing, "keys that were put once do not stay");
   end Returns;

   --  The expected hits are the result of S3-FIFO in benches/cache_hit_rates.py, which remembers
   --  evictions exactly

   procedure Hit_Rates (T : in out Fixture) is
      pragma Unreferenced (T);
      use Ada.Numerics.Long_Elementary_Functions;
      use Interfaces;

      function Load (Key : Integer) return Tracked.Item is (Tracked.New_Item (Key));

      procedure Request (Map : in out Cache; Key : Integer) is
      begin
         Assert (Tracked.Number (Map.Get_Or_Load (4 * Key, Load'Access)) = 4 * Key, "loaded");
      end Request;

      procedure Expect (Map : Cache; Rate : Float; Text : String) is
         Statistics : constant Cache_Statistics := Map.Statistics;
         Actual     : constant Float :=
           Float (Statistics.Hits) / Float (Statistics.Hits + Statistics.Misses);
      begin
         Assert (abs (Actual - Rate) < 0.03, Text & ":" & Actual'Image);
      end Expect;

      Options : constant Cache_Options := (Records_Statistics => True, others => <>);
      Looped  : Cache (Capacity => 100, Time_To_Live => Forever);
      Scans   : Cache (Capacity => 100, Time_To_Live => Forever);
      State   : Unsigned_64 := 1;
      Drawn   : Long_Float;
   begin
      Looped.Configure (Options);
      for Turn in 0 .. 19_999 loop
         Request (Looped, Turn mod 125);
      end loop;
      Expect (Looped, 0.64, "a loop");
      Scans.Configure (Options);
      for Turn in 0 .. 39_999 loop
         if Turn / 200 mod 2 = 1 then
            Request (Scans, 1_000_000 + Turn);
         else
            State := State * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407;
            Drawn := Long_Float (Shift_Right (State, 11)) / 2.0 ** 53;
            Request (Scans, Integer (Long_Float'Floor (2_000.0 ** Drawn)));
         end if;
      end loop;
      Expect (Scans, 0.28, "scans");
   end Hit_Rates;

   -------------
   -- Weights --
   -------------

   procedure Weights (T : in out Fixture) is
      pragma Unreferenced (T);
      package Random_Numbers is new Ada.Numerics.Discrete_Random (Natural);
      Source : Random_Numbers.Generator;
      Map    : Cache (Capacity => 100, Time_To_Live => Forever);
      Sum    : Natural := 0;
   begin
      Map.Configure ((Weigher => Weight_Of'Access, others => <>));
      Random_Numbers.Reset (Source, 1);
      for Turn in 1 .. 2_000 loop
         Put
           (Map, Random_Numbers.Random (Source) mod 40, Random_Numbers.Random (Source) mod 60);
         Assert (Found (Map, Random_Numbers.Random (Source) mod 40) in Missing .. 59, "read");
         Assert (Map.Weight <= 100, "weight:" & Map.Weight'Image);
      end loop;
      for Key in 0 .. 39 loop
         Sum := Sum + Integer'Max (0, Found (Map, Key));
      end loop;
      Assert (Map.Weight = Sum, "weight" & Map.Weight'Image & " for" & Sum'Image);
      Map.Clear;
      Assert (Map.Weight = 0, "cleared");
      Expect_Nothing_Left;
   end Weights;

   procedure Too_Heavy (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Cache (Capacity => 10, Time_To_Live => Forever);

      function Load (Key : Integer with Unreferenced) return Tracked.Item is
        (Tracked.New_Item (20));
   begin
      Map.Configure (Weighed);
      Put (Map, 1, 4);
      Put (Map, 2, 6);
      Put (Map, 2, 11);
      Assert
        (Found (Map, 2) = Missing and then Found (Map, 1) = 4,
         "an element that is too heavy is not stored");
      Expect_Removals ([(2, 6, Replaced), (2, 11, Size)], "the replaced element is removed, too");
      Assert (Tracked.Number (Map.Get_Or_Load (3, Load'Access)) = 20, "loaded");
      Assert (Found (Map, 3) = Missing, "an element that is too heavy is not stored");
      Expect_Removals ([(3, 20, Size)], "reported");
      Put (Map, 4, 0);
      Put (Map, 5, 10);
      Assert (Found (Map, 4) = 0, "an element without weight is stored");
      Expect_Removals ([(1, 4, Size)], "evicted");
      Assert (Map.Weight = 10 and then Map.Length = 2, "weight:" & Map.Weight'Image);
   end Too_Heavy;

   procedure Gets_Heavier (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Cache (Capacity => 10, Time_To_Live => Forever);
   begin
      Map.Configure (Weighed);
      for Key in 1 .. 3 loop
         Put (Map, Key, 3);
      end loop;
      Put (Map, 1, 7);
      Assert (Found (Map, 1) = 7 and then Found (Map, 3) = 3, "other entries are evicted");
      Assert (Found (Map, 2) = Missing and then Map.Weight = 10, "weight:" & Map.Weight'Image);
   end Gets_Heavier;

   ------------
   -- Expiry --
   ------------

   procedure Own_Time_To_Live (T : in out Fixture) is
      pragma Unreferenced (T);
      Map   : Cache (Capacity => Unlimited, Time_To_Live => 10);
      Plain : Cache;
   begin
      Map.Configure (Hooks);
      Put (Map, 1, 1);
      Map.Put (2, Tracked.New_Item (2), Time_To_Live => 3);
      Map.Put (3, Tracked.New_Item (3), Time_To_Live => 1_000_000);
      Advance (3);
      Assert
        (Found (Map, 2) = Missing and then Found (Map, 1) = 1,
         "the entry with its own, shorter time to live has expired");
      Advance (7);
      Assert
        (Found (Map, 1) = Missing and then Found (Map, 3) = 3,
         "the entry with the default time to live has expired");
      Map.Remove_Expired;
      Assert (Map.Length = 1, "length:" & Map.Length'Image);
      Expect_Removals ([(1, 1, Expired), (2, 2, Expired)], "both");
      Advance (999_989);
      Assert (Found (Map, 3) = 3, "the entry has not expired yet");
      Advance (1);
      Assert (Found (Map, 3) = Missing, "the entry with the longest time to live has expired");
      Put (Map, 4, 4);
      Assert (Map.Length = 1, "a put frees the expired entry:" & Map.Length'Image);
      Put (Plain, 1, 1);
      Plain.Put (2, Tracked.New_Item (2), Time_To_Live => 5);
      delay 0.02;
      Assert (Found (Plain, 1) = 1 and then Found (Plain, 2) = Missing, "a cache without options");
      Plain.Remove_Expired;
      Assert (Plain.Length = 1, "length:" & Plain.Length'Image);
   end Own_Time_To_Live;

   --  A task reads the clock, and then waits for other tasks that write. The rounds begin at
   --  different times, because elements are scheduled by the bits of their times.

   procedure Delayed_Writers (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      for Round in 1 .. 200 loop
         declare
            Map : Cache;
         begin
            Map.Configure (Hooks);
            Advance (Milliseconds (1_000 + Round));
            Map.Put (1, Tracked.New_Item (1), Time_To_Live => 50);
            Advance (40);
            Map.Put (2, Tracked.New_Item (2), Time_To_Live => 500);
            Advance (20);
            Map.Put (3, Tracked.New_Item (3), Time_To_Live => 1_000);
            Set_Back (40);
            Map.Put (4, Tracked.New_Item (4), Time_To_Live => 10);
            Map.Put (5, Tracked.New_Item (5), Time_To_Live => 1_000);
            Advance (40);
            Assert (Found (Map, 4) = Missing, "expired");
            Assert ((for all Key in 2 .. 3 => Found (Map, Key) = Key), "kept");
            Assert (Found (Map, 5) = 5, "the last element that was put");
         end;
      end loop;
   end Delayed_Writers;

   procedure Time_Of_Element (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Cache;

      function Load (Key : Integer with Unreferenced) return Tracked.Item is
        (Tracked.New_Item (7));
   begin
      Map.Configure ((Hooks with delta Time_To_Live_Of => Time_Of'Access));
      Put (Map, 1, 5);
      Assert (Tracked.Number (Map.Get_Or_Load (2, Load'Access)) = 7, "loaded");
      Put (Map, 3, 0);
      Advance (5);
      Assert (Found (Map, 1) = Missing and then Found (Map, 2) = 7, "after 5");
      Advance (2);
      Assert (Found (Map, 2) = Missing, "after 7");
      Advance (1_000_000);
      Assert (Found (Map, 3) = 0, "forever");
      Put (Map, 4, 1);
      Assert (Map.Length = 2, "length:" & Map.Length'Image);
   end Time_Of_Element;

   procedure After_Access (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Cache (Capacity => Unlimited, Time_To_Live => 100);
   begin
      Map.Configure ((Hooks with delta Expire_After_Access => 10));
      Put (Map, 1, 1);
      Put (Map, 2, 2);
      for Turn in 1 .. 11 loop
         Advance (9);
         Assert (Found (Map, 1) = 1, "an entry that is read stays");
      end loop;
      Assert (Found (Map, 2) = Missing, "an entry that is not read expires");
      Advance (1);
      Assert (Found (Map, 1) = Missing, "the time to live has passed");
      Map.Remove_Expired;
      Assert (Map.Length = 0, "length:" & Map.Length'Image);
      for Key in 1 .. 1_000 loop
         Put (Map, Key, Key);
      end loop;
      Advance (9);
      for Key in 901 .. 1_000 loop
         Assert (Found (Map, Key) = Key, "read");
      end loop;
      Advance (1);
      Put (Map, 1_001, 1_001);
      Assert (Map.Length = 101, "a put frees the other entries:" & Map.Length'Image);
   end After_Access;

   ---------------
   -- Refreshes --
   ---------------

   Failed : exception;

   procedure Refreshed (T : in out Fixture) is
      pragma Unreferenced (T);
      Map   : Cache;
      Loads : Natural := 0;

      function Load (Key : Integer with Unreferenced) return Tracked.Item is
      begin
         Loads := Loads + 1;
         return Tracked.New_Item (Loads);
      end Load;

      function Fail (Key : Integer) return Tracked.Item is
        (raise Failed with Key'Image);

      procedure Expect (Number : Integer; Text : String) is
      begin
         Assert (Tracked.Number (Map.Get_Or_Load (1, Load'Access)) = Number, Text);
      end Expect;
   begin
      Map.Configure ((Hooks with delta Refresh_After_Write => 10));
      Expect (1, "loaded");
      Advance (9);
      Expect (1, "the refresh is not due");
      Advance (1);
      Assert (Found (Map, 1) = 1, "Get does not load");
      Expect (2, "refreshed");
      Expect (2, "the next refresh is not due");
      Expect_Removals ([(1, 1, Replaced)], "replaced");
      Advance (10);
      Assert
        (Tracked.Number (Map.Get_Or_Load (1, Fail'Access)) = 2,
         "a failed refresh keeps the element");
      Advance (9);
      Expect (2, "the next attempt is not due");
      Advance (1);
      Expect (3, "refreshed again");
   end Refreshed;

   procedure Refreshed_By_One (T : in out Fixture) is
      pragma Unreferenced (T);
      Map        : Cache;
      Is_Loading : Boolean := False with Atomic;
      Goes_On    : Boolean := False with Atomic;

      function Load_Slowly (Key : Integer with Unreferenced) return Tracked.Item is
      begin
         Is_Loading := True;
         while not Goes_On loop
            delay 0.001;
         end loop;
         return Tracked.New_Item (2);
      end Load_Slowly;

      function Load (Key : Integer with Unreferenced) return Tracked.Item is
        (Tracked.New_Item (3));

      procedure Refresh (Key : Integer; Is_Removed : Boolean) is
         Seen, Got : Integer := 0 with Atomic;

         task type Refresher;

         task body Refresher is
         begin
            Got := Tracked.Number (Map.Get_Or_Load (Key, Load_Slowly'Access));
         exception
            when others => Got := Missing;
         end Refresher;
      begin
         Is_Loading := False;
         Goes_On := False;
         declare
            First : Refresher with Unreferenced;
         begin
            while not Is_Loading loop
               delay 0.001;
            end loop;
            Seen := Tracked.Number (Map.Get_Or_Load (Key, Load'Access));
            if Is_Removed then
               Map.Remove (Key);
            end if;
            Goes_On := True;
         end;
         Assert (Seen = 1, "other tasks get the current element:" & Seen'Image);
         Assert (Got in 1 .. 2, "the loading task gets" & Got'Image);
         Assert
           (Found (Map, Key) = (if Is_Removed then Missing else 2),
            "the cache has" & Integer'Image (Found (Map, Key)));
      end Refresh;
   begin
      Map.Configure ((Clock => Clock'Access, Refresh_After_Write => 10, others => <>));
      Put (Map, 1, 1);
      Put (Map, 2, 1);
      Advance (10);
      Refresh (1, Is_Removed => False);
      Refresh (2, Is_Removed => True);
   end Refreshed_By_One;

   ------------------------------
   -- Listeners and statistics --
   ------------------------------

   procedure Causes (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      declare
         Map     : Cache (Capacity => 2, Time_To_Live => 10);
         Failing : Cache;
      begin
         Map.Configure (Hooks);
         Put (Map, 1, 1);
         Put (Map, 1, 2);
         Expect_Removals ([(1, 1, Replaced)], "put");
         Map.Remove (1);
         Map.Remove (1);
         Expect_Removals ([(1, 2, Explicit)], "removed");
         Put (Map, 1, 3);
         Put (Map, 2, 4);
         Put (Map, 3, 5);
         Expect_Removals ([(1, 3, Size)], "evicted");
         Advance (10);
         Map.Remove (2);
         Expect_Removals ([(2, 4, Expired)], "removed after it expired");
         Put (Map, 4, 6);
         Expect_Removals ([(3, 5, Expired)], "expired");
         Map.Clear;
         Expect_Removals ([(4, 6, Explicit)], "cleared");
         Failing.Configure ((Listener => Fail'Access, others => <>));
         Put (Failing, 1, 1);
         Put (Failing, 1, 2);
         Assert (Found (Failing, 1) = 2, "an exception of the listener is ignored");
         Expect_Removals ([(1, 1, Replaced)], "the listener is called");
         Put (Map, 5, 7);
      end;
      Expect_Removals ([1 .. 0 => <>], "the listener is not called when the cache is finalized");
      Expect_Nothing_Left;
   end Causes;

   procedure Counts (T : in out Fixture) is
      pragma Unreferenced (T);
      Map    : Cache (Capacity => 10, Time_To_Live => 10);
      Silent : Cache;
      Item   : Tracked.Item;

      function Load (Key : Integer with Unreferenced) return Tracked.Item is
        (Tracked.New_Item (4));

      function Fail (Key : Integer) return Tracked.Item is
        (raise Failed with Key'Image);
   begin
      Map.Configure ((Weighed with delta Records_Statistics => True));
      Assert (Found (Map, 1) = Missing, "a miss");
      Item := Map.Get_Or_Load (1, Load'Access);
      Item := Map.Get_Or_Load (1, Load'Access);
      begin
         Item := Map.Get_Or_Load (2, Fail'Access);
         Assert (False, "no exception" & Tracked.Number (Item)'Image);
      exception
         when Failed => null;
      end;
      Put (Map, 2, 4);
      Put (Map, 3, 3);
      Advance (10);
      Assert (Found (Map, 2) = Missing, "expired");
      Map.Remove_Expired;
      Assert
        (Map.Statistics =
           (Hits => 1, Misses => 4, Loads => 1, Load_Failures => 1, Evictions => 1,
            Evicted_Weight => 4, Expirations => 2),
         Map.Statistics'Image);
      Put (Silent, 1, 1);
      Assert
        (Found (Silent, 1) = 1 and then Silent.Statistics.Hits = 0, "statistics are not enabled");
   end Counts;

   procedure Configured_Late (T : in out Fixture) is
      pragma Unreferenced (T);
      Map  : Cache;
      Once : Cache;

      procedure Expect_Misuse (Self : in out Cache) is
      begin
         Self.Configure (Hooks);
         Assert (False, "no exception");
      exception
         when Appserver.Misuse_Error => null;
      end Expect_Misuse;
   begin
      Put (Map, 1, 1);
      Expect_Misuse (Map);
      Once.Configure (Hooks);
      Expect_Misuse (Once);
   end Configured_Late;

   --  Tasks put, load, refresh and remove: each element is reported once

   procedure Reported_Once (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Round is
         Turns : constant := 300;
         Tasks : constant := 4;
         Loads : Appserver.Counters.Atomic.Counter;
         Map   : Cache (Capacity => 300, Time_To_Live => 5);

         function Load (Key : Integer) return Tracked.Item is
         begin
            Loads.Increment;
            return Tracked.New_Item (if Key mod 2 = 0 then 0 else 100_000);
         end Load;

         procedure Work (Number : Positive) is
            Key : Integer;
         begin
            for Turn in 1 .. Turns loop
               Key := (Turn * (2 * Number + 1)) mod 50;
               Put (Map, Key, Turn);
               Assert (Found (Map, Key) in Missing .. 100_000, "an element that was put");
               Assert (Tracked.Number (Map.Get_Or_Load (Key, Load'Access)) >= 0, "loaded");
               if Turn mod 7 = 0 then
                  Map.Remove (Key);
               end if;
               Assert (Map.Weight <= 300, "weight:" & Map.Weight'Image);
            end loop;
         end Work;

         Sums : constant Natural := Tasks * (Turns * (Turns + 1) / 2);
      begin
         Cache_Hooks.Reset;
         Map.Configure
           ((Refresh_After_Write => 1,
             Weigher             => Weight_Of'Access,
             Listener            => Sum_Up'Access,
             others              => <>));
         Parallel.Run (Tasks, Work'Access);
         Map.Clear;
         Assert (Cache_Hooks.Sum mod 100_000 = Sums mod 100_000, "sum:" & Cache_Hooks.Sum'Image);
         Assert
           (Cache_Hooks.Count in Tasks * Turns .. Tasks * Turns + Natural (Loads.Value),
            "count:" & Cache_Hooks.Count'Image);
      end Round;
   begin
      Stress_Time.Repeat (Round'Access);
      Expect_Nothing_Left;
   end Reported_Once;

   -----------
   -- Model --
   -----------

   --  Random operations on a cache and on a simple model: both contain the same entries, and each
   --  element is reported once, with the right cause

   procedure Like_Model (T : in out Fixture) is
      pragma Unreferenced (T);

      package Random_Numbers is new Ada.Numerics.Discrete_Random (Natural);

      Source : Random_Numbers.Generator;

      function Drawn (Bound : Positive) return Natural is
        (Random_Numbers.Random (Source) mod Bound);

      Turns : constant := 400;

      type Item_State is record
         Key      : Integer := 0;
         Is_There : Boolean := False;
         Deadline : Natural := Natural'Last;
         Accessed : Natural := 0;
      end record;

      subtype Key_Range is Integer range 0 .. 39;

      procedure Round (Capacity : Positive; Time_To_Live, Idle : Milliseconds) is
         Map      : Cache (Capacity, Time_To_Live);
         Items    : array (0 .. Turns) of Item_State;
         Current  : array (Key_Range) of Integer := [others => Missing];
         Next     : Natural := 0;
         Weight   : Natural := 0;
         Count    : Natural := 0;
         Expected : Cache_Statistics;

         function Is_Expired (Item : Item_State) return Boolean is
           (Item.Deadline <= Now
            or else (Idle /= Forever and then Item.Accessed + Natural (Idle) <= Now));

         procedure Add (Key : Key_Range; Time : Milliseconds) is
         begin
            Items (Next) :=
              (Key      => Key,
               Is_There => True,
               Deadline => (if Time = Forever then Natural'Last else Now + Natural (Time)),
               Accessed => Now);
            Current (Key) := Next;
            Weight := Weight + Next mod 100;
            Count := Count + 1;
            Next := Next + 1;
         end Add;

         procedure Check_Removals (Is_Removed : Integer := Missing) is
         begin
            for Removal of Removals loop
               declare
                  Item : Item_State renames Items (Removal.Number);
               begin
                  Assert
                    (Item.Is_There and then Item.Key = Removal.Key, "an element is removed once");
                  Item.Is_There := False;
                  Weight := Weight - Removal.Number mod 100;
                  Count := Count - 1;
                  case Removal.Cause is
                     when Expired  =>
                        Assert (Is_Expired (Item), "the removed element has expired");
                        Expected.Expirations := Expected.Expirations + 1;
                     when Replaced => Assert (Current (Item.Key) /= Removal.Number, "replaced");
                     when Explicit => Assert (Is_Removed in Item.Key | -2, "removed");
                     when Size     =>
                        Assert (Capacity /= Unlimited, "evicted");
                        Expected.Evictions := Expected.Evictions + 1;
                        Expected.Evicted_Weight :=
                          Expected.Evicted_Weight + Event_Count (Removal.Number mod 100);
                  end case;
                  if Current (Item.Key) = Removal.Number then
                     Current (Item.Key) := Missing;
                  end if;
               end;
            end loop;
            Assert (Map.Length = Count, "length" & Map.Length'Image & Count'Image);
            Assert (Map.Weight = Weight, "weight" & Map.Weight'Image & Weight'Image);
            Assert (Weight <= Capacity, "the entries are too heavy");
         end Check_Removals;

         function Is_There (Key : Key_Range) return Boolean is
           (Current (Key) /= Missing and then not Is_Expired (Items (Current (Key))));

         procedure Check_Read (Key : Key_Range; Number : Integer) is
         begin
            if Is_There (Key) then
               Assert (Number = Current (Key), "found" & Number'Image);
               Items (Current (Key)).Accessed := Now;
               Expected.Hits := Expected.Hits + 1;
            else
               Assert (Number = Missing, "found" & Number'Image);
               Expected.Misses := Expected.Misses + 1;
            end if;
         end Check_Read;

         function Load (Key : Integer) return Tracked.Item is
         begin
            Assert (not Is_There (Key), "a load of a key that is in the cache");
            Expected.Loads := Expected.Loads + 1;
            Add (Key, Time_To_Live);
            return Tracked.New_Item (Next - 1);
         end Load;

         procedure Step (Key : Key_Range) is
            Own : constant Milliseconds := Milliseconds (2 ** Drawn (18));
         begin
            case Drawn (11) is
               when 0 .. 1 =>
                  Add (Key, Time_To_Live);
                  Put (Map, Key, Next - 1);
               when 2 =>
                  Add (Key, Own);
                  Map.Put (Key, Tracked.New_Item (Next - 1), Own);
               when 3 =>
                  Current (Key) := Missing;
                  Map.Remove (Key);
                  Check_Removals (Is_Removed => Key);
               when 4 => Map.Remove_Expired;
               when 5 .. 7 =>
                  declare
                     Was_There : constant Boolean := Is_There (Key);
                     Number    : constant Integer :=
                       Tracked.Number (Map.Get_Or_Load (Key, Load'Access));
                  begin
                     if Was_There then
                        Check_Read (Key, Number);
                     else
                        Assert (Number = Next - 1, "loaded");
                        Expected.Misses := Expected.Misses + 1;
                     end if;
                  end;
               when others => Check_Read (Key, Found (Map, Key));
            end case;
            Check_Removals;
         end Step;
      begin
         Map.Configure
           ((Weighed with delta Expire_After_Access => Idle, Records_Statistics => True));
         for Turn in 1 .. Turns loop
            if Drawn (4) = 0 then
               Advance (Milliseconds (2 ** Drawn (10)));
            end if;
            Step (Drawn (40));
         end loop;
         Current := [others => Missing];
         Map.Clear;
         Check_Removals (Is_Removed => -2);
         Assert (Count = 0, "all removals are reported:" & Count'Image);
         Assert (Map.Statistics = Expected, Map.Statistics'Image & Expected'Image);
      end Round;
   begin
      Random_Numbers.Reset (Source, 1);
      for Turn in 1 .. 40 loop
         Round
           (Capacity     => (if Turn mod 5 = 0 then Unlimited else 20 + 17 * Turn),
            Time_To_Live =>
              (if Turn mod 2 = 0 then Forever else Milliseconds (2 ** (Turn mod 18))),
            Idle         =>
              (if Turn mod 3 = 0 then Forever else Milliseconds (2 ** (Turn mod 15))));
      end loop;
      Expect_Nothing_Left;
   end Like_Model;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Name & " cache: " & Text, Test));
      end Add;
   begin
      Add ("a scan", Scanned'Access);
      Add ("a key that is put again", Returns'Access);
      Add ("hit rates", Hit_Rates'Access);
      Add ("weights", Weights'Access);
      Add ("entries that are too heavy", Too_Heavy'Access);
      Add ("a heavier element", Gets_Heavier'Access);
      Add ("entries with their own times to live", Own_Time_To_Live'Access);
      Add ("delayed writers", Delayed_Writers'Access);
      Add ("times to live of elements", Time_Of_Element'Access);
      Add ("expiry after the last read", After_Access'Access);
      Add ("refreshes", Refreshed'Access);
      Add ("one task refreshes", Refreshed_By_One'Access);
      Add ("causes", Causes'Access);
      Add ("statistics", Counts'Access);
      Add ("each removal is reported once", Reported_Once'Access);
      Add ("configured too late", Configured_Late'Access);
      Add ("random operations", Like_Model'Access);
      return Result;
   end Suite;

end Cache_Limit_Tests;
