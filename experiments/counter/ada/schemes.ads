--  SPDX-License-Identifier: Apache-2.0
--
--  The kinds of counters that tasks use concurrently: the counters of Appserver.Counters, and two
--  counters that lose increments.

with Benchlab;
with Interfaces;

package Schemes is

   use Benchlab;
   use type Interfaces.Integer_64;

   Reads : constant := 100;
   --  The number of reads per increment, in cases with reads

   type Shared_Counter is limited interface;
   --  A counter whose increment is inlined into its own loops

   function Is_Safe (Self : Shared_Counter) return Boolean is abstract;
   --  Returns True if the counter never loses an increment

   function Value (Self : Shared_Counter) return Interfaces.Integer_64 is abstract;

   procedure Increment (Self : in out Shared_Counter; Times : Operation_Count) is abstract;

   procedure Increment_And_Read
     (Self      : in out Shared_Counter;
      Times     : Operation_Count;
      Backwards : out Check_Value) is abstract;
   --  Performs Reads reads for each increment. Sets Backwards to the number of reads that returned
   --  less than the previous read.

   type Scheme is (Unsafe, Unsafe_Plain, Atomic, Lock, Striped);

   type Counter_Reference is access Shared_Counter'Class;

   function New_Counter (Kind : Scheme) return not null Counter_Reference;
   --  Creates a counter with the value zero. The caller must free the counter.

   procedure Free (Self : in out Counter_Reference);

end Schemes;
