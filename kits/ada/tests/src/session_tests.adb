--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Benchlab.Fields;
with Benchlab.Kernel;
with Benchlab.Sessions;
with Interfaces;
with Serving;
with Tally;

package body Session_Tests is

   use AUnit.Assertions;
   use Benchlab;
   use type Interfaces.Unsigned_64;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   Usage       : constant String := "@lab error code=usage message=";
   Unsupported : constant String := "@lab error code=unsupported message=";
   Failed      : constant String := "@lab error code=failed message=";

   procedure Answers (Session : in out Sessions.Session; Line, Start : String) is
      Reply : constant String := Session.Answer (Line);
   begin
      Assert (Ada.Strings.Fixed.Head (Reply, Start'Length), Start, "answer to: " & Line);
   end Answers;

   procedure Hello (T : in out Fixture) is
      Line   : constant String := Sessions.Hello ("ada", "SQLite 3");
      Start  : constant String := "@lab hello ";
      Fields : constant Benchlab.Fields.Field_List :=
        Benchlab.Fields.Parsed (Line (Line'First + Start'Length .. Line'Last));

      pragma Unreferenced (T);
   begin
      Assert (Ada.Strings.Fixed.Head (Line, Start'Length), Start, "the verb");
      Assert (Fields.Text ("protocol"), "1", "protocol");
      Assert (Fields.Text ("subject"), "ada", "subject");
      Assert (Fields.Text ("library"), "SQLite 3", "library");
      Assert (Ada.Strings.Fixed.Head (Fields.Text ("runtime"), 5), "GNAT ", "runtime");
      Assert
        (Fields.Number ("thread") = Interfaces.Unsigned_64 (Kernel.Current_Thread), "thread");
   end Hello;

   procedure In_Order (T : in out Fixture) is
      Session : Sessions.Session (Tally.New_Case'Access);

      pragma Unreferenced (T);
   begin
      Answers (Session, "open case=tally failing=nowhere seed=7 unknown=x",
               "@lab opened failing=NOWHERE");
      Assert (Tally.Alive = 1, "the case is alive");
      Answers (Session, "verify", "@lab verified check=2 operations=1 units=3");
      Answers (Session, "verify operations=10", "@lab verified check=20 operations=10 units=30");
      Answers (Session, "run operations=9007199254740992", "@lab ran start=");
      Answers (Session, "close", "@lab closed");
      Assert (Tally.Alive = 0, "the case is gone");
      Answers (Session, "open seed=0 case=noop", "@lab opened");
      Answers (Session, "verify operations=5", "@lab verified check=5 operations=5 units=5");
      Assert (not Session.Is_Over, "not over");
      Answers (Session, "quit", "");
      Assert (Session.Is_Over, "over");
   end In_Order;

   --  The reported interval is within the interval that the test measures, and does not end before
   --  it starts

   procedure Timing (T : in out Fixture) is
      use Kernel;

      Session : Sessions.Session (Tally.New_Case'Access);
      Before  : Nanoseconds;

      pragma Unreferenced (T);
   begin
      Answers (Session, "open case=noop seed=1", "@lab opened");
      Before := Monotonic_Time;
      declare
         Reply  : constant String := Session.Answer ("run operations=3");
         Start  : constant String := "@lab ran ";
         Fields : constant Benchlab.Fields.Field_List :=
           Benchlab.Fields.Parsed (Reply (Reply'First + Start'Length .. Reply'Last));
      begin
         Assert (Nanoseconds (Fields.Number ("start")) >= Before, "start");
         Assert (Fields.Number ("end") >= Fields.Number ("start"), "end");
         Assert (Monotonic_Time >= Nanoseconds (Fields.Number ("end")), "after");
      end;
   end Timing;

   --  Only the reply to "run" contains metrics

   procedure Measuring (T : in out Fixture) is
      Session : Sessions.Session (Tally.New_Case'Access);

      pragma Unreferenced (T);
   begin
      Answers (Session, "open case=tally failing=nowhere seed=7", "@lab opened");
      Assert
        (Ada.Strings.Fixed.Index
           (Session.Answer ("run operations=1"),
            " check=2 lost=12.500000000 small=-0.000012000 large=980000000000000.0") > 0,
         "decimal numbers");
      Assert
        (Session.Answer ("verify"), "@lab verified check=2 operations=1 units=3", "no metrics");
   end Measuring;

   procedure Out_Of_Order (T : in out Fixture) is
      Session : Sessions.Session (Tally.New_Case'Access);

      pragma Unreferenced (T);
   begin
      Answers (Session, "verify", Usage);
      Answers (Session, "run operations=1", Usage);
      Answers (Session, "close", Usage);
      Answers (Session, "open case=noop seed=1", "@lab opened");
      Answers (Session, "open case=noop seed=1", Usage);
      Answers (Session, "verify", "@lab verified check=1");
   end Out_Of_Order;

   procedure Malformed (T : in out Fixture) is
      Session : Sessions.Session (Tally.New_Case'Access);

      pragma Unreferenced (T);
   begin
      Answers (Session, "", Usage);
      Answers (Session, "dance", Usage);
      Answers (Session, "OPEN case=noop seed=1", Usage);
      Answers (Session, " open case=noop seed=1", Usage);
      Answers (Session, "open", Usage);
      Answers (Session, "open seed=1", Usage);
      Answers (Session, "open case=noop", Usage);
      Answers (Session, "open case=noop seed=-1", Usage);
      Answers (Session, "open case=noop seed=18446744073709551616", Usage);
      Answers (Session, "open case=noop seed=18446744073709551615", "@lab opened");
      Answers (Session, "run", Usage);
      Answers (Session, "run operations=0", Usage);
      Answers (Session, "run operations=9007199254740993", Usage);
      Answers (Session, "verify operations=0", Usage);
      Answers (Session, "verify operations=1 operations=1", Usage);
      Answers (Session, "verify", "@lab verified check=1");
   end Malformed;

   procedure Unknown (T : in out Fixture) is
      Session : Sessions.Session (Tally.New_Case'Access);

      pragma Unreferenced (T);
   begin
      Answers (Session, "open case=dance seed=1", Unsupported & "unknown%20case%20dance");
      Answers (Session, "open case=tally failing=somewhere seed=1", Unsupported);
      Assert (Tally.Alive = 0, "nothing is left");
   end Unknown;

   --  After a failure, the subject is in the same state as before, and continues

   procedure Failing (T : in out Fixture) is
      Session : Sessions.Session (Tally.New_Case'Access);

      pragma Unreferenced (T);
   begin
      Answers (Session, "open case=tally failing=on_open seed=1",
               Failed & "PROGRAM_ERROR:%20asked%20to%20fail%20ON_OPEN");
      Assert (Tally.Alive = 0, "nothing is left of a failed open");
      Answers (Session, "close", Usage);

      Answers (Session, "open case=tally failing=on_perform seed=1", "@lab opened");
      Answers (Session, "run operations=1", Failed);
      Answers (Session, "verify", Failed);
      Answers (Session, "close", "@lab closed");

      Answers (Session, "open case=tally failing=on_close seed=1", "@lab opened");
      Answers (Session, "close", Failed);
      Assert (Tally.Alive = 0, "a failed close releases the case too");
      Answers (Session, "open case=noop seed=1", "@lab opened");
   end Failing;

   procedure Left_Open (T : in out Fixture) is
      procedure Leave is
         Session : Sessions.Session (Tally.New_Case'Access);
      begin
         Answers (Session, "open case=tally failing=nowhere seed=1", "@lab opened");
         Assert (Tally.Alive = 1, "open");
      end Leave;

      pragma Unreferenced (T);
   begin
      Leave;
      Assert (Tally.Alive = 0, "released at the end of the input");
   end Left_Open;

   --  A server is never asked to perform operations. Wait is called while the subject waits for a
   --  command.

   procedure Serves (T : in out Fixture) is
      Session : Sessions.Session (Serving.New_Case'Access);

      pragma Unreferenced (T);
   begin
      Session.Wait (7);
      Answers (Session, "open case=serve seed=1", "@lab opened url=http://127.0.0.1:1");
      Assert (Serving.Waits = 0, "no wait without a case");
      Session.Wait (7);
      Assert (Serving.Waits = 1 and then Serving.Commands = 7, "a wait for commands");
      Answers (Session, "run operations=1", Unsupported);
      Answers (Session, "verify", Unsupported);
      Answers (Session, "close", "@lab closed");
      Answers (Session, "open case=noop seed=1", "@lab opened");
      Session.Wait (7);
      Assert (Serving.Waits = 1, "noop is no server");
   end Serves;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("hello", Hello'Access));
      Result.Add_Test (Caller.Create ("commands in order", In_Order'Access));
      Result.Add_Test (Caller.Create ("the clock", Timing'Access));
      Result.Add_Test (Caller.Create ("metrics", Measuring'Access));
      Result.Add_Test (Caller.Create ("commands out of order", Out_Of_Order'Access));
      Result.Add_Test (Caller.Create ("malformed commands", Malformed'Access));
      Result.Add_Test (Caller.Create ("unknown cases and choices", Unknown'Access));
      Result.Add_Test (Caller.Create ("failures of the work", Failing'Access));
      Result.Add_Test (Caller.Create ("a case left open", Left_Open'Access));
      Result.Add_Test (Caller.Create ("a server", Serves'Access));
      return Result;
   end Suite;

end Session_Tests;
