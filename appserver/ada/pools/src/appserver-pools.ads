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
--  Waiting tasks get resources in the order of their calls. The most recently returned idle
--  resource is leased first. Without contention, a lease takes no lock. With Configure, a pool can
--  limit the lifetime and the idle time of its resources, and report long leases.

pragma Ada_2022;

with Interfaces;

private with Ada.Finalization;
private with Ada.Real_Time;
private with Appserver.Pool_Workers;
private with GNAT.Traceback;

generic
   type Resource is limited private;

   with procedure Open (Item : in out Resource) is null;
   --  Opens a resource. Called before the first lease of the resource, and before its next lease
   --  after Close. If Open raises an exception, Get propagates it, and the next Get calls Open
   --  again. If Get has a timeout, a task of the pool calls Open, and Get waits for this task until
   --  the timeout. After the timeout, the task continues in the background, and a later lease gets
   --  the opened resource. So set a timeout in Open as well.

   with procedure Close (Item : in out Resource) is null;
   --  Closes a resource. Called when the pool is closed or shrinks, and when the resource is not
   --  valid. Must not raise exceptions.

   with procedure Validate (Item : in out Resource; Is_Valid : in out Boolean) is null;
   --  Checks whether a resource is valid. Called before each lease of an open resource, with
   --  Is_Valid = True. If Validate sets Is_Valid to False or raises an exception, the resource is
   --  closed and opened again. Must not block.

   with procedure Reset (Item : in out Resource) is null;
   --  Resets a resource. Called after each lease. If Reset raises an exception, the resource is
   --  closed. The timeout of Get does not cover Reset. If Reset waits, for example for a server,
   --  set a timeout in Reset.

   with procedure Probe
     (Item : in out Resource; Timeout : Duration; Is_Valid : in out Boolean) is null;
   --  Checks whether a resource is valid, and may block, for example for a query to a server.
   --  Called after Validate. Must return within Timeout seconds. Timeout is half of the remaining
   --  time of Get; the other half remains to open the resource again. Timeout is Duration'Last if
   --  Get has no timeout, and in checks for Keep_Alive.

   --  Hooks run outside of all locks, and usually in the task that leases the resource. If Get has
   --  a timeout, a task of the pool runs Open. If the resource must be closed first, the same task
   --  runs Close. A task of the pool also runs the hooks of idle resources, for Min_Idle,
   --  Idle_Timeout, Max_Lifetime and Keep_Alive. During Open and Close, an abort of the task is
   --  deferred.

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
   --  A pool of resources. Its size is initially Capacity, and can be changed with Resize. The pool
   --  must outlive its leases.

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

   procedure Start (Self : in out Pool; Timeout : Duration);
   --  Opens the first resource, so that a program that cannot reach its server fails at startup,
   --  and not at the first Get. If Open raises an exception, Start tries again until the timeout.
   --  The pool stays usable even if Start fails.
   --  @param Self the pool
   --  @param Timeout the maximum time in seconds. If it is zero or negative, there is one attempt,
   --  without a time limit. The exception of Open is propagated.
   --  @exception Pool_Timeout Open did not return in time
   --  @exception Pool_Closed the pool is closed

   procedure Soft_Evict (Self : in out Pool);
   --  Replaces all current resources, for example after a failover of the server or a change of its
   --  password: idle resources are closed immediately, and leased resources are closed when they
   --  are returned. Later calls to Get return only resources that were opened after this call.
   --  @param Self the pool

   procedure Close (Self : in out Pool)
     with Post => Self.Is_Closed;
   --  Closes a pool. Calls to Get that are waiting, and later calls, raise Pool_Closed. Idle
   --  resources are closed immediately, and leased resources are closed when they are returned.
   --  @param Self the pool

   function Is_Closed (Self : Pool) return Boolean;
   --  @param Self the pool
   --  @return True after Close

   -------------
   -- Options --
   -------------

   type Leak_Listener is access procedure
     (Holder : String; Held_For : Duration; Origin : String);
   --  Receives each lease that has been held for longer than Leak_Threshold. A task of the pool
   --  calls this procedure and ignores its exceptions. Holder is the image of the task that called
   --  Get. Held_For is the time since this call, in seconds. Origin is the symbolic traceback of
   --  the call, with source lines if the program was built with -g.

   type Pool_Options is record
      Min_Idle       : Natural  := 0;
      --  The number of open idle resources that the pool keeps ready, as far as its size allows. A
      --  task of the pool opens these resources, and opens another one whenever an idle resource
      --  has been closed. If Open raises an exception, the task tries again after a pause, which
      --  doubles up to 10 seconds.
      Idle_Timeout   : Duration := Forever;
      --  The time in seconds after which an idle resource is closed, if the pool has more than
      --  Min_Idle idle resources
      Max_Lifetime   : Duration := Forever;
      --  The age in seconds at which a resource is closed. A leased resource is closed when it is
      --  returned. Each resource has a random lifetime, which is up to 25% shorter, so that
      --  resources that were opened together are not closed together. Set Max_Lifetime below the
      --  time after which the server or a proxy closes connections.
      Keep_Alive     : Duration := Forever;
      --  The time in seconds after which an idle resource is checked with Validate and Probe, so
      --  that neither a server nor a firewall closes it as unused. A resource that is not valid is
      --  closed. One resource is checked at a time, and cannot be leased during the check. A check
      --  does not reset the idle time. Must be less than Max_Lifetime.
      Leak_Threshold : Duration := Forever;
      --  The time in seconds after which a lease is reported as a possible leak. Each lease is
      --  reported once, and continues. If a threshold is set, each Get records its traceback, which
      --  takes microseconds.
      On_Leak        : Leak_Listener := null;
      --  The procedure that receives possible leaks; null to report leaks on standard error
   end record;

   procedure Configure (Self : in out Pool; Options : Pool_Options);
   --  Sets the options. Must be called at most once, before the first Get. Without this call, a
   --  pool uses the defaults.
   --  @param Self the pool
   --  @param Options the options
   --  @exception Misuse_Error the pool has already been configured or used, a time is negative, or
   --  Keep_Alive is not less than Max_Lifetime

   type Pool_Statistics is record
      Size         : Natural;
      In_Use       : Natural;
      --  The number of current leases. May exceed Size for a while after the pool has shrunk.
      Open         : Natural;
      Waiting      : Natural;
      Leases       : Interfaces.Unsigned_64;
      --  The number of leases, including the lease that Start takes. Leases and all following
      --  components cover the time since the pool was created.
      Waits        : Interfaces.Unsigned_64;
      --  The number of calls to Get that found no idle resource
      Timeouts     : Interfaces.Unsigned_64;
      --  The number of calls to Get that timed out, while waiting either for a resource or for Open
      Waiting_Time : Duration;
      --  The sum of all waits, in seconds
      Max_Wait     : Duration;
      --  The longest wait, in seconds
      Opened           : Interfaces.Unsigned_64;
      --  The number of successful calls to Open
      Opening_Time     : Duration;
      --  The total time of successful calls to Open, in seconds
      Max_Opening_Time : Duration;
      Open_Failures    : Interfaces.Unsigned_64;
      Broken           : Interfaces.Unsigned_64;
      --  The number of resources that were closed because they were not valid, because Reset
      --  failed, or because the program discarded them
      Expired          : Interfaces.Unsigned_64;
      --  The number of resources that were closed at the end of their lifetime
      Timed_Out        : Interfaces.Unsigned_64;
      --  The number of resources that were closed after Idle_Timeout
      Evicted          : Interfaces.Unsigned_64;
      --  The number of resources that were closed because of Soft_Evict
      Keep_Alives      : Interfaces.Unsigned_64;
      --  The number of checks for Keep_Alive
      Leaks            : Interfaces.Unsigned_64;
      --  The number of leases that were reported as possible leaks
   end record;

   function Statistics (Self : in out Pool) return Pool_Statistics;
   --  Returns statistics. Each value was exact at some moment during the call, but different values
   --  may be from different moments.
   --  @param Self the pool
   --  @return the statistics

   -----------
   -- Lease --
   -----------

   type Resource_View (Element : not null access Resource) is limited null record
     with Implicit_Dereference => Element;

   type Lease (Pool : not null access Pools.Pool) is tagged limited private;
   --  A lease of a resource. The object initially holds no resource. One task can use it for any
   --  number of leases, one after the other. At the end of its scope, the object returns its
   --  resource to the pool, even after an exception or an abort.

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
   --  Returns a view of the resource. The view must not outlive the lease.
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
   --  Returns a broken resource to the pool. The pool closes the resource, and opens it again for
   --  the next lease.
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

   --  A slot, which contains one resource. Only the task that has taken the slot from the stack
   --  writes the components. The atomic exchange of the stack's word orders these writes (release
   --  and acquire), so the components are not atomic. They are volatile for tasks that read them
   --  concurrently.

   type Slot is limited record
      Item       : aliased Resource;
      Is_Open    : Boolean := False with Volatile;
      Is_Leased  : Boolean := False with Volatile;
      Leases     : Unsigned_64 := 0 with Volatile;
      Next       : Slot_Count := No_Slot with Volatile;
      Generation : Atomic_Count := 0;
      --  The pool's generation before the resource was opened
      Expires    : Ada.Real_Time.Time := Ada.Real_Time.Time_Last;
      Observed   : Unsigned_64 := Unsigned_64'Last;
      --  The slot's number of leases at the last sweep
      Idle_Since : Ada.Real_Time.Time;
      --  The time of the first sweep at which Leases was equal to Observed
      Checked    : Ada.Real_Time.Time;
      --  The time of the last check for Keep_Alive, or Idle_Since if that time is later
   end record;

   type Slot_List is array (Pool_Capacity range <>) of Slot;

   --  A stack of slots. A push or pop is one atomic compare-and-exchange. The low bits of the
   --  stack's word are the number of the first slot. The high bits change with each exchange, so an
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
   --  A waiting Get. It is in the queue from Join until the pool assigns a slot to it, or until it
   --  is finalized.

   overriding procedure Initialize (Self : in out Waiter);
   overriding procedure Finalize (Self : in out Waiter);

   type Waiter_Access is access all Waiter;

   type Pool_Access is access all Pool;

   -----------
   -- Leaks --
   -----------

   Max_Frames : constant := 32;
   Max_Name   : constant := 80;

   --  The task and the call that leased a slot

   type Lease_Origin is record
      Is_Noted    : Boolean := False;
      Is_Reported : Boolean := False;
      Since       : Ada.Real_Time.Time;
      Holder      : String (1 .. Max_Name);
      Name_Length : Natural := 0;
      Frames      : GNAT.Traceback.Tracebacks_Array (1 .. Max_Frames);
      Frame_Count : Natural := 0;
   end record;

   type Origin_List is array (Pool_Capacity range <>) of Lease_Origin;
   type Origin_List_Access is access Origin_List;

   -------------
   -- Control --
   -------------

   type Closing_Cause is (Broken, Expired, Timed_Out, Evicted);
   type Closing_Counts is array (Closing_Cause) of Unsigned_64;

   protected type Control (Pool : not null access Pools.Pool) is

      procedure Set_Up;
      procedure Join (Caller : not null Waiter_Access);
      procedure Leave (Caller : not null Waiter_Access);

      procedure Serve;
      --  Assigns idle slots to waiting tasks

      procedure Resize (To : Natural);
      procedure Close;

      procedure Next_To_Retire (Slot : out Slot_Count);
      --  Takes an idle slot to retire. Sets Slot to No_Slot if the pool does not exceed its size,
      --  or if all slots are leased.

      procedure Retire (Slot : Pool_Capacity);
      --  Marks a slot as unused after its resource has been closed

      procedure Begin_Job;
      procedure End_Job;
      procedure Count_Timeout;

      entry Await_Jobs;
      --  Waits until no task of Pool_Workers uses the pool

      entry Await_Close;

      --  Sweep, Take_Unchecked, Take_Unopened, Take_Evicted and Restock take all idle slots for a
      --  moment. A task that finds no idle slot during that time calls Join, which waits for the
      --  protected object's lock.

      procedure Sweep
        (Now : Ada.Real_Time.Time; Slot : out Slot_Count; Cause : out Closing_Cause);
      --  Takes an idle slot whose resource must be closed. Sets Slot to No_Slot if there is none.

      procedure Take_Unchecked (Now : Ada.Real_Time.Time; Slot : out Slot_Count);
      --  Takes an idle slot that is due for a check. Sets Slot to No_Slot if there is none.

      procedure Take_Unopened (Now : Ada.Real_Time.Time; Slot : out Slot_Count);
      --  Takes an idle slot to open if fewer than Min_Idle idle slots are open. Sets Slot to
      --  No_Slot otherwise.

      procedure Take_Evicted (Slot : out Slot_Count);

      procedure Restock (Slot : Pool_Capacity);
      --  Makes a slot idle, and puts it below the other idle slots, so that it is leased last

      procedure Draw (Fraction : out Float);
      --  Returns a random number from 0.0 to 1.0

      procedure Count_Opening (Time : Duration);
      procedure Count_Open_Failure;
      procedure Count_Closing (Cause : Closing_Cause);
      procedure Count_Check;

      procedure Note_Origins (List : Origin_List_Access);
      procedure Note (Slot : Pool_Capacity; Origin : Lease_Origin);
      procedure Forget (Slot : Pool_Capacity);

      procedure Next_Leak (Origin : out Lease_Origin);
      --  Takes a lease to report as a possible leak. Sets Is_Noted to False if there is none.

      procedure Take_Origins (List : out Origin_List_Access);

      procedure Put_Statistics (Into : in out Pool_Statistics);
      function Size return Natural;
      function Is_Closed return Boolean;
   private
      Is_Shut      : Boolean := False;
      Current_Size : Natural := 0;
      Excess       : Natural := 0;
      --  The number of slots beyond the size that have not been retired yet
      Retired      : Slot_Count := No_Slot;
      --  The head of the list of retired slots
      Missing      : Natural := 0;
      --  The number of slots that were taken to retire, but that the pool needs again because its
      --  size was increased in the meantime
      First, Last  : access Waiter := null;
      Waiting      : Natural := 0;
      Waits        : Unsigned_64 := 0;
      Timeouts     : Unsigned_64 := 0;
      Waiting_Time : Duration := 0.0;
      Max_Wait     : Duration := 0.0;
      Jobs         : Natural := 0;
      Origins      : Origin_List_Access := null;
      Random       : Unsigned_64 := 0;
      Fill_Pause   : Duration := 0.0;
      Next_Fill    : Ada.Real_Time.Time := Ada.Real_Time.Time_First;
      Opened       : Unsigned_64 := 0;
      Opening_Time : Duration := 0.0;
      Max_Opening  : Duration := 0.0;
      Failures     : Unsigned_64 := 0;
      Closings     : Closing_Counts := [others => 0];
      Checks       : Unsigned_64 := 0;
      Leaks        : Unsigned_64 := 0;
   end Control;

   --  The background jobs of a pool, which run until the pool is closed. Upkeep closes, opens and
   --  checks resources; Leak_Watch reports leaks.

   type Upkeep (Pool : not null access Pools.Pool) is
     limited new Pool_Workers.Job with null record;

   overriding procedure Run (Self : in out Upkeep);

   type Leak_Watch (Pool : not null access Pools.Pool) is
     limited new Pool_Workers.Job with null record;

   overriding procedure Run (Self : in out Leak_Watch);

   type Pool (Capacity : Pool_Capacity) is new Ada.Finalization.Limited_Controlled with record
      Idle          : Padded_Stack;
      Attention     : aliased Atomic_Count := 0;
      --  The number of tasks that wait or are about to wait, plus the number of slots to retire,
      --  plus 1 if the pool is closed. While this number is 0, Get and Release only pop and push a
      --  slot.
      Generation    : aliased Atomic_Count := 0;
      --  The number of calls to Soft_Evict
      Options       : Pool_Options;
      Is_Configured : Boolean := False;
      Control       : Pools.Control (Pool'Access);
      Upkeep        : aliased Pools.Upkeep (Pool'Access);
      Leak_Watch    : aliased Pools.Leak_Watch (Pool'Access);
      Slots         : Slot_List (1 .. Capacity);
   end record;

   overriding procedure Initialize (Self : in out Pool);
   overriding procedure Finalize (Self : in out Pool);

   type Lease_Stage is (Given, In_Hook, Ready);
   --  The stage of a lease. Given: the resource has not been used, and may still be closed.
   --  In_Hook: a hook that checks, resets or closes the resource is running or has run. Ready: the
   --  program may use the resource. Only a resource in the stage Ready may be reset.

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
