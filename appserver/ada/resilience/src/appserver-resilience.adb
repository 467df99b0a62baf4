--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Conversion;
with Interfaces;

package body Appserver.Resilience is

   use Ada.Exceptions;
   use Interfaces;
   use type Ada.Real_Time.Time;

   --------------
   -- Failures --
   --------------

   function Is_Rejection (Error : Exception_Occurrence) return Boolean is
     (Exception_Identity (Error) = Circuit_Open_Error'Identity
      or else Exception_Identity (Error) = Bulkhead_Full_Error'Identity);

   function Is_Of_Guard (Error : Exception_Occurrence) return Boolean is
     (Is_Rejection (Error) or else Exception_Identity (Error) = Time_Limit_Error'Identity);

   function Verdict_Of_Guard (Error : Exception_Occurrence) return Verdict is
     (Kind   =>
        (if Exception_Identity (Error) = Bulkhead_Full_Error'Identity then Transient
         elsif Exception_Identity (Error) = Time_Limit_Error'Identity then Outcome_Unknown
         else Permanent),
      others => <>);

   ------------
   -- Delays --
   ------------

   --  A loop is sufficient, since the doubling bound reaches the maximum after few steps

   function Delay_Before
     (Retry : Positive; Bounds : Backoff; Random : Float) return Pause
   is
      Bound : Pause := Pause'Min (Bounds.Initial, Bounds.Max);
   begin
      for Number in 2 .. Retry loop
         exit when Bound = 0.0 or else Bound >= Bounds.Max;
         Bound := Pause'Min (Bounds.Max, 2 * Duration (Bound));
      end loop;
      return Duration (Random * Float (Bound));
   end Delay_Before;

   protected body Cancellation is

      procedure Cancel is
      begin
         Cancelled := True;
      end Cancel;

      function Is_Cancelled return Boolean is (Cancelled);

      entry Wait when Cancelled is
      begin
         null;
      end Wait;

   end Cancellation;

   procedure Wait (Time : Pause; Stop : access Cancellation) is
   begin
      if Stop = null then
         delay Time;
      else
         select
            Stop.Wait;
         or
            delay Time;
         end select;
      end if;
   end Wait;

   --  SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014), whose state tasks can share with
   --  one atomic addition

   Gamma : constant Unsigned_64 := 16#9E37_79B9_7F4A_7C15#;

   function To_Integer is new Ada.Unchecked_Conversion (Unsigned_64, Integer_64);
   function To_Unsigned is new Ada.Unchecked_Conversion (Integer_64, Unsigned_64);

   Seed : Counters.Atomic.Counter;

   function Random return Float is
      Mixed : Unsigned_64 := To_Unsigned (Seed.Fetch_And_Add (To_Integer (Gamma)));
   begin
      Mixed := (Mixed xor Shift_Right (Mixed, 30)) * 16#BF58_476D_1CE4_E5B9#;
      Mixed := (Mixed xor Shift_Right (Mixed, 27)) * 16#94D0_49BB_1331_11EB#;
      Mixed := Mixed xor Shift_Right (Mixed, 31);
      return Float (Shift_Right (Mixed, 40)) / 2.0 ** 24;
   end Random;

   -------------
   -- Budgets --
   -------------

   Retry_Cost : constant := 100;

   function Available (Self : Budget) return Natural is
     (Self.Reserve
      - Natural ((Self.Spent.Value + Retry_Cost - 1) / Retry_Cost));

   procedure Earn (Self : in out Budget) is
      Spent  : Integer_64 := Self.Spent.Value;
      Is_Set : Boolean;
   begin
      while Spent > 0 and then Self.Percent > 0 loop
         Self.Spent.Compare_And_Set
           (Expected => Spent,
            To       => Integer_64'Max (0, Spent - Integer_64 (Self.Percent)),
            Is_Set   => Is_Set);
         exit when Is_Set;
         Spent := Self.Spent.Value;
      end loop;
   end Earn;

   procedure Spend (Self : in out Budget; Is_Spent : out Boolean) is
      Spent : Integer_64;
   begin
      loop
         Spent    := Self.Spent.Value;
         Is_Spent := Spent + Retry_Cost <= Retry_Cost * Integer_64 (Self.Reserve);
         exit when not Is_Spent;
         Self.Spent.Compare_And_Set (Spent, Spent + Retry_Cost, Is_Spent);
         exit when Is_Spent;
      end loop;
   end Spend;

   Boot : constant Ada.Real_Time.Time :=
     Ada.Real_Time.Time_Of (0, Ada.Real_Time.Time_Span_Zero);

begin
   Seed.Set
     (Integer_64'Integer_Value
        (Ada.Real_Time.To_Duration (Ada.Real_Time.Clock - Boot)));
end Appserver.Resilience;
