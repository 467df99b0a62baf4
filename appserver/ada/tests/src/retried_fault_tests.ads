--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Fault injection: a call with transactions inside of it, on the same connection and on another
--  one, fails at each of its points. tests/shared/retry_situations.txt has the outcomes, which
--  Java's DatabaseTest compares with its own.

with Ada.Strings.Unbounded;
with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);

   Schedules : Positive;
   --  How many random ones are run, unless the environment's LAB_SCHEDULES says it
package Retried_Fault_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

private

   --  A connection whose session outlives most calls of Close, which roll back then: to log in and
   --  to begin a session costs a server more than all that a schedule does

   type Kept_Connection is new Database.Connection with record
      Is_Shut  : Boolean := False;
      Closes   : Natural := 0;
      Settings : Ada.Strings.Unbounded.Unbounded_String;
      --  Of the session at its begin
   end record;

   overriding function Is_Open (Self : Kept_Connection) return Boolean;
   overriding procedure Close (Self : in out Kept_Connection);

end Retried_Fault_Tests;
