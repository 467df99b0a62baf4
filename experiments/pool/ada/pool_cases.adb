--  SPDX-License-Identifier: Apache-2.0

with Ada.Unchecked_Deallocation;
with Benchlab.Kernel;

package body Pool_Cases is

   use Resources;
   use type Kernel.Nanoseconds;

   Uncontended_Size : constant := 8;
   Holding_Time     : constant Kernel.Nanoseconds := 100_000;
   Fails_Every      : constant := 8;

   Holder_Failed : exception;

   procedure Free is new Ada.Unchecked_Deallocation (Resource_Pools.Pool, Pool_Access);

   procedure Make (Self : in out Owned_Pool; Size : Positive) is
   begin
      Self.Pool := new Resource_Pools.Pool (Capacity => Size);
   end Make;

   overriding procedure Finalize (Self : in out Owned_Pool) is
   begin
      Free (Self.Pool);
   end Finalize;

   -----------------
   -- Uncontended --
   -----------------

   overriding procedure Open
     (Self      : in out Uncontended_Case;
      Arguments : Fields.Field_List;
      Inputs    : Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Arguments, Inputs, Settings);
   begin
      Self.Pool.Make (Uncontended_Size);
   end Open;

   overriding procedure Perform
     (Self       : in out Uncontended_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      for Operation in 1 .. Operations loop
         declare
            Held : Resource_Pools.Lease (Self.Pool.Pool);
         begin
            Held.Get;
         end;
      end loop;
      Check := Check_Value (Operations);
      Units := Unit_Count (Operations);
   end Perform;

   ------------
   -- Holder --
   ------------

   --  Uses a resource in operation K, and adds to Check

   procedure Hold
     (Self : Holder; Item : Resource; K : Input_Index; Check : in out Check_Value) is
   begin
      case Self.Hold is
         when Nothing =>
            Check := Check + 1;
         when A_While =>
            declare
               Stop : constant Kernel.Nanoseconds := Kernel.Monotonic_Time + Holding_Time;
            begin
               while Kernel.Monotonic_Time < Stop loop
                  null;
               end loop;
            end;
            Check := Check + 1;
         when Failing =>
            if Self.Fails (K) then
               raise Holder_Failed;
            end if;
            Check := Check + 1;
         when Reading =>
            for Word of Item.Words loop
               Check := Check + Word;
            end loop;
      end case;
   end Hold;

   procedure Operate (Self : in out Holder; K : Input_Index; Check : in out Check_Value) is
      Held : Resource_Pools.Lease (Self.Pool);
   begin
      Held.Get;
      declare
         Item : Resource renames Held.Item.Element.all;
      begin
         if Item.Is_Held then
            Self.Over := Self.Over + 1;
         end if;
         Item.Is_Held := True;
         Item.Uses := Item.Uses + 1;
         Hold (Self, Item, K, Check);
         Item.Is_Held := False;
      exception
         when Holder_Failed =>
            Item.Is_Held := False;
            raise;
      end;
   end Operate;

   procedure Do_Share
     (Self       : in out Holder;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count)
   is
      K : Input_Index := Self.First;
   begin
      Self.Over := 0;
      Recorder.Start;
      for Operation in 1 .. Operations loop
         begin
            Operate (Self, K, Check);
         exception
            when Holder_Failed =>
               Check := Check + 2;
         end;
         Recorder.Lap;
         K := @ + Self.Step;
      end loop;
      Units := Units + Unit_Count (Operations);
      Self.Rate :=
        Long_Float (Operations) / Long_Float (Recorder.Last_End - Recorder.First_Start);
   end Do_Share;

   ------------
   -- Shared --
   ------------

   function Size_Of (Word : String; Threads : Positive) return Positive is
     (if Word = "equal" then Threads
      elsif Word = "half" then (Threads + 1) / 2
      elsif Word = "eightfold" then 8 * Threads
      else raise Unsupported_Error with "unknown size " & Word);

   function Hold_Of (Word : String) return Hold_Kind is
     (if Word = "0us" then Nothing
      elsif Word = "100us" then A_While
      else raise Unsupported_Error with "unknown hold " & Word);

   procedure Must_Be_LIFO (Word : String) is
   begin
      if Word /= "lifo" then
         raise Unsupported_Error with "unknown reuse " & Word;
      end if;
   end Must_Be_LIFO;

   overriding procedure Open
     (Self      : in out Shared_Case;
      Arguments : Fields.Field_List;
      Inputs    : Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Settings);
      Threads : constant Positive := Positive (Arguments.Number ("threads", 1, 256));
      Size    : Positive;
      Hold    : Hold_Kind;
   begin
      case Self.Kind is
         when Lease =>
            Size := Size_Of (Arguments.Text ("size"), Threads);
            Hold := Hold_Of (Arguments.Text ("hold"));
         when Fail =>
            Size := Size_Of ("half", Threads);
            Hold := Failing;
         when Reuse =>
            Must_Be_LIFO (Arguments.Text ("reuse"));
            Size := Size_Of ("eightfold", Threads);
            Hold := Reading;
      end case;
      Self.Pool.Make (Size);
      Self.Holders.Start (Threads);
      for Number in 1 .. Threads loop
         declare
            Holder : Pool_Cases.Holder renames Self.Holders.Member (Number).all;
         begin
            Holder.Pool := Self.Pool.Pool;
            Holder.Hold := Hold;
            Holder.Fails := [for K in Input_Index => Inputs (K) mod Fails_Every = 0];
            Holder.First := Input_Index'Mod (Number - 1);
            Holder.Step := Input_Index'Mod (Threads);
         end;
      end loop;
   end Open;

   overriding procedure Perform
     (Self       : in out Shared_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      for Number in 1 .. Self.Holders.Size loop
         Self.Holders.Member (Number).Rate := 0.0;
         Self.Holders.Member (Number).Over := 0;
      end loop;
      Self.Holders.Perform (Operations, Check, Units);
   end Perform;

   --  Returns Jain's fairness index of the threads' rates (Jain, Chiu, Hawe, DEC-TR-301, 1984), in
   --  percent

   function Fairness (Holders : Holder_Groups.Group) return Long_Float is
      Sum, Squares, Working : Long_Float := 0.0;
   begin
      for Number in 1 .. Holders.Size loop
         declare
            Rate : constant Long_Float := Holders.Member (Number).Rate;
         begin
            Sum := Sum + Rate;
            Squares := Squares + Rate * Rate;
            Working := Working + (if Rate > 0.0 then 1.0 else 0.0);
         end;
      end loop;
      return 100.0 * Sum * Sum / (Working * Squares);
   end Fairness;

   overriding function Metrics (Self : Shared_Case) return Fields.Field_List is
      Over : Unsigned_64 := 0;
   begin
      for Number in 1 .. Self.Holders.Size loop
         Over := Over + Self.Holders.Member (Number).Over;
      end loop;
      return Result : Fields.Field_List do
         Result.Add ("fairness", Fields.Metric_Value (Fairness (Self.Holders)));
         Result.Add ("over", Fields.Metric_Value (Over));
         Result.Add ("lost", Fields.Metric_Value (Self.Pool.Pool.Statistics.In_Use));
      end return;
   end Metrics;

end Pool_Cases;
