--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A bounded pool of scarce or expensive resources, such as database connections. Each lease object
--  holds at most one resource, and returns it at the end of its scope.
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
--  Waiting tasks are served in the order of their calls. The most recently returned idle resource
--  is leased first. Without contention, a lease takes no lock.

pragma Ada_2022;

with Interfaces;

private with Ada.Finalization;
private with Ada.Real_Time;

generic
   type Resource is limited private;

   with procedure Open (Item : in out Resource) is null;
   --  Called before the first lease of a resource, and before its next lease after Close. If Open
   --  raises an exception, Get propagates it, and the next Get calls Open again. If Get has a
   --  timeout, a task of the pool calls Open, and Get waits for that task until the timeout. The
   --  task then continues in the background, and a later lease gets the opened resource. Set a
   --  timeout in Open as well.

   with procedure Close (Item : in out Resource) is null;
   --  Called when the pool is closed or shrinks, and when the resource is not valid. Must not raise
   --  exceptions.

   with procedure Validate (Item : in out Resource; Is_Valid : in out Boolean) is null;
   --  Called before each lease of an open resource, with Is_Valid = True. A resource that is not
   --  valid, or for which Validate raises an exception, is closed and opened again. Must not block.

   with procedure Reset (Item : in out Resource) is null;
   --  Called after each lease. If Reset raises an exception, the resource is closed. The timeout of
   --  Get does not cover Reset: if Reset waits, set a timeout there.

   with procedure Probe
     (Item : in out Resource; Timeout : Duration; Is_Valid : in out Boolean) is null;
   --  Called after Validate, for a check that may block, such as a query to a server. Must return
   --  within Timeout seconds. Timeout is half of the time that Get has left, so that the other half
   --  can be used to open the resource again. It is Duration'Last if Get has no timeout.

   --  Hooks run outside of all locks, and in the leasing task. The exception is a Get with a
   --  timeout: Open, and a Close before it, then run in a task of the pool. A task cannot be
   --  aborted in Open and Close.

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
   --  The initial size is Capacity; see Resize. The pool must outlive its leases.

   function Size (Self : Pool) return Natural
     with Post => Size'Result <= Self.Capacity;
   --  @param Self the pool
   --  @return the maximum number of concurrent leases

   procedure Resize (Self : in out Pool; To : Natural)
     with Pre => To <= Self.Capacity
                 or else raise Misuse_Error with "the size exceeds the capacity";
   --  Changes the size of a pool, even while it is in use. If there are more leases than the new
   --  size, the excess resources are closed when they are returned. With size 0, Get waits until
   --  the pool is resized again. Does nothing if the pool is closed.
   --  @param Self the pool
   --  @param To the new size
   --  @exception Misuse_Error the size exceeds the capacity

   procedure Close (Self : in out Pool)
     with Post => Self.Is_Closed;
   --  Closes a pool. Waiting and later calls of Get raise Pool_Closed. Idle resources are closed
   --  immediately, leased resources when they are returned.
   --  @param Self the pool

   function Is_Closed (Self : Pool) return Boolean;
   --  @param Self the pool
   --  @return True after Close

   type Pool_Statistics is record
      Size         : Natural;
      In_Use       : Natural;
      --  May exceed Size for a while after the pool has shrunk
      Open         : Natural;
      Waiting      : Natural;
      Leases       : Interfaces.Unsigned_64;
      --  Leases and all following components are totals since the pool was created
      Waits        : Interfaces.Unsigned_64;
      --  Calls of Get that found no idle resource
      Timeouts     : Interfaces.Unsigned_64;
      --  Calls of Get that timed out, waiting either for a resource or for Open
      Waiting_Time : Duration;
      --  The sum of all waits, in seconds
      Max_Wait     : Duration;
      --  The longest wait, in seconds
   end record;

   function Statistics (Self : in out Pool) return Pool_Statistics;
   --  Returns statistics. Each value was exact at some moment during the call, but not necessarily
   --  all at the same moment.
   --  @param Self the pool
   --  @return the statistics

   -----------
   -- Lease --
   -----------

   type Resource_View (Element : not null access Resource) is limited null record
     with Implicit_Dereference => Element;

   type Lease (Pool : not null access Pools.Pool) is tagged limited private;
   --  Initially holds no resource. A lease can be used repeatedly, but only by one task. It returns
   --  its resource at the end of its scope, even after an exception or an abort.

   procedure Get (Self : in out Lease; Timeout : Duration := Forever)
     with Pre => not Self.Is_Held
                 or else raise Misuse_Error with "the lease already holds a resource";
   --  Leases a resource.
   --  @param Self the lease
   --  @param Timeout the maximum time in seconds to wait for a resource, validate it, and open it.
   --  If Timeout is zero or negative, Get does not wait for other tasks, but Open runs without a
   --  time limit.
   --  @exception Pool_Timeout no resource was available within Timeout
   --  @exception Pool_Closed the pool is closed, or was closed during the call
   --  @exception Misuse_Error the lease already holds a resource

   function Is_Held (Self : Lease) return Boolean;
   --  @param Self the lease
   --  @return True if the lease holds a resource

   function Item (Self : Lease) return Resource_View
     with Inline, Pre => Self.Is_Held or else raise Misuse_Error with "the lease holds no resource";
   --  Returns the resource. The view must not outlive the lease.
   --  @param Self the lease
   --  @return the resource
   --  @exception Misuse_Error the lease holds no resource

   procedure Release (Self : in out Lease)
     with Pre  => Self.Is_Held or else raise Misuse_Error with "the lease holds no resource",
          Post => not Self.Is_Held;
   --  Returns the resource to the pool before the end of the scope.
   --  @param Self the lease
   --  @exception Misuse_Error the lease holds no resource

   procedure Discard (Self : in out Lease)
     with Pre  => Self.Is_Held or else raise Misuse_Error with "the lease holds no resource",
          Post => not Self.Is_Held;
   --  Returns a broken resource to the pool. The resource is closed, and opened again for its next
   --  lease.
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

   --  Written only by the task that holds the slot. The atomic exchange of the stack's word orders
   --  these writes (release and acquire), so no component needs to be atomic. Volatile is for tasks
   --  that read the components concurrently.

   type Slot is limited record
      Item      : aliased Resource;
      Is_Open   : Boolean := False with Volatile;
      Is_Leased : Boolean := False with Volatile;
      Leases    : Unsigned_64 := 0 with Volatile;
      Next      : Slot_Count := No_Slot with Volatile;
   end record;

   type Slot_List is array (Pool_Capacity range <>) of Slot;

   --  A stack of slots. A push or pop is one atomic exchange. The low bits of the stack's word are
   --  the first slot. The high bits are a number that changes with each exchange, so that an
   --  exchange fails if other tasks have popped and pushed the same slot in the meantime (R. K.
   --  Treiber, IBM RJ 5118, 1986).

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
   --  In the queue from Join until it is served or finalized

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
      --  Sets Slot to No_Slot if the pool is not too large, or if all slots are leased

      procedure Retire (Slot : Pool_Capacity);
      --  Removes a slot from use, after its resource has been closed

      procedure Begin_Opening;
      procedure End_Opening;
      procedure Count_Timeout;

      entry Await_Openings;
      --  Waits until no other task is opening a resource of the pool

      procedure Put_Statistics (Into : in out Pool_Statistics);
      function Size return Natural;
      function Is_Closed return Boolean;
   private
      Is_Shut      : Boolean := False;
      Current_Size : Natural := 0;
      Excess       : Natural := 0;
      --  The number of slots beyond the size that are in use or idle, and not retired yet
      Retired      : Slot_Count := No_Slot;
      --  The head of the list of slots that are closed and beyond the size
      Missing      : Natural := 0;
      --  The number of slots that are being closed, but are within the size again
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
      --  The number of tasks that wait or are about to, plus the number of slots to be retired,
      --  plus 1 if the pool is closed. While this is 0, tasks only push and pop.
      Control   : Pools.Control (Pool'Access);
      Slots     : Slot_List (1 .. Capacity);
   end record;

   overriding procedure Initialize (Self : in out Pool);
   overriding procedure Finalize (Self : in out Pool);

   type Lease_Stage is (Given, In_Hook, Ready);
   --  Given means that the resource has not been used, and may still be closed. In_Hook means that
   --  a hook that checks, resets or closes the resource is running or has run. Only a Ready
   --  resource may be reset.

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
