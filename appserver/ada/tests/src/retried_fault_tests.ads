--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Fault injection: a call with nested transactions, on the same connection and on another
--  connection, fails at each of its steps. tests/shared/retry_situations.txt contains the expected
--  outcomes. DatabaseTest, a test of the Java library, expects the same outcomes.

with Ada.Strings.Unbounded;
with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);

   Schedules : Positive;
   --  The default number of random schedules; the environment variable LAB_SCHEDULES overrides this
   --  number
package Retried_Fault_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

private

   --  A connection whose Close usually rolls back, but keeps the session open. A new login would
   --  take a server longer than all operations of a schedule.

   type Kept_Connection is new Database.Connection with record
      Is_Shut  : Boolean := False;
      Closes   : Natural := 0;
      Settings : Ada.Strings.Unbounded.Unbounded_String;
      --  The settings at the beginning of the session
   end record;

   overriding function Is_Open (Self : Kept_Connection) return Boolean;
   overriding procedure Close (Self : in out Kept_Connection);

end Retried_Fault_Tests;
