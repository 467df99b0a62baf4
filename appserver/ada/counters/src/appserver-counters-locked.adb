--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Counters.Locked is

   use type Integer_64;

   protected body Guarded_Total is

      procedure Add (Amount : Integer_64; Before : out Integer_64) is
      begin
         Before := Total;
         Total := To_Integer (To_Word (Total) + To_Word (Amount));
      end Add;

      procedure Set (To : Integer_64) is
      begin
         Total := To;
      end Set;

      procedure Compare_And_Set (Expected, To : Integer_64; Is_Set : out Boolean) is
      begin
         Is_Set := Total = Expected;
         if Is_Set then
            Total := To;
         end if;
      end Compare_And_Set;

      function Value return Integer_64 is (Total);

   end Guarded_Total;

   overriding procedure Increment (Self : in out Counter) is
   begin
      Self.Add (1);
   end Increment;

   overriding procedure Decrement (Self : in out Counter) is
   begin
      Self.Add (-1);
   end Decrement;

   overriding procedure Add (Self : in out Counter; Amount : Integer_64) is
      Ignored : Integer_64;
   begin
      Self.Total.Add (Amount, Ignored);
   end Add;

   overriding function Value (Self : Counter) return Integer_64 is (Self.Total.Value);

   overriding procedure Set (Self : in out Counter; To : Integer_64) is
   begin
      Self.Total.Set (To);
   end Set;

   overriding function Fetch_And_Add
     (Self : in out Counter; Amount : Integer_64) return Integer_64
   is
      Before : Integer_64;
   begin
      Self.Total.Add (Amount, Before);
      return Before;
   end Fetch_And_Add;

   overriding procedure Compare_And_Set
     (Self     : in out Counter;
      Expected : Integer_64;
      To       : Integer_64;
      Is_Set   : out Boolean) is
   begin
      Self.Total.Compare_And_Set (Expected, To, Is_Set);
   end Compare_And_Set;

   overriding function Decrement_And_Test_Zero (Self : in out Counter) return Boolean is
     (Self.Fetch_And_Add (-1) = 1);

end Appserver.Counters.Locked;
