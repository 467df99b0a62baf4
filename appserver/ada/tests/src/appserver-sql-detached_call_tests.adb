--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Real_Time;
with Appserver.SQL.Detached_Calls;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;
with Interfaces.C;
with Open_Files;
with System.Atomic_Operations.Integer_Arithmetic;

package body Appserver.SQL.Detached_Call_Tests is

   use AUnit.Assertions;
   use Checks;
   use Detached_Calls;

   type Atomic_Count is new Integer with Atomic;

   package Arithmetic is new System.Atomic_Operations.Integer_Arithmetic (Atomic_Count);

   --  Calls run until they may end. Their threads must call only C functions.

   May_End        : Boolean := False with Atomic;
   Begun, Dropped : aliased Atomic_Count := 0;

   procedure Work (Argument : System.Address) with Convention => C;
   procedure Work (Argument : System.Address) is
      pragma Unreferenced (Argument);

      use Interfaces.C;

      function usleep (Microseconds : unsigned) return int
        with Import, Convention => C, External_Name => "usleep";

      Ignored : int;
   begin
      Arithmetic.Atomic_Add (Begun, 1);
      while not May_End loop
         Ignored := usleep (1_000);
      end loop;
   end Work;

   procedure Drop (Argument : System.Address) with Convention => C;
   procedure Drop (Argument : System.Address) is
      pragma Unreferenced (Argument);
   begin
      Arithmetic.Atomic_Add (Dropped, 1);
   end Drop;

   Something : aliased Integer := 0;

   procedure Run (Timeout : Duration; Is_Done : out Boolean) is
      Call : Detached_Call (Work'Access, Drop'Access);
   begin
      Call.Own (Something'Address);
      Call.Run (Timeout, Is_Done);
   end Run;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   overriding procedure Set_Up (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      May_End := False;
      Begun   := 0;
      Dropped := 0;
   end Set_Up;

   --  Waits for the threads, which end soon after they may

   procedure Expect_Released (Calls : Atomic_Count; Files_Before : Natural) is
      Start : constant Ada.Real_Time.Time := Ada.Real_Time.Clock;
   begin
      while (Dropped < Calls or else Open_Files > Files_Before)
        and then Since (Start) < Long_Time
      loop
         delay 0.001;
      end loop;
      Assert (Dropped = Calls, "dropped:" & Dropped'Image);
      Assert
        (Open_Files <= Files_Before,
         "open files, now and before:" & Open_Files'Image & Files_Before'Image);
   end Expect_Released;

   procedure In_Time (T : in out Fixture) is
      pragma Unreferenced (T);
      Before  : constant Natural := Open_Files;
      Is_Done : Boolean;
   begin
      May_End := True;
      declare
         Call : Detached_Call (Work'Access, Drop'Access);
      begin
         Call.Own (Something'Address);
         Call.Run (Long_Time, Is_Done);
         Assert (Is_Done and then Begun = 1, "done");
         Assert (Dropped = 0, "the call was freed before the end of its scope");
      end;
      Assert (Dropped = 1, "the call is freed at the end of its scope");
      Expect_Released (1, Before);
   end In_Time;

   procedure Too_Late (T : in out Fixture) is
      pragma Unreferenced (T);
      Before  : constant Natural := Open_Files;
      Is_Done : Boolean;
   begin
      for Timeout in -1 .. 1 loop
         Run (0.01 * Timeout, Is_Done);
         Assert (not Is_Done, "done");
      end loop;
      while Begun < 3 loop
         delay 0.001;
      end loop;
      Assert (Dropped = 0, "the call was freed while it was running");
      May_End := True;
      Expect_Released (3, Before);
   end Too_Late;

   procedure Aborted (T : in out Fixture) is
      pragma Unreferenced (T);

      Tasks  : constant := 6;
      Before : constant Natural := Open_Files;
      Ended  : Boolean := False;

      task type Caller (Timeout : not null access constant Duration);

      task body Caller is
         Ignored : Boolean;
      begin
         Run (Timeout.all, Ignored);
      end Caller;

      Late    : aliased constant Duration := 10.0 * Long_Time;
      Forever : aliased constant Duration := Duration'Last;

      procedure Abort_All is
         Hurried   : array (1 .. Tasks / 2) of Caller (Late'Access);
         Unhurried : array (1 .. Tasks / 2) of Caller (Forever'Access);
         Start     : Ada.Real_Time.Time;
      begin
         while Begun < Tasks loop
            delay 0.001;
         end loop;
         for Each of Hurried loop
            abort Each;
         end loop;
         for Each of Unhurried loop
            abort Each;
         end loop;
         Start := Ada.Real_Time.Clock;
         while not Ended and then Since (Start) < Long_Time loop
            delay 0.001;
            Ended := (for all Each of Hurried => Each'Terminated)
              and then (for all Each of Unhurried => Each'Terminated);
         end loop;
         Assert (Dropped = 0, "the call was freed while it was running");
         May_End := True;
      exception
         when others =>
            May_End := True;
            raise;
      end Abort_All;
   begin
      Abort_All;
      Assert (Ended, "the aborted task does not continue to wait");
      Expect_Released (Tasks, Before);
   end Aborted;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Name : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("detached calls: " & Name, Test));
      end Add;
   begin
      Add ("calls that end in time", In_Time'Access);
      Add ("calls that end too late", Too_Late'Access);
      Add ("aborted", Aborted'Access);
      return Result;
   end Suite;

end Appserver.SQL.Detached_Call_Tests;
