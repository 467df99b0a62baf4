--  SPDX-License-Identifier: Apache-2.0

package body Counting is

   use type Interfaces.Unsigned_64;

   --  Only the environment task creates and finalizes counters

   overriding procedure Initialize (Self : in out Counter) is
   begin
      Alive := Alive + 1;
   end Initialize;

   overriding procedure Finalize (Self : in out Counter) is
   begin
      Alive := Alive - 1;
   end Finalize;

   procedure Count
     (Self       : in out Counter;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count)
   is
      K : Interfaces.Unsigned_64 := Self.First;
   begin
      if Self.Failing then
         raise Program_Error with "asked to fail";
      end if;
      Recorder.Start;
      for Operation in 1 .. Operations loop
         Check := Check + K;
         if Self.Refusing then
            Self.Failed.Insert (Operation_Number (K));
         end if;
         Units := Units + 1;
         K     := K + Self.Stride;
         if Self.Has_Laps then
            Recorder.Lap;
         end if;
      end loop;
   end Count;

   overriding procedure Open
     (Self      : in out Counting_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Inputs, Settings);

      Size     : constant Interfaces.Unsigned_64 := Arguments.Number ("workers", 1, 100);
      Failing  : constant Interfaces.Unsigned_64 := Arguments.Number ("failing", 0, Size);
      Refusing : constant Interfaces.Unsigned_64 :=
        (if Arguments.Has ("refusing") then Arguments.Number ("refusing", 0, Size) else 0);
   begin
      Self.Workers.Start (Counters.Worker_Number (Size));
      for Number in 1 .. Size loop
         declare
            Worker : Counter renames Self.Workers.Member (Counters.Worker_Number (Number)).all;
         begin
            Worker.First    := Number - 1;
            Worker.Stride   := Size;
            Worker.Failing  := Number = Failing;
            Worker.Refusing := Number = Refusing;
            Worker.Has_Laps := Arguments.Text ("laps") = "yes";
         end;
      end loop;
   end Open;

   overriding procedure Perform
     (Self       : in out Counting_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      for Number in 1 .. Self.Workers.Size loop
         Self.Workers.Member (Number).Failed.Clear; --  not in Count, which may not be called
      end loop;
      Self.Workers.Perform (Operations, Check, Units);
   end Perform;

   overriding function Failed (Self : Counting_Case) return Operation_Sets.Operation_Set is
   begin
      return Result : Operation_Sets.Operation_Set do
         for Number in 1 .. Self.Workers.Size loop
            Result.Union (Self.Workers.Member (Number).Failed);
         end loop;
      end return;
   end Failed;

end Counting;
