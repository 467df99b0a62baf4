--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Benchlab.Fields;
with Benchlab.Kernel;
with Benchlab.Latencies;
with Benchlab.Sessions;
with Counting;
with Interfaces;

package body Worker_Tests is

   use AUnit.Assertions;
   use Benchlab;
   use Benchlab.Kernel;
   use type Interfaces.Unsigned_64;
   use type Latencies.Bucket;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   type Pair is record
      Latency : Nanoseconds;
      Index   : Latencies.Bucket;
   end record;

   type Pair_List is array (Positive range <>) of Pair;
   type Number_List is array (Positive range <>) of Natural;

   --  The table of docs/protocol.md

   procedure Buckets (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      for Pair of Pair_List'
        [(0, 0), (63, 63), (64, 64), (65, 64), (66, 65), (127, 95), (128, 96), (1_000, 190),
         (1_000_000, 509), (4_294_967_296, 896), (Nanoseconds'Last, Latencies.Bucket'Last)]
      loop
         Assert (Latencies.Bucket_Of (Pair.Latency) = Pair.Index, Pair.Latency'Image);
      end loop;
   end Buckets;

   --  Each bucket begins where the previous one ends, and is at most 1/32 wide, except for the last

   procedure No_Gaps (T : in out Fixture) is
      pragma Unreferenced (T);

      Start : Nanoseconds := 64;
      Width : Nanoseconds;
   begin
      for Index in 64 .. Latencies.Bucket'Last - 1 loop
         Width := 2 ** (Natural (Index) / 32 - 1);
         Assert (Latencies.Bucket_Of (Start) = Index, "first of" & Index'Image);
         Assert (Latencies.Bucket_Of (Start + Width - 1) = Index, "last of" & Index'Image);
         Assert (Width * 32 <= Start, "width of" & Index'Image);
         Start := Start + Width;
      end loop;
   end No_Gaps;

   procedure Recorded (T : in out Fixture) is
      pragma Unreferenced (T);

      Before        : constant Nanoseconds := Monotonic_Time;
      First, Second : Latencies.Recorder;
   begin
      Assert (First.Image, "", "nothing at first");
      First.Start;
      First.Lap;
      delay 0.002;
      First.Lap;
      Second.Start;
      Second.Lap;
      First.Add (Second);
      Assert (First.Operations = 3, "three operations");
      Assert
        (First.First_Start >= Before and then First.Last_End <= Monotonic_Time,
         "within the time");
      Assert (First.Last_End - First.First_Start >= 2_000_000, "to the last end");
      First.Start;
      Assert (First.Operations = 0, "forgotten");
   end Recorded;

   --  The latency includes the wait for the previous operation

   procedure Due (T : in out Fixture) is
      pragma Unreferenced (T);

      Times : Latencies.Recorder;
   begin
      Times.Start;
      for Number in Nanoseconds range 0 .. 9 loop
         Times.Await (Number * 2_000_000);
         Assert
           (Monotonic_Time - Times.First_Start >= Number * 2_000_000,
            "not before it is due:" & Number'Image);
         if Number = 0 then
            delay 0.05;
         end if;
         Times.Lap;
      end loop;
      Assert
        (Latencies.Bucket'Value
           (Ada.Strings.Fixed.Head (Times.Image, Ada.Strings.Fixed.Index (Times.Image, ":") - 1))
         >= Latencies.Bucket_Of (30_000_000),
         "latencies count from when operations are due");
   end Due;

   function Reply_To (Session : in out Sessions.Session; Line, Verb : String)
     return Fields.Field_List
   is
      Reply : constant String := Session.Answer (Line);
      Start : constant String := "@lab " & Verb;
   begin
      Assert (Ada.Strings.Fixed.Head (Reply, Start'Length), Start, "answer to " & Line);
      return
        (if Reply'Length = Start'Length then Fields.None
         else Fields.Parsed (Reply (Reply'First + Start'Length + 1 .. Reply'Last)));
   end Reply_To;

   --  Returns the sum of the counts in a text such as "190:2,509:1"

   function Sum_Of (Counts : String) return Interfaces.Unsigned_64 is
      Sum   : Interfaces.Unsigned_64 := 0;
      Start : Positive := Counts'First;
      Colon, Comma : Natural;
   begin
      loop
         Colon := Ada.Strings.Fixed.Index (Counts, ":", From => Start);
         Comma := Ada.Strings.Fixed.Index (Counts & ",", ",", From => Start);
         Sum   := Sum + Interfaces.Unsigned_64'Value (Counts (Colon + 1 .. Comma - 1));
         exit when Comma > Counts'Last;
         Start := Comma + 1;
      end loop;
      return Sum;
   end Sum_Of;

   --  Every operation is performed once, even if there are more workers than operations

   procedure All_Operations (T : in out Fixture) is
      pragma Unreferenced (T);

      Session : Sessions.Session (Counting.New_Case'Access);
      Ignored : Fields.Field_List;
   begin
      for Workers of Number_List'[1, 3, 8] loop
         Ignored := Reply_To
           (Session,
            "open case=counting failing=0 laps=yes seed=1 workers="
            & Ada.Strings.Fixed.Trim (Workers'Image, Ada.Strings.Left), "opened");
         Assert (Counting.Alive = Workers, "workers");
         for Operations of Number_List'[5, 1_000] loop
            declare
               Ran : constant Fields.Field_List := Reply_To
                 (Session, "run operations="
                  & Ada.Strings.Fixed.Trim (Operations'Image, Ada.Strings.Left), "ran");
            begin
               Assert
                 (Ran.Number ("check")
                  = Interfaces.Unsigned_64 (Operations * (Operations - 1) / 2),
                  "each number once");
               Assert
                 (Ran.Number ("units") = Interfaces.Unsigned_64 (Operations), "units");
               Assert
                 (Sum_Of (Ran.Text ("latencies")) = Interfaces.Unsigned_64 (Operations),
                  "a latency each");
               Assert (Ran.Number ("end") >= Ran.Number ("start"), "the span");
            end;
         end loop;
         Assert
           (not Reply_To (Session, "verify operations=5", "verified").Has ("latencies"),
            "untimed");
         Ignored := Reply_To (Session, "close", "closed");
         Assert (Counting.Alive = 0, "nobody is left");
      end loop;
   end All_Operations;

   procedure Without_Laps (T : in out Fixture) is
      pragma Unreferenced (T);

      Session : Sessions.Session (Counting.New_Case'Access);
      Ignored : Fields.Field_List;
      Before  : Nanoseconds;
   begin
      Ignored := Reply_To
        (Session, "open case=counting failing=0 laps=no seed=1 workers=8", "opened");
      for Operations of Number_List'[1_000, 3] loop
         Before := Monotonic_Time;
         declare
            Ran : constant Fields.Field_List := Reply_To
              (Session, "run operations="
               & Ada.Strings.Fixed.Trim (Operations'Image, Ada.Strings.Left), "ran");
         begin
            Assert (not Ran.Has ("latencies"), "no latencies");
            Assert (Ran.Number ("units") = Interfaces.Unsigned_64 (Operations), "units");
            Assert (Nanoseconds (Ran.Number ("start")) >= Before, "first start");
            Assert (Ran.Number ("end") > Ran.Number ("start"), "last end");
            Assert (Nanoseconds (Ran.Number ("end")) <= Monotonic_Time, "ended");
         end;
      end loop;
   end Without_Laps;

   --  A failed worker does not stop the others, and the group can continue

   procedure Failing (T : in out Fixture) is
      pragma Unreferenced (T);

      Session : Sessions.Session (Counting.New_Case'Access);
      Ignored : Fields.Field_List;
   begin
      Ignored := Reply_To
        (Session, "open case=counting failing=2 laps=yes seed=1 workers=3", "opened");
      for Time in 1 .. 2 loop
         Assert
           (Reply_To (Session, "run operations=30", "error").Text ("message"),
            "PROGRAM_ERROR: asked to fail", "the failure");
      end loop;
      Ignored := Reply_To (Session, "run operations=1", "ran");
      Ignored := Reply_To (Session, "close", "closed");
      Assert (Counting.Alive = 0, "nobody is left");
   end Failing;

   --  Reports the failed operations, even after a batch with more failures

   procedure Failed_Operations (T : in out Fixture) is
      pragma Unreferenced (T);

      Session : Sessions.Session (Counting.New_Case'Access);

      procedure Opens (Arguments : String) is
      begin
         Assert
           (Session.Answer ("open case=counting failing=0 laps=yes seed=1 " & Arguments),
            "@lab opened", "opened");
      end Opens;

      procedure Has_Failed (Numbers : String; Line, Verb : String) is
      begin
         Assert (Reply_To (Session, Line, Verb).Text ("failed"), Numbers, Line);
      end Has_Failed;
   begin
      Opens ("workers=3 refusing=2");
      Has_Failed ("1,4,7", "run operations=10", "ran");
      Has_Failed ("1,4", "verify operations=5", "verified");
      Has_Failed ("none", "run operations=1", "ran");
      Has_Failed ("1,4,7,10", "run operations=11", "ran");
      Assert
        (Reply_To (Session, "run operations=100000", "error").Text ("message"),
         "BENCHLAB.SESSIONS.TOO_LONG_ERROR: the reply would be longer than 65536 bytes;"
         & " perform fewer operations", "a line has an end");
      Assert (Session.Answer ("close"), "@lab closed", "closed");
      Opens ("workers=1 refusing=1");
      Has_Failed ("0-99999", "run operations=100000", "ran");
      Assert (Session.Answer ("close"), "@lab closed", "closed");
      Opens ("workers=2 refusing=0");
      Has_Failed ("none", "verify", "verified");
   end Failed_Operations;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("the buckets of the protocol", Buckets'Access));
      Result.Add_Test (Caller.Create ("buckets without gaps", No_Gaps'Access));
      Result.Add_Test (Caller.Create ("a recorder", Recorded'Access));
      Result.Add_Test (Caller.Create ("operations that are due", Due'Access));
      Result.Add_Test (Caller.Create ("every operation once", All_Operations'Access));
      Result.Add_Test (Caller.Create ("no latencies", Without_Laps'Access));
      Result.Add_Test (Caller.Create ("a worker that fails", Failing'Access));
      Result.Add_Test (Caller.Create ("operations that fail", Failed_Operations'Access));
      return Result;
   end Suite;

end Worker_Tests;
