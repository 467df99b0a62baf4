--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A bounded pool of resources that are few or costly, such as database connections. Tasks lease
--  one at a time. A lease returns its resource at the end of its scope.
--
--     package Connection_Pools is new Appserver.Pools (Connection, Open => Connect);
--     Connections : aliased Connection_Pools.Pool (Capacity => 8);
--     …
--     declare
--        Held : Connection_Pools.Lease (Connections'Access);
--     begin
--        Held.Get (Timeout => 1.0);
--        Held.Item.Execute ("…");
--     end;
--
--  Waiting tasks are served in the order of their calls. Of the idle resources, the most recently
--  returned one is leased first. Without contention, a lease takes no lock.

pragma Ada_2022;

with Interfaces;

private with Ada.Finalization;
private with Ada.Real_Time;

generic
   type Resource is limited private;

   with procedure Open (Item : in out Resource) is null;
   --  Called before the first lease of a resource, and before the next one after Close. Get raises
   --  the exceptions of Open, and the next Get calls Open again. If Get has a timeout, a task of
   --  the pool calls Open, and Get waits for it until the timeout. The task then continues, and a
   --  later lease gets the resource that it opens. Give Open a timeout of its own.

   with procedure Close (Item : in out Resource) is null;
   --  Called when the pool is closed or gets smaller, and when the resource is not valid. Must not
   --  raise exceptions.

   with procedure Validate (Item : in out Resource; Is_Valid : in out Boolean) is null;
   --  Called before each lease of an open resource, with Is_Valid = True. A resource that is not
   --  valid, or for which Validate raises an exception, is closed and opened again. Must not block.

   with procedure Reset (Item : in out Resource) is null;
   --  Called after each lease. If it raises an exception, the resource is closed. The timeout of
   --  Get does not cover Reset: give Reset a timeout of its own if it waits.

   with procedure Probe
     (Item : in out Resource; Timeout : Duration; Is_Valid : in out Boolean) is null;
   --  Like Validate, and called after it, for a check that waits, such as for a server. Must return
   --  within Timeout seconds: half of the time that Get has left, so that the resource can be
   --  opened again in the other half. Duration'Last if Get has no timeout.

   --  Hooks run outside of all locks, and in the task that leases, except for an Open with a
   --  timeout and the Close before it. A task cannot be aborted in Open and Close.

package Appserver.Pools is

   pragma Assertion_Policy (Pre => Check);

   Pool_Closed  : exception;
   Pool_Timeout : exception;

   subtype Pool_Capacity is Positive range 1 .. 65_535;

   Forever : constant Duration := Duration'Last;

   ----------
   -- Pool --
   ----------

   type Pool (Capacity : Pool_Capacity) is tagged limited private;
   --  Its size is its capacity, until Resize. It must outlive its leases.

   function Size (Self : Pool) return Natural
     with Post => Size'Result <= Self.Capacity;
   --  @param Self the pool
   --  @return the maximum number of concurrent leases

   procedure Resize (Self : in out Pool; To : Natural)
     with Pre => To <= Self.Capacity or else raise Misuse_Error with "beyond its capacity";
   --  Changes the size of a pool, which may be in use. If there are more leases than the new size,
   --  resources are closed when they are returned. With size 0, Get waits until the pool is resized
   --  again. Does nothing if the pool is closed.
   --  @param Self the pool
   --  @param To the new size
   --  @exception Misuse_Error the size exceeds the capacity

   procedure Close (Self : in out Pool)
     with Post => Self.Is_Closed;
   --  Closes a pool. Waiting and later calls of Get raise Pool_Closed. Idle resources are closed
   --  now, leased ones when they are returned.
   --  @param Self the pool

   function Is_Closed (Self : Pool) return Boolean;
   --  @param Self the pool
   --  @return True after Close

   type Pool_Statistics is record
      Size         : Natural;
      In_Use       : Natural;
      --  May exceed Size for a while after the pool got smaller
      Open         : Natural;
      Waiting      : Natural;
      Leases       : Interfaces.Unsigned_64;
      --  This and the following are totals since the pool was created
      Waits        : Interfaces.Unsigned_64;
      --  Calls of Get that found no idle resource
      Timeouts     : Interfaces.Unsigned_64;
      --  Waits, for others or for Open, that timed out
      Waiting_Time : Duration;
      --  The sum of all waits, in seconds
      Max_Wait     : Duration;
      --  The longest wait, in seconds
   end record;

   function Statistics (Self : in out Pool) return Pool_Statistics;
   --  Returns statistics. Each number was exact at some moment during the call.
   --  @param Self the pool
   --  @return the statistics

   -----------
   -- Lease --
   -----------

   type Resource_View (Element : not null access Resource) is limited null record
     with Implicit_Dereference => Element;

   type Lease (Pool : not null access Pools.Pool) is tagged limited private;
   --  Initially without a resource. It can be used repeatedly, by one task. It returns its resource
   --  at the end of its scope, also after an exception or an abort.

   procedure Get (Self : in out Lease; Timeout : Duration := Forever)
     with Pre => not Self.Is_Held or else raise Misuse_Error with "it holds a resource";
   --  Leases a resource.
   --  @param Self the lease
   --  @param Timeout the maximum time in seconds to wait for a resource, to validate and to open
   --  it. If it is not positive, Get does not wait for other tasks, and opening has no time limit.
   --  @exception Pool_Timeout there was no resource in time
   --  @exception Pool_Closed the pool is closed, or was closed during the call
   --  @exception Misuse_Error the lease holds a resource already

   function Is_Held (Self : Lease) return Boolean;
   --  @param Self the lease
   --  @return True if it holds a resource

   function Item (Self : Lease) return Resource_View
     with Inline, Pre => Self.Is_Held or else raise Misuse_Error with "it holds no resource";
   --  Returns the resource. The view must not outlive the lease.
   --  @param Self the lease
   --  @return the resource
   --  @exception Misuse_Error the lease holds no resource

   procedure Release (Self : in out Lease)
     with Pre  => Self.Is_Held or else raise Misuse_Error with "it holds no resource",
          Post => not Self.Is_Held;
   --  Returns the resource before the end of the scope.
   --  @param Self the lease
   --  @exception Misuse_Error the lease holds no resource

   procedure Discard (Self : in out Lease)
     with Pre  => Self.Is_Held or else raise Misuse_Error with "it holds no resource",
          Post => not Self.Is_Held;
   --  Returns a broken resource, which is closed, and opened again for the next lease.
   --  @param Self the lease
   --  @exception Misuse_Error the lease holds no resource

private

   use Interfaces;

   -----------
   -- Slots --
   -----------

   subtype Slot_Count is Natural range 0 .. Pool_Capacity'Last;
   No_Slot : constant Slot_Count := 0;

   type Atomic_Count is mod 2 ** 64 with Size => 64, Atomic;

   --  Written only by the task that holds the slot. The exchange of the stack's word orders these
   --  writes (release and acquire), so no component needs to be atomic. Volatile is for tasks that
   --  read in the meantime.

   type Slot is limited record
      Item      : aliased Resource;
      Is_Open   : Boolean := False with Volatile;
      Is_Leased : Boolean := False with Volatile;
      Leases    : Unsigned_64 := 0 with Volatile;
      Next      : Slot_Count := No_Slot with Volatile;
   end record;

   type Slot_List is array (Pool_Capacity range <>) of Slot;

   --  A stack of slots that tasks push to and pop from with one atomic exchange each. Its word has
   --  the first slot, and above it a number that changes with each exchange, so that none succeeds
   --  after others have popped and pushed the same slot (R. K. Treiber, IBM RJ 5118, 1986).

   type Stack_Word is mod 2 ** 64 with Size => 64, Atomic;

   type Padded_Stack is limited record
      Word : aliased Stack_Word := 0;
   end record
     with Alignment => 128;

   -------------
   -- Waiting --
   -------------

   protected type Wake_Up is
      entry Wait;
      procedure Signal;
   private
      Is_Signaled : Boolean := False;
   end Wake_Up;

   type Lease_Access is access all Lease;

   type Wait_Outcome is (Queued, Served, Closed);

   type Waiter (Lease : not null access Pools.Lease) is
     new Ada.Finalization.Limited_Controlled with record
      Wake       : Wake_Up;
      Outcome    : Wait_Outcome := Queued with Atomic;
      Has_Joined : Boolean := False;
      Since      : Ada.Real_Time.Time;
      Next       : access Waiter := null;
   end record;
   --  In the queue from its Join until it is served, or finalized

   overriding procedure Initialize (Self : in out Waiter);
   overriding procedure Finalize (Self : in out Waiter);

   type Waiter_Access is access all Waiter;

   type Pool_Access is access all Pool;

   protected type Control (Pool : not null access Pools.Pool) is

      procedure Set_Up;
      procedure Join (Caller : not null Waiter_Access);
      procedure Leave (Caller : not null Waiter_Access);

      procedure Serve;
      --  Gives idle slots to waiters

      procedure Resize (To : Natural);
      procedure Close;

      procedure Next_To_Retire (Slot : out Slot_Count);
      --  None if the pool is not too large, or all slots are leased

      procedure Retire (Slot : Pool_Capacity);
      --  It is closed

      procedure Begin_Opening;
      procedure End_Opening;
      procedure Count_Timeout;

      entry Await_Openings;
      --  Until no other task opens a resource of the pool

      procedure Put_Statistics (Into : in out Pool_Statistics);
      function Size return Natural;
      function Is_Closed return Boolean;
   private
      Is_Shut      : Boolean := False;
      Current_Size : Natural := 0;
      Excess       : Natural := 0;
      --  Slots that are in use or idle beyond the size, until they are retired
      Retired      : Slot_Count := No_Slot;
      --  The first of a list of those that are closed and beyond the size
      Missing      : Natural := 0;
      --  Slots that belong to the size again while they are being closed
      First, Last  : access Waiter := null;
      Waiting      : Natural := 0;
      Waits        : Unsigned_64 := 0;
      Timeouts     : Unsigned_64 := 0;
      Waiting_Time : Duration := 0.0;
      Max_Wait     : Duration := 0.0;
      Openings     : Natural := 0;
   end Control;

   type Pool (Capacity : Pool_Capacity) is new Ada.Finalization.Limited_Controlled with record
      Idle      : Padded_Stack;
      Attention : aliased Atomic_Count := 0;
      --  Tasks that wait or are about to, plus slots to be retired, plus 1 if the pool is closed.
      --  As long as it is 0, tasks only push and pop.
      Control   : Pools.Control (Pool'Access);
      Slots     : Slot_List (1 .. Capacity);
   end record;

   overriding procedure Initialize (Self : in out Pool);
   overriding procedure Finalize (Self : in out Pool);

   type Lease_Stage is (Given, In_Hook, Ready);
   --  Only a Ready one may be reset. Given: nobody has used the resource, which may not be open.
   --  In_Hook: a hook runs or has run that checks, resets or closes the resource.

   type Lease (Pool : not null access Pools.Pool) is
     new Ada.Finalization.Limited_Controlled with record
      Slot  : Slot_Count := No_Slot;
      Stage : Lease_Stage := Given;
   end record;

   overriding procedure Finalize (Self : in out Lease);

   function Is_Held (Self : Lease) return Boolean is (Self.Slot /= No_Slot);

   function Item (Self : Lease) return Resource_View is
     (Element => Self.Pool.Slots (Self.Slot).Item'Unchecked_Access);

end Appserver.Pools;
