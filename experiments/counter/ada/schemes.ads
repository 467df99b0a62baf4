--  SPDX-License-Identifier: Apache-2.0
--
--  The ways to share a counter among tasks: those of Appserver.Counters, and two that lose
--  increments.

with Benchlab;
with Interfaces;

package Schemes is

   use Benchlab;
   use type Interfaces.Integer_64;

   Reads : constant := 100;
   --  For each increment, where reads are counted too

   type Shared_Counter is limited interface;
   --  Has loops of its own, into which the increment is compiled

   function Is_Safe (Self : Shared_Counter) return Boolean is abstract;
   --  True if it never loses an increment

   function Value (Self : Shared_Counter) return Interfaces.Integer_64 is abstract;

   procedure Increment (Self : in out Shared_Counter; Times : Operation_Count) is abstract;

   procedure Increment_And_Read
     (Self      : in out Shared_Counter;
      Times     : Operation_Count;
      Backwards : out Check_Value) is abstract;
   --  Each increment with Reads reads. Backwards: how often a read found less than the one before

   type Scheme is (Unsafe, Unsafe_Plain, Atomic, Lock, Striped);

   type Counter_Reference is access Shared_Counter'Class;

   function New_Counter (Kind : Scheme) return not null Counter_Reference;
   --  At zero, for the caller to free

   procedure Free (Self : in out Counter_Reference);

end Schemes;
