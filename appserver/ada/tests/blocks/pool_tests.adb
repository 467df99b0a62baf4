--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Exceptions;
with Ada.Real_Time;
with Appserver.Counters.Atomic;
with Appserver.Pools;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Await;
with Failing_Threads;
with Interfaces;
with Parallel;
with Stress_Time;

package body Pool_Tests is

   use Appserver.Counters;
   use AUnit.Assertions;
   use type Interfaces.Integer_64;
   use type Interfaces.Unsigned_64;

   Failed : exception;

   --  The effects of the hooks, and the number of calls of each. A resource records whether it is
   --  in use.

   type Device is limited record
      Is_Open : Boolean := False;
      Holders : Atomic.Counter;
   end record;

   Opens, Closes, Resets, Misuses : Atomic.Counter;
   --  Misuses counts calls to Open for an open device, and of other hooks for a closed device

   Begun : Atomic.Counter;
   --  Counts calls to Open, including calls that have not returned

   Open_Fails, Reset_Fails, Is_Broken, Is_Silent, Probes : Boolean := False with Atomic;
   --  Is_Silent means that Open does not return, and Probes that Probe gets no response in time

   Probe_Time  : constant Duration := 0.05;
   Probed_With : Duration := 0.0;
   --  The timeout of the last call to Probe. A probe without a response waits for this time, but at
   --  most for Probe_Time, so that the tests can have long timeouts.

   procedure Open (Item : in out Device);
   procedure Close (Item : in out Device);
   procedure Validate (Item : in out Device; Is_Valid : in out Boolean);
   procedure Reset (Item : in out Device);
   procedure Probe
     (Item : in out Device; Timeout : Duration; Is_Valid : in out Boolean);

   type Hook is (In_Open, In_Close, In_Validate, In_Probe, In_Reset);

   --  Blocks a task in one call of a hook until it is released

   protected Trap is
      procedure Set (Hook : Pool_Tests.Hook; Call : Positive);
      procedure Enter (Hook : Pool_Tests.Hook; Is_Caught : out Boolean);
      function Has_Caught return Boolean;
      procedure Release;
   private
      Watched : Pool_Tests.Hook := In_Open;
      Calls   : Natural := 0;
      --  The number of calls before the call that blocks
      Caught  : Boolean := False;
   end Trap;

   protected body Trap is

      procedure Set (Hook : Pool_Tests.Hook; Call : Positive) is
      begin
         Watched := Hook;
         Calls   := Call;
         Caught  := False;
      end Set;

      procedure Enter (Hook : Pool_Tests.Hook; Is_Caught : out Boolean) is
      begin
         Is_Caught := False;
         if Hook = Watched and then Calls > 0 then
            Calls     := Calls - 1;
            Is_Caught := Calls = 0;
            Caught    := Is_Caught;
         end if;
      end Enter;

      function Has_Caught return Boolean is (Caught);

      procedure Release is
      begin
         Calls  := 0;
         Caught := False;
      end Release;

   end Trap;

   procedure Visit (Hook : Pool_Tests.Hook; Is_Misuse : Boolean) is
      Is_Caught : Boolean;
   begin
      if Is_Misuse then
         Misuses.Increment;
      end if;
      Trap.Enter (Hook, Is_Caught);
      while Is_Caught and then Trap.Has_Caught loop
         delay 0.001;
      end loop;
   end Visit;

   procedure Open (Item : in out Device) is
   begin
      Begun.Increment;
      Visit (In_Open, Is_Misuse => Item.Is_Open);
      if Item.Is_Open or else Open_Fails then
         raise Failed;
      end if;
      while Is_Silent loop
         delay 0.001;
      end loop;
      Item.Is_Open := True;
      Opens.Increment;
   end Open;

   procedure Close (Item : in out Device) is
   begin
      Visit (In_Close, Is_Misuse => not Item.Is_Open);
      Item.Is_Open := False;
      Closes.Increment;
   end Close;

   procedure Validate (Item : in out Device; Is_Valid : in out Boolean) is
   begin
      Visit (In_Validate, Is_Misuse => not Item.Is_Open);
      Is_Valid := Is_Valid and then Item.Is_Open and then not Is_Broken;
   end Validate;

   procedure Probe
     (Item : in out Device; Timeout : Duration; Is_Valid : in out Boolean) is
   begin
      Visit (In_Probe, Is_Misuse => not Item.Is_Open);
      Probed_With := Timeout;
      if Probes then
         delay Duration'Min (Timeout, Probe_Time);
         Is_Valid := False;
      elsif not Item.Is_Open then
         raise Failed;
      end if;
   end Probe;

   procedure Reset (Item : in out Device) is
   begin
      Resets.Increment;
      Visit (In_Reset, Is_Misuse => not Item.Is_Open);
      if Reset_Fails then
         raise Failed;
      end if;
   end Reset;

   package Devices is new Appserver.Pools (Device, Open, Close, Validate, Reset, Probe);
   use Devices;

   function Live return Integer_64 is (Opens.Value - Closes.Value);

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   overriding procedure Set_Up (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Open_Fails := False;
      Reset_Fails := False;
      Is_Broken := False;
      Is_Silent := False;
      Probes := False;
      Misuses.Set (0);
      Opens.Set (0);
      Begun.Set (0);
      Closes.Set (0);
      Resets.Set (0);
   end Set_Up;

   --------------
   -- One task --
   --------------

   procedure Leases (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (2);
   begin
      Assert
        (Pool.Size = 2 and then Opens.Value = 0, "resources are not opened before they are needed");
      declare
         First, Other : Lease (Pool'Access);
      begin
         First.Get;
         Assert (First.Is_Held and then First.Item.Is_Open, "open");
         Other.Get;
         Assert (Other.Item.Element /= First.Item.Element, "two leases have different resources");
         Assert (Pool.Statistics.In_Use = 2 and then Opens.Value = 2, "two resources are in use");
         Other.Release;
         Assert (not Other.Is_Held and then Resets.Value = 1, "released and reset");
         Other.Get;
         Assert (Opens.Value = 2, "the resource is not opened again");
      end;
      Assert
        (Pool.Statistics.In_Use = 0 and then Resets.Value = 3,
         "the end of the scope returned the resources");
      Assert (Pool.Statistics.Leases = 3 and then Pool.Statistics.Waits = 0, "figures");
      Pool.Close;
      Pool.Close;
      Assert
        (Closes.Value = 2 and then Pool.Statistics.Open = 0,
         "closing the pool closed the resources");
   end Leases;

   procedure Mistakes (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (2);
      Held : Lease (Pool'Access);

      procedure Expect_Error (Act : not null access procedure; Attempt : String) is
      begin
         Act.all;
         Assert (False, "no exception: " & Attempt);
      exception
         when Appserver.Misuse_Error =>
            null;
      end Expect_Error;

      procedure Release is
      begin
         Held.Release;
      end Release;

      procedure Discard is
      begin
         Held.Discard;
      end Discard;

      procedure Get is
      begin
         Held.Get;
      end Get;

      procedure Use_Item is
      begin
         Assert (not Held.Item.Is_Open, "unreachable");
      end Use_Item;

   begin
      Expect_Error (Release'Access, "release before Get");
      Expect_Error (Use_Item'Access, "use before Get");
      Held.Get;
      Expect_Error (Get'Access, "get twice");
      Held.Release;
      Expect_Error (Release'Access, "release twice");
      Expect_Error (Discard'Access, "discard after release");
      Expect_Error (Use_Item'Access, "use after release");
      Assert
        (Pool.Statistics.In_Use = 0 and then Pool.Statistics.Leases = 1,
         "misuse does not affect the pool");
   end Mistakes;

   procedure Hooks (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (1);
      Held : Lease (Pool'Access);
   begin
      Open_Fails := True;
      begin
         Held.Get;
         Assert (False, "unreachable");
      exception
         when Failed =>
            Assert
              (not Held.Is_Held and then Pool.Statistics.In_Use = 0, "the lease holds no resource");
      end;
      Open_Fails := False;
      Held.Get;
      Assert (Opens.Value = 1, "the next Get opens the resource");
      Held.Release;
      Is_Broken := True;
      Held.Get;
      Assert
        (Opens.Value = 2 and then Closes.Value = 1, "a resource that is not valid is opened again");
      Is_Broken := False;
      Reset_Fails := True;
      Held.Release;
      Assert
        (Closes.Value = 2 and then Pool.Statistics.In_Use = 0,
         "a resource that cannot be reset is closed");
      Reset_Fails := False;
      Held.Get;
      Assert (Opens.Value = 3, "the closed resource is opened again");
      Held.Discard;
      Assert (Closes.Value = 3 and then Resets.Value = 2, "a discarded resource is not reset");
   end Hooks;

   type Duration_List is array (Positive range <>) of Duration;

   procedure Times_Out (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool  : aliased Devices.Pool (1);
      First : Lease (Pool'Access);
   begin
      First.Get;
      for Timeout of Duration_List'(-1.0, 0.0, 0.01) loop
         declare
            Other : Lease (Pool'Access);
         begin
            Other.Get (Timeout);
            Assert (False, "unreachable");
         exception
            when Error : Pool_Timeout =>
               Assert
                 (Ada.Exceptions.Exception_Message (Error)
                  = "no resource became available within the timeout; the size of the pool is 1",
                  "message");
               Assert (not Other.Is_Held, "the lease holds no resource");
         end;
      end loop;
      First.Release;
      First.Get (Timeout => 0.0);
      Assert (Pool.Statistics.Timeouts = 3 and then Pool.Statistics.Waiting = 0, "figures");
   end Times_Out;

   --  Much longer than the timeouts in these tests, and much shorter than a hang

   Long_Time : constant Duration := 300.0;

   procedure Expect_Timeout (Held : in out Lease; Timeout : Duration) is
      use Ada.Real_Time;
      Start : constant Time := Clock;
   begin
      Held.Get (Timeout);
      Assert (False, "unreachable");
   exception
      when Pool_Timeout =>
         Assert (not Held.Is_Held, "the lease holds no resource");
         Assert (To_Duration (Clock - Start) < Long_Time, "Get returns in time");
   end Expect_Timeout;

   --  The timeout includes opening. A resource that was opened too late serves the next lease.

   procedure Opening_Hangs (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (2);
      Held : Lease (Pool'Access);

      function Is_Unused return Boolean is (Pool.Statistics.In_Use = 0);

   begin
      Is_Silent := True;
      Expect_Timeout (Held, 0.05);
      Expect_Timeout (Held, 0.05);
      Expect_Timeout (Held, 0.05);
      Assert (Pool.Statistics.Timeouts = 3, "timeouts:" & Pool.Statistics.Timeouts'Image);
      Is_Silent := False;
      Held.Get (Timeout => Long_Time);
      Assert (Held.Item.Is_Open, "open");
      Held.Release;
      Is_Broken := True;
      Held.Get (Timeout => Long_Time);
      Assert (Held.Item.Is_Open, "the resource was opened again");
      Held.Release;
      Is_Broken := False;
      Open_Fails := True;
      Held.Get (Timeout => Long_Time);
      Held.Discard;
      for Turn in 1 .. 10 loop
         begin
            Held.Get (Timeout => Long_Time);
            Held.Discard;
         exception
            when Failed => Assert (not Held.Is_Held, "the lease holds no resource");
         end;
      end loop;
      --  A resource that was opened too late becomes available when its task has finished
      Await (Is_Unused'Access, "all resources were returned");
      Pool.Close;
      Assert (Live = 0, "no resource is open");
   end Opening_Hangs;

   --  If no task can be created to open a resource, the pool does not lose the slot, and its
   --  finalization does not wait for the task. The idle tasks of other pools open some resources.

   procedure No_Task_To_Open (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool       : aliased Devices.Pool (200);
      Held       : Lease (Pool'Access);
      Opening    : Natural := 0;
      Has_Failed : Boolean := False;
      In_Use     : Natural;

      function Is_Unused return Boolean is (Pool.Statistics.In_Use = 0);

   begin
      Is_Silent := True;
      Failing_Threads.Allow_Threads (0);
      while not Has_Failed and then Opening < Pool.Capacity loop
         begin
            Held.Get (Timeout => 0.01);
         exception
            when Pool_Timeout                  => Opening := Opening + 1;
            when Storage_Error | Tasking_Error => Has_Failed := True;
         end;
      end loop;
      In_Use := Pool.Statistics.In_Use;
      Is_Silent := False;
      Failing_Threads.Allow_All_Threads;
      Assert (Has_Failed, "a task was created");
      Assert (not Held.Is_Held, "the lease holds no resource");
      Assert (In_Use = Opening, "in use:" & In_Use'Image & ", opening:" & Opening'Image);
      Await (Is_Unused'Access, "all resources were returned");
      Held.Get (Timeout => Long_Time);
      Assert (Held.Item.Is_Open, "open");
   end No_Task_To_Open;

   --  A pool may leave scope while resources are being opened: its finalization waits for them

   procedure Left_While_Opening (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Is_Silent := True;
      declare
         Pool : aliased Devices.Pool (1);
         Held : Lease (Pool'Access);

         task type Ender;

         task body Ender is
         begin
            delay 0.02;
            Is_Silent := False;
         end Ender;

         type Ender_Access is access Ender;
         Ignored : Ender_Access;
      begin
         Expect_Timeout (Held, 0.01);
         Ignored := new Ender;
      end;
      Assert (Opens.Value = 1 and then Live = 0, "the resource was opened and closed");
   end Left_While_Opening;

   --  A validation without a response leaves half of the time to open the resource again

   procedure Validation_Hangs (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (1);
      Held : Lease (Pool'Access);
   begin
      Held.Get;
      Held.Release;
      Probes := True;
      Held.Get (Timeout => Long_Time);
      Assert (Probed_With = Long_Time / 2, "the timeout of the probe:" & Probed_With'Image);
      Assert (Opens.Value = 2 and then Closes.Value = 1, "the resource was opened again");
      Held.Release;
      Is_Silent := True;
      Expect_Timeout (Held, 0.1);
      Is_Silent := False;
   end Validation_Hangs;

   --  A resource whose lease is aborted in Get has not been used, and may not be open

   procedure Aborted_In_Get (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (1);

      procedure Abort_While (Timeout : Duration) is
         task type Getter;

         task body Getter is
            Held : Lease (Pool'Access);
         begin
            Held.Get (Timeout);
         end Getter;

         Aborted : Getter;
      begin
         while Pool.Statistics.In_Use = 0 and then not Aborted'Terminated loop
            delay 0.000_1;
         end loop;
         abort Aborted;
         Is_Silent := False;
      end Abort_While;

      Held : Lease (Pool'Access);
   begin
      for Turn in 1 .. 3 loop
         Is_Silent := True;
         Abort_While (Timeout => Long_Time);
         Held.Get (Timeout => Long_Time);
         Held.Discard;
         --  A resource that is opened after the abort would be leased immediately
         Is_Silent := True;
         Abort_While (Timeout => Forever);
         Assert (Resets.Value = 0, "reset without having been used:" & Resets.Value'Image);
         Held.Get (Timeout => Long_Time);
         Held.Discard;
      end loop;
      Assert (Live = 0 and then Pool.Statistics.In_Use = 0, "closed");
   end Aborted_In_Get;

   --  A task is aborted in any call of a hook, during any operation of the pool

   procedure Aborted_In_Hooks (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Use_Pool (Pool : in out Devices.Pool; Timeout : Duration) is
         Held : Lease (Pool'Unchecked_Access);
      begin
         Held.Get (Timeout);
         Held.Release;
         Is_Broken := True;
         Held.Get (Timeout);
         Is_Broken := False;
         Held.Discard;
         Held.Get (Timeout);
         Reset_Fails := True;
         Held.Release;
         Reset_Fails := False;
         declare
            Other : Lease (Pool'Unchecked_Access);
         begin
            Other.Get (Timeout);
         end;
         Held.Get (Timeout);
         Held.Release;
         Held.Get (Timeout);
         Pool.Resize (0);
         Held.Release;
         Pool.Resize (1);
         Held.Get (Timeout);
         Held.Release;
         Pool.Resize (0);
         Pool.Resize (1);
         Held.Get (Timeout);
         Pool.Close;
      end Use_Pool;

      procedure Abort_In
        (Hook : Pool_Tests.Hook; Call : Positive; Timeout : Duration; Was_Called : out Boolean)
      is
         Pool          : aliased Devices.Pool (1);
         Has_Completed : Boolean := False with Atomic;

         procedure Run_And_Abort is
            task User;

            task body User is
            begin
               Use_Pool (Pool, Timeout);
               Has_Completed := True;
            end User;

         begin
            while not (Trap.Has_Caught or else User'Terminated) loop
               delay 0.000_1;
            end loop;
            Was_Called := Trap.Has_Caught;
            abort User;
            Trap.Release;
         end Run_And_Abort;

         Situation : constant String := Hook'Image & Call'Image & Timeout'Image;
      begin
         Trap.Set (Hook, Call);
         Run_And_Abort;
         Is_Broken   := False;
         Reset_Fails := False;
         Assert (Was_Called or else Has_Completed, "the pool could not be used: " & Situation);
         Assert (Misuses.Value = 0, "a hook called in a wrong state: " & Situation);
         if not Pool.Is_Closed then
            Pool.Resize (1);
            declare
               Held : Lease (Pool'Access);
            begin
               Held.Get (Timeout => Long_Time);
               Assert (Held.Item.Is_Open, "the resource is not open: " & Situation);
            end;
            Assert (Misuses.Value = 0, "a later hook called in a wrong state: " & Situation);
            Assert (Pool.Statistics.In_Use = 0, "a resource is still in use: " & Situation);
            Pool.Close;
         end if;
         Assert (Live = 0, "a resource is still open: " & Situation);
      end Abort_In;

      Call       : Positive;
      Was_Called : Boolean;
   begin
      for Timeout of Duration_List'(Long_Time, Forever) loop
         for Hook in Pool_Tests.Hook loop
            Call := 1;
            loop
               Abort_In (Hook, Call, Timeout, Was_Called);
               exit when not Was_Called;
               Call := Call + 1;
            end loop;
            Assert (Call > 2, "too few calls of " & Hook'Image);
         end loop;
      end loop;
   end Aborted_In_Hooks;

   ------------
   -- Queues --
   ------------

   task type Waiting_Task (Pool : not null access Devices.Pool; Number : Positive);

   protected Order is
      procedure Add (Number : Natural);
      procedure Clear;
      function Text return String;
   private
      Numbers : String (1 .. 20);
      Count   : Natural := 0;
   end Order;

   protected body Order is

      procedure Add (Number : Natural) is
      begin
         Count := Count + 1;
         Numbers (Count) := Character'Val (Character'Pos ('0') + Number);
      end Add;

      procedure Clear is
      begin
         Count := 0;
      end Clear;

      function Text return String is (Numbers (1 .. Count));

   end Order;

   --  0 means that the task got Pool_Closed

   task body Waiting_Task is
      Held : Lease (Pool);
   begin
      Held.Get;
      Order.Add (Number);
   exception
      when Pool_Closed =>
         Order.Add (0);
   end Waiting_Task;

   procedure Await_Waiting (Pool : in out Devices.Pool; Count : Natural) is
   begin
      while Pool.Statistics.Waiting /= Count loop
         delay 0.000_1;
      end loop;
   end Await_Waiting;

   procedure First_Come (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (1);
   begin
      Order.Clear;
      declare
         task type Impatient;

         task body Impatient is
            Held : Lease (Pool'Access);
         begin
            Held.Get (Timeout => 0.02);
         exception
            when Pool_Timeout =>
               null;
         end Impatient;

         type Local_Access is access Waiting_Task;
         type Impatient_Access is access Impatient;
         Held    : Lease (Pool'Access);
         Local   : Local_Access;
         Late    : Local_Access with Unreferenced;
         Leaving : Impatient_Access with Unreferenced;
      begin
         Held.Get;
         for Number in 1 .. 6 loop
            Local := new Waiting_Task (Pool'Unchecked_Access, Number);
            Await_Waiting (Pool, Number);
         end loop;
         abort Local.all;
         Await_Waiting (Pool, 5);
         Leaving := new Impatient;
         --  On a busy machine, the task may have left before it is observed waiting
         while Pool.Statistics.Waiting < 6 and then Pool.Statistics.Timeouts < 2 loop
            delay 0.000_1;
         end loop;
         Late := new Waiting_Task (Pool'Unchecked_Access, 7);
         while Pool.Statistics.Waiting /= 6 or else Pool.Statistics.Timeouts < 2 loop
            delay 0.000_1;
         end loop;
         Held.Release;
      end;
      Assert
        (Order.Text, "123457", "served in order of arrival, except for callers that timed out");
      Assert (Pool.Statistics.In_Use = 0 and then Pool.Statistics.Timeouts = 2, "figures");
   end First_Come;

   procedure Closed_While_Waiting (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (1);
      Held : Lease (Pool'Access);
   begin
      Order.Clear;
      Held.Get;
      declare
         First : Waiting_Task (Pool'Unchecked_Access, 1);
         Other : Waiting_Task (Pool'Unchecked_Access, 2);
         pragma Unreferenced (First, Other);
      begin
         Await_Waiting (Pool, 2);
         Pool.Close;
      end;
      Assert (Order.Text, "00", "both callers got Pool_Closed");
      Assert (Held.Item.Is_Open, "a lease is usable after the pool was closed");
      Held.Release;
      Assert (Live = 0 and then Pool.Is_Closed, "the resource is closed when it is returned");
      begin
         Held.Get;
         Assert (False, "unreachable");
      exception
         when Pool_Closed =>
            null;
      end;
   end Closed_While_Waiting;

   procedure Resized (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (4);
      Held : array (1 .. 4) of Lease (Pool'Access);

      procedure Expect_Full is
         Other : Lease (Pool'Access);
      begin
         Other.Get (Timeout => 0.0);
         Assert (False, "a resource was leased beyond the size");
      exception
         when Pool_Timeout =>
            null;
      end Expect_Full;

   begin
      for Each of Held loop
         Each.Get;
      end loop;
      Pool.Resize (2);
      Assert
        (Pool.Size = 2 and then Pool.Statistics.In_Use = 4,
         "leases are kept when the pool shrinks");
      Held (1).Release;
      Assert (Live = 3, "the excess resource is closed when it is released");
      Expect_Full;
      Pool.Resize (3);
      Expect_Full;
      Pool.Resize (4);
      Held (1).Get (Timeout => 0.0);
      Assert (Live = 4, "a resource was opened again");
      Pool.Resize (0);
      for Each of Held loop
         Each.Release;
      end loop;
      Assert (Live = 0, "all resources are closed");
      Expect_Full;
      Order.Clear;
      declare
         Waits : Waiting_Task (Pool'Unchecked_Access, 1) with Unreferenced;
      begin
         Await_Waiting (Pool, 1);
         Pool.Resize (1);
      end;
      Assert (Order.Text, "1", "the waiting caller is served when the pool grows");
   end Resized;

   -----------------
   -- Maintenance --
   -----------------

   --  Leases Count resources at the same time, and returns them

   procedure Lease_At_Once (Pool : in out Devices.Pool; Count : Positive) is
      Held : array (1 .. Count) of Lease (Pool'Unchecked_Access);
   begin
      for Each of Held loop
         Each.Get;
      end loop;
   end Lease_At_Once;

   procedure Lifetime_Ends (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (3);
      Held : Lease (Pool'Access);

      function Have_Expired return Boolean is (Pool.Statistics.Expired >= 3);

   begin
      Pool.Configure ((Max_Lifetime => 0.05, others => <>));
      Lease_At_Once (Pool, 3);
      Await (Have_Expired'Access, "idle resources are closed");
      Assert
        (Pool.Statistics.Expired = 3 and then Closes.Value = 3 and then Pool.Statistics.Open = 0,
         "each resource expires once");
      Held.Get;
      delay 0.1;
      Assert (Held.Item.Is_Open and then Closes.Value = 3, "a leased resource does not expire");
      Held.Release;
      Assert (Closes.Value = 4, "an expired resource is closed when it is returned");
      Assert (Pool.Statistics.Broken = 0, "no resource was broken");
   end Lifetime_Ends;

   --  In some round, the lifetimes of resources that were opened together differ by a tenth of the
   --  range. None is shorter than three quarters of the maximum.

   procedure Lifetimes_Differ (T : in out Fixture) is
      pragma Unreferenced (T);
      use Ada.Real_Time;

      Count : constant := 8;
      Max   : constant Duration := 2.0;

      function Differs return Boolean is
         Pool        : aliased Devices.Pool (Count);
         Start       : constant Time := Clock;
         First, Last : Duration := 0.0;

         function Has_Expired return Boolean is (Pool.Statistics.Expired > 0);
         function Is_Empty return Boolean is (Pool.Statistics.Open = 0);

      begin
         Pool.Configure ((Max_Lifetime => Max, others => <>));
         Lease_At_Once (Pool, Count);
         Await (Has_Expired'Access, "the first resource expires");
         First := To_Duration (Clock - Start);
         Await (Is_Empty'Access, "all resources expire");
         Last := To_Duration (Clock - Start);
         Assert (First >= 0.75 * Max, "a resource expired too early:" & First'Image);
         return Last - First >= Max / 40;
      end Differs;

   begin
      for Round in 1 .. 20 loop
         if Differs then
            return;
         end if;
      end loop;
      Assert (False, "all resources expired together");
   end Lifetimes_Differ;

   procedure Idle_Time_Ends (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (4);

      function Have_Timed_Out return Boolean is (Pool.Statistics.Timed_Out >= 3);

   begin
      Pool.Configure ((Idle_Timeout => 0.04, Min_Idle => 1, others => <>));
      Lease_At_Once (Pool, 4);
      Await (Have_Timed_Out'Access, "the excess idle resources are closed");
      delay 0.1;
      Assert
        (Pool.Statistics.Timed_Out = 3 and then Live = 1, "the minimum of idle resources is kept");
      declare
         Other : aliased Devices.Pool (1);
         Held  : Lease (Other'Access);

         function Is_Empty return Boolean is (Other.Statistics.Open = 0);

      begin
         Other.Configure ((Idle_Timeout => 0.02, others => <>));
         Held.Get;
         delay 0.1;
         Assert (Held.Item.Is_Open, "a leased resource is not closed");
         Held.Release;
         Await (Is_Empty'Access, "the resource is closed after it was returned");
      end;
   end Idle_Time_Ends;

   procedure Opened_In_Advance (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (3);

      function Has_Two return Boolean is (Pool.Statistics.Open = 2);
      function Has_Three return Boolean is (Pool.Statistics.Open = 3);
      function Is_Replaced return Boolean is (Pool.Statistics.Evicted > 0 and then Has_Three);
      function Is_Smaller return Boolean is (Pool.Statistics.Open <= 1);

   begin
      Pool.Configure ((Min_Idle => 2, others => <>));
      Await (Has_Two'Access, "two resources are open");
      Assert (Pool.Statistics.Leases = 0, "resources are opened without a lease");
      declare
         First, Second : Lease (Pool'Access);
      begin
         First.Get;
         Await (Has_Three'Access, "another resource is opened");
         Second.Get;
         Assert (Opens.Value = 3, "no more resources are open than the size");
         Pool.Soft_Evict;
         Await (Is_Replaced'Access, "the idle resource was replaced");
         Assert (Pool.Statistics.Evicted = 1, "evicted");
      end;
      Await (Has_Two'Access, "two more resources are open after they were returned");
      Pool.Resize (1);
      Await (Is_Smaller'Access, "no more resources are open than the new size");
      delay 0.02;
      Assert (Pool.Statistics.Open <= 1, "later, no more resources are open than the new size");
   end Opened_In_Advance;

   procedure Opened_After_Failures (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (2);

      function Has_Failed return Boolean is (Pool.Statistics.Open_Failures >= 2);
      function Has_Two return Boolean is (Pool.Statistics.Open = 2);

   begin
      Open_Fails := True;
      Pool.Configure ((Min_Idle => 10, others => <>));
      Await (Has_Failed'Access, "a failed opening is retried");
      Open_Fails := False;
      Await (Has_Two'Access, "as many resources are open as the size allows");
      Assert
        (Pool.Statistics.Opened = 2
         and then Pool.Statistics.Max_Opening_Time <= Pool.Statistics.Opening_Time,
         "statistics");
   end Opened_After_Failures;

   procedure Kept_Alive (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (2);

      function Is_Checked return Boolean is (Pool.Statistics.Keep_Alives >= 6);
      function Are_Broken return Boolean is (Pool.Statistics.Broken >= 2);
      function Are_Replaced return Boolean is (Pool.Statistics.Open = 2);

   begin
      Pool.Configure ((Keep_Alive => 0.01, Min_Idle => 2, others => <>));
      Await (Is_Checked'Access, "idle resources are checked");
      Assert (Closes.Value = 0 and then Pool.Statistics.Leases = 0, "valid resources stay open");
      Is_Broken := True;
      Await (Are_Broken'Access, "resources that are not valid are closed");
      Is_Broken := False;
      Await (Are_Replaced'Access, "closed resources are replaced");
      Assert (Misuses.Value = 0, "hooks called in a wrong state");
   end Kept_Alive;

   --  Otherwise nothing would ever be idle for long. On a busy machine, the resource may be closed
   --  before its first check: the next one has more time.

   procedure Check_Is_No_Use (T : in out Fixture) is
      pragma Unreferenced (T);

      function Is_Checked (Idle_Timeout : Duration) return Boolean is
         Pool : aliased Devices.Pool (1);

         function Is_Closed return Boolean is (Pool.Statistics.Timed_Out = 1);

      begin
         Pool.Configure ((Keep_Alive => 0.005, Idle_Timeout => Idle_Timeout, others => <>));
         Lease_At_Once (Pool, 1);
         Await (Is_Closed'Access, "closed");
         return Pool.Statistics.Keep_Alives > 0;
      end Is_Checked;

   begin
      Assert
        ((for some Timeout of Duration_List'(0.2, 0.8, 3.2, 12.8, 51.2) => Is_Checked (Timeout)),
         "the server closed each resource before its check");
   end Check_Is_No_Use;

   protected Leaks is
      procedure Add (Held_For : Duration; Origin : String);
      procedure Clear;
      function Count return Natural;
      function Shortest return Duration;
      function Has_Place return Boolean;
   private
      Reports  : Natural := 0;
      Minimum  : Duration := Duration'Last;
      Is_Found : Boolean := False;
   end Leaks;

   protected body Leaks is

      procedure Add (Held_For : Duration; Origin : String) is
      begin
         Reports := Reports + 1;
         Minimum := Duration'Min (Minimum, Held_For);
         Is_Found := Is_Found
           or else (for some K in Origin'First .. Origin'Last - 12 =>
                      Origin (K .. K + 12) in "take_and_keep" | "pool_tests.ad");
      end Add;

      procedure Clear is
      begin
         Reports := 0;
         Minimum := Duration'Last;
         Is_Found := False;
      end Clear;

      function Count return Natural is (Reports);
      function Shortest return Duration is (Minimum);
      function Has_Place return Boolean is (Is_Found);

   end Leaks;

   procedure Note_Leak (Holder : String; Held_For : Duration; Origin : String) is
   begin
      Leaks.Add (Held_For, Origin);
      if Holder'Length = 0 then
         raise Failed;
      end if;
   end Note_Leak;

   procedure Take_And_Keep (Held : in out Lease) is
   begin
      Held.Get;
   end Take_And_Keep;

   procedure Leaks_Are_Reported (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (2);
      Held : Lease (Pool'Access);

      function Is_Reported return Boolean is (Leaks.Count > 0);
      function Is_Reported_Again return Boolean is (Leaks.Count = 2);

   begin
      Leaks.Clear;
      Pool.Configure
        ((Leak_Threshold => 0.05, On_Leak => Note_Leak'Access, others => <>));
      Take_And_Keep (Held);
      Await (Is_Reported'Access, "reported");
      delay 0.1;
      Assert (Leaks.Count = 1 and then Pool.Statistics.Leaks = 1, "once");
      Assert (Leaks.Shortest >= 0.05, "a leak was reported too early");
      Assert (Leaks.Has_Place, "the report contains the traceback");
      Assert (Held.Item.Is_Open, "a reported lease continues");
      Held.Release;
      Take_And_Keep (Held);
      Await (Is_Reported_Again'Access, "the next lease is reported, too");
   end Leaks_Are_Reported;

   procedure Evicted_Softly (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (3);
   begin
      declare
         Held : Lease (Pool'Access);
      begin
         Held.Get;
         Lease_At_Once (Pool, 1);
         Assert (Opens.Value = 2, "two resources are open");
         Pool.Soft_Evict;
         Assert (Closes.Value = 1, "the idle resource is closed");
         Assert (Held.Item.Is_Open, "the leased resource is not closed");
         Lease_At_Once (Pool, 1);
         Assert (Opens.Value = 3, "the next lease gets a new resource");
      end;
      Assert (Closes.Value = 2, "the leased resource is closed when it is returned");
      Lease_At_Once (Pool, 3);
      Assert (Closes.Value = 2 and then Pool.Statistics.Evicted = 2, "new resources stay open");
      --  A resource whose opening began before the eviction may belong to the old server
      Pool.Close;
      declare
         Slow : aliased Devices.Pool (1);
         Held : Lease (Slow'Access);

         Openings : constant Integer_64 := Begun.Value;

         function Is_Opening return Boolean is (Begun.Value > Openings);

      begin
         Is_Silent := True;
         Expect_Timeout (Held, 0.02);
         Await (Is_Opening'Access, "the opening has begun");
         Slow.Soft_Evict;
         Is_Silent := False;
         Held.Get (Timeout => Long_Time);
         Assert
           (Slow.Statistics.Evicted = 1 and then Slow.Statistics.Opened = 2,
            "the resource was opened again");
      end;
   end Evicted_Softly;

   procedure Evicted_While_Waiting (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (1);
      Held : Lease (Pool'Access);
   begin
      Order.Clear;
      Held.Get;
      declare
         Waits : Waiting_Task (Pool'Unchecked_Access, 1) with Unreferenced;
      begin
         Await_Waiting (Pool, 1);
         Pool.Soft_Evict;
         Held.Release;
      end;
      Assert (Order.Text, "1", "served");
      Assert (Opens.Value = 2 and then Closes.Value = 1, "the lease has a new resource");
   end Evicted_While_Waiting;

   procedure Start_Fails (T : in out Fixture) is
      pragma Unreferenced (T);
      Pool : aliased Devices.Pool (2);

      task type Mender;

      task body Mender is
      begin
         delay 0.05;
         Open_Fails := False;
      end Mender;

   begin
      Open_Fails := True;
      begin
         Pool.Start (Timeout => 0.0);
         Assert (False, "Start succeeded");
      exception
         when Failed =>
            Assert (Pool.Statistics.Open_Failures = 1, "Start made one attempt");
      end;
      declare
         Mends : Mender with Unreferenced;
      begin
         Pool.Start (Timeout => Long_Time);
      end;
      Assert (Pool.Statistics.Open = 1 and then Pool.Statistics.In_Use = 0, "started");
      Pool.Start (Timeout => 0.0);
      Assert (Opens.Value = 1, "the resource was opened by Start");
      Pool.Soft_Evict;
      Is_Silent := True;
      begin
         Pool.Start (Timeout => 0.02);
         Assert (False, "Start succeeded");
      exception
         when Pool_Timeout =>
            Is_Silent := False;
      end;
   end Start_Fails;

   procedure Wrong_Options (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Expect_Misuse (Options : Pool_Options; Is_Leased : Boolean := False) is
         Pool : aliased Devices.Pool (1);
      begin
         if Is_Leased then
            Lease_At_Once (Pool, 1);
         end if;
         Pool.Configure (Options);
         Assert (False, "accepted");
      exception
         when Appserver.Misuse_Error => null;
      end Expect_Misuse;

      Pool : Devices.Pool (1);
   begin
      Expect_Misuse ((Idle_Timeout => -1.0, others => <>));
      Expect_Misuse ((Keep_Alive => 2.0, Max_Lifetime => 2.0, others => <>));
      Expect_Misuse ((others => <>), Is_Leased => True);
      Pool.Configure ((Keep_Alive => 1.0, Max_Lifetime => 2.0, others => <>));
      begin
         Pool.Configure ((others => <>));
         Assert (False, "the pool was configured twice");
      exception
         when Appserver.Misuse_Error => null;
      end;
   end Wrong_Options;

   ------------
   -- Stress --
   ------------

   --  Tasks lease, wait, fail, discard and are aborted, while the pool is resized, resources are
   --  evicted, and the pool closes, opens and checks idle resources

   procedure Stress (T : in out Fixture) is
      pragma Unreferenced (T);

      Capacity : constant := 3;
      Pool     : aliased Devices.Pool (Capacity);
      Wrong    : Atomic.Counter;

      function Is_Empty return Boolean is (Pool.Statistics.Open = 0 and then Live = 0);
      function Is_Unused return Boolean is
        (Pool.Statistics.In_Use = 0 and then Pool.Statistics.Waiting = 0);

      procedure Hold (Turn : Positive) is
         Held : Lease (Pool'Access);
      begin
         Held.Get (Timeout => (if Turn mod 7 = 0 then 0.0 else Forever));
         declare
            Leased : Device renames Held.Item.Element.all;
         begin
            if Leased.Holders.Fetch_And_Add (1) /= 0 or else not Leased.Is_Open then
               Wrong.Increment;
            end if;
            if Turn mod 50 = 0 then
               delay 0.0;
            end if;
            Leased.Holders.Decrement;
         end;
         case Turn mod 31 is
            when 0      => raise Failed;
            when 1      => Held.Discard;
            when 2 .. 9 => Held.Release;
            when others => null;
         end case;
      exception
         when Failed | Pool_Timeout =>
            null;
      end Hold;

      procedure Work (Number : Positive) is
      begin
         for Turn in 1 .. 3_000 loop
            if Number = 1 and then Turn mod 20 = 0 then
               Pool.Resize (1 + Turn / 20 mod Capacity);
            elsif Number = 2 and then Turn mod 100 = 0 then
               Pool.Soft_Evict;
            else
               Hold (Turn);
            end if;
         end loop;
      end Work;

      procedure Abort_Some is
         task type Worker;

         task body Worker is
         begin
            loop
               for Turn in 2 .. 30 loop
                  declare
                     Held : Lease (Pool'Access);
                  begin
                     Held.Get (Timeout => (if Turn mod 2 = 0 then 1.0 else Forever));
                     if not Held.Item.Is_Open then
                        Wrong.Increment;
                     end if;
                     case Turn mod 6 is
                        when 0      => Held.Discard;
                        when 3      => Held.Release;
                        when others => null;
                     end case;
                  end;
               end loop;
            end loop;
         end Worker;

         Workers : array (1 .. 5) of Worker;
      begin
         delay 0.000_5;
         for Each of Workers loop
            abort Each;
         end loop;
      end Abort_Some;

      procedure Round is
      begin
         Pool.Resize (Capacity);
         Parallel.Run (5, Work'Access);
         Pool.Resize (2);
         for Turn in 1 .. 20 loop
            Abort_Some;
         end loop;
         Assert (Misuses.Value = 0, "hooks called in a wrong state:" & Misuses.Value'Image);
         Assert
           (Wrong.Value = 0, "a resource was leased twice, or was not open:" & Wrong.Value'Image);
         --  A resource whose opening was aborted comes back when its task has finished
         Await (Is_Unused'Access, "all resources were returned");
         declare
            Held  : array (1 .. 2) of Lease (Pool'Access);
            Other : Lease (Pool'Access);
         begin
            for Each of Held loop
               Each.Get (Timeout => Long_Time);  --  one may be checked at the moment
            end loop;
            Other.Get (Timeout => 0.0);
            Assert (False, "a resource was leased beyond the size");
         exception
            when Pool_Timeout =>
               null;
         end;
      end Round;

   begin
      Pool.Configure
        ((Min_Idle       => 1,
          Idle_Timeout   => 0.003,
          Max_Lifetime   => 0.01,
          Keep_Alive     => 0.002,
          Leak_Threshold => 0.001,
          On_Leak        => Note_Leak'Access));
      Stress_Time.Repeat (Round'Access);
      Pool.Close;
      Await (Is_Empty'Access, "all resources are closed");
   end Stress;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("pools: " & Text, Test));
      end Add;
   begin
      Add ("leases", Leases'Access);
      Add ("misuse", Mistakes'Access);
      Add ("hooks", Hooks'Access);
      Add ("timeouts", Times_Out'Access);
      Add ("opening hangs", Opening_Hangs'Access);
      Add ("no task to open a resource", No_Task_To_Open'Access);
      Add ("a caller that times out while opening", Left_While_Opening'Access);
      Add ("validation hangs", Validation_Hangs'Access);
      Add ("aborts in Get", Aborted_In_Get'Access);
      Add ("aborts in hooks", Aborted_In_Hooks'Access);
      Add ("first come, first served", First_Come'Access);
      Add ("closed while tasks wait", Closed_While_Waiting'Access);
      Add ("resized while in use", Resized'Access);
      Add ("the end of a lifetime", Lifetime_Ends'Access);
      Add ("lifetimes differ", Lifetimes_Differ'Access);
      Add ("the end of idle time", Idle_Time_Ends'Access);
      Add ("opened in advance", Opened_In_Advance'Access);
      Add ("opened after failures", Opened_After_Failures'Access);
      Add ("kept alive", Kept_Alive'Access);
      Add ("a check does not count as use", Check_Is_No_Use'Access);
      Add ("leaks", Leaks_Are_Reported'Access);
      Add ("soft eviction", Evicted_Softly'Access);
      Add ("soft eviction while tasks wait", Evicted_While_Waiting'Access);
      Add ("a start that fails", Start_Fails'Access);
      Add ("wrong options", Wrong_Options'Access);
      Add ("many tasks", Stress'Access);
      return Result;
   end Suite;

end Pool_Tests;
