--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A counter guarded by a protected object. It is the baseline for the other counters, and a
--  starting point for a counter with more complex atomic operations.

pragma Ada_2022;

package Appserver.Counters.Locked is

   type Counter is limited new Linearizable_Counter with private;

   overriding procedure Increment (Self : in out Counter);
   overriding procedure Decrement (Self : in out Counter);
   overriding procedure Add (Self : in out Counter; Amount : Integer_64);
   overriding function Value (Self : Counter) return Integer_64;
   overriding procedure Set (Self : in out Counter; To : Integer_64);

   overriding function Fetch_And_Add
     (Self : in out Counter; Amount : Integer_64) return Integer_64;

   overriding procedure Compare_And_Set
     (Self     : in out Counter;
      Expected : Integer_64;
      To       : Integer_64;
      Is_Set   : out Boolean);

   overriding function Decrement_And_Test_Zero (Self : in out Counter) return Boolean;

private

   protected type Guarded_Total is
      procedure Add (Amount : Integer_64; Before : out Integer_64);
      procedure Set (To : Integer_64);
      procedure Compare_And_Set (Expected, To : Integer_64; Is_Set : out Boolean);
      function Value return Integer_64;
   private
      Total : Integer_64 := 0;
   end Guarded_Total;

   type Counter is limited new Linearizable_Counter with record
      Total : Guarded_Total;
   end record;

end Appserver.Counters.Locked;
